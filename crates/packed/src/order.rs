//! The seven sort orders in which quads are kept.

/// A position of a quad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Position {
    /// Subject.
    S = 0,
    /// Predicate.
    P = 1,
    /// Object.
    O = 2,
    /// Graph name.
    G = 3,
}

/// A sort order of quads. The six orders of S, P, O (with G last) hold all quads; [`Order::Gspo`] holds those in named graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Order {
    Spog = 0,
    Sopg = 1,
    Psog = 2,
    Posg = 3,
    Ospg = 4,
    Opsg = 5,
    Gspo = 6,
}

impl Order {
    /// How many there are.
    pub const COUNT: usize = 7;
    /// All, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Spog, Self::Sopg, Self::Psog, Self::Posg, Self::Ospg, Self::Opsg, Self::Gspo];

    /// The other one that begins with the same position; only that of named graphs has none.
    pub const fn twin(self) -> Option<Self> {
        match self {
            Self::Spog => Some(Self::Sopg),
            Self::Sopg => Some(Self::Spog),
            Self::Psog => Some(Self::Posg),
            Self::Posg => Some(Self::Psog),
            Self::Ospg => Some(Self::Opsg),
            Self::Opsg => Some(Self::Ospg),
            Self::Gspo => None,
        }
    }

    /// The positions in sort order: column `i` of this permutation holds position `positions()[i]`.
    pub const fn positions(self) -> [Position; 4] {
        use Position::{G, O, P, S};
        match self {
            Self::Spog => [S, P, O, G],
            Self::Sopg => [S, O, P, G],
            Self::Psog => [P, S, O, G],
            Self::Posg => [P, O, S, G],
            Self::Ospg => [O, S, P, G],
            Self::Opsg => [O, P, S, G],
            Self::Gspo => [G, S, P, O],
        }
    }

    /// The column that holds `position`.
    pub fn column_of(self, position: Position) -> usize {
        self.positions().iter().position(|p| *p == position).unwrap_or(0)
    }

    /// The name used in file names and in explanations, such as `spog`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spog => "spog",
            Self::Sopg => "sopg",
            Self::Psog => "psog",
            Self::Posg => "posg",
            Self::Ospg => "ospg",
            Self::Opsg => "opsg",
            Self::Gspo => "gspo",
        }
    }
}
