//! Every query of the W3C suites has a plan, optimised or not, and the plan keeps its contract.

use crate::fake::Everything;
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{PlanOptions, parse_query, plan_query, validate};
use std::path::{Path, PathBuf};

/// The folder of the suites, where there is one.
pub fn suites() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let given = std::env::var_os("LODE_SUITES").map(PathBuf::from);
    let path = given.unwrap_or_else(|| root.join("../shared/suites"));
    path.is_dir().then_some(path)
}

/// The files of a folder, and of those in it, that have such endings; sorted.
pub fn files_of(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let ends = path.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending));
            if path.is_dir() {
                open.push(path);
            } else if ends {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_query_has_a_valid_plan() {
    let Some(suites) = suites() else {
        println!("skipped: no W3C suites (set LODE_SUITES)");
        return;
    };
    let files = files_of(&suites, &["rq"]);
    let (mut planned, mut refused) = (0, 0);
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Ok(query) = parse_query(&text, Some("http://example.org/base/")) else {
            refused += 1;
            continue;
        };
        for optimize in [false, true] {
            for union in [false, true] {
                let options = PlanOptions { optimize, default_graph_union: union, ..PlanOptions::default() };
                let stats = Everything::default();
                let plan = plan_query(&query, &DatasetOverride::default(), &options, &stats)
                    .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                validate::validate(&plan).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            }
        }
        planned += 1;
    }
    println!("{planned} queries planned, {refused} not parsed");
    assert!(planned > 500, "only {planned} queries of {} were parsed", files.len());
}
