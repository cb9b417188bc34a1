//! What a request may take, and what is told of it where it takes more.

use super::{LimitsOfRoles, RoleLimits};
use crate::access::{Identity, Role};
use crate::error::HttpError;
use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use lode_engine::{EngineError, ExecError, QueryOptions};
use std::convert::Infallible;
use std::time::Duration;

/// The limits of a request, and whose they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Granted {
    pub(crate) limits: RoleLimits,
    pub(super) of: Of,
    /// Those of them that a kept query has of its own.
    pub(super) kept: RoleLimits,
}

/// Whose limits they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Of {
    #[default]
    Anonymous,
    Role(Role),
    /// Of a kept query.
    Kept,
}

impl Of {
    fn requests(self) -> String {
        match self {
            Self::Anonymous => "anonymous requests".to_owned(),
            Self::Role(role) => format!("the role {role}"),
            Self::Kept => "this query".to_owned(),
        }
    }

    fn table(self) -> &'static str {
        match self {
            Self::Anonymous => "limits.anonymous",
            Self::Role(Role::Read) => "limits.read",
            Self::Role(Role::Update) => "limits.update",
            Self::Role(Role::Admin) => "limits.admin",
            Self::Kept => "its own limits",
        }
    }

    /// What else helps.
    fn way_out(self) -> &'static str {
        match self {
            Self::Anonymous => "or log in, if you may do more with a name or a token",
            Self::Role(_) | Self::Kept => "or ask the server's administrator for more",
        }
    }
}

impl Granted {
    /// Those of who asks.
    pub(crate) fn new(roles: &LimitsOfRoles, identity: &Identity) -> Self {
        let (limits, of) = match (&identity.name, identity.role) {
            (None, _) => (roles.anonymous, Of::Anonymous),
            (Some(_), None | Some(Role::Read)) => (roles.read, Of::Role(Role::Read)),
            (Some(_), Some(Role::Update)) => (roles.update, Of::Role(Role::Update)),
            (Some(_), Some(Role::Admin)) => (roles.admin, Of::Role(Role::Admin)),
        };
        Self { limits, of, kept: RoleLimits::default() }
    }

    /// The same for a query with limits of its own, which go before those of who asks. Its text is none of theirs.
    pub(crate) fn of_kept(self, kept: RoleLimits) -> Self {
        Self { limits: RoleLimits { query_bytes: None, ..kept.or(self.limits) }, kept, ..self }
    }

    /// Whose limit one is.
    fn whose(&self, key: &str) -> Of {
        let kept = self.kept.to_string();
        let is_kept = kept.split(',').any(|one| one.split('=').next() == Some(key));
        if is_kept { Of::Kept } else { self.of }
    }

