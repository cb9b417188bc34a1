//! Aggregates where none may be: inside of each other, and in FILTER and BIND. SPARQL 1.2 forbids both (and 1.1 gives them no meaning), but
//! the parser accepts them.

use super::limits::tokens;

/// The aggregates of SPARQL.
const AGGREGATES: &[&str] = &["count", "sum", "min", "max", "avg", "sample", "group_concat"];

/// An open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Arguments of an aggregate.
    Aggregate,
    /// The condition of a FILTER.
    Filter,
    /// What BIND has.
    Bind,
    /// A group: a pattern inside of an expression (EXISTS) has aggregates of its own.
    Group,
    Other,
}

/// An aggregate at the wrong place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misplaced {
    pub offset: usize,
    pub message: &'static str,
    pub help: &'static str,
}

impl Misplaced {
    fn inside(open: Open, offset: usize) -> Option<Self> {
        let (message, help) = match open {
            Open::Aggregate => (
                "an aggregate inside of an aggregate",
                "aggregate in a sub-query first: { SELECT (COUNT(?x) AS ?n) ... }",
            ),
            Open::Filter => (
                "an aggregate in FILTER",
                "conditions on groups stand behind GROUP BY: HAVING (COUNT(?x) > 1)",
            ),
            Open::Bind => ("an aggregate in BIND", "name it where it is selected: SELECT (COUNT(?x) AS ?n)"),
            Open::Group | Open::Other => return None,
        };
        Some(Self { offset, message, help })
    }
}

/// The first aggregate that stands where none may, if any.
pub(super) fn misplaced(text: &str) -> Option<Misplaced> {
    let mut open = Vec::new();
    // The last token and the one before it, white space and comments left out.
    let mut last = ("", "", 0);
    for range in tokens(text) {
        let token = text.get(range.clone()).unwrap_or("");
        match token {
            "(" if is_aggregate(last.0, last.1) => {
                let within = open.iter().rev().take_while(|o| **o != Open::Group).copied();
                let direct = last.0.eq_ignore_ascii_case("filter").then_some(Open::Filter);
                if let Some(misplaced) =
                    direct.into_iter().chain(within).find_map(|o| Misplaced::inside(o, last.2))
                {
                    return Some(misplaced);
                }
                open.push(Open::Aggregate);
            }
            "(" if last.1.eq_ignore_ascii_case("filter") || last.0.eq_ignore_ascii_case("filter") => {
                open.push(if last.0 == ":" { Open::Other } else { Open::Filter });
            }
            "(" if last.1.eq_ignore_ascii_case("bind") && last.0 != ":" => open.push(Open::Bind),
            "(" | "[" => open.push(Open::Other),
            "{" => open.push(Open::Group),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
        if !token.trim().is_empty() && !token.starts_with('#') {
            last = (last.1, token, range.start);
        }
    }
    None
}

/// Whether a word is an aggregate's name, and not the local part of a prefixed name.
fn is_aggregate(before: &str, word: &str) -> bool {
    before != ":" && AGGREGATES.iter().any(|a| word.eq_ignore_ascii_case(a))
}

#[cfg(test)]
mod tests {
    //! What is nested and what is not.
    use super::misplaced;

    fn nested(text: &str) -> Option<usize> {
        misplaced(text).map(|found| found.offset)
    }

    #[test]
    fn aggregates_in_conditions_and_values_are_found() {
        for (text, offset) in [
            ("SELECT (COUNT(*) AS ?c) { ?s ?p ?a FILTER(COUNT(?a) > 0) }", Some(42)),
            ("SELECT ?s { ?s ?p ?a FILTER (1 < (sum(?a))) } GROUP BY ?s", Some(34)),
            ("ASK { ?s ?p ?a FILTER COUNT(?a) }", Some(22)),
            ("ASK { ?s ?p ?a FILTER ABS(COUNT(?a)) }", Some(26)),
            ("SELECT ?n { ?s ?p ?a BIND(COUNT(?a) AS ?n) }", Some(26)),
            ("SELECT ?s { ?s ?p ?a FILTER(x:count(?a)) BIND(?count AS ?n) }", None),
            ("SELECT ?s { ?s ?p ?a FILTER(?a > 1) } GROUP BY ?s HAVING(COUNT(*) > 1) ORDER BY SUM(?a)", None),
            (
                "SELECT ?s { FILTER EXISTS { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } HAVING (COUNT(*) > 1) } }",
                None,
            ),
            ("SELECT (SUM(?x) AS ?n) { ?s ex:filter ?x }", None),
            (
                "SELECT (COUNT(*) AS ?n) { BIND((EXISTS { ?d ((:r?)?) ?d . }) AS ?m) } HAVING ((COUNT(*) <= 1))",
                None,
            ),
        ] {
            assert_eq!(nested(text), offset, "{text}");
        }
    }

    #[test]
    fn nested_aggregates_are_found() {
        assert_eq!(nested("SELECT (COUNT(COUNT(*)) AS ?c) {}"), Some(14));
        assert!(nested("SELECT (Sum ( 1 + (max(?x) # (\n)) AS ?c) {}").is_some());
    }

    #[test]
    fn aggregates_beside_each_other_are_fine() {
        for text in [
            "SELECT (COUNT(*) + SUM(?x) AS ?c) {}",
            "SELECT (SUM(IF(EXISTS { SELECT (MAX(?y) AS ?m) { ?x ?p ?y } }, 1, 0)) AS ?c) {}",
            "SELECT (SUM(x:count(?x)) AS ?c) {}",
            "SELECT (COUNT(?sum) AS ?c) { ?s ?p ?sum FILTER(\"min(max(\" = ?sum) }",
        ] {
            assert_eq!(nested(text), None, "{text}");
        }
    }
}
