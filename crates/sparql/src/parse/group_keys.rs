//! `GROUP BY (?x AS ?y)`: the parser forgets the name of a key that is a mere variable, and then refuses queries that use it. As
//! `(COALESCE(?x) AS ?y)`, which means the same, it keeps it.

use super::limits::tokens;
use std::borrow::Cow;
use std::ops::Range;

/// Words that end a GROUP BY clause.
const ENDS: &[&str] = &["having", "order", "limit", "offset", "values"];

/// The text with such keys as calls; where there are none, the text as it is.
pub(super) fn as_calls(text: &str) -> Cow<'_, str> {
    let keys = renamed_keys(text);
    if keys.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut changed = String::with_capacity(text.len() + keys.len() * 16);
    let mut done = 0;
    for key in keys {
        changed.push_str(text.get(done..key.start).unwrap_or(""));
        changed.push_str("COALESCE(");
        changed.push_str(text.get(key.clone()).unwrap_or(""));
        changed.push(')');
        done = key.end;
    }
    changed.push_str(text.get(done..).unwrap_or(""));
    Cow::Owned(changed)
}

/// The variables of keys of the form `(?x AS ?y)`.
fn renamed_keys(text: &str) -> Vec<Range<usize>> {
    let word = |range: &Range<usize>| text.get(range.clone()).unwrap_or("");
    let significant: Vec<Range<usize>> =
        tokens(text).filter(|r| !word(r).trim().is_empty() && !word(r).starts_with('#')).collect();
    let at = |i: usize| significant.get(i).map_or("", word);
    let mut keys = Vec::new();
    let mut depth = None;
    for i in 0..significant.len() {
        let Some(level) = &mut depth else {
            let starts = at(i).eq_ignore_ascii_case("group") && at(i + 1).eq_ignore_ascii_case("by");
            if starts && (i == 0 || at(i - 1) != ":") {
                depth = Some(0);
            }
            continue;
        };
        match at(i) {
            "(" | "{" | "[" => {
                if *level == 0 && is_renamed(&[at(i), at(i + 1), at(i + 2), at(i + 3), at(i + 4)]) {
                    keys.extend(significant.get(i + 1).cloned());
                }
                *level += 1;
            }
            ")" | "}" | "]" if *level == 0 => depth = None,
            ")" | "}" | "]" => *level -= 1,
            end if *level == 0 && ENDS.iter().any(|e| end.eq_ignore_ascii_case(e)) => depth = None,
            _ => {}
        }
    }
    keys
}

fn is_renamed(tokens: &[&str; 5]) -> bool {
    let variable = |token: &str| token.starts_with(['?', '$']) && token.len() > 1;
    let [open, from, word, to, close] = tokens;
    *open == "(" && variable(from) && word.eq_ignore_ascii_case("as") && variable(to) && *close == ")"
}

#[cfg(test)]
mod tests {
    //! What changes and what does not.
    use super::as_calls;

    #[test]
    fn renamed_variables_become_calls() {
        assert_eq!(
            as_calls("SELECT ?y { ?x ?p ?o } GROUP BY ?p ( ?x # (\n AS ?y) HAVING (1 = 1)"),
            "SELECT ?y { ?x ?p ?o } GROUP BY ?p ( COALESCE(?x) # (\n AS ?y) HAVING (1 = 1)"
        );
        assert_eq!(
            as_calls("{ SELECT ?y {} GROUP BY ($x as $y) } { SELECT (?a AS ?b) {} }"),
            "{ SELECT ?y {} GROUP BY (COALESCE($x) as $y) } { SELECT (?a AS ?b) {} }"
        );
    }

    #[test]
    fn the_rest_stays() {
        for same in [
            "SELECT (?x AS ?y) { ?x ?p ?o } GROUP BY ?x (STR(?p) AS ?s) (?o) ORDER BY (?x)",
            "SELECT (?x AS ?y) { ?x :group ?o } # GROUP BY (?x AS ?y)",
            "SELECT * { ?x ?p \"GROUP BY (?x AS ?y)\" }",
        ] {
            assert_eq!(as_calls(same), same);
        }
    }
}
