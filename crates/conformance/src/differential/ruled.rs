//! The differential tests once more, for who may read some graphs only: over a store with more in it the answers must be those of the oracle over
//! the graphs that may be read, and nothing else; updates must be refused where the rules say so, change nothing that may not be changed, and
//! else do what the oracle does to the graphs that may be read.
//!
//! Whether an update may be made is worked out here from the text of the rules, in another way than the engine does.

use super::updates::{Expected, expected_of, same, show};
use super::{STEPS_MAX, Summary, Verdict, check_query, verdict};
use crate::dataset::Dataset;
use crate::engine_subject::EngineSubject;
use crate::generate::updates::{Operation, UpdateCase};
use crate::generate::{Case, Random};
use crate::knobs::Knobs;
use crate::naive;
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{QuerySettings, Subject, no_panic};
use anyhow::{Context, Result, bail};
use lode_engine::{GraphPattern, GraphRules, GraphSet};
use lode_sparql::update::{self as engine, GraphTarget, QuadTemplate, TermTemplate, TransferKind};
use oxrdf::{GraphName, NamedNode, Quad, Term};

/// The graphs of all cases, and one that no query names.
const GRAPHS: [&str; 5] = ["", "http://e/g1", "http://e/g2", "http://e/g3", "http://e/kept/secret"];

/// Rules, as the names of graphs.
#[derive(Debug)]
struct Rules {
    read: Vec<&'static str>,
    write: Vec<&'static str>,
}

/// The name of a graph; that of the default graph is empty.
fn name(graph: &GraphName) -> &str {
    match graph {
        GraphName::NamedNode(node) => node.as_str(),
        _ => "",
    }
}

impl Rules {
    fn new(random: &mut Random) -> Self {
        let mut some = |percent: usize| -> Vec<&'static str> {
            GRAPHS.iter().copied().filter(|_| random.chance(percent)).collect()
        };
        let (read, others) = (some(55), some(60));
        // Most often what may be written may be read.
        let write = if random.chance(30) { others } else { read.clone() };
        Self { read, write }
    }

    fn of_engine(&self, random: &mut Random) -> GraphRules {
        let mut set = |names: &[&'static str]| {
            GraphSet::of(names.iter().map(|name| match *name {
                "" => GraphPattern::Default,
                name if random.chance(30) => GraphPattern::Prefix(name.to_owned()),
                name => GraphPattern::Name(name.to_owned()),
            }))
        };
        GraphRules { read: set(&self.read), write: set(&self.write) }
    }

    fn reads(&self, graph: &str) -> bool {
        self.read.contains(&graph)
    }

    fn adds(&self, graph: &str) -> bool {
        self.write.contains(&graph)
    }

    fn removes(&self, graph: &str) -> bool {
        self.reads(graph) && self.adds(graph)
    }

    /// The quads that may be read, and the others.
    fn split(&self, whole: &Dataset) -> (Dataset, Dataset) {
        let (mut seen, mut unseen) = (Dataset::new(), Dataset::new());
        for quad in whole.quads() {
            let to = if self.reads(name(&quad.graph_name)) { &mut seen } else { &mut unseen };
            to.insert(quad.clone());
        }
        (seen, unseen)
    }
}

/// The data of a case, some of it also in other graphs.
fn spread(text: &str, random: &mut Random) -> Result<Dataset> {
    let data = parse(text.as_bytes(), RdfFormat::TriG, "http://e/").context("the data")?;
    let mut whole = Dataset::new();
    for quad in data.quads() {
        whole.insert(quad.clone());
        if random.chance(40) {
            let graph_name = match *random.pick(&GRAPHS) {
                "" => GraphName::DefaultGraph,
                name => NamedNode::new(name)?.into(),
            };
            whole.insert(Quad { graph_name, ..quad.clone() });
        }
    }
    Ok(whole)
}

/// Runs the queries of seeds `first..first + pairs`.
///
/// # Errors
///
/// The first that differs, or that too few were compared.
pub fn run(first: u64, pairs: u64) -> Result<()> {
    run_with(&mut EngineSubject::default(), first, pairs)
}

