//! The service.

use crate::answer::{Checked, Completion, Hover, Prefix};
use crate::ask::Data;
use crate::check::check;
use crate::clock::{Clock, TIME};
use crate::complete::complete;
use crate::hover::hover;
use crate::schema::Kept;
use lode_engine::{Database, EngineError, QueryOptions};
use lode_syntax::Form;
use std::sync::Arc;
use std::time::Duration;

/// Items that are offered at once, whatever is asked for.
const ITEMS_MAX: usize = 500;

/// Helps who writes queries for a database, or for none. What it learns of the data is kept for the next call.
///
/// The options of a call are those that the query itself would have; their `cancel` ends it, at the latest after 40 ms.
#[derive(Debug)]
pub struct Assist {
    database: Option<Arc<Database>>,
    kept: Kept,
    time: Duration,
}

impl Assist {
    /// For queries of a database.
    pub fn new(database: Arc<Database>) -> Self {
        Self { database: Some(database), ..Self::without_data() }
    }

    /// Knows the language alone.
    pub fn without_data() -> Self {
        Self { database: None, kept: Kept::default(), time: TIME }
    }

    /// The same with another time for each call.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// What is known of the data, for who may read all graphs: figures and names of others are those of the whole database.
    fn data(&self, options: &QueryOptions) -> Option<Data<'_>> {
        let clock = Clock::new(&options.cancel, self.time);
        let database = self.database.as_ref().filter(|_| options.graphs.reads_all());
        database.map(|database| Data::new(database, options, clock))
    }

    /// What may stand at a place of a text, at most `limit` items.
    ///
    /// # Errors
    /// Where the call was cancelled, or the store cannot be read. Where its time is over it answers with what it has.
    pub fn complete(
        &self,
        text: &str,
        position: usize,
        limit: usize,
        options: &QueryOptions,
    ) -> Result<Completion, EngineError> {
        let limit = limit.min(ITEMS_MAX);
        let Some(data) = self.data(options) else { return Ok(complete(text, position, limit, None)?) };
        let schema = self.kept.schema(&data)?;
        let completion = complete(text, position, limit, Some((&data, &schema)))?;
        data.clock.check().map_err(EngineError::Cancelled)?;
        Ok(completion)
    }

    /// What is known of what stands at a place; none where that is nothing.
    ///
    /// # Errors
    /// Where the call was cancelled, or the store cannot be read.
    pub fn hover(
        &self,
        text: &str,
        position: usize,
        options: &QueryOptions,
    ) -> Result<Option<Hover>, EngineError> {
        let data = self.data(options);
        let found = hover(text, position, data.as_ref())?;
        if let Some(data) = &data {
            data.clock.check().map_err(EngineError::Cancelled)?;
        }
        Ok(found)
    }

    /// What is wrong with a text, and what in it is most likely not meant.
    pub fn check(&self, text: &str, form: Form, options: &QueryOptions) -> Checked {
        check(text, form, options.base_iri.as_deref(), self.data(options).as_ref())
    }

    /// The prefixes that are kept with the data, and the usual ones that it uses; all usual ones without data.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn prefixes(&self, options: &QueryOptions) -> Result<Vec<Prefix>, EngineError> {
        let prefix = |(name, iri): (&str, &str)| Prefix { name: name.to_owned(), iri: iri.to_owned() };
        match self.data(options) {
            Some(data) => {
                let (kept, schema) = (data.prefixes(), self.kept.schema(&data)?);
                let is_free = |name: &str| kept.iter().all(|(other, _)| other != name);
                let usual = schema.prefixes.iter().copied().filter(|(name, _)| is_free(name));
                let kept = kept.iter().map(|(name, iri)| (name.as_str(), iri.as_str()));
                Ok(kept.chain(usual).map(prefix).collect())
            }
            None => Ok(lode_syntax::usual_prefixes().map(prefix).collect()),
        }
    }
}
