//! The differential test of updates: after each of several requests the subject must hold what the oracle says, up to the names of blank
//! nodes; and where the oracle says that a request fails, it must fail and change nothing. Before the first request and after each the same
//! queries are asked again, for which the subject may have kept plans.

use super::{STEPS_MAX, Summary, Verdict, check_query};
use crate::dataset::{Dataset, quad_row};
use crate::generate::Case;
use crate::generate::updates::{Operation, Request, UpdateCase};
use crate::isomorphism::isomorphic;
use crate::knobs::Knobs;
use crate::naive::{self, NaiveError};
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{QuerySettings, Subject, no_panic};
use anyhow::{Context, Result, anyhow};
use oxrdf::{GraphName, NamedNode};
use spargebra::SparqlParser;

/// Datasets that grew beyond this are not compared: isomorphism takes its time.
const QUADS_MAX: usize = 2_000;

/// Runs the cases of seeds `first..first + cases`, until `failures_max` differ.
pub fn run(
    subject: &mut dyn Subject,
    first: u64,
    cases: u64,
    failures_max: usize,
    progress: &mut dyn FnMut(&Summary),
) -> Summary {
    let mut summary = Summary::default();
    for seed in first..first.saturating_add(cases) {
        let (case, knobs) = (UpdateCase::new(seed), Knobs::of_updates(seed));
        let mut changed = false;
        match check(subject, &case, &knobs, &mut changed) {
            Verdict::Agree => {
                summary.agreed += 1;
                summary.with_rows += u64::from(changed);
            }
            Verdict::Skipped => summary.skipped += 1,
            Verdict::Differ(message) => {
                summary.failures.push(report(subject, seed, &case, &knobs, &message));
            }
        }
        progress(&summary);
        if summary.failures.len() >= failures_max {
            break;
        }
    }
    summary
}

/// One case. `changed`: some request changed something.
pub fn check(subject: &mut dyn Subject, case: &UpdateCase, knobs: &Knobs, changed: &mut bool) -> Verdict {
    let mut check = |knobs| {
        try_check(subject, case, knobs, changed).unwrap_or_else(|error| Verdict::Differ(format!("{error:#}")))
    };
    match (check(knobs), knobs.with_memory()) {
        // What is refused for want of memory must be done with more.
        (Verdict::Skipped, Some(knobs)) => check(&knobs),
        (verdict, _) => verdict,
    }
}

fn try_check(
    subject: &mut dyn Subject,
    case: &UpdateCase,
    knobs: &Knobs,
    changed: &mut bool,
) -> Result<Verdict> {
    let mut state = parse(case.data_text().as_bytes(), RdfFormat::TriG, "http://e/").context("the data")?;
    let options = naive::Options {
        union_default_graph: case.union_default_graph,
        steps_max: STEPS_MAX,
        ..naive::Options::default()
    };
    let settings =
        QuerySettings { union_default_graph: case.union_default_graph, ..QuerySettings::default() };
    subject.configure(knobs);
    no_panic(|| subject.load(&state)).context("loading")?;
    let queries = queries(case);
    let held = no_panic(|| subject.contents()).context("reading what there is")?;
    if let Some(difference) = ask(subject, &queries, &held, knobs)? {
        return Ok(Verdict::Differ(format!("before the first request, {difference}")));
    }
    for (number, request) in case.requests.iter().enumerate() {
        let wanted = match expected(request, &state, &options)? {
            Expected::State(wanted) if wanted.quads().len() <= QUADS_MAX => Some(wanted),
            Expected::State(_) | Expected::Unknown => return Ok(Verdict::Skipped),
            Expected::Failure => None,
        };
        let got = no_panic(|| subject.update(&request.text(), &settings));
        match (&wanted, got) {
            (_, Err(error)) if knobs.may_refuse_update(&format!("{error:#}")) => {
                return Ok(Verdict::Skipped);
            }
            (Some(_), Err(error)) => return Err(error.context(format!("request {number} failed"))),
            (None, Ok(())) => return Ok(Verdict::Differ(format!("request {number} should fail"))),
            (Some(_), Ok(())) | (None, Err(_)) => {}
        }
        *changed |= wanted.as_ref().is_some_and(|wanted| !same(&state, wanted));
        state = wanted.unwrap_or(state);
        let holds = no_panic(|| subject.contents()).context("reading what there is")?;
        if !same(&state, &holds) {
            let message = format!("after request {number}\nexpected\n{}got\n{}", show(&state), show(&holds));
            return Ok(Verdict::Differ(message));
        }
        if let Some(difference) = ask(subject, &queries, &holds, knobs)? {
            return Ok(Verdict::Differ(format!("after request {number}, {difference}")));
        }
    }
    Ok(Verdict::Agree)
}

