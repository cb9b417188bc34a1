//! What the manifest says of inferences: by which rules they were made, and whether they are all that follows from the version.
//!
//! The quads themselves are in a named graph, like others. What the rules mean is not known here.

/// First word of the line.
const INFERENCES: &str = "inferences ";
/// Second word of it.
const CURRENT: &str = "current ";
const STALE: &str = "stale ";
/// Rules may have so many bytes: the manifest is written whole with each segment.
pub const RULES_BYTES_MAX: usize = 1 << 20;

/// What a database knows of its inferences. One without has none, and never had rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferences {
    /// Whether they are what follows from the segments of the manifest.
    pub is_current: bool,
    /// The rules by which they were made.
    pub rules: String,
}

impl Inferences {
    /// The same of a version that has other quads.
    #[must_use]
    pub fn stale(self) -> Self {
        Self { is_current: false, ..self }
    }

    /// The line of a manifest.
    pub(super) fn line(&self) -> String {
        let word = if self.is_current { CURRENT } else { STALE };
        let mut line = format!("{INFERENCES}{word}");
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
        let (is_current, text) = match rest.strip_prefix(CURRENT) {
            Some(text) => (true, text),
            None => (false, rest.strip_prefix(STALE)?),
        };
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
        Some(Self { is_current, rules })
    }
}

#[cfg(test)]
mod tests {
    use super::Inferences;

    #[test]
    fn lines_hold_any_text() {
        for rules in ["", "set rdfs", "a\nb\r\n\\n \\ ü\t", "\\"] {
            for is_current in [true, false] {
                let inferences = Inferences { is_current, rules: rules.to_owned() };
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
