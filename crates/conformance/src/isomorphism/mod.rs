//! Whether two multisets of rows of terms are the same up to a renaming of blank nodes.
//!
//! Graphs are rows of three terms, datasets rows of four, query answers rows of their columns. Blank nodes get colours that are
//! refined by the rows they occur in until nothing changes. Where nodes stay alike, the rows fall into parts that such nodes connect, which
//! are paired; in a single part one node is told apart and refinement goes on (backtracking over its possible partners), until every
//! blank node has a partner and the rows can be compared exactly.

#[cfg(test)]
mod tests;

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

type Row = Vec<Option<Term>>;
type Colours = HashMap<BlankNode, u64>;

/// From blank nodes of one side to those of the other.
pub type Renaming = HashMap<BlankNode, BlankNode>;

/// How many partners are tried before giving up: only huge, highly symmetric inputs get there.
const TRIES_MAX: u32 = 100_000;

/// Whether `a` and `b` are equal as multisets after some one-to-one renaming of blank nodes.
pub fn isomorphic(a: &[Row], b: &[Row]) -> bool {
    renaming(a, b).is_some()
}

/// A one-to-one renaming of the blank nodes of `a` that makes `a` and `b` equal as multisets.
pub fn renaming(a: &[Row], b: &[Row]) -> Option<Renaming> {
    if a.len() != b.len() {
        return None;
    }
    let [a, b] = [a, b].map(|rows| Part::new(rows.to_vec(), initial_colours(rows)));
    let mut tries = TRIES_MAX;
    search(&a, &b, &mut tries).filter(|renaming| is_same_under(&a.rows, &b.rows, renaming))
}

/// Rows, and the refined colours of their blank nodes.
struct Part {
    rows: Vec<Row>,
    colours: Colours,
    classes: BTreeMap<u64, Vec<BlankNode>>,
    /// Equal for parts that may be the same.
    hashes: Vec<u64>,
}

impl Part {
    fn new(rows: Vec<Row>, colours: Colours) -> Self {
        let colours = refine(&rows, colours);
        let (classes, hashes) = (classes(&colours), row_hashes(&rows, &colours));
        Self { rows, colours, classes, hashes }
    }

    /// The same with one node told apart from those of its colour.
    fn with(&self, node: &BlankNode, colour: u64) -> Self {
        let mut colours = self.colours.clone();
        colours.insert(node.clone(), hash_of(&("apart", colour)));
        Self::new(self.rows.clone(), colours)
    }

    /// The rows with nodes not yet told apart, those together that such nodes connect: what one part's nodes are does not depend on another's.
    /// (There can be thousands: a template's nodes are fresh for each row.)
    fn parts(&self) -> Vec<Self> {
        let alike = |node: &BlankNode| {
            let class = self.colours.get(node).and_then(|colour| self.classes.get(colour));
            class.is_some_and(|members| members.len() > 1)
        };
        // Each row's nodes are put into one set; a set is named by one of its nodes.
        let mut sets: HashMap<BlankNode, BlankNode> = HashMap::new();
        let root = |sets: &HashMap<BlankNode, BlankNode>, mut node: BlankNode| {
            while let Some(above) = sets.get(&node) {
                node = above.clone();
            }
            node
        };
        let first = |row: &Row| nodes_of(row).into_iter().find(alike);
        for row in &self.rows {
            let Some(first) = first(row) else { continue };
            for node in nodes_of(row).into_iter().filter(alike) {
                let (top, other) = (root(&sets, first.clone()), root(&sets, node));
                if top != other {
                    sets.insert(other, top);
                }
            }
        }
        let mut parts: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(node) = first(row) {
                parts.entry(root(&sets, node).into_string()).or_default().push(row.clone());
            }
        }
        let own = |rows: &[Row]| -> Colours {
            let nodes = rows.iter().flat_map(nodes_of);
            nodes.filter_map(|node| Some((node.clone(), *self.colours.get(&node)?))).collect()
        };
        parts
            .into_values()
            .map(|rows| {
                let colours = own(&rows);
                Self::new(rows, colours)
            })
            .collect()
    }
}

fn search(a: &Part, b: &Part, tries: &mut u32) -> Option<Renaming> {
    if a.hashes != b.hashes || a.classes.len() != b.classes.len() {
        return None;
    }
    let mut renaming = Renaming::new();
    for (colour, members) in &a.classes {
        match (members.as_slice(), b.classes.get(colour)?.as_slice()) {
            ([node], [partner]) => drop(renaming.insert(node.clone(), partner.clone())),
            (members, partners) if members.len() == partners.len() => {}
            _ => return None,
        }
    }
    let (parts, mut others) = (a.parts(), b.parts());
    if parts.len() != others.len() {
        return None;
    }
    match parts.as_slice() {
        [] => {}
        [_] => renaming.extend(told_apart(a, b, tries)?),
        // Being the same is transitive: any pairing is as good as another.
        _ => {
            for part in &parts {
                let found =
                    others.iter().enumerate().find_map(|(at, other)| Some((at, search(part, other, tries)?)));
                let (at, names) = found?;
                others.swap_remove(at);
                renaming.extend(names);
            }
        }
    }
    Some(renaming)
}

