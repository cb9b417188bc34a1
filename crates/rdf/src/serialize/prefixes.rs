//! How IRIs are written with prefixes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// `rdf:type`, which Turtle has a shorter word for.
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// Namespaces and the prefixes that stand for them.
#[derive(Debug, Clone, Default)]
pub struct Prefixes {
    /// Names without the colon, with their namespaces; those behind count more.
    all: Vec<(String, String)>,
    of_namespace: HashMap<String, usize>,
    /// Others, which many share; their numbers follow on.
    below: Option<Arc<Self>>,
}

impl Prefixes {
    /// These names, without the colon, for these namespaces. What comes later counts more, both for a name and for a namespace.
    pub fn new<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut prefixes = Self::default();
        all.into_iter().for_each(|(name, namespace)| prefixes.add(name, namespace));
        prefixes
    }

    /// Those below, and others that count more: where a document is long, they are declared before it.
    pub fn over<'a>(below: Arc<Self>, own: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self { below: Some(below), ..Self::new(own) }
    }

    /// The numbers of those that a document most likely has.
    pub fn expected(&self) -> Range<usize> {
        0..self.below.as_ref().map_or(0, |_| self.all.len())
    }

    fn add(&mut self, name: &str, namespace: &str) {
        // A name stands for one namespace, and one that cannot be written as it is for none.
        if let Some(old) = self.all.iter_mut().find(|(known, _)| known == name) {
            let was = std::mem::take(&mut old.1);
            let other = self.all.iter().rposition(|(_, namespace)| *namespace == was && !was.is_empty());
            match other {
                Some(other) => self.of_namespace.insert(was, other),
                None => self.of_namespace.remove(&was),
            };
        }
        if !namespace.is_empty() && is_name(name) && super::is_plain(namespace.as_bytes()) {
            self.of_namespace.insert(namespace.to_owned(), self.all.len());
            self.all.push((name.to_owned(), namespace.to_owned()));
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of_namespace.is_empty() && self.below.as_ref().is_none_or(|below| below.is_empty())
    }

    /// The name and the namespace of a number that [`Prefixes::split`] gives.
    pub fn get(&self, number: usize) -> Option<(&str, &str)> {
        match (self.all.get(number), &self.below) {
            (Some((_, namespace)), _) if namespace.is_empty() => None,
            (Some((name, namespace)), _) => Some((name, namespace)),
            (None, Some(below)) => below.get(number.checked_sub(self.all.len())?),
            (None, None) => None,
        }
    }

    /// All names with their namespaces, each name once.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.all.iter().map(|(name, namespace)| (name.as_str(), namespace.as_str()));
        let is_free = |name: &str| !self.all.iter().any(|(own, _)| own == name);
        let below: Vec<_> = self.below.iter().flat_map(|below| below.all.iter()).collect();
        let below = below.into_iter().filter(move |(name, _)| is_free(name));
        let below = below.map(|(name, namespace)| (name.as_str(), namespace.as_str()));
        below.chain(own).filter(|(_, namespace)| !namespace.is_empty())
    }

    fn number(&self, namespace: &str) -> Option<usize> {
        let own = self.of_namespace.get(namespace).copied();
        own.or_else(|| {
            let below = self.below.as_ref()?;
            let number = below.number(namespace)?;
            let (name, _) = below.get(number)?;
            // Its name stands for something else here.
            (!self.all.iter().any(|(own, _)| own == name)).then_some(self.all.len() + number)
        })
    }

    /// The longest namespace that an IRI begins with such that the rest can be written behind its prefix as it is: its number, and the rest.
    pub fn split<'a>(&self, iri: &'a str) -> Option<(usize, &'a str)> {
        if self.is_empty() || iri == RDF_TYPE {
            return None;
        }
        let bytes = iri.as_bytes();
        let local = bytes.iter().rev().take_while(|byte| is_local(**byte)).count();
        let first = bytes.len() - local;
        // Namespaces end in a character that parts names; the longest is tried first.
        let ends = (first..bytes.len()).rev().filter(|at| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            before.is_some_and(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
        });
        for at in ends {
            let (namespace, rest) = iri.split_at_checked(at)?;
            let begins = rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if begins && let Some(number) = self.number(namespace) {
                return Some((number, rest));
            }
        }
        None
    }

    /// An IRI with a prefix, where there is one for it.
    pub fn shorten(&self, iri: &str) -> Option<String> {
        let (number, rest) = self.split(iri)?;
        self.get(number).map(|(name, _)| format!("{name}:{rest}"))
    }
}

/// What may stand behind a prefix without an escape, as far as it is ASCII.
fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a prefix has a name that Turtle and SPARQL have, as far as it is ASCII: empty, or a letter and what may stand in a name.
fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_none_or(|byte| byte.is_ascii_alphabetic()) && bytes.all(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_namespace_and_the_last_name() {
        let prefixes = Prefixes::new([
            ("a", "http://e/"),
            ("old", "http://e/x#"),
            ("x", "http://e/x#"),
            ("go", "http://o/GO_"),
            ("", "http://n/"),
            ("bad name", "http://b/"),
        ]);
        for (iri, short) in [
            ("http://e/b", Some("a:b")),
            ("http://e/x#b-c_d", Some("x:b-c_d")),
            ("http://o/GO_0001", Some("go:0001")),
            ("http://n/1", Some(":1")),
            ("http://e/", None),
            ("http://e/a/b", None),
            ("http://e/a.b", None),
            ("http://e/-b", None),
            ("http://e/é", None),
            ("http://b/x", None),
            ("", None),
        ] {
            assert_eq!(prefixes.shorten(iri).as_deref(), short, "{iri}");
        }
        let again = Prefixes::new([("a", "http://e/"), ("b", "http://e/"), ("b", "http://f/")]);
        assert_eq!(again.shorten("http://e/x").as_deref(), Some("a:x"));
        assert_eq!(again.shorten("http://f/x").as_deref(), Some("b:x"));
        assert!(Prefixes::default().is_empty());
        let usual = Arc::new(Prefixes::new([("a", "http://e/"), ("b", "http://f/"), ("c", "http://g/")]));
        let over = Prefixes::over(usual, [("mine", "http://e/"), ("b", "http://h/")]);
        for (iri, short) in [
            ("http://e/x", Some("mine:x")),
            ("http://f/x", None),
            ("http://g/x", Some("c:x")),
            ("http://h/x", Some("b:x")),
        ] {
            assert_eq!(over.shorten(iri).as_deref(), short, "{iri}");
        }
        assert_eq!(over.expected().filter_map(|number| over.get(number)).count(), 2);
    }
}
