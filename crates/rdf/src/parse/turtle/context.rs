//! What a statement's meaning depends on besides its text: prefixes, base IRI, and the graph of the block around it.

use crate::raw::RawTerm;
use oxiri_of_oxttl::Iri;
use std::sync::Arc;

/// A declared prefix.
#[derive(Debug)]
pub(super) struct Prefix {
    pub name: Box<str>,
    pub namespace: Box<str>,
    /// Whether a name's local part may be a part of the authority, so that each IRI must be checked.
    pub needs_check: bool,
}

/// The declared prefixes: an open-addressing table that is cheap to copy, because every piece with a directive has its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Prefixes {
    entries: Vec<Arc<Prefix>>,
    /// Numbers of entries plus one; a power of two of them, at most half of them used.
    slots: Vec<u32>,
}

/// The hash of a prefix's name, byte by byte as it is read.
#[inline]
pub(super) fn hash_step(hash: u32, byte: u8) -> u32 {
    // Nothing slower: each step waits for the one before. `slot_of` mixes.
    hash.rotate_left(5) ^ u32::from(byte)
}

pub(super) const HASH_START: u32 = 0;

#[inline]
fn slot_of(hash: u32) -> usize {
    let mixed = hash.wrapping_mul(0x9E37_79B1);
    (mixed ^ mixed >> 15) as usize
}

fn hash_of(name: &[u8]) -> u32 {
    name.iter().fold(HASH_START, |hash, &byte| hash_step(hash, byte))
}

impl Prefixes {
    /// The prefix of a name with its hash.
    #[inline]
    pub(super) fn get(&self, name: &[u8], hash: u32) -> Option<&Prefix> {
        self.entries.get(self.find(name, hash)?).map(|entry| &**entry)
    }

    #[inline]
    fn find(&self, name: &[u8], hash: u32) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = slot_of(hash) & mask;
        loop {
            let number = (*self.slots.get(slot)? as usize).checked_sub(1)?;
            if self.entries.get(number)?.name.as_bytes() == name {
                return Some(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    pub(super) fn insert(&mut self, name: &str, namespace: &str) {
        let needs_check = Iri::parse(namespace).map_or(true, |iri| iri.path().is_empty());
        let prefix = Arc::new(Prefix { name: name.into(), namespace: namespace.into(), needs_check });
        let old = self.find(name.as_bytes(), hash_of(name.as_bytes()));
        match old.and_then(|at| self.entries.get_mut(at)) {
            Some(entry) => *entry = prefix,
            None => self.add(prefix),
        }
    }

    fn add(&mut self, prefix: Arc<Prefix>) {
        self.entries.push(prefix);
        if self.slots.len() < 2 * self.entries.len() {
            self.slots = vec![0; (4 * self.entries.len()).next_power_of_two().max(16)];
            for number in 0..self.entries.len() {
                self.link(number);
            }
        } else {
            self.link(self.entries.len() - 1);
        }
    }

    fn remove(&mut self, name: &[u8]) {
        self.entries.retain(|entry| entry.name.as_bytes() != name);
        self.slots.fill(0);
        for number in 0..self.entries.len() {
            self.link(number);
        }
    }

    fn link(&mut self, number: usize) {
        let mask = self.slots.len() - 1;
        let Some(entry) = self.entries.get(number) else { return };
        let mut slot = slot_of(hash_of(entry.name.as_bytes())) & mask;
        while self.slots.get(slot).is_some_and(|&used| used != 0) {
            slot = (slot + 1) & mask;
        }
        if let (Some(free), Ok(number)) = (self.slots.get_mut(slot), u32::try_from(number + 1)) {
            *free = number;
        }
    }

    /// Whether a prefix is declared as here.
    pub(super) fn has(&self, prefix: &Prefix) -> bool {
        let name = prefix.name.as_bytes();
        self.get(name, hash_of(name)).is_some_and(|known| known.namespace == prefix.namespace)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Prefix> {
        self.entries.iter().map(|entry| &**entry)
    }
}

/// Where in a TriG document a statement stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Block {
    /// Between blocks: statements are of the default graph, and directives may come.
    #[default]
    Outside,
    /// In a block of the default graph.
    Default,
    /// In a block of this graph.
    Iri(Arc<str>),
    /// In a block of the graph with this blank node's label.
    Blank(Arc<str>),
    /// In a block whose beginning has an error, so that nobody knows what graph its statements are in.
    Lost,
}

impl Block {
    #[inline]
    pub(super) fn graph(&self) -> Option<RawTerm<'_>> {
        match self {
            Self::Outside | Self::Default | Self::Lost => None,
            Self::Iri(iri) => Some(RawTerm::Iri(iri)),
            Self::Blank(label) => Some(RawTerm::Blank(label)),
        }
    }
}

/// The state between two statements.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    pub prefixes: Arc<Prefixes>,
    pub base: Option<Arc<Iri<String>>>,
    pub block: Block,
}

impl Context {
    /// Forgets what a directive with an error was to replace: what is behind it does not mean that any more.
    #[cold]
    pub(super) fn forget(&mut self, directive: &[u8]) {
        let text = directive.strip_prefix(b"@").unwrap_or(directive);
        let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (keyword, rest) = text.split_at_checked(length).unwrap_or((text, b""));
        if keyword.eq_ignore_ascii_case(b"base") {
            self.base = None;
        } else if keyword.eq_ignore_ascii_case(b"prefix")
            && let Some(colon) = memchr::memchr(b':', rest)
        {
            let name = rest.get(..colon).unwrap_or_default().trim_ascii_start();
            Arc::make_mut(&mut self.prefixes).remove(name);
        }
    }
}
