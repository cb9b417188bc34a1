//! Tables for terminals and for files.

use super::{SAMPLE_ROWS, Table, TableOptions};
use lode_rdf::serialize::Prefixes;
use lode_rdf::{Literal, NamedNode, Term};

fn iri(text: &str) -> Term {
    NamedNode::new(text).unwrap().into()
}

fn text(text: &str) -> Term {
    Literal::from(text).into()
}

fn drawn(names: &[&str], rows: &[Vec<Term>], options: TableOptions) -> String {
    let mut out = Vec::new();
    let mut table = Table::new(names, options);
    for row in rows {
        table.push(row.iter().map(Some), &mut out).unwrap();
    }
    table.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn for_terminal(width: usize) -> TableOptions {
    let prefixes = Prefixes::new([("foaf", "http://xmlns.com/foaf/0.1/")]);
    TableOptions { width: Some(width), prefixes, bars: vec!["n".to_owned()] }
}

/// Columns of the widest line.
fn widest(table: &str) -> usize {
    table.lines().map(super::width::width).max().unwrap_or(0)
}

#[test]
fn whole_cells_without_a_terminal() {
    let long = format!("http://e/{}", "x".repeat(200));
    let rows = [vec![iri("http://e/a"), iri(&long)], vec![iri("http://e/longer"), text("b")]];
    let table = drawn(&["s", "o"], &rows, TableOptions::default());
    let expected = format!(
        "?s                 ?o\n{}  {}\n<http://e/a>       <{long}>\n<http://e/longer>  \"b\"\n",
        "-".repeat(17),
        "-".repeat(60)
    );
    assert_eq!(table, expected);
}

#[test]
fn a_terminal_has_prefixes_cuts_and_bars() {
    let row = |name: &str, n: i64| {
        vec![iri(&format!("http://xmlns.com/foaf/0.1/{name}")), Literal::from(n).into(), iri("http://e/x")]
    };
    let rows = [row("name", 200), row("knows", 50)];
    let table = drawn(&["p", "n", "x"], &rows, for_terminal(80));
    let expected = "?p           ?n               ?x\n\
                    ----------  ---               ------------\n\
                    foaf:name   200 ████████████  <http://e/x>\n\
                    foaf:knows   50 ███           <http://e/x>\n";
    assert_eq!(table, expected);
    let narrow = drawn(&["p", "n", "x"], &rows, for_terminal(24));
    assert!(widest(&narrow) <= 24 && narrow.contains("fo…:name") && !narrow.contains('█'), "{narrow}");
}

#[test]
fn names_are_cut_before_what_tells_them_apart() {
    let product = |number: u32| {
        iri(&format!(
            "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/dataFromProducer{number}/Product{number}"
        ))
    };
    let rows = [vec![product(1), text(&"x".repeat(60))], vec![product(12), text("y")]];
    let table = drawn(&["product", "text"], &rows, for_terminal(60));
    assert!(
        table.contains("\n<http://www4.wiwis…/Product1>  ")
            && table.contains("\n<http://www4.wiwi…/Product12>  "),
        "{table}"
    );
    assert!(table.contains(&format!("\"{}…\n", "x".repeat(27))), "{table}");
    // A last part that has no room: both ends of it, the end more.
    let long = |end: &str| iri(&format!("http://e/{}{end}", "n".repeat(500)));
    let table = drawn(&["a"], &[vec![long("one")], vec![long("two/")]], for_terminal(30));
    let expected = "?a\n------------------------------\n<http://e…nnnnnnnnnnnnnnnnone>\n<http://e…nnnnnnnnnnnnnnntwo/>\n";
    assert_eq!(table, expected);
    // Of a long one not more than its ends waits.
    let mut table = Table::new(&["a"], for_terminal(80));
    table.push([long(&"é".repeat(5 << 20))].iter().map(Some), &mut Vec::new()).unwrap();
    assert!(table.waiting_bytes < 1000);
}

#[test]
fn every_line_keeps_to_the_width() {
    let names = [
        "漢字漢字漢字漢字漢字漢字漢字",
        "한글",
        "e\u{301}e\u{301}",
        "😀😀😀😀😀😀😀😀",
        "short",
        "\u{202E}abc\u{1B}[31m",
    ];
    let rows: Vec<Vec<Term>> = (0..2 * SAMPLE_ROWS)
        .map(|row| {
            let cell = |column: usize| text(&names[(row + column) % names.len()].repeat(1 + row % 7));
            vec![cell(0), cell(1), cell(2)]
        })
        .collect();
    for width in [40, 41, 42, 80, 120] {
        let table = drawn(&["a", "b", "c"], &rows, for_terminal(width));
        assert!(widest(&table) <= width, "{width}: {}", widest(&table));
        assert_eq!(table.lines().count(), 2 + rows.len());
        assert!(!table.contains(['\u{1B}', '\u{202E}']), "{table}");
    }
}

#[test]
fn wide_characters_stand_in_columns() {
    let rows = [vec![text("漢字"), text("x")], vec![text("abcd"), text("y")]];
    let table = drawn(&["a", "b"], &rows, for_terminal(80));
    assert_eq!(table, "?a      ?b\n------  ---\n\"漢字\"  \"x\"\n\"abcd\"  \"y\"\n");
}

#[test]
fn long_values_wait_in_part() {
    let rows: Vec<Vec<Term>> = (0..3).map(|_| vec![text(&"y".repeat(5 << 20))]).collect();
    let mut out = Vec::new();
    let mut table = Table::new(&["a"], TableOptions::default());
    table.push(rows[0].iter().map(Some), &mut out).unwrap();
    // So many bytes are sample enough.
    assert!(out.len() > 5 << 20 && table.waiting.is_empty());
    let mut table = Table::new(&["a"], for_terminal(80));
    table.push(rows[0].iter().map(Some), &mut out).unwrap();
    assert!(table.waiting_bytes < 1000);
    let tagged: Term = Literal::new_language_tagged_literal_unchecked("a", "en").into();
    let typed: Term =
        Literal::new_typed_literal("x", NamedNode::new("http://xmlns.com/foaf/0.1/t").unwrap()).into();
    let table = drawn(&["a", "b"], &[vec![tagged, typed]], for_terminal(80));
    assert!(table.ends_with("\"a\"@en  \"x\"^^foaf:t\n"), "{table}");
}