/// The same with any engine.
///
/// # Errors
///
/// As [`run`].
pub fn run_with(subject: &mut EngineSubject, first: u64, pairs: u64) -> Result<()> {
    let mut summary = Summary::default();
    for seed in first..first.saturating_add(pairs) {
        let (case, knobs) = (Case::new(seed), Knobs::new(seed));
        let mut random = Random::new(seed ^ 0x005e_c2e7);
        let rules = Rules::new(&mut random);
        let whole = spread(&case.data_text(), &mut random)?;
        let told = |message: String| {
            let (query, data) = (case.query_text(), show(&whole));
            format!(
                "seed {seed}, {rules:?}, {knobs:?}, union {}\n{data}{query}{message}",
                case.union_default_graph
            )
        };
        let mut ask = |random: &mut Random| -> Result<Verdict> {
            subject.configure(&knobs);
            subject.set_rules(GraphRules::default());
            no_panic(|| subject.load(&whole)).context("loading")?;
            // Plans of those who may read all must be none for others, and the other way round.
            let all_first = random.chance(50);
            if all_first
                && let differs @ Verdict::Differ(_) = check_query(subject, &whole, &case, &knobs, &mut false)?
            {
                return Ok(differs);
            }
            subject.set_rules(rules.of_engine(random));
            let mut not_empty = false;
            let verdict = check_query(subject, &rules.split(&whole).0, &case, &knobs, &mut not_empty)?;
            summary.with_rows += u64::from(not_empty);
            subject.set_rules(GraphRules::default());
            if !all_first
                && let differs @ Verdict::Differ(_) = check_query(subject, &whole, &case, &knobs, &mut false)?
            {
                return Ok(differs);
            }
            Ok(verdict)
        };
        match ask(&mut random).unwrap_or_else(|error| Verdict::Differ(format!("{error:#}"))) {
            Verdict::Agree => summary.agreed += 1,
            Verdict::Skipped => summary.skipped += 1,
            Verdict::Differ(message) => bail!(told(message)),
        }
    }
    verdict(&summary)?;
    if summary.with_rows * 5 < summary.agreed {
        bail!("only {} of {} answers had rows", summary.with_rows, summary.agreed);
    }
    Ok(())
}

/// What became of the requests of some cases.
#[derive(Debug, Default)]
pub struct Requests {
    /// Those that were made.
    pub made: u64,
    /// Those that were refused, as they had to be.
    pub refused: u64,
    /// Those that were refused for graphs that came out of WHERE.
    pub refused_for_rows: u64,
    /// Those that fail whoever makes them.
    pub failed: u64,
}

/// Runs the updates of seeds `first..first + cases`.
///
/// # Errors
///
/// The first that differs.
pub fn run_updates(first: u64, cases: u64) -> Result<Requests> {
    let (mut requests, mut subject) = (Requests::default(), EngineSubject::default());
    for seed in first..first.saturating_add(cases) {
        let (case, knobs) = (UpdateCase::new(seed), Knobs::of_updates(seed));
        let mut random = Random::new(seed ^ 0x005e_c2e7);
        let rules = Rules::new(&mut random);
        subject.configure(&knobs);
        subject.set_rules(rules.of_engine(&mut random));
        let whole = spread(&case.data_text(), &mut random)?;
        no_panic(|| subject.load(&whole)).context("loading")?;
        check(&mut subject, &case, &rules, &knobs, whole, &mut requests).with_context(|| {
            format!("seed {seed}, {rules:?}, {knobs:?}, union {}", case.union_default_graph)
        })?;
    }
    Ok(requests)
}

fn check(
    subject: &mut EngineSubject,
    case: &UpdateCase,
    rules: &Rules,
    knobs: &Knobs,
    mut whole: Dataset,
    requests: &mut Requests,
) -> Result<()> {
    let union_default_graph = case.union_default_graph;
    let options = naive::Options { union_default_graph, steps_max: STEPS_MAX, ..naive::Options::default() };
    let settings = QuerySettings { union_default_graph, ..QuerySettings::default() };
    for request in &case.requests {
        let Some(wanted) = wanted(&request.operations, rules, &whole, &options)? else { return Ok(()) };
        let got =
            no_panic(|| subject.update(&request.text(), &settings)).map_err(|error| format!("{error:#}"));
        let is_refused = matches!(&got, Err(message) if message.contains("you may not change"));
        match (&wanted, &got) {
            (_, Err(message)) if knobs.may_refuse(message) => return Ok(()),
            (Wanted::State { .. }, Ok(())) => requests.made += 1,
            (Wanted::State { by_rows: true, .. }, Err(_)) if is_refused => requests.refused_for_rows += 1,
            (Wanted::Refusal, Err(_)) if is_refused => requests.refused += 1,
            (Wanted::Failure, Err(_)) => requests.failed += 1,
            _ => bail!(
                "{wanted:?} was expected of\n{}and {got:?} came, over\n{}",
                request.text(),
                show(&whole)
            ),
        }
        let before = whole;
        whole = match wanted {
            Wanted::State { whole, .. } if got.is_ok() => whole,
            _ => before.clone(),
        };
        let held = no_panic(|| subject.contents()).context("reading what there is")?;
        if !same(&whole, &held) {
            bail!(
                "after\n{}over\n{}expected\n{}got\n{}",
                request.text(),
                show(&before),
                show(&whole),
                show(&held)
            );
        }
        // Blank nodes have its names from now on.
        whole = held;
    }
    Ok(())
}

