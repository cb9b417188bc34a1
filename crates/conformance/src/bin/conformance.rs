//! Runs the W3C suites and prints the table and every unexpected failure. `--naive` runs the oracle in place of the engine.

use anyhow::Result;
use lode_conformance::engine_subject::EngineSubject;
use lode_conformance::subject::{NaiveSubject, Subject};
use lode_conformance::suites;
use std::io::Write;
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let mut subject: Box<dyn Subject> = if std::env::args().any(|a| a == "--naive") {
        Box::new(NaiveSubject::default())
    } else {
        Box::new(EngineSubject::default())
    };
    let folder = suites::suites_folder();
    let report = suites::run(&mut *subject, &folder)?;
    write!(out, "{report}")?;
    let mut complaints = report.complaints();
    if subject.name() == "engine" {
        let report = suites::run_shacl(&folder)?;
        write!(out, "{report}")?;
        complaints.extend(report.complaints());
    }
    for complaint in &complaints {
        writeln!(out, "\n{complaint}")?;
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
