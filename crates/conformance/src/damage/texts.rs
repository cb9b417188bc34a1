//! Damaged queries.

use super::bytes::damage_text;
use super::{Outcome, Verdict, dice, with_patience};
use crate::dataset::Dataset;
use crate::engine_subject::EngineSubject;
use crate::generate::Case;
use crate::golden;
use crate::naive::{self, NaiveError};
use crate::rdf_files::{RdfFormat, parse};
use crate::subject::{QuerySettings, Subject, no_panic};
use anyhow::{Context, Result, ensure};
use spargebra::SparqlParser;

/// Words of queries whose answer is not determined.
const OPEN: &[&str] = &[
    "limit",
    "offset",
    "reduced",
    "sample",
    "group_concat",
    "rand",
    "uuid",
    "now",
    "bnode",
    "min",
    "max",
    "sum",
    "avg",
    // The oracle knows no geometries.
    "geof:",
    "geosparql/",
    "bif:",
];

/// Cases that share a database.
const PER_DATABASE: u64 = 50;

/// Damages golden and random queries, `count` of them; those that still are queries have to give the oracle's answer.
///
/// # Errors
///
/// Where the golden queries cannot be read, or their data cannot be loaded.
pub fn damaged_queries(seed: u64, count: u64, progress: &mut dyn FnMut(&Outcome)) -> Result<Outcome> {
    let mut texts: Vec<String> = golden::load_all()?.into_iter().map(|g| g.query).collect();
    texts.extend((0..100).map(|n| Case::new(seed.wrapping_add(n)).query_text()));
    let mut outcome = Outcome::default();
    let mut subject = EngineSubject::default();
    let mut data = Dataset::new();
    for number in 0..count {
        let seed = seed.wrapping_add(number);
        if number % PER_DATABASE == 0 {
            data = parse(Case::new(seed).data_text().as_bytes(), RdfFormat::TriG, "http://e/")?;
            subject.load(&data)?;
        }
        let mut random = dice(seed);
        let text = random.pick(&texts).clone();
        let damaged = String::from_utf8_lossy(&damage_text(&mut random, text.as_bytes())).into_owned();
        let (moved, query, quads) = (subject, damaged.clone(), data.clone());
        match with_patience(move || {
            let mut subject = moved;
            let verdict = no_panic(|| judge(&mut subject, &query, &quads));
            Ok((subject, verdict))
        }) {
            Ok((back, verdict)) => {
                subject = back;
                outcome.add(seed, verdict.with_context(|| format!("the query\n{damaged}")));
            }
            Err(error) => {
                outcome.add(seed, Err(error.context(format!("the query\n{damaged}"))));
                subject = EngineSubject::default();
                subject.load(&data)?;
            }
        }
        progress(&outcome);
    }
    Ok(outcome)
}

fn judge(subject: &mut EngineSubject, text: &str, data: &Dataset) -> Result<Verdict> {
    let answer = subject.query(text, &QuerySettings::default());
    let Ok(query) = SparqlParser::new().parse_query(text) else {
        // What the store's own layer makes of it beyond the parser is its affair.
        return Ok(if answer.is_ok() { Verdict::Right } else { Verdict::Refused });
    };
    let Ok(answer) = answer else { return Ok(Verdict::Refused) };
    let lower = text.to_lowercase();
    if OPEN.iter().any(|word| lower.contains(word)) {
        return Ok(Verdict::Right);
    }
    let options = naive::Options { steps_max: 400_000, ..naive::Options::default() };
    match naive::evaluate(&query, data, &options) {
        Err(NaiveError::StepLimit | NaiveError::Service(_) | NaiveError::Update(_)) => Ok(Verdict::Right),
        Ok(wanted) => {
            ensure!(
                wanted.same(&answer, false),
                "expected {}\n  got {}",
                wanted.describe(),
                answer.describe()
            );
            Ok(Verdict::Right)
        }
    }
}
