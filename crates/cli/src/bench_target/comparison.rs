//! Whether two stores give the same answer, and if not, in what it differs.

use super::{Client, Digest, Failure, Shape};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Differing rows that are told, of each side.
const ROWS_TOLD: usize = 3;
/// Letters of a row that are told.
const ROW_LETTERS: usize = 300;
/// By how much of itself a number may differ: sums of `xsd:float` depend that much on the order of adding.
const TOLERANCE: f64 = 1e-4;

/// What came of asking both.
pub enum Comparison {
    Same,
    /// Lines that tell the difference.
    Different(Vec<String>),
}

impl Client<'_> {
    /// The digest of an answer. Triples count once, as a graph is a set.
    pub fn digest(&self, text: &str) -> Result<Digest, Failure> {
        let is_set = Shape::of_query(text) == Shape::Triples;
        let (mut digest, mut seen) = (Digest::default(), HashSet::new());
        self.rows(text, &mut |row| {
            if !is_set || seen.insert(row.clone()) {
                digest.add(&row);
            }
        })?;
        Ok(digest)
    }

    fn sorted_rows(&self, text: &str) -> Result<Vec<String>, Failure> {
        let mut rows = Vec::new();
        self.rows(text, &mut |row| rows.push(row))?;
        rows.sort_unstable();
        if Shape::of_query(text) == Shape::Triples {
            rows.dedup();
        }
        Ok(rows)
    }
}

/// Asks the second one what the first has answered with this digest; where it differs, asks both again to tell how.
pub fn compare(
    text: &str,
    digest: Digest,
    one: &Client<'_>,
    two: &Client<'_>,
) -> Result<Comparison, Failure> {
    if two.digest(text)? == digest {
        return Ok(Comparison::Same);
    }
    let (ours, theirs) = (one.sorted_rows(text)?, two.sorted_rows(text)?);
    Ok(difference(text, &ours, &theirs))
}

/// Of sorted rows.
fn difference(text: &str, ours: &[String], theirs: &[String]) -> Comparison {
    let (mut only_ours, mut only_theirs) = without_shared(ours, theirs);
    if is_description(text)
        && ours.is_empty() == theirs.is_empty()
        && (only_ours.is_empty() || only_theirs.is_empty())
    {
        return Comparison::Same;
    }
    if only_ours.len() == only_theirs.len() {
        only_ours.sort_by_key(|row| words_first(row));
        only_theirs.sort_by_key(|row| words_first(row));
        let are_near = only_ours.iter().zip(&only_theirs).all(|(one, two)| is_near(one, two));
        if are_near || are_ties(text, &[&only_ours[..], &only_theirs[..]].concat()) {
            return Comparison::Same;
        }
    }
    let mut lines = vec![format!(
        "{} rows and {}; {} only of the first, {} only of the second",
        ours.len(),
        theirs.len(),
        only_ours.len(),
        only_theirs.len()
    )];
    for (whose, rows) in [("first: ", only_ours), ("second:", only_theirs)] {
        let told = rows.into_iter().take(ROWS_TOLD);
        lines
            .extend(told.map(|row| format!("{whose} {}", row.chars().take(ROW_LETTERS).collect::<String>())));
    }
    Comparison::Different(lines)
}

/// Whether it is a DESCRIBE, of which every store may say as much as it likes.
fn is_description(text: &str) -> bool {
    Shape::first_word(text).eq_ignore_ascii_case("DESCRIBE")
}

/// The rows of each that the other does not have, as often as it does not have them.
fn without_shared<'a>(ours: &'a [String], theirs: &'a [String]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut only_ours, mut only_theirs) = (Vec::new(), Vec::new());
    let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
    loop {
        let order = match (ours.peek(), theirs.peek()) {
            (Some(one), Some(two)) => one.cmp(two),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return (only_ours, only_theirs),
        };
        let one = if order.is_le() { ours.next() } else { None };
        let two = if order.is_ge() { theirs.next() } else { None };
        if order.is_lt() {
            only_ours.extend(one.map(String::as_str));
        } else if order.is_gt() {
            only_theirs.extend(two.map(String::as_str));
        }
    }
}

/// The cells of a row: variables and values.
fn cells(row: &str) -> impl Iterator<Item = (&str, &str)> {
    row.split('\t').map(|cell| cell.split_once('=').unwrap_or(("", cell)))
}

/// A key that brings rows together that differ in numbers a little.
fn words_first(row: &str) -> (Vec<&str>, &str) {
    let words = cells(row).map(|(_, value)| value).filter(|value| value.parse::<f64>().is_err());
    (words.collect(), row)
}

