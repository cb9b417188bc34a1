//! Refuses hostile results of queries before they reach their parser, whoever sent them: endless nesting, entities that grow, and more columns
//! than anybody asks for (parsers compare each with all others).

use super::window::Guard;
use super::xml_guard::XmlGuard;
use crate::key::TRIPLE_DEPTH_MAX;

/// How deep objects and lists, or elements, may nest: two for each triple term in another, and some around. Parsers walk them by recursion, some
/// with a kilobyte of stack for each.
const DEPTH_MAX: usize = 2 * TRIPLE_DEPTH_MAX + 32;

/// Looks at the text of a result as it passes.
pub struct ResultGuard(Kind);

enum Kind {
    Json(JsonNesting),
    Xml(Box<XmlGuard>),
}

#[derive(Default)]
struct JsonNesting {
    depth: usize,
    /// Texts where the names of columns stand: in a list in an object in the whole.
    columns: usize,
    is_string: bool,
    is_escaped: bool,
}

impl ResultGuard {
    /// How many columns there may be.
    pub const COLUMNS_MAX: usize = 4096;

    /// For a result in JSON.
    pub fn json() -> Self {
        Self(Kind::Json(JsonNesting::default()))
    }

    /// For a result in XML.
    pub fn xml() -> Self {
        Self(Kind::Xml(Box::new(XmlGuard::with_depth(DEPTH_MAX))))
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// Where nobody should read on: why.
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), String> {
        match &mut self.0 {
            Kind::Json(nesting) => nesting.check(bytes),
            Kind::Xml(guard) => guard.check(bytes).map_err(|(_, message)| message),
        }
    }
}

impl JsonNesting {
    fn check(&mut self, bytes: &[u8]) -> Result<(), String> {
        for byte in bytes {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'"' => {
                    self.is_string = !self.is_string;
                    self.columns += usize::from(self.is_string && self.depth == 3);
                }
                b'\\' if self.is_string => self.is_escaped = true,
                _ if self.is_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.columns > ResultGuard::COLUMNS_MAX {
                return Err(format!("more than {} columns", ResultGuard::COLUMNS_MAX));
            }
            if self.depth > DEPTH_MAX {
                return Err(format!("objects and lists nest more than {DEPTH_MAX} deep"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! What is refused, in pieces of any length.
    use super::*;

    fn refused(mut guard: ResultGuard, text: &str) -> bool {
        text.as_bytes().chunks(7).any(|piece| guard.check(piece).is_err())
    }

    #[test]
    fn deep_results_are_refused() {
        let deep = |open: &str, count: usize| format!("{{\"a\":\"\\\"{{{{\",\"b\":{}", open.repeat(count));
        assert!(refused(ResultGuard::json(), &deep("[{\"x\":", 100)));
        assert!(!refused(ResultGuard::json(), &deep("[{\"x\":", 70)));
        assert!(!refused(ResultGuard::json(), &format!("\"{}", "[\\\"".repeat(9000))), "brackets in a text");
        assert!(!refused(ResultGuard::json(), &"[{}]".repeat(9000)));
        let columns = |count: usize| format!("{{\"head\":{{\"vars\":[{}", "\"a\",".repeat(count));
        assert!(
            refused(ResultGuard::json(), &columns(5000)) && !refused(ResultGuard::json(), &columns(4000))
        );
        assert!(refused(ResultGuard::xml(), &"<triple>".repeat(200)));
        let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaaaaaaaa\">";
        let more: String = (0..16)
            .map(|i: i32| format!("<!ENTITY a{i} \"{}\">", format!("&a{};", i - 1).repeat(16)))
            .collect();
        assert!(refused(ResultGuard::xml(), &format!("{bomb}{}]><a/>", more.replace("&a-1;", "&a;"))));
    }
}
