//! Random quads.

use super::Random;

/// Nodes of the data, as subjects and objects. Graph names are nodes too.
const NODES: &[&str] = &[":a", ":b", ":c", ":d", ":e", ":g1", ":g2"];
/// Predicates.
const PREDICATES: &[&str] = &[":p", ":q", ":r", ":s"];
/// Named graphs.
pub(super) const GRAPHS: &[&str] = &[":g1", ":g2", ":g3"];
const BLANK_NODES: &[&str] = &["_:x", "_:y", "_:z"];

/// Literals that most queries should meet: those that compare, join and compute.
const PLAIN: &[&str] = &["1", "2", "3", "1.0", "2.5", "1e0", "\"a\"", "\"b\"", "\"ab\"", "\"a\"@en", "true"];

/// Everything else: other lexical forms of the same values, other types, ill-typed literals.
const ODD: &[&str] = &[
    "\"\"",
    "\"A\"",
    "\"\\u00e9a\"",
    "\"a b\"",
    "\"a\"@fr",
    "\"b\"@en-GB",
    "\"a\"@en--ltr",
    "\"a\"@en--rtl",
    "0",
    "-1",
    "10",
    "9223372036854775807",
    "\"123456789012345678901234567890\"^^xsd:integer",
    "\"01\"^^xsd:integer",
    "\"+1\"^^xsd:integer",
    "\"x\"^^xsd:integer",
    "\"1\"^^xsd:int",
    "\"300\"^^xsd:byte",
    "\"7\"^^xsd:unsignedByte",
    "1.50",
    "-0.5",
    "\"1.\"^^xsd:decimal",
    "0.000000000000000001",
    "2.5e1",
    "1.0E0",
    "\"NaN\"^^xsd:double",
    "\"INF\"^^xsd:double",
    "\"-0.0\"^^xsd:double",
    "\"1\"^^xsd:float",
    "\"2.5\"^^xsd:float",
    "\"abc\"^^xsd:double",
    "false",
    "\"1\"^^xsd:boolean",
    "\"yes\"^^xsd:boolean",
    "\"2020-01-01T00:00:00Z\"^^xsd:dateTime",
    "\"2020-01-01T01:00:00+01:00\"^^xsd:dateTime",
    "\"2020-01-01T00:00:00\"^^xsd:dateTime",
    "\"2020-06-01T12:30:15.5Z\"^^xsd:dateTime",
    "\"2020-06-01T24:00:00\"^^xsd:dateTime",
    "\"2020-13-01T00:00:00\"^^xsd:dateTime",
    "\"2020-01-01\"^^xsd:date",
    "\"2020-01-01Z\"^^xsd:date",
    "\"2021-06-15\"^^xsd:date",
    "\"12:00:00\"^^xsd:time",
    "\"2020\"^^xsd:gYear",
    "\"P1D\"^^xsd:dayTimeDuration",
    "\"PT24H\"^^xsd:dayTimeDuration",
    "\"P1Y\"^^xsd:yearMonthDuration",
    "\"P1M\"^^xsd:duration",
    "\"-P1Y14M3DT25H1.50S\"^^xsd:duration",
    "\"-0044-03-15T23:59:59-05:00\"^^xsd:dateTime",
    "\"--02-29Z\"^^xsd:gMonthDay",
    "\"128\"",
    "\" -129 \"",
    "\"P3D\"",
    "\"--12\"",
    "\"18446744073709551616\"",
    "\"x\"^^:type",
    "\"y\"^^:type",
];

/// The words of one case: few, so that patterns match and joins find something.
#[derive(Debug)]
pub(super) struct Vocabulary {
    nodes: Vec<&'static str>,
    predicates: Vec<&'static str>,
    literals: Vec<&'static str>,
}

impl Vocabulary {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut some = |words: &[&'static str], least: usize, more: usize| -> Vec<&'static str> {
            (0..least + random.below(more)).map(|_| random.word(words)).collect()
        };
        let (nodes, predicates) = (some(NODES, 2, 4), some(PREDICATES, 1, 3));
        let mut literals = some(PLAIN, 2, 4);
        literals.extend(some(ODD, 0, 4));
        Self { nodes, predicates, literals }
    }

    /// A node, seldom one that the data may lack.
    pub(super) fn node(&self, random: &mut Random) -> &'static str {
        if random.chance(6) { random.word(NODES) } else { random.word(&self.nodes) }
    }

    pub(super) fn predicate(&self, random: &mut Random) -> &'static str {
        if random.chance(5) { random.word(PREDICATES) } else { random.word(&self.predicates) }
    }

    pub(super) fn literal(&self, random: &mut Random) -> &'static str {
        match random.below(100) {
            0..5 => random.word(PLAIN),
            5..10 => random.word(ODD),
            _ => random.word(&self.literals),
        }
    }

    /// Up to some thirty quads; a few big cases fill more than one small batch.
    pub(super) fn quads(&self, random: &mut Random) -> Vec<String> {
        let count = match random.below(100) {
            0..5 => random.below(4),
            5..9 => 30 + random.below(30),
            9 => 150 + random.below(150),
            _ => 8 + random.below(20),
        };
        let named = if random.chance(40) { 0 } else { random.below(80) };
        (0..count).map(|_| self.quad(random, named)).collect()
    }

    fn quad(&self, random: &mut Random, named: usize) -> String {
        let triple = self.triple(random);
        if random.chance(named) {
            format!("{} {{ {triple} }}", random.word(GRAPHS))
        } else {
            format!("{triple} .")
        }
    }

    pub(super) fn triple(&self, random: &mut Random) -> String {
        let predicate = if random.chance(3) { "rdf:type" } else { self.predicate(random) };
        format!("{} {predicate} {}", self.subject(random), self.object(random))
    }

    fn subject(&self, random: &mut Random) -> &'static str {
        if random.chance(12) { random.word(BLANK_NODES) } else { self.node(random) }
    }

    fn object(&self, random: &mut Random) -> String {
        match random.weighted(&[42, 44, 8, 6]) {
            0 => self.literal(random).to_owned(),
            1 => self.node(random).to_owned(),
            2 => random.word(BLANK_NODES).to_owned(),
            _ => format!(
                "<<( {} {} {} )>>",
                self.subject(random),
                self.predicate(random),
                self.inner_object(random)
            ),
        }
    }

    fn inner_object(&self, random: &mut Random) -> String {
        match random.below(8) {
            0 => format!("<<( {} {} {} )>>", self.subject(random), self.predicate(random), self.node(random)),
            1..4 => self.node(random).to_owned(),
            _ => self.literal(random).to_owned(),
        }
    }
}
