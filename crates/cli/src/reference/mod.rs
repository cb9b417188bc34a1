//! The reference of the guide, made of what the program itself knows: `cargo xtask reference` writes it, and a test tells when it is out of date.

mod commands;
mod endpoints;
mod formats;
mod functions;
mod metrics;
mod settings;
mod workers;

use std::path::Path;

const FOLDER: &str = "docs/guide/src/reference";

/// The pages, by name.
fn pages() -> [(&'static str, String); 7] {
    [
        ("commands", commands::page()),
        ("workers", workers::page()),
        ("settings", settings::page()),
        ("endpoints", endpoints::page()),
        ("metrics", metrics::page()),
        ("formats", formats::page()),
        ("functions", functions::page()),
    ]
}

#[test]
fn the_reference_is_that_of_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FOLDER);
    let writes = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut stale = Vec::new();
    for (name, text) in pages() {
        let path = folder.join(name).with_extension("md");
        if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        if writes {
            std::fs::write(&path, text).unwrap();
        } else {
            stale.push(format!("{FOLDER}/{name}.md"));
        }
    }
    assert!(stale.is_empty(), "out of date: {}; cargo xtask reference writes them", stale.join(", "));
}

/// A text in a cell of a table, or in a paragraph.
fn plain(text: &str) -> String {
    let text = text.replace('<', "&lt;").replace('*', "\\*").replace('|', "\\|");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as code in a cell of a table.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// A table of these columns.
fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for row in rows {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text.push('\n');
    text
}
