//! Names of a text: what its prefixes stand for, and how an IRI is written in it.

use crate::answer::Prefix;
use lode_engine::store::KeptPrefixes;
use lode_syntax::{Token, TokenKind, usual_prefix, usual_prefixes};
use std::collections::BTreeSet;

/// Declarations of a text that count, at most.
const DECLARED_MAX: usize = 1_000;

/// The prefixes of a text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// Those that it declares, without the colon, with their IRIs.
    declared: Vec<(String, String)>,
    /// Those that it uses and does not declare.
    undeclared: BTreeSet<String>,
    /// Those that are kept with the data: they count before the usual ones.
    kept: KeptPrefixes,
}

/// An IRI as it is written in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub text: String,
    /// What must be declared for it.
    pub prefix: Option<Prefix>,
}

impl Names {
    /// Those of a text.
    pub fn of(text: &str, tokens: &[Token]) -> Self {
        let mut names = Self::default();
        let written = |token: &Token| text.get(token.span()).unwrap_or("");
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let declares = token.kind() == TokenKind::Word && written(token).eq_ignore_ascii_case("PREFIX");
            if declares
                && let (Some(name), Some(iri)) = (tokens.get(at + 1), tokens.get(at + 2))
                && name.kind() == TokenKind::Name
            {
                let name = written(name).trim_end_matches(':').to_owned();
                if iri.kind() == TokenKind::Iri {
                    names.declared.push((name, bare(written(iri)).to_owned()));
                    at += 1;
                }
                at += 2;
                continue;
            }
            if token.kind() == TokenKind::Name
                && let Some((prefix, _)) = written(token).split_once(':')
                && !names.undeclared.contains(prefix)
            {
                names.undeclared.insert(prefix.to_owned());
            }
            at += 1;
        }
        for (name, _) in &names.declared {
            names.undeclared.remove(name);
        }
        // The last ones count.
        let more = names.declared.len().saturating_sub(DECLARED_MAX);
        names.declared.drain(..more);
        names
    }

    /// The same with prefixes that are kept with the data.
    #[must_use]
    pub fn over(self, kept: KeptPrefixes) -> Self {
        Self { kept, ..self }
    }

    /// What a prefix stands for: by the text, by the data, or usually.
    pub fn iri_of(&self, prefix: &str) -> Option<&str> {
        let declared = self.declared.iter().rev().find(|(name, _)| name == prefix);
        declared.map(|(_, iri)| iri.as_str()).or_else(|| self.known_iri_of(prefix))
    }

    /// What a prefix stands for that the text does not declare: by the data, or usually.
    pub fn known_iri_of(&self, prefix: &str) -> Option<&str> {
        let kept = self.kept.iter().find(|(name, _)| name == prefix);
        kept.map(|(_, iri)| iri.as_str()).or_else(|| usual_prefix(prefix))
    }

    /// The prefixes that are kept with the data and not declared.
    pub fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        let kept = self.kept.iter().map(|(name, iri)| (name.as_str(), iri.as_str()));
        kept.filter(|(name, _)| !self.is_declared(name))
    }

    /// The usual ones, where the text and the data say nothing else of the name.
    fn usual(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let is_kept = |prefix: &str| self.kept.iter().any(|(name, _)| name == prefix);
        usual_prefixes().filter(move |(name, _)| !self.is_declared(name) && !is_kept(name))
    }

    /// Whether the text declares a prefix.
    pub fn is_declared(&self, prefix: &str) -> bool {
        self.declared.iter().any(|(name, _)| name == prefix)
    }

    /// The prefixes that the text declares.
    pub fn declared(&self) -> impl Iterator<Item = (&str, &str)> {
        self.declared.iter().map(|(name, iri)| (name.as_str(), iri.as_str()))
    }

    /// The prefixes that the text uses and does not declare.
    pub fn undeclared(&self) -> impl Iterator<Item = &str> {
        self.undeclared.iter().map(String::as_str)
    }

    /// Declarations of all that the text uses and does not declare.
    pub fn missing(&self) -> String {
        self.declarations(self)
    }

    /// Declarations of all that a part of the text uses and does not declare.
    pub fn declarations(&self, part: &Self) -> String {
        let mut text = String::new();
        for prefix in &part.undeclared {
            let iri = self.iri_of(prefix).map_or_else(|| format!("urn:undeclared:{prefix}:"), str::to_owned);
            text += &format!("PREFIX {prefix}: <{iri}> ");
        }
        text
    }

    /// The namespaces whose prefixes fit.
    pub fn namespaces(&self, fits: &dyn Fn(&str) -> Option<u8>) -> Vec<(String, u8)> {
        let fitting = |(name, iri): (&str, &str)| Some((iri.to_owned(), fits(name)?));
        let known = self.kept().filter_map(fitting).chain(self.usual().filter_map(fitting));
        self.declared().filter_map(fitting).chain(known).collect()
    }

    /// The IRI of a token that is one, or a name.
    pub fn expanded(&self, kind: TokenKind, written: &str) -> Option<String> {
        match kind {
            TokenKind::Iri => Some(bare(written).to_owned()),
            TokenKind::Name => {
                let (prefix, local) = written.split_once(':')?;
                Some(format!("{}{}", self.iri_of(prefix)?, local.replace('\\', "")))
            }
            _ => None,
        }
    }

    /// How an IRI is written.
    pub fn write(&self, iri: &str) -> Written {
        let fits = |namespace: &str| iri.strip_prefix(namespace).is_some_and(is_local);
        // Declared ones go before longer ones that would have to be declared.
        let best = |prefixes: &mut dyn Iterator<Item = (&str, &str)>| {
            let longest = prefixes.filter(|(_, namespace)| fits(namespace));
            let longest = longest.max_by_key(|(name, namespace)| (namespace.len(), usize::MAX - name.len()));
            longest.map(|(name, namespace)| (name.to_owned(), namespace.to_owned()))
        };
        let declared = best(&mut self.declared());
        let is_declared = declared.is_some();
        match declared.or_else(|| best(&mut self.kept())).or_else(|| best(&mut self.usual())) {
            Some((name, namespace)) => {
                let local = iri.strip_prefix(&namespace).unwrap_or("");
                let text = format!("{name}:{local}");
                Written { text, prefix: (!is_declared).then_some(Prefix { name, iri: namespace }) }
            }
            None => Written { text: format!("<{iri}>"), prefix: None },
        }
    }
}

