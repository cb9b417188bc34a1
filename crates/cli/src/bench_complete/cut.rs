//! Places in queries, as if somebody were writing them.

use lode_bench::bsbm::Random;
use std::ops::Range;

/// A text that is being written.
pub struct Cut {
    pub text: String,
    /// In UTF-16 code units.
    pub position: usize,
    /// Nothing follows: what is open is closed by this.
    pub is_open: bool,
    pub closing: String,
}

/// A place of a query where a term stands: of that a few letters are left, and what follows, or nothing of it.
pub fn cut(text: &str, random: &mut Random) -> Option<Cut> {
    let terms = terms(text);
    let chosen = usize::try_from(random.below(terms.len().max(1) as u64)).unwrap_or(0);
    let term = terms.get(chosen)?.clone();
    let written = text.get(term.clone())?;
    // Half of the times nothing was typed yet; a variable is another word.
    let letters = if random.percent(50) || written.starts_with('?') {
        0
    } else {
        usize::try_from(random.below(written.len() as u64)).unwrap_or(0)
    };
    let typed = written.get(..letters)?;
    let before = format!("{}{typed}", text.get(..term.start)?);
    // What is computed of a text that has no end is not grouped, and is no query; what is made of variables that the rest binds is nothing.
    let needs_end = ["(", "GROUP BY", "DESCRIBE", "CONSTRUCT"].iter().any(|word| text.contains(word));
    let is_open = random.percent(40) && !needs_end;
    let after = if is_open { "" } else { text.get(term.end..)? };
    let position = before.encode_utf16().count();
    let closing = if is_open { closing(&before) } else { String::new() };
    Some(Cut { text: format!("{before}{after}"), position, is_open, closing })
}

/// The terms in the groups of a query: IRIs, names, `a`, variables.
fn terms(text: &str) -> Vec<Range<usize>> {
    let (mut terms, mut at, mut depth, mut parentheses) = (Vec::new(), 0, 0_usize, 0_usize);
    let mut in_patterns = true;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let is_name = |c: char| c.is_alphanumeric() || "_:-".contains(c);
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => rest.get(1..).and_then(|rest| rest.find(first)).map_or(rest.len(), |end| end + 2),
            '<' => match rest.find(['>', ' ', '\n']) {
                Some(end) if rest.get(end..).is_some_and(|rest| rest.starts_with('>')) => end + 1,
                _ => 1,
            },
            '?' => 1 + rest.get(1..).map_or(0, |rest| rest.find(|c| !is_name(c)).unwrap_or(rest.len())),
            _ if is_name(first) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let word = rest.get(..length).unwrap_or("");
        match word.to_ascii_uppercase().as_str() {
            "SELECT" | "GROUP" | "ORDER" | "HAVING" => in_patterns = false,
            "{" | "}" => in_patterns = true,
            _ => {}
        }
        match first {
            '{' => (depth, parentheses) = (depth + 1, 0),
            '}' => depth = depth.saturating_sub(1),
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            _ => {}
        }
        let is_term = word == "a" || word.contains(':') || word.starts_with('?');
        // What is computed is another matter, and so is a datatype.
        let is_datatype = text.get(..at).is_some_and(|before| before.ends_with("^^"));
        if is_term
            && in_patterns
            && length > 0
            && depth > 0
            && parentheses == 0
            && !is_datatype
            && !word.starts_with('"')
        {
            terms.push(at..at + length);
        }
        at += length.max(1);
    }
    terms
}

/// The brackets that are open, closed.
fn closing(text: &str) -> String {
    let mut open = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => drop(chars.by_ref().find(|c| *c == '"')),
            '{' => open.push(" }"),
            '(' => open.push(" )"),
            '}' | ')' => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::{closing, terms};

    #[test]
    fn terms_and_brackets() {
        let text = "PREFIX a: <b> SELECT ?x { ?x a a:C ; <p> \"q:r\"^^xsd:string . FILTER(?x < a:y) { ?y";
        let found: Vec<&str> = terms(text).into_iter().map(|term| &text[term]).collect();
        assert_eq!(found, ["?x", "a", "a:C", "?y"]);
        assert_eq!(closing(text), " } }");
    }
}
