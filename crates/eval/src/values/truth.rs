//! Three-valued logic (SPARQL 1.1, 17.2).

/// SPARQL's three truth values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tri {
    False,
    True,
    Error,
}

impl Tri {
    pub fn from_option(value: Option<bool>) -> Self {
        value.map_or(Self::Error, Self::from)
    }

    pub fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::True => Self::False,
            Self::Error => Self::Error,
        }
    }

    /// 17.2: an error and false is false, an error and true an error.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, Self::True) => Self::True,
            _ => Self::Error,
        }
    }

    /// 17.2: an error or true is true, an error or false an error.
    pub fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

impl From<bool> for Tri {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}