/// The queries of a case, over whatever there is by then.
fn queries(case: &UpdateCase) -> Vec<Case> {
    let queries = case.queries.iter().cloned();
    let union_default_graph = case.union_default_graph;
    queries.map(|query| Case { data: Vec::new(), query, union_default_graph }).collect()
}

/// Asks all of the queries, over what the subject says that it holds: so blank nodes have its names.
fn ask(subject: &mut dyn Subject, queries: &[Case], held: &Dataset, knobs: &Knobs) -> Result<Option<String>> {
    for query in queries {
        if let Verdict::Differ(difference) = check_query(subject, held, query, knobs, &mut false)? {
            return Ok(Some(format!("of the query\n{}{difference}", query.query_text())));
        }
    }
    Ok(None)
}

/// What should come of a request.
pub(super) enum Expected {
    State(Dataset),
    Failure,
    /// The oracle would take too long.
    Unknown,
}

fn expected(request: &Request, before: &Dataset, options: &naive::Options) -> Result<Expected> {
    let mut state = before.clone();
    for operation in &request.operations {
        match expected_of(operation, &state, options)? {
            Expected::State(after) => state = after,
            other => return Ok(other),
        }
    }
    Ok(Expected::State(state))
}

/// What should come of one operation.
pub(super) fn expected_of(
    operation: &Operation,
    state: &Dataset,
    options: &naive::Options,
) -> Result<Expected> {
    if let Some(source) = &operation.transfer
        && let Some(name) = source.graph
    {
        let name = NamedNode::new(format!("http://e/{}", name.trim_start_matches(':')))?;
        let name = GraphName::from(name);
        if !state.quads().iter().any(|quad| quad.graph_name == name) {
            // The specification leaves it to us; we fail, so that a slip of the pen does not empty the destination.
            return Ok(if source.silent { Expected::State(state.clone()) } else { Expected::Failure });
        }
    }
    let update = SparqlParser::new().parse_update(&operation.request_text()).context("the request")?;
    // DEFAULT is the graph of that name, whatever WHERE takes for it.
    let union = options.union_default_graph && operation.transfer.is_none();
    let options = naive::Options { union_default_graph: union, ..options.clone() };
    match naive::update(&update, state, &options) {
        Ok(state) => Ok(Expected::State(state)),
        Err(NaiveError::StepLimit) => Ok(Expected::Unknown),
        Err(NaiveError::Update(_)) => Ok(Expected::Failure),
        Err(error) => Err(anyhow!(error).context("the oracle")),
    }
}

pub(super) fn same(a: &Dataset, b: &Dataset) -> bool {
    let rows = |d: &Dataset| d.quads().iter().map(quad_row).collect::<Vec<_>>();
    isomorphic(&rows(a), &rows(b))
}

pub(super) fn show(dataset: &Dataset) -> String {
    let mut lines: Vec<_> = dataset.quads().iter().map(|q| format!("    {q} .\n")).collect();
    lines.sort();
    lines.concat()
}

fn report(subject: &mut dyn Subject, seed: u64, case: &UpdateCase, knobs: &Knobs, message: &str) -> String {
    let small = shrunk(subject, case, knobs);
    let message = match check(subject, &small, knobs, &mut false) {
        Verdict::Differ(message) => message,
        other => format!("{other:?}, after: {message}"),
    };
    let queries: Vec<String> = queries(&small).iter().map(Case::query_text).collect();
    let requests: Vec<String> = small.requests.iter().map(Request::text).collect();
    format!(
        "seed {seed}, {knobs:?}, union default graph: {}\n--- data\n{}--- requests\n{}--- queries\n{}--- difference\n{message}\n",
        small.union_default_graph,
        small.data_text(),
        requests.join("--- then\n"),
        queries.join("--- and\n"),
    )
}

/// The case without requests, operations and quads that it differs without.
fn shrunk(subject: &mut dyn Subject, case: &UpdateCase, knobs: &Knobs) -> UpdateCase {
    let mut best = case.clone();
    let mut differs =
        |case: &UpdateCase| matches!(check(subject, case, knobs, &mut false), Verdict::Differ(_));
    loop {
        let smaller = smaller(&best).into_iter().find(&mut differs);
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Cases with something left out.
fn smaller(case: &UpdateCase) -> Vec<UpdateCase> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut UpdateCase)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    for i in 0..case.requests.len() {
        add(&|c| drop(c.requests.remove(i)));
        for j in 0..case.requests[i].operations.len() {
            add(&|c| drop(c.requests[i].operations.remove(j)));
        }
    }
    for i in 0..case.queries.len() {
        add(&|c| drop(c.queries.remove(i)));
    }
    if case.data.len() > 3 {
        let half = case.data.len() / 2;
        add(&|c| drop(c.data.drain(..half)));
        add(&|c| c.data.truncate(half));
    }
    for i in 0..case.data.len() {
        add(&|c| drop(c.data.remove(i)));
    }
    all
}

