//! Aggregates inside aggregates: SPARQL 1.2 forbids them (and 1.1 gives them no meaning), but the parser accepts them.

use super::limits::tokens;

/// The aggregates of SPARQL.
const AGGREGATES: &[&str] = &["count", "sum", "min", "max", "avg", "sample", "group_concat"];

/// An open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Arguments of an aggregate.
    Aggregate,
    /// A group: a pattern inside of an expression (EXISTS) has aggregates of its own.
    Group,
    Other,
}

/// Where an aggregate stands inside of another one's arguments, if anywhere.
pub(super) fn nested(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    // The last token and the one before it, white space and comments left out.
    let mut last = ("", "", 0);
    for range in tokens(text) {
        let token = text.get(range.clone()).unwrap_or("");
        match token {
            "(" if is_aggregate(last.0, last.1) => {
                let inside =
                    open.iter().rev().take_while(|o| **o != Open::Group).any(|o| *o == Open::Aggregate);
                if inside {
                    return Some(last.2);
                }
                open.push(Open::Aggregate);
            }
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
    use super::nested;

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
