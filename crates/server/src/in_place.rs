//! Short queries, answered where their request was read: to hand one to another thread and its answer back takes the processors
//! longer than many a look-up.
//!
//! Whether a query is short nobody knows before. It is tried if the last ones like it were short, with a time-out after which it is
//! begun anew on a thread of its own: nothing of its answer was sent by then. So a thread that serves connections is held up for
//! some milliseconds, by the first query of its kind that takes longer; for longer only by what no query looks at the time in, as one
//! read from a slow disk.

use crate::asker::{Asker, Head, format_of, options};
use crate::error::HttpError;
use crate::observe::Record;
use crate::request::{QueryRequest, time_limit};
use crate::state::AppState;
use crate::stream::CHUNK_BYTES;
use crate::written::write_results;
use axum::http::StatusCode;
use bytes::Bytes;
use lode_engine::{CancelToken, Database, GraphRules, OutputFormat, PreparedQuery};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Texts up to this length are parsed here.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// After so long it is given up.
const TIME_MAX: Duration = Duration::from_millis(2);

/// What became of a query.
pub(crate) enum InPlace {
    /// It was answered, or has an error.
    Answered(Result<(Head, Bytes), HttpError>),
    /// It wants a thread of its own.
    NotShort,
}

/// Answers a query if it is short.
pub(crate) fn answer(state: &AppState, request: &QueryRequest, asker: &Asker) -> InPlace {
    let limit = time_limit(request.timeout, state.limits.get().timeout);
    let is_plain = request.plan.is_none() && request.at.is_none();
    if !is_plain || limit <= TIME_MAX || request.query.len() > TEXT_BYTES_MAX {
        return InPlace::NotShort;
    }
    let cancel = CancelToken::new(Some(TIME_MAX));
    // On a thread of its own a panic would end that thread and nothing else.
    let tried = catch_unwind(AssertUnwindSafe(|| attempt(state, request, asker, &cancel)));
    match tried {
        Ok(Some(answer)) => InPlace::Answered(answer),
        Ok(None) => InPlace::NotShort,
        Err(_) => InPlace::Answered(Err(HttpError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the query has failed: this is an error of the server",
        ))),
    }
}

/// Runs it; `None` where it is not known to be short, or turns out not to be.
fn attempt(
    state: &AppState,
    request: &QueryRequest,
    asker: &Asker,
    cancel: &CancelToken,
) -> Option<Result<(Head, Bytes), HttpError>> {
    let begun = Instant::now();
    asker.note(Record::note_begun);
    let prepared = options(state, request, asker, cancel.clone()).and_then(|mut options| {
        options.threads = 1;
        // It ends soon by itself, and holds up a thread that serves others.
        options.takes_turns = false;
        Ok(state.database.prepare_short(&request.query, &options)?)
    });
    let query = match prepared {
        // Who may not read so much hears it on another thread, too.
        Ok(query) => query.filter(|query| asker.check_reads(query).is_ok())?,
        // Planning tells what else would be wrong, in the same words.
        Err(_) => return None,
    };
    let format = match format_of(request, asker, &query) {
        Ok(format) => format,
        Err(error) => return Some(Err(error)),
    };
    let started = Instant::now();
    asker.note(|record| record.note_planned(started - begun));
    let bytes_max = asker.granted.limits.bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let bytes_max = bytes_max.map_or(CHUNK_BYTES, |bytes| bytes.min(CHUNK_BYTES));
    let asked = (&*state.database, &asker.graphs);
    let written = written(&query, (&request.query, asked), format, bytes_max);
    match &written {
        Some(_) => {
            let took = started.elapsed();
            query.ran(took);
            asker.note(|record| {
                let rows = query.run_report().map_or(0, |run| run.rows);
                record.note_ran(took, rows, 0);
                record.note_written(Duration::ZERO);
            });
        }
        None => query.was_not_short(),
    }
    written.map(|bytes| Ok((Head::new(format, &query, &asker.graphs), bytes)))
}

/// The answer; `None` where it is too long, takes too long, or fails.
fn written(
    query: &PreparedQuery,
    (text, asked): (&str, (&Database, &GraphRules)),
    format: OutputFormat,
    bytes_max: usize,
) -> Option<Bytes> {
    let mut answer = ShortAnswer { bytes: Vec::new(), bytes_max };
    let results = query.run().ok()?;
    // Whatever the error was: on a thread of its own it comes again, unless it was only the time.
    write_results(results, text, Some(asked), format, &mut answer).ok()?;
    Some(answer.bytes.into())
}