#[cfg(test)]
mod tests {
    //! The oracle agrees with itself, and a planted error is found and made small.
    use super::{check, run};
    use crate::answer::Answer;
    use crate::dataset::Dataset;
    use crate::differential::Verdict;
    use crate::generate::updates::UpdateCase;
    use crate::knobs::Knobs;
    use crate::rdf_files::RdfFormat;
    use crate::subject::{NaiveSubject, QuerySettings, Subject};
    use anyhow::{Context, Result};
    use std::collections::HashMap;

    /// As a subject the oracle has what the parser makes of COPY, MOVE, ADD, and of declarations between operations.
    fn the_parser_suffices(case: &UpdateCase) -> bool {
        let suffices = |request: &super::Request| {
            !request.declares_again && request.operations.iter().all(|operation| operation.transfer.is_none())
        };
        case.requests.iter().all(suffices)
    }

    #[test]
    fn the_oracle_agrees_with_itself() {
        let (mut agreed, mut changing) = (0, 0);
        for seed in 0..800 {
            let case = UpdateCase::new(seed);
            let mut changed = false;
            if !the_parser_suffices(&case) {
                continue;
            }
            match check(&mut NaiveSubject::default(), &case, &Knobs::default(), &mut changed) {
                Verdict::Differ(message) => panic!("seed {seed}: {message}"),
                Verdict::Agree => agreed += 1,
                Verdict::Skipped => {}
            }
            changing += i32::from(changed);
        }
        assert!(agreed > 300 && changing * 3 > agreed * 2, "{agreed} agree, {changing} change something");
    }

    /// An error that a subject makes.
    enum Planted {
        /// It does not clear.
        Hoards,
        /// It gives the answer again that it gave before.
        Remembers(HashMap<String, Answer>),
    }

    struct Wrong(NaiveSubject, Planted);

    impl Subject for Wrong {
        fn name(&self) -> &'static str {
            "wrong"
        }

        fn read_rdf(&mut self, bytes: &[u8], format: RdfFormat, base: &str) -> Result<Dataset> {
            self.0.read_rdf(bytes, format, base)
        }

        fn load(&mut self, dataset: &Dataset) -> Result<()> {
            if let Planted::Remembers(answers) = &mut self.1 {
                answers.clear();
            }
            self.0.load(dataset)
        }

        fn query(&mut self, text: &str, settings: &QuerySettings) -> Result<Answer> {
            let Planted::Remembers(answers) = &mut self.1 else { return self.0.query(text, settings) };
            if !answers.contains_key(text) {
                answers.insert(text.to_owned(), self.0.query(text, settings)?);
            }
            answers.get(text).cloned().context("no answer")
        }

        fn update(&mut self, text: &str, settings: &QuerySettings) -> Result<()> {
            let hoards = matches!(self.1, Planted::Hoards);
            if hoards && text.contains("CLEAR ") { Ok(()) } else { self.0.update(text, settings) }
        }

        fn contents(&mut self) -> Result<Dataset> {
            self.0.contents()
        }

        fn has_services(&self) -> bool {
            true
        }

        fn parse_query(&self, text: &str, base: &str) -> Result<()> {
            self.0.parse_query(text, base)
        }

        fn parse_update(&self, text: &str, base: &str) -> Result<()> {
            self.0.parse_update(text, base)
        }
    }

    #[test]
    fn a_planted_error_is_found_and_made_small() {
        let mut subject = Wrong(NaiveSubject::default(), Planted::Hoards);
        let summary = run(&mut subject, 0, 300, 1000, &mut |_| {});
        let found = summary.failures.iter().find(|failure| failure.contains("CLEAR "));
        let failure = found.expect("no difference found");
        assert!(failure.len() < 1500, "not made small:\n{failure}");
    }

    #[test]
    fn an_answer_that_is_no_longer_right_is_found() {
        let mut subject = Wrong(NaiveSubject::default(), Planted::Remembers(HashMap::new()));
        let summary = run(&mut subject, 0, 100, 1000, &mut |_| {});
        let of_graphs = |failure: &&String| {
            failure.contains("after request")
                && failure.contains("of the query")
                && failure.contains("GRAPH :g")
        };
        let failure = summary.failures.iter().find(of_graphs).expect("no difference found");
        assert!(failure.len() < 2500, "not made small:\n{failure}");
    }
}
