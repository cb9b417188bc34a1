//! Tells queries from updates where one was given in place of the other: by the first keyword after the prologue.

/// What a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Query,
    Update,
}

/// What to add to the syntax error of a query.
pub(crate) fn of_query(text: &str) -> &'static str {
    match kind(text) {
        Some(Kind::Update) => {
            "; this is an update, not a query: lode update runs it, or a POST to /update (update=...)"
        }
        _ => "",
    }
}

/// What to add to the syntax error of an update.
pub(crate) fn of_update(text: &str) -> &'static str {
    match kind(text) {
        Some(Kind::Query) => {
            "; this is a query, not an update: lode query runs it, or a request to /query (query=...)"
        }
        _ => "",
    }
}

/// What a request is, as far as its first keyword tells.
fn kind(text: &str) -> Option<Kind> {
    let mut words = Words(text);
    loop {
        let word = words.next()?.to_ascii_uppercase();
        match word.as_str() {
            // What they declare is skipped with them: a name with a colon and an IRI, or an IRI.
            "PREFIX" => {
                words.next()?;
            }
            "BASE" | "VERSION" => {}
            "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE" => return Some(Kind::Query),
            "INSERT" | "DELETE" | "LOAD" | "CLEAR" | "DROP" | "CREATE" | "ADD" | "MOVE" | "COPY" | "WITH" => {
                return Some(Kind::Update);
            }
            _ => return None,
        }
    }
}

/// Words of a prologue; comments, IRIs and strings are no words.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.0 = self.0.trim_start();
            let skipped = match self.0.chars().next()? {
                '#' => self.0.split_once('\n'),
                '<' => self.0.split_once('>'),
                quote @ ('"' | '\'') => self.0.get(1..)?.split_once(quote),
                _ => {
                    let ends = |c: char| c.is_whitespace() || "#<{(*\"'".contains(c);
                    let end = self.0.find(ends).unwrap_or(self.0.len()).max(1);
                    let (word, rest) = self.0.split_at_checked(end)?;
                    self.0 = rest;
                    return Some(word);
                }
            };
            self.0 = skipped?.1;
        }
    }
}

#[cfg(test)]
mod tests {
    //! First keywords, behind all that may come before them.
    use super::{Kind, kind, of_query, of_update};

    #[test]
    fn the_first_keyword_tells() {
        for query in [
            "SELECT * {}",
            "ask{}",
            "# insert\nPREFIX a:<http://e/#x> BASE <b>\nconstruct {} {}",
            "PREFIX insert: <i> DESCRIBE*",
        ] {
            assert_eq!(kind(query), Some(Kind::Query), "{query}");
            assert!(of_query(query).is_empty() && of_update(query).contains("lode query"));
        }
        for update in [
            "INSERT DATA {}",
            "prefix : <x> prefix select: <y> delete{} where{}",
            "clear all",
            "VERSION \"1.2\" LOAD <x>",
        ] {
            assert_eq!(kind(update), Some(Kind::Update), "{update}");
            assert!(of_update(update).is_empty() && of_query(update).contains("POST to /update"));
        }
        for other in ["", "#", "<", "\"", "PREFIX", "PREFIX a:", "selection", "é", "{}", "'é"] {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