/// The bytes of an answer that is sent whole.
struct ShortAnswer {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Write for ShortAnswer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! What was short is answered in place; what lasts is given up, and not tried again.
    use super::{InPlace, answer};
    use crate::access::{Access, Settings};
    use crate::asker::Asker;
    use crate::body_memory::Room;
    use crate::listener::Bind;
    use crate::origin::Origins;
    use crate::request::QueryRequest;
    use crate::state::{AppState, ServerOptions, Shared};
    use lode_engine::{Database, GraphRules, UpdateOptions};
    use std::sync::Arc;
    use std::time::Duration;

    fn state() -> AppState {
        let database = Database::in_memory().unwrap();
        let data: String = (0..2000).map(|i| format!("<http://e/s{i}> <http://e/p> {i} . ")).collect();
        database.update(&format!("INSERT DATA {{ {data} }}"), &UpdateOptions::default()).unwrap();
        let (_, stopping) = tokio::sync::watch::channel(false);
        let options = ServerOptions::default();
        let access = Access::new(Settings::default(), &Bind::Unix("/nowhere".into())).unwrap();
        let shared = Shared::new(options, Origins::default(), access, stopping);
        AppState::new(&Arc::new(shared), None, Arc::new(database).into())
    }

    fn request(query: &str) -> QueryRequest {
        QueryRequest { query: query.to_owned(), ..QueryRequest::default() }
    }

    /// The answer as CSV, if there is one.
    fn ask(state: &AppState, request: &QueryRequest) -> Option<String> {
        let accept = "text/csv".to_owned();
        let asker = Asker {
            record: None,
            accept,
            base: None,
            room: Room::default(),
            graphs: GraphRules::default(),
            within: None,
            granted: Default::default(),
        };
        match answer(state, request, &asker) {
            InPlace::Answered(Ok((_, bytes))) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
            InPlace::Answered(Err(error)) => panic!("{}", error.message),
            InPlace::NotShort => None,
        }
    }

    /// Three runs of a query, said to have been short.
    fn ran_thrice(state: &AppState, query: &str) {
        let prepared = state.database.prepare(query, &state.query_options(&GraphRules::default())).unwrap();
        (0..3).for_each(|_| prepared.ran(Duration::from_micros(1)));
    }

    #[test]
    fn queries_like_those_that_were_short_are_answered() {
        let (state, first) = (state(), "SELECT ?o { <http://e/s1> <http://e/p> ?o }");
        assert_eq!(ask(&state, &request(first)), None);
        ran_thrice(&state, first);
        let other = request("SELECT ?o { <http://e/s7> <http://e/p> ?o }");
        // Other threads of the tests may have taken the processor for longer than the attempt may last.
        let answer = (0..100).find_map(|_| {
            ran_thrice(&state, first);
            ask(&state, &other)
        });
        assert_eq!(answer.as_deref(), Some("o\r\n7\r\n"));
        let plan = QueryRequest { plan: Some(crate::request::PlanWish::Explain), ..other };
        assert_eq!(ask(&state, &plan), None);
    }

    #[test]
    fn queries_whose_plans_are_not_kept_are_answered() {
        let (state, nobody) = (state(), "SELECT ?o { <http://e/nobody> <http://e/p> ?o }");
        let other = request("SELECT ?o { <http://e/nobody2> <http://e/p> ?o }");
        let answer = (0..100).find_map(|_| {
            ran_thrice(&state, nobody);
            ask(&state, &other)
        });
        assert_eq!(answer.as_deref(), Some("o\r\n"));
    }

    #[test]
    fn what_lasts_or_is_long_is_given_up() {
        let state = state();
        let lasts = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c + ?f != ?i) }";
        let long = "SELECT * { ?s ?p ?o . ?a ?b ?c }";
        // Its plan is not kept: there is no such term.
        let of_nobody = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c + ?f != ?i)
            FILTER NOT EXISTS { <http://e/nobody> ?p ?o } }";
        for query in [lasts, long, of_nobody] {
            ran_thrice(&state, query);
            assert_eq!(ask(&state, &request(query)), None);
            let again =
                state.database.prepare_short(query, &state.query_options(&GraphRules::default())).unwrap();
            assert!(again.is_none(), "tried again: {query}");
        }
    }
}
