//! Texts: those of the W3C suites, of the benchmarks, of the generators, and all of these damaged.

use crate::generate::Case;
use crate::generate::Random;
use crate::generate::updates::UpdateCase;
use lode_sparql::syntax::{Form, TokenKind};
use std::path::{Path, PathBuf};

/// Texts to begin with.
pub struct Corpus {
    texts: Vec<(String, Form)>,
}

/// What is put into a text, or in place of something.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ".",
    ";",
    ",",
    "?x",
    "?made",
    "$y",
    "a",
    "*",
    "|",
    "/",
    "^",
    "!",
    "+",
    "-",
    "-1",
    "+1.5e3",
    "1",
    "<x>",
    "<<",
    ">>",
    "<<(",
    ")>>",
    "{|",
    "|}",
    "~",
    "\"s\"",
    "'''t'''",
    "@en",
    "@ar--rtl",
    "^^",
    "=",
    "!=",
    "<",
    "&&",
    "||",
    "ex:y",
    ":",
    "_:b",
    "TRUE",
    "SELECT",
    "DISTINCT",
    "WHERE",
    "FILTER",
    "OPTIONAL",
    "UNION",
    "MINUS",
    "GRAPH",
    "BIND",
    "VALUES",
    "UNDEF",
    "AS",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "DESC",
    "LIMIT 1",
    "OFFSET 2",
    "COUNT(*)",
    "SUM(?x)",
    "COUNT",
    "EXISTS",
    "NOT",
    "IN",
    "IF",
    "STR(?x)",
    "BOUND(?x)",
    "CONCAT(?x, ?y)",
    "RAND()",
    "PREFIX",
    "BASE",
    "VERSION",
    "FROM",
    "NAMED",
    "ASK",
    "CONSTRUCT",
    "DESCRIBE",
    "INSERT",
    "DELETE",
    "DATA",
    "WITH",
    "USING",
    "CLEAR",
    "COPY",
    "TO",
    "DEFAULT",
    "ALL",
    "SILENT",
    "SERVICE",
    "LATERAL",
    "SEPARATOR",
    "# c\n",
    "\u{e9}",
    "\u{1f600}",
    "\\u0041",
    "\\",
    "\"",
    "'",
];

impl Corpus {
    /// The texts of these folders, and `generated` queries and updates beside.
    pub fn new(folders: &[PathBuf], generated: u64) -> Self {
        let mut files = Vec::new();
        folders.iter().for_each(|folder| gather(folder, &mut files));
        files.sort();
        let mut texts: Vec<(String, Form)> = files
            .iter()
            .filter_map(|file| {
                let is_update = file.extension().is_some_and(|end| end == "ru");
                let form = if is_update { Form::Update } else { Form::Query };
                Some((std::fs::read_to_string(file).ok()?, form)).filter(|(text, _)| text.len() < 20_000)
            })
            .collect();
        for seed in 0..generated {
            texts.push((Case::new(seed).query_text(), Form::Query));
            let requests = UpdateCase::new(seed).requests;
            texts.extend(requests.iter().map(|request| (request.text(), Form::Update)));
        }
        Self { texts }
    }

    /// The texts as they are.
    pub fn texts(&self) -> &[(String, Form)] {
        &self.texts
    }

    /// A text of the corpus, damaged once to three times.
    pub fn damaged(&self, random: &mut Random) -> (String, Form) {
        let (mut text, form) = random.pick(&self.texts).clone();
        for _ in 0..=random.weighted(&[70, 20, 10]) {
            text = damage(&text, form, random);
        }
        (text, form)
    }
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|end| end == "rq" || end == "ru") {
            files.push(path);
        }
    }
}

/// A token deleted, doubled, swapped with another, replaced, something put before it, the text cut, a byte changed.
fn damage(text: &str, form: Form, random: &mut Random) -> String {
    let parsed = lode_sparql::syntax::parse(text, form, lode_sparql::parse::vocabulary());
    let tokens: Vec<_> = parsed.tree.tokens().iter().filter(|token| token.kind() != TokenKind::End).collect();
    if tokens.is_empty() {
        return random.word(PIECES).to_owned();
    }
    let (one, other) = (tokens[random.below(tokens.len())], tokens[random.below(tokens.len())]);
    let put = |span: std::ops::Range<usize>, piece: &str| {
        let (before, after) = (text.get(..span.start).unwrap_or(""), text.get(span.end..).unwrap_or(""));
        format!("{before}{piece}{after}")
    };
    let of = |span: std::ops::Range<usize>| text.get(span).unwrap_or("");
    match random.below(8) {
        0 => put(one.span(), ""),
        1 => put(one.start()..one.start(), &format!("{} ", of(one.span()))),
        2 => {
            let (first, second) = if one.start() <= other.start() { (one, other) } else { (other, one) };
            if first.end() > second.start() {
                return put(one.span(), " ");
            }
            let between = of(first.end()..second.start());
            put(first.start()..second.end(), &format!("{}{between}{}", of(second.span()), of(first.span())))
        }
        3 => put(one.span(), random.word(PIECES)),
        4 => put(one.start()..one.start(), &format!("{} ", random.word(PIECES))),
        5 => put(one.span(), of(other.span())),
        6 if random.chance(20) => text.get(..one.end()).unwrap_or("").to_owned(),
        _ => {
            let at = random.below(text.len());
            let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let end = text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |c| at + c.len_utf8());
            let byte = char::from(u8::try_from(32 + random.below(95)).unwrap_or(b' '));
            match random.below(3) {
                0 => put(at..end, ""),
                1 => put(at..at, &byte.to_string()),
                _ => put(at..end, &byte.to_string()),
            }
        }
    }
}
