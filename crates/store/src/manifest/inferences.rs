//! What the manifest says of inferences: by which rules they were made, and of what they are all that follows.
//!
//! The quads themselves are in a named graph, like others. What the rules mean is not known here.

/// First word of the line.
const INFERENCES: &str = "inferences ";
/// Second word of it.
const MAINTAINED: &str = "maintained ";
const CURRENT: &str = "current ";
const STALE: &str = "stale ";
/// Rules may have so many bytes: the manifest is written whole with each segment.
pub const RULES_BYTES_MAX: usize = 1 << 20;

/// Of what the inferences are all that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Currency {
    /// Of the quads of each version that goes on from the manifest: who commits brings them up to date.
    Maintained,
    /// Of the quads of the segments, and not of what the log adds.
    Current,
    /// Of nothing that is there.
    Stale,
}

impl Currency {
    fn word(self) -> &'static str {
        match self {
            Self::Maintained => MAINTAINED,
            Self::Current => CURRENT,
            Self::Stale => STALE,
        }
    }
}

/// What a database knows of its inferences. One without has none, and never had rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferences {
    /// Of what they are all that follows.
    pub currency: Currency,
    /// The rules by which they were made.
    pub rules: String,
}

impl Inferences {
    /// The same of a version that has other quads.
    #[must_use]
    pub fn stale(self) -> Self {
        Self { currency: Currency::Stale, ..self }
    }

    /// The same of a version that has quads in its log or its segments that the manifest before did not have.
    #[must_use]
    pub fn after_commits(self) -> Self {
        if self.is_maintained() { self } else { self.stale() }
    }

    /// The same where the log has changes that they know nothing of, and the segments are all that they are of.
    #[must_use]
    pub fn of_segments(self) -> Self {
        Self { currency: Currency::Current, ..self }
    }

    /// Whether they are all that follows from the version that they are told of.
    pub fn is_current(&self) -> bool {
        self.currency != Currency::Stale
    }

    /// Whether commits bring them up to date.
    pub fn is_maintained(&self) -> bool {
        self.currency == Currency::Maintained
    }

    /// The line of a manifest.
    pub(super) fn line(&self) -> String {
        let mut line = format!("{INFERENCES}{}", self.currency.word());
        for char in self.rules.chars() {
            match char {
                '\\' => line.push_str("\\\\"),
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                other => line.push(other),
            }
        }
        line
    }

    /// Whether a line is one of these.
    pub(super) fn is_line(line: &str) -> bool {
        line.starts_with(INFERENCES)
    }

    /// What a line says.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix(INFERENCES)?;
        let known = [Currency::Maintained, Currency::Current, Currency::Stale];
        let (currency, text) =
            known.into_iter().find_map(|one| Some((one, rest.strip_prefix(one.word())?)))?;
        let (mut rules, mut chars) = (String::with_capacity(text.len()), text.chars());
        while let Some(char) = chars.next() {
            rules.push(match char {
                '\\' => match chars.next()? {
                    '\\' => '\\',
                    'n' => '\n',
                    'r' => '\r',
                    _ => return None,
                },
                other => other,
            });
        }
        Some(Self { currency, rules })
    }
}

#[cfg(test)]
mod tests {
    use super::{Currency, Inferences};

    #[test]
    fn lines_hold_any_text() {
        for rules in ["", "set rdfs", "a\nb\r\n\\n \\ ü\t", "\\"] {
            for currency in [Currency::Maintained, Currency::Current, Currency::Stale] {
                let inferences = Inferences { currency, rules: rules.to_owned() };
                let line = inferences.line();
                assert!(Inferences::is_line(&line) && !line.contains('\n'));
                assert_eq!(Inferences::parse(&line), Some(inferences));
            }
        }
        for wrong in ["inferences", "inferences new x", "inferences current \\x", "inferences stale \\"] {
            assert_eq!(Inferences::parse(wrong), None, "{wrong}");
        }
    }
}
