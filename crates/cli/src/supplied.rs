//! Prefixes that a text uses and does not declare: those that are kept with the data, as loaded documents declared them, are supplied. What a text
//! declares itself counts most. The shell and the page, where people try things, supply the usual ones, too.
//!
//! `lode query` and `lode update` look for them only once a text was refused, so that a text that declares all costs nothing. A server is asked for those of its data (`/api/prefixes`);
//! one that tells none decides by itself what it knows.

use crate::exit::RemoteError;
use lode_assist::{Form, Prefix, error_behind_first_line, with_kept_prefixes};
use lode_engine::EngineError;

/// A text as it was written.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    pub text: &'a str,
    pub form: Form,
    pub base: Option<&'a str>,
}

impl Written<'_> {
    /// Does something with the text; where it is refused, with what it lacks. `kept` is asked only then: none where nobody tells.
    pub fn run<T>(
        &self,
        kept: impl FnOnce() -> Option<Vec<Prefix>>,
        mut run: impl FnMut(&str) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let error = match run(self.text) {
            Err(error) if is_of_text(&error) => error,
            done => return done,
        };
        let Some(kept) = kept() else { return Err(error) };
        let whole = with_kept_prefixes(self.text, &kept);
        if whole == self.text {
            return Err(error);
        }
        run(&whole).map_err(|error| self.explained(error, &whole))
    }

    /// What is wrong with the text, with the places that it has without the line of prefixes.
    pub fn explained(&self, error: anyhow::Error, whole: &str) -> anyhow::Error {
        let is_other = is_of_text(&error) && whole != self.text;
        let own = is_other.then(|| error_behind_first_line(whole, self.form, self.base)).flatten();
        own.map_or(error, |own| EngineError::from(own).into())
    }
}

/// Whether a text is at fault.
fn is_of_text(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(EngineError::Syntax(_)))
        || matches!(error.downcast_ref(), Some(RemoteError { code: 4, .. }))
}
