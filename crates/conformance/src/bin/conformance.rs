//! Runs the W3C suites and prints the table; with `--failures`, every unexpected failure too.

use anyhow::Result;
use lode_conformance::subject::NaiveSubject;
use lode_conformance::suites;
use std::io::Write;
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let report = suites::run(&mut NaiveSubject::default(), &suites::suites_folder())?;
    write!(out, "{report}")?;
    let complaints = report.complaints();
    for complaint in &complaints {
        writeln!(out, "\n{complaint}")?;
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
