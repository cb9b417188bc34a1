//! Licences as packages name them: SPDX expressions, and the slashes of older ones.

/// Whether one may use what is under this expression with licences of `allowed`.
///
/// # Errors
/// Text that is no expression.
pub fn is_allowed(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    let answer = reader.any()?;
    match reader.words {
        [] => Ok(answer),
        [word, ..] => Err(format!("{word} was not expected")),
    }
}

/// The same as SPDX writes it.
pub fn written(expression: &str) -> String {
    let text = expression.replace('/', " OR ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.first() == Some(&word);
        if is_next {
            self.words = &self.words[1..];
        }
        is_next
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut answer = self.all()?;
        while self.take("OR") {
            answer |= self.all()?;
        }
        Ok(answer)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let answer = self.any()?;
            return if self.take(")") { Ok(answer) } else { Err("a parenthesis is not closed".to_owned()) };
        }
        let (first, rest) = self.words.split_first().ok_or("a licence is missing")?;
        if ["AND", "OR", "WITH", ")"].contains(first) {
            return Err(format!("{first} where a licence was expected"));
        }
        self.words = rest;
        if self.take("WITH") {
            let (exception, rest) = self.words.split_first().ok_or("an exception is missing")?;
            self.words = rest;
            return Ok((self.allowed)(&format!("{first} WITH {exception}")));
        }
        Ok((self.allowed)(first))
    }
}

#[cfg(test)]
mod tests {
    //! Expressions as crates have them.
    use super::{is_allowed, written};

    #[test]
    fn expressions() {
        let allowed = |name: &str| ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&name);
        for (text, answer) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("MIT AND ISC", true),
            ("MIT OR ISC AND GPL-3.0", true),
            ("(MIT OR ISC) AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND ISC", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
        ] {
            assert_eq!(is_allowed(text, &allowed), Ok(answer), "{text}");
        }
        for text in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "OR MIT", "MIT WITH"] {
            assert!(is_allowed(text, &allowed).is_err(), "{text}");
        }
        assert_eq!(written("Apache-2.0 / MIT"), "Apache-2.0 OR MIT");
    }
}
