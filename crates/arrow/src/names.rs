//! Short names for IRIs, for files and columns.

use std::collections::BTreeSet;

/// The longest name, in characters.
const CHARACTERS_MAX: usize = 100;

/// Names that were given, each once.
pub struct Names {
    given: BTreeSet<String>,
    /// Whether letters and digits of ASCII, `-` and `_` only.
    is_plain: bool,
}

impl Names {
    /// Those of files: none differs from another in the case of letters only.
    pub fn of_files() -> Self {
        Self { given: BTreeSet::new(), is_plain: true }
    }

    /// Those of columns beside one that has its name.
    pub fn of_columns(taken: &str) -> Self {
        Self { given: [taken.to_lowercase()].into(), is_plain: false }
    }

    /// A name that nothing else was given: the end of the IRI, with a number where another has it.
    pub fn of(&mut self, iri: &str) -> String {
        let end = iri.trim_end_matches(['/', '#']).rsplit(['/', '#', ':']).next().unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let end = end.chars().take(CHARACTERS_MAX);
        let mut name: String = if self.is_plain { end.map(plain).collect() } else { end.collect() };
        if name.is_empty() {
            name.push('_');
        }
        let mut numbered = name.clone();
        for number in 2.. {
            if self.given.insert(numbered.to_lowercase()) {
                break;
            }
            numbered = format!("{name}-{number}");
        }
        numbered
    }
}

#[cfg(test)]
mod tests {
    //! Names of IRIs that end alike.
    use super::Names;

    #[test]
    fn names_differ() {
        let mut names = Names::of_columns("resource");
        let iris = ["http://a/p#name", "http://b/Name", "http://c/resource/", "urn:x:y", "http://d/"];
        let names: Vec<String> = iris.iter().map(|iri| names.of(iri)).collect();
        assert_eq!(names, ["name", "Name-2", "resource-2", "y", "d"]);
        assert_eq!(Names::of_files().of("http://a/..%2F"), "___2F");
    }
}