    /// Those of a request that was let in.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get().copied().unwrap_or_default()
    }

    /// The same.
    pub(crate) fn of_request(request: &Request) -> Self {
        request.extensions().get().copied().unwrap_or_default()
    }

    /// The sentence on a limit: whose, its value, its name, and what to do.
    pub(super) fn limit(&self, value: &str, key: &str, advice: &str) -> String {
        let of = self.whose(key);
        let (requests, table, way_out) = (of.requests(), of.table(), of.way_out());
        format!("the limit of {requests} is {value} ({key} of {table}): {advice}, {way_out}")
    }

    fn refusal(&self, status: StatusCode, what: &str, value: &str, key: &str, advice: &str) -> HttpError {
        HttpError::new(status, format!("{what}: {}", self.limit(value, key, advice)))
    }

    /// So long a request may take that may take so long otherwise.
    pub(crate) fn time(&self, otherwise: Duration) -> Duration {
        self.limits.time.map_or(otherwise, |time| time.min(otherwise))
    }

    /// So much memory it may take.
    pub(crate) fn memory(&self, otherwise: usize) -> usize {
        self.limits.memory.map_or(otherwise, |memory| memory.min(otherwise))
    }

    /// Options with these limits.
    pub(crate) fn apply(&self, options: &mut QueryOptions) {
        options.memory_bytes = self.memory(options.memory_bytes);
        options.rows_max = self.limits.rows;
    }

    /// Refuses a text that is too long.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), HttpError> {
        match self.limits.query_bytes {
            Some(max) if text.len() > max => Err(self.refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the text has {} bytes", text.len()),
                &format!("{max} bytes"),
                "query-bytes",
                "send a shorter one",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a query that would read too much. Only for who may read all graphs: estimates are of the whole database, and a refusal tells of
    /// them.
    #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 rows nobody counts one by one")]
    pub(crate) fn check_reads(&self, reads: f64) -> Result<(), HttpError> {
        match self.limits.reads {
            Some(max) if reads > max as f64 => Err(self.refusal(
                StatusCode::FORBIDDEN,
                &format!("this would read about {} rows", rounded(reads)),
                &rounded(max as f64),
                "reads",
                "ask for less at once (more conditions, or LIMIT)",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses an answer of so many rows that is known beforehand.
    pub(crate) fn check_rows(&self, rows: u64) -> Result<(), HttpError> {
        match self.limits.rows {
            Some(max) if rows > max => Err(self.too_many_rows(max)),
            _ => Ok(()),
        }
    }

    fn too_many_rows(&self, max: u64) -> HttpError {
        let (what, value) = (format!("the answer has more than {max} rows"), format!("{max} rows"));
        self.refusal(StatusCode::PAYLOAD_TOO_LARGE, &what, &value, "rows", "ask for less at once (LIMIT)")
    }

    /// An answer that is too long.
    pub(crate) fn too_many_bytes(&self) -> HttpError {
        let max = self.limits.bytes.unwrap_or(u64::MAX);
        let (what, value) = (format!("the answer has more than {max} bytes"), format!("{max} bytes"));
        self.refusal(StatusCode::PAYLOAD_TOO_LARGE, &what, &value, "bytes", "ask for less at once (LIMIT)")
    }

    /// What is told of an error.
    pub(crate) fn told(&self, error: EngineError) -> HttpError {
        let is_memory = matches!(&error, EngineError::Execution(ExecError::OutOfMemory(reason)) if !reason.is_for_others());
        match (&error, self.limits.memory) {
            (EngineError::TooManyRows(max), _) => self.too_many_rows(*max),
            (_, Some(max)) if is_memory => {
                let mut told = HttpError::from(error);
                let limit = self.limit(&format!("{max} bytes"), "memory", "ask for less at once");
                told.message = format!("{}; {limit}", told.message);
                told
            }
            _ => HttpError::from(error),
        }
    }

    /// The same of one that may be a time-out, where the time is a limit of these.
    pub(crate) fn timed(
        &self,
        mut error: HttpError,
        asked: Option<Duration>,
        otherwise: Duration,
    ) -> HttpError {
        let own =
            self.limits.time.filter(|time| *time < otherwise && asked.is_none_or(|asked| *time < asked));
        if let Some(time) = own.filter(|_| error.status == StatusCode::GATEWAY_TIMEOUT) {
            let limit = self.limit(
                &format!("{} seconds", time.as_secs_f64()),
                "time",
                "ask for less at once (LIMIT)",
            );
            error.message = format!("time-out: {limit}");
        }
        error
    }
}

impl<S: Sync> FromRequestParts<S> for Granted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

/// A number of rows as people say it.
fn rounded(rows: f64) -> String {
    for (unit, name) in [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")] {
        if rows >= unit {
            return format!("{} {name}", (rows / unit * 10.0).round() / 10.0);
        }
    }
    format!("{}", rows.ceil())
}

#[cfg(test)]
mod tests {
    //! Who is refused, and what is told.
    use super::{Granted, rounded};
    use std::time::Duration;

    fn granted(limits: &str) -> Granted {
        Granted { limits: limits.parse().unwrap(), ..Granted::default() }
    }

    #[test]
    fn up_to_the_limit_and_no_further() {
        let granted = granted("query-bytes=5,reads=1000,rows=7,time=2");
        assert!(granted.check_text("ASK{}").is_ok() && granted.check_text("ASK {}").is_err());
        assert!(granted.check_reads(1000.0).is_ok() && granted.check_rows(7).is_ok());
        let error = granted.check_reads(1000.5).unwrap_err();
        assert_eq!(error.status.as_u16(), 403);
        assert_eq!(
            error.message,
            "this would read about 1001 rows: the limit of anonymous requests is 1000 (reads of limits.anonymous): ask for less at once \
             (more conditions, or LIMIT), or log in, if you may do more with a name or a token"
        );
        assert_eq!(granted.check_rows(8).unwrap_err().status.as_u16(), 413);
        assert_eq!(granted.time(Duration::from_secs(9)), Duration::from_secs(2));
        assert_eq!(granted.time(Duration::from_secs(1)), Duration::from_secs(1));
        assert!(super::Granted::default().check_text(&"x".repeat(1 << 20)).is_ok());
    }

    #[test]
    fn numbers_as_people_say_them() {
        assert_eq!([999.0, 1e6, 3.04e9, 2e12].map(rounded), ["999", "1 million", "3 billion", "2 trillion"]);
    }
}
