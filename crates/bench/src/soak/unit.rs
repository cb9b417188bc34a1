//! What is written together: the quads of a unit, and the requests that write, rewrite and remove them.

use std::fmt::Write as _;

/// Pairs of graphs over which units are spread.
pub const BUCKETS: u64 = 512;
/// One in so many units has more quads than a transaction takes.
const LARGE_EVERY: u64 = 400;
/// The quads of such a unit.
const LARGE_QUADS: u64 = 3_000;
/// Where all names begin.
const NAMESPACE: &str = "urn:soak:";

/// What may be there of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// All quads, as this step has written them.
    Written(u32),
}

/// The quads that are written, rewritten and removed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit(pub u64);

impl Unit {
    /// How many quads it has: an even number, half of them in each of two graphs.
    pub fn quads(self) -> u64 {
        if self.is_large() { LARGE_QUADS } else { 4 + 2 * (self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61) }
    }

    /// Whether it is written as a file, which becomes a bulk load.
    pub fn is_large(self) -> bool {
        self.0 % LARGE_EVERY == LARGE_EVERY - 1
    }

    /// Which pair of graphs it is in.
    pub fn bucket(self) -> u64 {
        self.0 % BUCKETS
    }

    /// All quads, after this step, as N-Quads.
    pub fn n_quads(self, step: u32) -> String {
        let mut text = String::new();
        for number in 0..self.quads() {
            let graph = graph(self.bucket(), number % 2 == 1);
            let _ = writeln!(
                text,
                "<{NAMESPACE}t{}> <{NAMESPACE}p{number}> {} <{graph}> .",
                self.0,
                self.value(step)
            );
        }
        text
    }

    /// The same as a template of an update.
    fn pattern(self, step: u32) -> String {
        let mut text = String::new();
        for is_second in [false, true] {
            let _ = write!(text, "GRAPH <{}> {{ <{NAMESPACE}t{}> ", graph(self.bucket(), is_second), self.0);
            for number in (u64::from(is_second)..self.quads()).step_by(2) {
                let _ = write!(text, "<{NAMESPACE}p{number}> {} ; ", self.value(step));
            }
            text.push_str("} ");
        }
        text
    }

    fn value(self, step: u32) -> String {
        format!("\"{} {step}\"", self.0)
    }

    /// A request that writes it: with data only, or with a WHERE.
    pub fn insert(self, step: u32, is_blind: bool) -> String {
        let pattern = self.pattern(step);
        if is_blind {
            format!("INSERT DATA {{ {pattern}}}")
        } else {
            format!("INSERT {{ {pattern}}} WHERE {{}}")
        }
    }

    /// A request that makes the quads of one step those of another.
    pub fn rewrite(self, from: u32, to: u32, is_blind: bool) -> String {
        if is_blind {
            return format!(
                "DELETE DATA {{ {}}} ; INSERT DATA {{ {}}}",
                self.pattern(from),
                self.pattern(to)
            );
        }
        let (name, value) = (self.0, self.value(to));
        format!(
            "DELETE {{ GRAPH ?g {{ <{NAMESPACE}t{name}> ?p ?o }} }} INSERT {{ GRAPH ?g {{ <{NAMESPACE}t{name}> ?p {value} }} }} \
             WHERE {{ GRAPH ?g {{ <{NAMESPACE}t{name}> ?p ?o }} }}"
        )
    }

    /// A request that removes the quads of a step.
    pub fn remove(self, from: u32, is_blind: bool) -> String {
        if is_blind {
            return format!("DELETE DATA {{ {}}}", self.pattern(from));
        }
        format!("DELETE WHERE {{ GRAPH ?g {{ <{NAMESPACE}t{}> ?p ?o }} }}", self.0)
    }

    /// The number of quads that a request changes, counted as the server does: those that go and those that come.
    pub fn changed(self, from: State, to: State) -> (u64, u64) {
        let quads = |state| if matches!(state, State::Absent) { 0 } else { self.quads() };
        (quads(to), quads(from))
    }

    /// A query for the unit: rows of unit, value and count.
    pub fn query(self) -> String {
        let name = self.0;
        format!(
            "SELECT ?t ?o (COUNT(*) AS ?n) {{ VALUES ?t {{ <{NAMESPACE}t{name}> }} GRAPH ?g {{ ?t ?p ?o }} }} GROUP BY ?t ?o"
        )
    }

    /// A query for all units of a bucket, with the same rows.
    pub fn query_bucket(bucket: u64) -> String {
        let (first, second) = (graph(bucket, false), graph(bucket, true));
        format!(
            "SELECT ?t ?o (COUNT(*) AS ?n) {{ {{ GRAPH <{first}> {{ ?t ?p ?o }} }} UNION {{ GRAPH <{second}> {{ ?t ?p ?o }} }} }} GROUP BY ?t ?o"
        )
    }

    /// A query for all units, with the same rows.
    pub fn query_all() -> String {
        "SELECT ?t ?o (COUNT(*) AS ?n) { GRAPH ?g { ?t ?p ?o } } GROUP BY ?t ?o".to_owned()
    }

    /// A query for two counts that are always equal: each unit has one quad of each predicate.
    pub fn query_halves() -> String {
        let half = |number: u64| {
            format!("{{ SELECT (COUNT(*) AS ?n{number}) {{ GRAPH ?g {{ ?t <{NAMESPACE}p{number}> ?o }} }} }}")
        };
        format!("SELECT ?n0 ?n1 {{ {} {} }}", half(0), half(1))
    }

    /// The unit and the step of a row of these queries; none for anything else.
    pub fn of_row(subject: &str, value: &str) -> Option<(Self, u32)> {
        let unit = Self(subject.strip_prefix(NAMESPACE)?.strip_prefix('t')?.parse().ok()?);
        let (number, step) = value.split_once(' ')?;
        (number.parse() == Ok(unit.0)).then_some((unit, step.parse().ok()?))
    }
}

fn graph(bucket: u64, is_second: bool) -> String {
    format!("{NAMESPACE}{}{bucket}", if is_second { 'b' } else { 'a' })
}