/// What should come of a request.
#[derive(Debug)]
enum Wanted {
    /// `by_rows`: it may be refused, for graphs that come out of WHERE.
    State {
        whole: Dataset,
        by_rows: bool,
    },
    /// By its text.
    Refusal,
    Failure,
}

/// None where the oracle would take too long.
fn wanted(
    operations: &[Operation],
    rules: &Rules,
    whole: &Dataset,
    options: &naive::Options,
) -> Result<Option<Wanted>> {
    let (mut seen, mut unseen) = rules.split(whole);
    let mut by_rows = false;
    let mut parsed = Vec::new();
    for operation in operations {
        let update = lode_sparql::parse_update(&operation.request_text(), None).context("the request")?;
        for one in &update.operations {
            match by_text(one, rules) {
                Some(true) => {}
                Some(false) => return Ok(Some(Wanted::Refusal)),
                None => by_rows = true,
            }
        }
        parsed.push((operation, update));
    }
    for (operation, update) in parsed {
        if update.operations.iter().any(|one| !may_clear(one, rules, &seen)) {
            return Ok(Some(Wanted::Failure));
        }
        let state = match expected_of(operation, &seen, options)? {
            Expected::State(state) => state,
            Expected::Failure => return Ok(Some(Wanted::Failure)),
            Expected::Unknown => return Ok(None),
        };
        let (now_seen, added) = rules.split(&state);
        seen = now_seen;
        added.quads().iter().for_each(|quad| unseen.insert(quad.clone()));
    }
    seen.quads().iter().for_each(|quad| unseen.insert(quad.clone()));
    Ok(Some(Wanted::State { whole: unseen, by_rows }))
}

/// Whether an operation is allowed by what it names; none where its rows say more.
fn by_text(operation: &engine::Operation, rules: &Rules) -> Option<bool> {
    let of = |graph: &engine::Graph| graph.as_ref().map_or("", |graph| graph.as_str()).to_owned();
    Some(match operation {
        engine::Operation::InsertData(quads) => quads.iter().all(|quad| rules.adds(name(&quad.graph_name))),
        engine::Operation::DeleteData(quads) => {
            quads.iter().all(|quad| rules.removes(name(&quad.graph_name)))
        }
        engine::Operation::Modify(modify) => {
            let deletes = modify.delete.iter().map(|quad| constant(quad).map(|graph| rules.removes(&graph)));
            let inserts = modify.insert.iter().map(|quad| constant(quad).map(|graph| rules.adds(&graph)));
            let all: Vec<Option<bool>> = deletes.chain(inserts).collect();
            if all.contains(&Some(false)) {
                false
            } else {
                return (!all.contains(&None)).then_some(true);
            }
        }
        engine::Operation::Load { into, .. } => rules.adds(&of(into)),
        engine::Operation::Clear(GraphTarget::One(graph)) => rules.removes(&of(graph)),
        engine::Operation::Clear(GraphTarget::All) => !rules.reads("") || rules.removes(""),
        engine::Operation::Clear(GraphTarget::Named) | engine::Operation::Nothing => true,
        engine::Operation::Create { graph, .. } => rules.adds(graph.as_str()),
        engine::Operation::Transfer(transfer) => match transfer.kind {
            TransferKind::Add => rules.adds(&of(&transfer.to)),
            TransferKind::Copy => rules.removes(&of(&transfer.to)),
            TransferKind::Move => rules.removes(&of(&transfer.to)) && rules.removes(&of(&transfer.from)),
        },
    })
}

/// The graph of a template, if that is no variable.
fn constant(template: &QuadTemplate) -> Option<String> {
    match &template.graph {
        None => Some(String::new()),
        Some(TermTemplate::Const(Term::NamedNode(name))) => Some(name.as_str().to_owned()),
        Some(_) => None,
    }
}

/// Whether all named graphs that can be read may be cleared, where that is asked for.
fn may_clear(operation: &engine::Operation, rules: &Rules, seen: &Dataset) -> bool {
    let clears = matches!(operation, engine::Operation::Clear(GraphTarget::Named | GraphTarget::All));
    let mut named = seen.quads().iter().map(|quad| name(&quad.graph_name)).filter(|name| !name.is_empty());
    !clears || named.all(|name| rules.removes(name))
}
