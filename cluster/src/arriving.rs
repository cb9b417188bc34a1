//! Rows of other fragments that arrive at one which is made of them.

use crate::columns::{Column, from_arrow};
use crate::failure::{self, Fault};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use futures_util::StreamExt;
use lode_engine::{Again, ExecError};
use lode_exec::{Came, FragmentRows, OpenFragment};
use lode_fragment::Fragment;
use lode_scheduler::waiting;
use lode_sparql::VarId;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

/// Batches of an input that wait.
const BATCHES_AHEAD: usize = 2;

/// The first error of an input, as it came.
pub type Failed = Arc<Mutex<Option<DataFusionError>>>;

/// What comes of an input. Without the last of it, it has broken off.
enum Arrived {
    Rows(RecordBatch),
    End,
}

/// The rows of an input.
pub struct Arriving {
    columns: Vec<Column>,
    rows: mpsc::Receiver<Result<Arrived>>,
    /// Ends it at once, and who waits for its rows is told that it broke off.
    pub end: AbortHandle,
}

impl Arriving {
    /// Begins to take the rows of a stream; who drops `pumps` ends that.
    pub fn new(mut from: SendableRecordBatchStream, pumps: &mut JoinSet<()>) -> Result<Self> {
        let schema = from.schema();
        let columns = schema.fields().iter().map(|field| Column::of(field.data_type()));
        let columns = columns.collect::<Option<Vec<_>>>();
        let columns = columns.ok_or_else(|| failure::error(Fault::Query, "an input with other columns"))?;
        let (sender, rows) = mpsc::channel(BATCHES_AHEAD);
        let end = pumps.spawn(async move {
            while let Some(batch) = from.next().await {
                if sender.send(batch.map(Arrived::Rows)).await.is_err() {
                    return;
                }
            }
            let _ = sender.send(Ok(Arrived::End)).await;
        });
        Ok(Self { columns, rows, end })
    }
}

/// The inputs of a fragment, by their numbers. Errors of theirs are kept in `failed`.
pub fn open(fragment: &Fragment, inputs: Vec<Arriving>, failed: &Failed) -> Result<OpenFragment> {
    let columns = fragment.input_columns();
    let fits = columns.len() == inputs.len()
        && columns.iter().zip(&inputs).all(|((vars, _), input)| vars.len() == input.columns.len());
    if !fits {
        return Err(failure::error(Fault::Query, "a fragment over other inputs than those that it has"));
    }
    let certain = columns.iter().map(|(vars, certain)| places(vars, certain));
    let inputs: Vec<_> = certain.zip(inputs).map(|input| Mutex::new(Some(input))).collect();
    let failed = Arc::clone(failed);
    Ok(OpenFragment::new(move |number| {
        let input = inputs.get(number as usize);
        let input = input.and_then(|input| input.lock().unwrap_or_else(PoisonError::into_inner).take());
        let again = || ExecError::Internal(format!("input {number} is read twice"));
        let (certain, input) = input.ok_or_else(again)?;
        Ok(rows(input, certain, Arc::clone(&failed)))
    }))
}

fn places(vars: &[VarId], certain: &[VarId]) -> Vec<usize> {
    certain.iter().filter_map(|var| vars.iter().position(|own| own == var)).collect()
}

fn rows(mut input: Arriving, certain: Vec<usize>, failed: Failed) -> FragmentRows {
    let mut has_ended = false;
    Box::new(move |out| {
        if has_ended {
            return Ok(false);
        }
        let wrong = |message: &str| ExecError::Elsewhere { message: message.into(), again: Again::No };
        // Those that make them may need the processor.
        match waiting(|| input.rows.blocking_recv()) {
            Some(Ok(Arrived::Rows(batch))) => {
                let came = from_arrow(&batch, &input.columns, out).filter(|()| is_bound(out, &certain));
                came.ok_or_else(|| wrong("an input has other rows than it promises"))?;
                Ok(true)
            }
            Some(Ok(Arrived::End)) => {
                has_ended = true;
                Ok(false)
            }
            Some(Err(error)) => {
                let message = error.to_string();
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Err(wrong(&message))
            }
            None => Err(wrong("an input broke off")),
        }
    })
}

/// Whether columns that are said to be never unbound are not. Terms are bound, and not in their places yet.
fn is_bound(came: &Came, certain: &[usize]) -> bool {
    certain.iter().all(|place| {
        let unbound =
            came.batch.columns.get(*place).map_or(0, |ids| ids.iter().filter(|id| id.is_undef()).count());
        unbound == came.terms.iter().filter(|term| term.column == *place).count()
    })
}

#[cfg(test)]
mod tests {
    //! Who waits does not keep others from the processors.
    use super::*;
    use lode_base::cores::cores;
    use lode_scheduler::turns::{Share, Turns};
    use std::time::{Duration, Instant};

    #[test]
    fn who_waits_for_rows_has_no_turn() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut pumps = JoinSet::<()>::new();
        let mut senders = Vec::new();
        let began = std::sync::Barrier::new(cores() + 1);
        std::thread::scope(|scope| {
            for _ in 0..cores() {
                let (sender, receiver) = mpsc::channel(1);
                senders.push(sender);
                let end = pumps.spawn_on(std::future::pending(), runtime.handle());
                let input = Arriving { columns: Vec::new(), rows: receiver, end };
                let began = &began;
                scope.spawn(move || {
                    let _turn = Share::default().take_turn();
                    began.wait();
                    let mut rows = rows(input, Vec::new(), Failed::default());
                    assert!(!rows(&mut Came::default()).unwrap());
                });
            }
            began.wait();
            let started = Instant::now();
            while !Turns::shared().has_room() {
                if started.elapsed() > Duration::from_secs(60) {
                    senders.clear();
                    panic!("threads that wait have the processors");
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            for sender in &senders {
                sender.blocking_send(Ok(Arrived::End)).unwrap();
            }
        });
    }
}
