//! The secret that head and workers share.

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue, InvalidHeaderValue};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Shorter ones are guessed.
const BYTES_MIN: usize = 16;

/// Why a file has none.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It cannot be read.
    #[error("the token file {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too short.
    #[error("the token has fewer than {BYTES_MIN} characters: openssl rand -hex 32 makes one")]
    Short,
    /// It is no text for a header.
    #[error("the token has characters that a header cannot have: use letters, digits and -_.")]
    Characters(#[from] InvalidHeaderValue),
}

/// The secret, as a header has it.
#[derive(Clone)]
pub struct Token(HeaderValue);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// This one.
    ///
    /// # Errors
    /// Where it is too short, or no header can have it.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() < BYTES_MIN {
            return Err(TokenError::Short);
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {text}"))?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The one in a file.
    ///
    /// # Errors
    /// Where it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let text = std::fs::read_to_string(path);
        Self::new(&text.map_err(|source| TokenError::Io { path: path.to_owned(), source })?)
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Whether a request has it. How long that takes tells nothing of it.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let own = self.0.as_bytes();
        let given = headers.get(AUTHORIZATION).map_or(&[][..], HeaderValue::as_bytes);
        let byte = |place: usize| given.get(place).copied().unwrap_or_default();
        let differ = own.iter().enumerate().fold(0, |differ, (place, own)| differ | (own ^ byte(place)));
        differ == 0 && own.len() == given.len()
    }
}

#[cfg(test)]
mod tests {
    //! Who is let in.
    use super::*;

    #[test]
    fn only_the_same_token_is_let_in() {
        let token = Token::new("0123456789abcdef\n").unwrap();
        let with =
            |value: &str| HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())]);
        assert!(token.is_in(&with("Bearer 0123456789abcdef")));
        for other in
            ["", "Bearer", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer 0123456789abcdeF"]
        {
            assert!(!token.is_in(&with(other)), "{other}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
    }

    #[test]
    fn short_and_strange_ones_are_refused() {
        assert!(matches!(Token::new("secret"), Err(TokenError::Short)));
        assert!(matches!(Token::new("0123456789\n0123456789"), Err(TokenError::Characters(_))));
    }
}