/// An IRI without its brackets.
fn bare(written: &str) -> &str {
    written.trim_start_matches('<').trim_end_matches('>')
}

/// Whether a text can stand behind a prefix as it is.
fn is_local(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    (first.is_ascii_alphanumeric() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// The part of an IRI that people read: what is behind its last `#`, `/` or `:`.
pub(crate) fn local_name(iri: &str) -> &str {
    let whole = iri.trim_end_matches(['#', '/']);
    whole.rsplit(['#', '/', ':']).next().unwrap_or(whole)
}

/// An IRI that can be written between brackets.
pub(crate) fn is_writable(iri: &str) -> bool {
    !iri.contains(|c: char| c <= ' ' || "<>\"{}|^`\\".contains(c))
}

#[cfg(test)]
mod tests {
    use super::{Names, Written, local_name};
    use crate::answer::Prefix;
    use lode_syntax::Form;

    fn names(text: &str) -> Names {
        let parsed = lode_syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary());
        Names::of(text, parsed.tree.tokens())
    }

    #[test]
    fn written_with_what_is_declared_first() {
        let found =
            names("PREFIX ex: <http://e/> PREFIX foaf: <http://other/> SELECT * { ?s ex:p rdfs:x, my:y }");
        let plain = |text: &str| Written { text: text.to_owned(), prefix: None };
        assert_eq!(found.write("http://e/a"), plain("ex:a"));
        assert_eq!(found.write("http://e/a/b"), plain("<http://e/a/b>"));
        assert_eq!(found.write("http://xmlns.com/foaf/0.1/name"), plain("<http://xmlns.com/foaf/0.1/name>"));
        let (name, iri) = ("rdfs".to_owned(), "http://www.w3.org/2000/01/rdf-schema#".to_owned());
        let label =
            Written { text: "rdfs:label".to_owned(), prefix: Some(Prefix { name, iri: iri.clone() }) };
        assert_eq!(found.write(&format!("{iri}label")), label);
        assert_eq!(found.missing(), format!("PREFIX my: <urn:undeclared:my:> PREFIX rdfs: <{iri}> "));
    }

    #[test]
    fn what_the_data_calls_things_counts_before_what_is_usual() {
        let pairs =
            [("ex", "http://e/"), ("foaf", "http://own/"), ("mine", "http://www.w3.org/2000/01/rdf-schema#")];
        let kept = pairs.map(|(name, iri)| (name.to_owned(), iri.to_owned()));
        let found = names("SELECT * { ?s ex:p foaf:x, owl:y }").over(kept.into());
        let text = |iri: &str| found.write(iri).text;
        assert_eq!((text("http://e/a"), text("http://own/b")), ("ex:a".to_owned(), "foaf:b".to_owned()));
        // What foaf usually is has another name here, or none.
        assert_eq!(text("http://xmlns.com/foaf/0.1/name"), "<http://xmlns.com/foaf/0.1/name>");
        assert_eq!(text("http://www.w3.org/2000/01/rdf-schema#label"), "mine:label");
        let owl = "PREFIX owl: <http://www.w3.org/2002/07/owl#> ";
        assert_eq!(found.missing(), format!("PREFIX ex: <http://e/> PREFIX foaf: <http://own/> {owl}"));
    }

    #[test]
    fn local_names() {
        for (iri, name) in [("http://e/a#b", "b"), ("http://e/c/", "c"), ("urn:x:d", "d"), ("", "")] {
            assert_eq!(local_name(iri), name);
        }
    }
}
