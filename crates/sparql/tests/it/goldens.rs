//! Plans of typical queries over the shop, as text: `tests/plans/*.rq` and the `.plan` beside each. `UPDATE_GOLDEN=1` writes them.

use crate::shop::{NS, shop};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{PlanOptions, explain, parse_query, plan_query, plan_query_without, rule_names, validate};
use spargebra::Query;
use std::path::{Path, PathBuf};

/// The queries of a folder, with their files.
fn queries(folder: &Path) -> Vec<(PathBuf, Query)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/plans")
        .map(|e| e.expect("entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "rq"))
        .collect();
    files.sort();
    assert!(files.len() > 10, "only {} goldens", files.len());
    let parse = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("readable");
        let query = parse_query(&format!("PREFIX : <{NS}>\n{text}"), None)
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        (file, query)
    };
    files.into_iter().map(parse).collect()
}

#[test]
fn plans_are_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let stats = shop();
    let mut differing = Vec::new();
    for (file, query) in queries(&folder) {
        let mut actual = String::new();
        for optimize in [true, false] {
            let options = PlanOptions { optimize, ..PlanOptions::default() };
            let plan = plan_query(&query, &DatasetOverride::default(), &options, stats)
                .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            validate::validate(&plan).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            if optimize {
                let short = |id| stats.text(id).replace(NS, ":");
                actual = explain(&plan, &short).to_text(&|_| String::new()).replace(NS, ":");
            }
        }
        let golden = file.with_extension("plan");
        if update {
            std::fs::write(&golden, &actual).expect("writable");
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != actual {
            differing.push(format!("{}:\n{actual}", golden.display()));
        }
    }
    assert!(differing.is_empty(), "plans differ (UPDATE_GOLDEN=1 accepts):\n{}", differing.join("\n"));
}

#[test]
fn each_rule_can_be_switched_off_and_changes_some_plan() {
    let queries = queries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans"));
    let stats = shop();
    let text = |query: &Query, rules_off: &[&str]| {
        let (dataset, options) = (DatasetOverride::default(), PlanOptions::default());
        let plan = plan_query_without(rules_off, query, &dataset, &options, stats).expect("a plan");
        validate::validate(&plan).unwrap_or_else(|e| panic!("without {rules_off:?}: {e}"));
        let rules = rule_names().into_iter().filter(|rule| plan.steps.iter().any(|step| step.name == *rule));
        assert!(rules.eq(rule_names().into_iter().filter(|rule| !rules_off.contains(rule))));
        assert!(plan.steps.windows(2).all(|two| two[0].nodes_after == two[1].nodes_before));
        explain(&plan, &|id| stats.text(id)).to_text(&|_| String::new())
    };
    let all: Vec<String> = queries.iter().map(|(_, query)| text(query, &[])).collect();
    for rule in rule_names() {
        let differs = |((_, query), all): (&(PathBuf, Query), &String)| text(query, &[rule]) != *all;
        assert!(queries.iter().zip(&all).any(differs), "{rule} changes no plan");
    }
}
