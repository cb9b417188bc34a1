//! `lode bench load`.

use crate::lode::Lode;

#[test]
fn a_case_is_loaded_and_goes_into_the_table() {
    let lode = Lode::new();
    let (begin, end) = ("<!-- table of lode bench load: begin -->", "<!-- table of lode bench load: end -->");
    lode.write("page.md", format!("before\n{begin}\n{end}\nafter\n"));
    let args =
        ["bench", "load", "--cases", "bsbm-50k", "--runs", "1", "--folder", "data", "--markdown", "page.md"];
    let table = lode.run(&args).ok();
    let row = table
        .lines()
        .find(|line| line.starts_with("| bsbm-50k (nt) | "))
        .unwrap_or_else(|| panic!("{table}"));
    assert_eq!(row.matches('|').count(), 9, "{row}");
    let page = std::fs::read_to_string(lode.path("page.md")).unwrap();
    assert!(page.starts_with("before\n") && page.ends_with("after\n") && page.contains(row), "{page}");
    assert!(lode.path("data/bsbm-127.nt").exists() && !lode.path("data/bench.db").exists());
}

#[test]
fn cases_are_listed_and_unknown_ones_refused() {
    let lode = Lode::new();
    let list = lode.run(&["bench", "load", "--list", "--up-to", "1000000000"]).ok();
    assert!(list.contains("bsbm-100m") && list.contains("--memory 8GiB"), "{list}");
    let error = lode.run(&["bench", "load", "--cases", "nonsense"]).fails(1);
    assert!(error.contains("--list"), "{error}");
}
