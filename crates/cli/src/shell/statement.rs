//! Where statements end.

use super::names::COMMANDS;
use lode_assist::{Wholeness, wholeness};

/// Longer texts are looked at only where their braces may be closed.
const LOOKED_AT_BYTES: usize = 64 << 10;

/// Whether a line is a command of the shell: a dot and a letter, or a word that people try who do not know the shell yet.
pub fn is_command(line: &str) -> bool {
    if ["quit", "exit", "help"].contains(&line.trim()) {
        return true;
    }
    let mut chars = line.trim_start().chars();
    chars.next() == Some('.') && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
}

/// Whether a line begins with the name of a command, which ends what was not finished before it: no line of a statement begins so.
fn is_named(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("");
    COMMANDS.iter().any(|(name, ..)| *name == word)
}

/// Words that begin a statement and stand nowhere within one that has a brace open. SELECT does.
const BEGINNINGS: [&str; 15] = [
    "PREFIX",
    "BASE",
    "ASK",
    "CONSTRUCT",
    "DESCRIBE",
    "INSERT",
    "DELETE",
    "WITH",
    "LOAD",
    "CLEAR",
    "DROP",
    "CREATE",
    "ADD",
    "MOVE",
    "COPY",
];

/// Whether a line begins a statement, so that what is open before it was never finished.
fn begins_statement(line: &str) -> bool {
    // Prefixes may have the same names.
    let word = line.split(|c: char| c.is_whitespace() || c == '{').next().unwrap_or("");
    BEGINNINGS.iter().any(|beginning| beginning.eq_ignore_ascii_case(word))
}

/// A text without the semicolon that ends it, where it is whole without it.
pub fn without_semicolon(text: &str) -> Option<&str> {
    let before = text.trim_end().strip_suffix(';')?;
    (wholeness(before) == Wholeness::Whole).then_some(before)
}

/// Whether Enter runs what was typed, or begins a line more. What is not finished goes on behind an empty line, as it does in a script; two of them
/// run it, which tells what is missing.
pub fn is_complete(typed: &str) -> bool {
    let text = match typed.trim_start().strip_prefix(".explain ") {
        Some(query) => query,
        None if is_command(typed) => return true,
        None => typed,
    };
    let end = text.get(text.trim_end().len()..).unwrap_or("");
    text.trim().is_empty() || end.matches('\n').count() > 1 || wholeness(text) != Wholeness::Unfinished
}

/// Lines on their way to be statements and commands.
#[derive(Debug, Default)]
pub struct Statements {
    text: String,
    /// Braces that are open, also those in texts.
    open: i64,
    /// The last line was empty.
    gap: bool,
}

impl Statements {
    /// Takes a line; what it ends comes back.
    pub fn push(&mut self, line: &str) -> Vec<String> {
        let ends_here = is_command(line) && (self.text.trim().is_empty() || self.is_finished());
        if ends_here || is_named(line) && !self.is_in_string() {
            let before = self.end();
            return before.into_iter().chain([line.trim().to_owned()]).collect();
        }
        let after_gap = std::mem::replace(&mut self.gap, line.trim().is_empty());
        if after_gap && begins_statement(line) && self.open > 0 && !self.is_in_string() {
            let before = self.end();
            return before.into_iter().chain(self.push(line)).collect();
        }
        if line.trim().is_empty() {
            let ends = !self.text.trim().is_empty() && self.is_finished();
            return if ends { self.end().into_iter().collect() } else { Vec::new() };
        }
        self.text.push_str(line);
        self.text.push('\n');
        for c in line.chars() {
            self.open += i64::from(c == '{') - i64::from(c == '}');
        }
        let ends = line.trim_end().ends_with(';') && self.may_be_closed();
        if ends && without_semicolon(&self.text).is_some() {
            self.end().into_iter().collect()
        } else {
            Vec::new()
        }
    }

    /// Whether a string of several lines is open.
    fn is_in_string(&self) -> bool {
        [r#"""""#, "'''"].iter().any(|quotes| self.text.matches(quotes).count() % 2 == 1)
    }

    fn may_be_closed(&self) -> bool {
        self.open <= 0 || self.text.len() < LOOKED_AT_BYTES
    }

    fn is_finished(&self) -> bool {
        self.may_be_closed() && wholeness(&self.text) != Wholeness::Unfinished
    }

    /// What is left at the end, if that is something.
    pub fn end(&mut self) -> Option<String> {
        self.open = 0;
        let text = std::mem::take(&mut self.text);
        let text = without_semicolon(&text).unwrap_or(&text).trim_end();
        (!text.trim().is_empty()).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Vec<String> {
        let mut statements = Statements::default();
        let mut all: Vec<String> = text.lines().flat_map(|line| statements.push(line)).collect();
        all.extend(statements.end());
        all
    }

    #[test]
    fn a_script_has_statements_and_commands() {
        let text = "PREFIX e: <http://e/>\n\nSELECT * {\n ?s a e:C ;\n  e:p ?o }\nLIMIT 3 ;\n.mode csv\nASK {}\n.quit\n";
        let expected = [
            "PREFIX e: <http://e/>\nSELECT * {\n ?s a e:C ;\n  e:p ?o }\nLIMIT 3",
            ".mode csv",
            "ASK {}",
            ".quit",
        ];
        assert_eq!(statements(text), expected);
        assert_eq!(
            statements("ASK {}\n\nASK { ?s ?p ?o\n. ?s ?q ?r }"),
            ["ASK {}", "ASK { ?s ?p ?o\n. ?s ?q ?r }"]
        );
        assert_eq!(statements("SELCT * {}\n\nASK {}"), ["SELCT * {}", "ASK {}"]);
        assert_eq!(statements("ASK {\n"), ["ASK {"]);
        // What was never finished ends before what cannot be in it.
        assert_eq!(statements("SELECT * {\n\nASK {}\n"), ["SELECT * {", "ASK {}"]);
        assert_eq!(statements("SELECT * {\n.timer on\nASK {}\n"), ["SELECT * {", ".timer on", "ASK {}"]);
        assert_eq!(statements("SELECT * {\n\n{ SELECT ?s { ?s ?p ?o } } }\n").len(), 1);
        assert_eq!(statements("INSERT DATA { <a:a> <a:b> \"\"\"x\n\n.timer on\n\nASK {}\"\"\" }\n").len(), 1);
        assert!(statements("\n\n").is_empty());
    }

    #[test]
    fn enter_runs_what_is_whole_or_wrong() {
        for text in [
            "",
            "ASK {}",
            "ASK {};",
            "SELCT",
            "ASK {\n\n",
            "ASK {\n  \n ",
            ".graphs",
            ".explain ASK {}",
            "ASK { ?s ?p }",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in
            ["ASK {", "ASK {\n", "ASK {\n ", "SELECT * WHERE", ".explain ASK {", "PREFIX e: <http://e/>"]
        {
            assert!(!is_complete(text), "{text}");
        }
    }
}
