//! JSON-LD to RDF: the suite's manifest is JSON-LD itself, read as plain JSON.

use super::report::{Outcome, Report};
use super::syntax;
use crate::rdf_files::{self, RdfFormat, read_bytes};
use crate::subject::{Subject, no_panic};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;

const MANIFEST: &str = "w3c-json-ld/toRdf-manifest.jsonld";
const SITE: &str = "https://w3c.github.io/json-ld-api/tests/";
const ROW: &str = "JSON-LD to RDF";

/// Runs the suite. Contexts that lie in other files are loaded by the reference parser only, so it is the one that is tested; where a
/// document needs none, the subject has to read the same.
pub(super) fn run(subject: &mut dyn Subject, folder: &Path, report: &mut Report) -> Result<()> {
    let path = folder.join(MANIFEST);
    if !path.is_file() {
        report.missing(ROW);
        return Ok(());
    }
    let manifest: Value = serde_json::from_slice(&read_bytes(&path)?)?;
    let tests = manifest.get("sequence").and_then(Value::as_array).context("no sequence")?;
    let folder = folder.join("w3c-json-ld");
    for test in tests {
        let id = text(test, "@id").context("a test without @id")?;
        let iri = format!("{SITE}toRdf-manifest{id}");
        report.add(ROW, &iri, outcome(subject, test, &folder));
    }
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn outcome(subject: &mut dyn Subject, test: &Value, folder: &Path) -> Outcome {
    let option = test.get("option").unwrap_or(&Value::Null);
    if text(option, "specVersion") == Some("json-ld-1.0") {
        return Outcome::NotRun("for JSON-LD 1.0 only, replaced in 1.1");
    }
    if option.get("produceGeneralizedRdf").and_then(Value::as_bool) == Some(true) {
        return Outcome::NotRun("generalised RDF (blank nodes as predicates) cannot be stored");
    }
    if option.get("rdfDirection").is_some() {
        return Outcome::NotRun("rdfDirection is replaced by RDF 1.2's base directions");
    }
    if option.get("expandContext").is_some() {
        return Outcome::NotRun("the parser has no expandContext option");
    }
    match check(subject, test, option, folder) {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

fn check(subject: &mut dyn Subject, test: &Value, option: &Value, folder: &Path) -> Result<()> {
    let input = text(test, "input").context("no input")?;
    let base = text(option, "base").map_or_else(|| format!("{SITE}{input}"), str::to_owned);
    let old = text(option, "processingMode") == Some("json-ld-1.0");
    let bytes = read_bytes(&folder.join(input))?;
    let parsed = rdf_files::parse_json_ld(&bytes, &base, old, SITE, folder.to_owned());
    if !old {
        let alone = rdf_files::parse(&bytes, RdfFormat::JsonLd, &base);
        match (alone, no_panic(|| subject.read_rdf(&bytes, RdfFormat::JsonLd, &base))) {
            (Ok(alone), read) => syntax::same(&alone, &read?)?,
            (Err(_), Ok(_)) => bail!("the subject reads what the reference parser refuses"),
            (Err(_), Err(_)) => {}
        }
    }
    let kinds = test.get("@type").and_then(Value::as_array).context("no type")?;
    if kinds.iter().any(|k| k == "jld:NegativeEvaluationTest") {
        if parsed.is_ok() {
            bail!("the document is read, but should be refused");
        }
        return Ok(());
    }
    let got = parsed?;
    match text(test, "expect") {
        Some(expect) => {
            let wanted = rdf_files::read(&folder.join(expect), &format!("{SITE}{expect}"))?;
            syntax::same(&wanted, &got)
        }
        None => Ok(()),
    }
}
