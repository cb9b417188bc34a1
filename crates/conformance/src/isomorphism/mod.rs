//! Whether two multisets of rows of terms are the same up to a renaming of blank nodes.
//!
//! Graphs are rows of three terms, datasets rows of four, query answers rows of their columns. Blank nodes get colours that are
//! refined by the rows they occur in until nothing changes; where nodes stay alike, one is told apart and refinement goes on
//! (backtracking over its possible partners), until every blank node has a colour of its own and the rows can be compared exactly.

#[cfg(test)]
mod tests;

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
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
    let (blank_a, blank_b) = (initial_colours(a), initial_colours(b));
    if blank_a.len() != blank_b.len() {
        return None;
    }
    let mut tries = TRIES_MAX;
    search(a, b, blank_a, blank_b, &mut tries)
}

fn search(a: &[Row], b: &[Row], colours_a: Colours, colours_b: Colours, tries: &mut u32) -> Option<Renaming> {
    let colours_a = refine(a, colours_a);
    let colours_b = refine(b, colours_b);
    if row_hashes(a, &colours_a) != row_hashes(b, &colours_b) {
        return None;
    }
    let classes_a = apart_from_others(a, &colours_a);
    let classes_b = apart_from_others(b, &colours_b);
    if classes_a.len() != classes_b.len() {
        return None;
    }
    let Some((colour, members)) = classes_a.iter().filter(|(_, m)| m.len() > 1).min_by_key(|(_, m)| m.len())
    else {
        return same_under(a, b, &classes_a, &classes_b);
    };
    let partners = classes_b.get(colour).filter(|p| p.len() == members.len())?;
    let chosen = members.first()?;
    for partner in partners {
        *tries = tries.checked_sub(1)?;
        let apart = hash_of(&("apart", colour));
        let mut next_a = colours_a.clone();
        let mut next_b = colours_b.clone();
        next_a.insert((*chosen).clone(), apart);
        next_b.insert((*partner).clone(), apart);
        if let Some(found) = search(a, b, next_a, next_b, tries) {
            return Some(found);
        }
    }
    None
}

/// The classes, those taken apart whose members occur in no row with another node that is not yet told apart: members of such a class
/// are interchangeable, so any pairing of them is as good as another. (There can be thousands: a template's nodes are fresh for each row.)
fn apart_from_others(rows: &[Row], colours: &Colours) -> BTreeMap<u64, Vec<BlankNode>> {
    let classes = classes(colours);
    let alone =
        |node: &BlankNode| colours.get(node).and_then(|c| classes.get(c)).is_none_or(|m| m.len() == 1);
    let mut entangled: HashSet<u64> = HashSet::new();
    for row in rows {
        let mut open: Vec<&BlankNode> = Vec::new();
        let mut marks = Vec::new();
        for term in row.iter().flatten() {
            collect_marks(term, 0, &mut marks);
        }
        for (node, _) in marks {
            if !alone(node) && !open.contains(&node) {
                open.push(node);
            }
        }
        if open.len() > 1 {
            entangled.extend(open.into_iter().filter_map(|n| colours.get(n)));
        }
    }
    let mut apart = BTreeMap::new();
    for (colour, members) in classes {
        if members.len() == 1 || entangled.contains(&colour) {
            apart.insert(colour, members);
        } else {
            for (number, member) in members.into_iter().enumerate() {
                apart.insert(hash_of(&("apart", colour, number)), vec![member]);
            }
        }
    }
    apart
}

/// All classes have one member: the renaming is determined, check it exactly.
fn same_under(
    a: &[Row],
    b: &[Row],
    classes_a: &BTreeMap<u64, Vec<BlankNode>>,
    classes_b: &BTreeMap<u64, Vec<BlankNode>>,
) -> Option<Renaming> {
    let mut renaming = Renaming::new();
    for (colour, members) in classes_a {
        match (members.first(), classes_b.get(colour).map(Vec::as_slice)) {
            (Some(from), Some([to])) => renaming.insert(from.clone(), to.clone()),
            _ => return None,
        };
    }
    let mut counts: HashMap<Row, i64> = HashMap::new();
    for row in a {
        let renamed = row.iter().map(|t| t.as_ref().map(|t| rename(t, &renaming))).collect();
        *counts.entry(renamed).or_default() += 1;
    }
    for row in b {
        match counts.get_mut(row) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return None,
        }
    }
    Some(renaming)
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
