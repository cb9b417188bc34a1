//! What a block of triples comes to: triples, paths and searches, one after the other, and their pattern.

use super::chain::{Joined, together};
use super::wanted::Search;
use spargebra::algebra::{GraphPattern, PropertyPathExpression as Path};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// A triple, or a path between two terms.
#[derive(Debug)]
pub(super) enum Link {
    Triple(TriplePattern),
    Path {
        subject: TermPattern,
        path: Path,
        object: TermPattern,
    },
    /// What looks like a triple and asks for words of texts.
    Search(Box<Search>),
}

impl Link {
    pub fn triple(self) -> Option<TriplePattern> {
        match self {
            Self::Triple(triple) => Some(triple),
            Self::Path { .. } | Self::Search(_) => None,
        }
    }
}

/// Triples and paths as a pattern.
pub(super) fn pattern(links: Vec<Link>) -> GraphPattern {
    if links.iter().all(|link| matches!(link, Link::Triple(_))) {
        // In the memory of the links.
        let mut patterns: Vec<TriplePattern> = links.into_iter().filter_map(Link::triple).collect();
        patterns.shrink_to_fit();
        return GraphPattern::Bgp { patterns };
    }
    let (mut triples, mut parts) = (Vec::new(), Vec::new());
    for link in links {
        match link {
            Link::Triple(triple) => triples.push(triple),
            // They are taken out before.
            Link::Search(_) => {}
            Link::Path { subject, path, object } => {
                if !triples.is_empty() {
                    parts.push(GraphPattern::Bgp { patterns: std::mem::take(&mut triples) });
                }
                parts.push(GraphPattern::Path { subject, path, object });
            }
        }
    }
    if !triples.is_empty() {
        parts.push(GraphPattern::Bgp { patterns: triples });
    }
    together(parts, |left, right| GraphPattern::Join { left, right }).unwrap_or_default()
}

/// Joins triples with what is before them.
pub(super) fn join(links: &mut Vec<Link>, joined: &mut Joined) {
    if !links.is_empty() {
        joined.push(pattern(std::mem::take(links)));
    }
}

/// A triple of these terms.
pub(super) fn triple_of(
    subject: TermPattern,
    predicate: impl Into<NamedNodePattern>,
    object: impl Into<TermPattern>,
) -> TriplePattern {
    TriplePattern { subject, predicate: predicate.into(), object: object.into() }
}