fn is_near(one: &str, two: &str) -> bool {
    let is_near = |(one, two): (&str, &str)| match (one.parse::<f64>(), two.parse::<f64>()) {
        (Ok(one), Ok(two)) => (one - two).abs() <= TOLERANCE * one.abs().max(two.abs()),
        _ => one == two,
    };
    let (one, two): (Vec<_>, Vec<_>) = (cells(one).collect(), cells(two).collect());
    one.len() == two.len() && one.iter().zip(&two).all(|(one, two)| one.0 == two.0 && is_near((one.1, two.1)))
}

/// Whether these rows are a choice among ties where a LIMIT cuts: they all agree in what ORDER BY names.
fn are_ties(text: &str, rows: &[&str]) -> bool {
    let Some((_, end)) = text.rsplit_once("ORDER BY") else { return false };
    let Some((order, _)) = end.split_once("LIMIT") else { return false };
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let keys: Vec<&str> =
        order.split('?').skip(1).filter_map(|rest| rest.split(|c| !is_name(c)).next()).collect();
    let values = |row| -> Vec<_> { cells(row).filter(|(name, _)| keys.contains(name)).collect() };
    let first: Vec<_> = rows.first().map(|row| values(row)).unwrap_or_default();
    !first.is_empty() && rows.iter().all(|row| values(row) == first)
}

#[cfg(test)]
mod tests {
    //! Answers that are the same, and answers that are not.
    use super::*;

    fn told(text: &str, ours: &[&str], theirs: &[&str]) -> Vec<String> {
        let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        match difference(text, &rows(ours), &rows(theirs)) {
            Comparison::Same => Vec::new(),
            Comparison::Different(lines) => lines,
        }
    }

    #[test]
    fn rows_that_one_has_more_often_are_told() {
        let lines = told("", &["a=1", "a=1", "a=2"], &["a=1", "a=2", "a=<x>"]);
        assert_eq!(
            lines,
            ["3 rows and 3; 1 only of the first, 1 only of the second", "first:  a=1", "second: a=<x>"]
        );
        assert_eq!(told("", &["a=1"], &[]).len(), 2);
        assert!(told("", &["a=1"], &["a=1"]).is_empty());
    }

    #[test]
    fn numbers_may_differ_a_little() {
        assert!(told("", &["a=1.5\tb=<x>", "a=9\tb=<y>"], &["a=1.50001\tb=<x>", "a=9\tb=<y>"]).is_empty());
        assert!(
            told("", &["a=1.5\tb=<y>", "a=1.5001\tb=<x>"], &["a=1.5\tb=<x>", "a=1.5001\tb=<y>"]).is_empty()
        );
        assert_eq!(told("", &["a=1.5"], &["a=1.6"]).len(), 3);
        assert_eq!(told("", &["a=1.5"], &["b=1.5"]).len(), 3);
        assert_eq!(told("", &["a=1.5"], &["a=\"1.5\""]).len(), 3);
    }

    #[test]
    fn descriptions_may_say_more() {
        let (few, many) = (["s=<a>"], ["s=<a>", "s=<b>"]);
        assert!(told("PREFIX a: <b>\nDESCRIBE <x>", &few, &many).is_empty());
        assert!(told("DESCRIBE <x>", &many, &few).is_empty());
        assert_eq!(told("DESCRIBE <x>", &[], &few).len(), 2);
        assert_eq!(told("DESCRIBE <x>", &["s=<c>"], &many).len(), 4);
        assert_eq!(told("CONSTRUCT { }", &few, &many).len(), 2);
    }

    #[test]
    fn ties_at_a_limit_may_differ() {
        let text = "SELECT ?a ?n { } ORDER BY DESC(?n) LIMIT 2";
        assert!(told(text, &["a=<x>\tn=3", "a=<y>\tn=2"], &["a=<x>\tn=3", "a=<z>\tn=2"]).is_empty());
        assert_eq!(told(text, &["a=<x>\tn=3", "a=<y>\tn=2"], &["a=<x>\tn=3", "a=<z>\tn=1"]).len(), 3);
        assert_eq!(told(text, &["a=<x>\tn=3", "a=<y>\tn=2"], &["a=<x>\tn=3"]).len(), 2);
        let unlimited = "SELECT ?a ?n { } ORDER BY DESC(?n)";
        assert_eq!(told(unlimited, &["a=<y>\tn=2"], &["a=<z>\tn=2"]).len(), 3);
    }
}
