//! Data from which much follows, each of one kind: what rules of OWL 2 RL cost where they are transitive, where hierarchies are wide or deep, where
//! things have several names, and where rules join.
//!
//! Small worlds, so that reasoners that take minutes for a million triples can be measured beside others; [`crate::lubm`] is the large one. Names are
//! drawn in random order: what is next to each other in meaning is not so in an index.

#[cfg(test)]
mod tests;

use crate::bsbm::Random;
use std::io::{self, Write};

const TYPE: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const FIRST: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#first>";
const REST: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest>";
const NIL: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>";
const SUB_CLASS: &str = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>";
const DOMAIN: &str = "<http://www.w3.org/2000/01/rdf-schema#domain>";
const RANGE: &str = "<http://www.w3.org/2000/01/rdf-schema#range>";
const OWL: &str = "http://www.w3.org/2002/07/owl#";

/// Classes right below one of a wide hierarchy.
const FAN: u64 = 100;
/// Classes below each other of a deep hierarchy.
const DEPTH: u64 = 30;
/// Instances of each class.
const INSTANCES: u64 = 10;
/// Names of each thing that has several.
const NAMES: u64 = 8;
/// Owners that things with several names share.
const OWNERS: u64 = 100;

/// A kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// A transitive property over a chain: of n links follow n(n-1)/2.
    Chain,
    /// A tree of classes with a fan of 100, and ten instances of each.
    Wide,
    /// Chains of 30 classes, and ten instances of each.
    Deep,
    /// Groups of eight equal names, each with statements of its own.
    Equal,
    /// A property chain, an inverse, a domain and a range over a family.
    Joins,
}

impl Case {
    /// All, in the order in which they are measured.
    pub const ALL: [Self; 5] = [Self::Chain, Self::Wide, Self::Deep, Self::Equal, Self::Joins];

    /// As it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Wide => "wide",
            Self::Deep => "deep",
            Self::Equal => "equal",
            Self::Joins => "joins",
        }
    }

    /// Writes the data as N-Triples, each triple once, and returns how many there are. The same seed gives the same bytes.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn generate(self, size: u64, seed: u64, out: &mut dyn Write) -> io::Result<u64> {
        let mut data = Data { out, triples: 0, random: Random::new(seed) };
        match self {
            Self::Chain => data.chain(size),
            Self::Wide => data.hierarchy(size, |class| class.checked_sub(1).map(|above| above / FAN)),
            Self::Deep => data.hierarchy(size, |class| (class % DEPTH != 0).then(|| class - 1)),
            Self::Equal => data.equal(size),
            Self::Joins => data.joins(size),
        }?;
        data.out.flush()?;
        Ok(data.triples)
    }
}

struct Data<'a> {
    out: &'a mut dyn Write,
    triples: u64,
    random: Random,
}

fn own(name: &str) -> String {
    format!("<http://example.org/{name}>")
}

fn owl(name: &str) -> String {
    format!("<{OWL}{name}>")
}

impl Data<'_> {
    fn triple(&mut self, subject: &str, predicate: &str, object: &str) -> io::Result<()> {
        self.triples += 1;
        writeln!(self.out, "{subject} {predicate} {object} .")
    }

    /// The numbers below `count` in random order: a name for each thing.
    fn shuffled(&mut self, count: u64) -> Vec<u64> {
        let mut names: Vec<u64> = (0..count).collect();
        for at in (1..names.len()).rev() {
            let other = self.random.below(at as u64 + 1) as usize;
            names.swap(at, other);
        }
        names
    }

    fn chain(&mut self, links: u64) -> io::Result<()> {
        let next = own("next");
        self.triple(&next, TYPE, &owl("TransitiveProperty"))?;
        let names = self.shuffled(links + 1);
        for link in names.windows(2) {
            self.triple(&own(&format!("n{}", link[0])), &next, &own(&format!("n{}", link[1])))?;
        }
        Ok(())
    }

    /// Classes, each below the one that is told, and instances of them.
    fn hierarchy(&mut self, classes: u64, above: impl Fn(u64) -> Option<u64>) -> io::Result<()> {
        let names = self.shuffled(classes);
        let mut instance = 0;
        for class in 0..classes {
            let name = own(&format!("C{}", names[class as usize]));
            if let Some(above) = above(class) {
                self.triple(&name, SUB_CLASS, &own(&format!("C{}", names[above as usize])))?;
            }
            for _ in 0..INSTANCES {
                instance += 1;
                self.triple(&own(&format!("i{instance}")), TYPE, &name)?;
            }
        }
        Ok(())
    }

    fn equal(&mut self, groups: u64) -> io::Result<()> {
        let names = self.shuffled(groups * NAMES);
        for group in names.chunks(NAMES as usize) {
            // Each is linked to one before it, so that groups are trees of several forms.
            for at in 1..group.len() {
                let other = group[self.random.below(at as u64) as usize];
                self.triple(&own(&format!("e{}", group[at])), &owl("sameAs"), &own(&format!("e{other}")))?;
            }
            let owner = self.random.below(OWNERS);
            for (at, name) in group.iter().enumerate() {
                self.triple(&own(&format!("e{name}")), &own(&format!("p{at}")), &format!("\"{at}\""))?;
                self.triple(&own(&format!("e{name}")), &own("of"), &own(&format!("owner{owner}")))?;
            }
        }
        Ok(())
    }

    fn joins(&mut self, people: u64) -> io::Result<()> {
        let [uncle, parent, brother] = ["uncle", "parent", "brother"].map(own);
        let [list, rest, person, has_child] = ["list1", "list2", "Person", "Parent"].map(own);
        self.triple(&uncle, &owl("propertyChainAxiom"), &list)?;
        self.triple(&list, FIRST, &parent)?;
        self.triple(&list, REST, &rest)?;
        self.triple(&rest, FIRST, &brother)?;
        self.triple(&rest, REST, NIL)?;
        self.triple(&parent, &owl("inverseOf"), &own("child"))?;
        self.triple(&parent, DOMAIN, &person)?;
        self.triple(&parent, RANGE, &has_child)?;
        self.triple(&has_child, SUB_CLASS, &person)?;
        let names = self.shuffled(people);
        let name = |at: u64| own(&format!("x{}", names[at as usize]));
        for at in 1..people {
            // Two parents among those before, and one brother: the one beside.
            let one = self.random.below(at);
            let other = self.random.below(at);
            self.triple(&name(at), &parent, &name(one))?;
            if other != one {
                self.triple(&name(at), &parent, &name(other))?;
            }
            if at % 2 == 1 {
                self.triple(&name(at), &brother, &name(at - 1))?;
                self.triple(&name(at - 1), &brother, &name(at))?;
            }
        }
        Ok(())
    }
}