/// Tells one of the nodes apart, with each of its possible partners.
fn told_apart(a: &Part, b: &Part, tries: &mut u32) -> Option<Renaming> {
    let open = a.classes.iter().filter(|(_, members)| members.len() > 1);
    let (colour, members) = open.min_by_key(|(_, members)| members.len())?;
    let apart = a.with(members.first()?, *colour);
    for partner in b.classes.get(colour)? {
        *tries = tries.checked_sub(1)?;
        if let Some(found) = search(&apart, &b.with(partner, *colour), tries) {
            return Some(found);
        }
    }
    None
}

/// Compares the renamed rows exactly.
fn is_same_under(a: &[Row], b: &[Row], renaming: &Renaming) -> bool {
    let mut counts: HashMap<Row, i64> = HashMap::new();
    for row in a {
        let renamed = row.iter().map(|t| t.as_ref().map(|t| rename(t, renaming))).collect();
        *counts.entry(renamed).or_default() += 1;
    }
    let mut take = |row: &Row| match counts.get_mut(row) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    b.iter().all(&mut take)
}

fn nodes_of(row: &Row) -> Vec<BlankNode> {
    let mut marks = Vec::new();
    row.iter().flatten().for_each(|term| collect_marks(term, 0, &mut marks));
    marks.into_iter().map(|(node, _)| node.clone()).collect()
}

/// The term with its blank nodes renamed; those that the renaming does not know stay.
pub fn rename(term: &Term, renaming: &Renaming) -> Term {
    match term {
        Term::BlankNode(b) => renaming.get(b).unwrap_or(b).clone().into(),
        Term::Triple(t) => {
            let subject = match &t.subject {
                NamedOrBlankNode::BlankNode(b) => renaming.get(b).unwrap_or(b).clone().into(),
                named => named.clone(),
            };
            Triple::new(subject, t.predicate.clone(), rename(&t.object, renaming)).into()
        }
        _ => term.clone(),
    }
}

fn initial_colours(rows: &[Row]) -> Colours {
    let mut colours = Colours::new();
    for term in rows.iter().flatten().flatten() {
        each_blank_node(term, &mut |b| {
            colours.insert(b.clone(), 0);
        });
    }
    colours
}

/// Visits the blank nodes of a term, those inside triple terms too.
pub fn each_blank_node(term: &Term, visit: &mut impl FnMut(&BlankNode)) {
    match term {
        Term::BlankNode(b) => visit(b),
        Term::Triple(t) => {
            if let NamedOrBlankNode::BlankNode(b) = &t.subject {
                visit(b);
            }
            each_blank_node(&t.object, visit);
        }
        _ => {}
    }
}

/// Refines until the number of classes stays the same.
fn refine(rows: &[Row], mut colours: Colours) -> Colours {
    let mut count = classes(&colours).len();
    loop {
        let mut seen: HashMap<&BlankNode, Vec<u64>> = HashMap::new();
        let mut marks = Vec::new();
        for row in rows {
            let whole = row_hash(row, &colours);
            marks.clear();
            for (position, term) in row.iter().enumerate() {
                if let Some(term) = term {
                    collect_marks(term, position as u64, &mut marks);
                }
            }
            for (node, place) in &marks {
                seen.entry(*node).or_default().push(hash_of(&(whole, *place)));
            }
        }
        let mut next = Colours::new();
        for (node, mut hashes) in seen {
            hashes.sort_unstable();
            let old = colours.get(node).copied().unwrap_or_default();
            next.insert(node.clone(), hash_of(&(old, hashes)));
        }
        let next_count = classes(&next).len();
        colours = next;
        if next_count <= count {
            return colours;
        }
        count = next_count;
    }
}

fn collect_marks<'a>(term: &'a Term, place: u64, marks: &mut Vec<(&'a BlankNode, u64)>) {
    match term {
        Term::BlankNode(b) => marks.push((b, place)),
        Term::Triple(t) => {
            if let NamedOrBlankNode::BlankNode(b) = &t.subject {
                marks.push((b, hash_of(&(place, 1))));
            }
            collect_marks(&t.object, hash_of(&(place, 2)), marks);
        }
        _ => {}
    }
}

fn classes(colours: &Colours) -> BTreeMap<u64, Vec<BlankNode>> {
    let mut classes: BTreeMap<u64, Vec<BlankNode>> = BTreeMap::new();
    for (node, colour) in colours {
        classes.entry(*colour).or_default().push(node.clone());
    }
    classes
}

fn row_hashes(rows: &[Row], colours: &Colours) -> Vec<u64> {
    let mut hashes: Vec<_> = rows.iter().map(|r| row_hash(r, colours)).collect();
    hashes.sort_unstable();
    hashes
}

fn row_hash(row: &Row, colours: &Colours) -> u64 {
    let mut hasher = DefaultHasher::new();
    for term in row {
        match term {
            None => 0_u8.hash(&mut hasher),
            Some(term) => hash_term(term, colours, &mut hasher),
        }
    }
    hasher.finish()
}

fn hash_term(term: &Term, colours: &Colours, hasher: &mut DefaultHasher) {
    match term {
        Term::BlankNode(b) => (1_u8, colours.get(b)).hash(hasher),
        Term::Triple(t) => {
            2_u8.hash(hasher);
            match &t.subject {
                NamedOrBlankNode::BlankNode(b) => (1_u8, colours.get(b)).hash(hasher),
                NamedOrBlankNode::NamedNode(n) => n.hash(hasher),
            }
            t.predicate.hash(hasher);
            hash_term(&t.object, colours, hasher);
        }
        ground => (3_u8, ground).hash(hasher),
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
