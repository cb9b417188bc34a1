//! A query of a set: its text, and the name by which it is chosen and reported.

/// A query of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedQuery {
    /// The name of its file.
    pub name: &'static str,
    /// Its SPARQL text; the first line is a comment that says what it asks.
    pub text: &'static str,
}

impl NamedQuery {
    /// What it asks, in words.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// The queries of the folder `queries` beside the source that says so, in this order.
macro_rules! query_set {
    ($($name:literal),* $(,)?) => {
        [$($crate::NamedQuery { name: $name, text: include_str!(concat!("queries/", $name, ".rq")) }),*]
    };
}
pub(crate) use query_set;

#[cfg(test)]
mod tests {
    //! Every set: well-formed, each query once, and said in words.
    use crate::{NamedQuery, analytic, hostile, lubm, paths, text};
    use std::collections::HashSet;

    fn check(set: &[NamedQuery]) {
        let names: HashSet<&str> = set.iter().map(|query| query.name).collect();
        assert_eq!(names.len(), set.len());
        for query in set {
            assert!(query.text.starts_with("# ") && query.about().ends_with('.'), "{}", query.name);
            let parsed = spargebra::SparqlParser::new().parse_query(query.text);
            assert!(parsed.is_ok(), "{}: {parsed:?}", query.name);
        }
    }

    #[test]
    fn sets_are_well_formed() {
        check(&analytic::QUERIES);
        check(&hostile::QUERIES);
        check(&lubm::QUERIES);
        check(&paths::QUERIES);
        check(&text::QUERIES);
    }
}
