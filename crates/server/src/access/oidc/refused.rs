//! Why a token is not believed.

use jsonwebtoken::errors::{Error, ErrorKind};

/// What is wrong with it. Nothing of the token is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::access) enum Refused {
    /// It is no token, lacks what one must have, or has what is not understood here.
    Unreadable,
    Algorithm,
    Signature,
    UnknownKey,
    Expired,
    NotYet,
    Issuer,
    Audience,
    /// There are no keys at all: nothing can be said of it.
    NoKeys,
}

impl Refused {
    /// A sentence for who has sent it.
    pub(in crate::access) fn told(self) -> &'static str {
        match self {
            Self::Unreadable => {
                "this token is not valid here: it is no signed JWT with exp, iss, aud and the name of its user"
            }
            Self::Algorithm => {
                "this token is signed in a way that is not believed here: RS256 to RS512, PS256 to PS512, ES256, ES384 and EdDSA are, by the key's kind"
            }
            Self::Signature => "this token is not valid here: its signature is wrong",
            Self::UnknownKey => "this token is signed with a key that its issuer does not list",
            Self::Expired => "this token has expired: get a new one",
            Self::NotYet => "this token is not valid yet",
            Self::Issuer => "this token is of another issuer",
            Self::Audience => "this token is for another audience",
            Self::NoKeys => {
                "tokens cannot be checked: the keys of their issuer could not be read (the server's log says why); try again later"
            }
        }
    }
}

impl From<&Error> for Refused {
    fn from(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::ExpiredSignature => Self::Expired,
            ErrorKind::ImmatureSignature => Self::NotYet,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => Self::Algorithm,
            _ => Self::Unreadable,
        }
    }
}
