//! Where a consumer that does not care for order gets its rows: one operator, or several threads over shared morsels.

use crate::batch::Batch;
use crate::error::ExecError;
use crate::gather::Gather;
use crate::morsel::ParallelSource;
use crate::operator::BoxOp;
use crate::profile::NodeCounters;
use crate::scheduler::run_team;
use std::sync::Arc;

/// The source.
pub(crate) enum Source {
    /// One operator.
    Single(BoxOp),
    /// Several threads.
    Parallel(ParallelSource),
}

impl Source {
    /// Feeds all rows to local states, one per thread, and returns these. What that takes is charged to `counters`.
    pub(crate) fn drain<L: Send + 'static>(
        self,
        counters: &Arc<NodeCounters>,
        make: impl Fn() -> Result<L, ExecError> + Send + Sync + 'static,
        consume: impl Fn(&mut L, &mut Batch) -> Result<(), ExecError> + Send + Sync + 'static,
    ) -> Result<Vec<L>, ExecError> {
        let feed = move |input: &mut BoxOp| {
            let mut local = make()?;
            let mut batch = Batch::default();
            while input.next(&mut batch)? {
                consume(&mut local, &mut batch)?;
            }
            Ok(local)
        };
        match self {
            Self::Single(mut input) => Ok(vec![feed(&mut input)?]),
            Self::Parallel(source) => {
                let source = source.prepare()?;
                let counters = Arc::clone(counters);
                run_team(source.threads(), move || {
                    let _at_work = source.work();
                    let result = counters.measure(|| feed(&mut source.sharing_pipeline()));
                    if result.is_err() {
                        source.close();
                    }
                    result
                })
            }
        }
    }

    /// The same without some of the duplicates, where several threads make the rows.
    pub(crate) fn reduced(self) -> Self {
        match self {
            Self::Parallel(source) => Self::Parallel(source.reduced()),
            single => single,
        }
    }

    /// One operator that delivers all rows.
    pub(crate) fn into_operator(self) -> BoxOp {
        match self {
            Self::Single(input) => input,
            Self::Parallel(source) => Box::new(Gather::new(source)),
        }
    }
}
