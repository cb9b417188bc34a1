//! What completes behind the name of a command.

use super::words::{last_word, quoted};
use lode_engine::{OutputFormat, SchemaRules};
use std::path::Path;

/// Names of files that are offered.
const FILES_MAX: usize = 100;

/// What may stand behind a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Argument {
    /// One of these words, in place of what begins there.
    Words { from: usize, words: Vec<String> },
    /// What a statement has behind this beginning, in place of what begins there.
    Statement { from: usize, before: &'static str },
}

/// What may stand at the end of a line with a command; `kept` are names of prefixes.
pub fn argument(line: &str, kept: &[String]) -> Option<Argument> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let from = line.len() - rest.trim_start().len();
    let rest = rest.trim_start();
    let fixed = |all: &[&str]| {
        let fitting = all.iter().filter(|word| word.starts_with(rest));
        Some(Argument::Words { from, words: fitting.map(|word| (*word).to_owned()).collect() })
    };
    match name {
        ".load" | ".read" | ".output" => {
            let (start, word) = last_word(rest);
            Some(Argument::Words { from: from + start, words: files(&word) })
        }
        ".mode" => {
            let formats = OutputFormat::NAMES.split([',', ' ']).map(|name| name.trim_matches(['(', ')']));
            fixed(&formats.filter(|name| OutputFormat::from_name(name).is_some()).collect::<Vec<_>>())
        }
        ".timer" => fixed(&["on", "off"]),
        ".reason" => fixed(&["off"].into_iter().chain(SchemaRules::set_names()).collect::<Vec<_>>()),
        ".explain" if ["on", "off"].iter().any(|word| word.starts_with(rest)) => fixed(&["on", "off"]),
        ".explain" => Some(Argument::Statement { from, before: "" }),
        ".predicates" => Some(Argument::Statement { from, before: "SELECT * { ?s a " }),
        ".describe" => Some(Argument::Statement { from, before: "DESCRIBE " }),
        ".prefix" if rest.starts_with('-') => {
            let names = kept.iter().map(|name| format!("-{name}:")).filter(|name| name.starts_with(rest));
            Some(Argument::Words { from, words: names.collect() })
        }
        _ => None,
    }
}

/// Names of files and folders that begin so.
fn files(begun: &str) -> Vec<String> {
    let (folder, start) = match begun.rfind('/') {
        Some(at) => begun.split_at(at + 1),
        None => ("", begun),
    };
    let looked_at = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let entries = std::fs::read_dir(looked_at).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_shown = name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.'));
        // What controls the terminal is not offered.
        if !is_shown || name.contains(char::is_control) {
            return None;
        }
        let end = if entry.path().is_dir() { "/" } else { "" };
        Some(quoted(&format!("{folder}{name}{end}")))
    });
    let mut found: Vec<String> = found.collect();
    found.sort();
    found.truncate(FILES_MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> (usize, Vec<String>) {
        match argument(line, &["foaf".to_owned(), "e".to_owned()]) {
            Some(Argument::Words { from, words }) => (from, words),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn behind_each_command() {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(words(".timer o"), (7, owned(&["on", "off"])));
        assert_eq!(words(".reason r"), (8, owned(&["rdfs", "rdfs-plus"])));
        assert_eq!(words(".explain of"), (9, owned(&["off"])));
        assert_eq!(words(".mode js"), (6, owned(&["json", "jsonl", "jsonld"])));
        assert_eq!(words(".prefix -f"), (8, owned(&["-foaf:"])));
        let statement = |line| argument(line, &[]);
        assert_eq!(statement(".explain SELECT"), Some(Argument::Statement { from: 9, before: "" }));
        assert_eq!(
            statement(".predicates foaf:P"),
            Some(Argument::Statement { from: 12, before: "SELECT * { ?s a " })
        );
        assert_eq!((statement(".graphs x"), statement(".load")), (None, None));
    }

    #[test]
    fn names_of_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["my data.ttl", "more.nt", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("mine")).unwrap();
        let at = folder.path().to_str().unwrap();
        let line = format!(".load first.ttl {at}/m");
        let expected = [format!("\"{at}/my data.ttl\""), format!("{at}/mine/"), format!("{at}/more.nt")];
        assert_eq!(words(&line), (16, expected.to_vec()));
        assert_eq!(words(&format!(".read \"{at}/my d")), (6, vec![format!("\"{at}/my data.ttl\"")]));
        assert!(words(&format!(".output {at}/nothing")).1.is_empty());
    }
}
