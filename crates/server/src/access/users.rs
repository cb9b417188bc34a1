//! Users and tokens: names, rights, and hashes of what proves who somebody is.

use super::grant::{Graphs, Written};
use super::rights::Rights;
use super::role::Role;
use super::written_rights::{ANONYMOUS, Standing, rights_of, written};
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Why users cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not one of users.
    #[error("{path} is no file of users: {what}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// What was asked for cannot be done.
    #[error("{0}")]
    Refused(String),
}

/// All users and tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Users {
    users: BTreeMap<String, User>,
    #[serde(default)]
    tokens: BTreeMap<String, Token>,
    /// What who does not log in may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) anonymous: Option<Standing>,
    /// What groups of an OpenID Connect provider may do.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) groups: BTreeMap<String, Standing>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct User {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<Written>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    databases: BTreeMap<String, Written>,
    /// Argon2id, in the PHC string format.
    password: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<Written>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    databases: BTreeMap<String, Written>,
    /// SHA-256 of the secret, which nobody can guess: a slow hash would not make it any safer.
    secret: String,
    /// Seconds since 1970 from which on it is worth nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    expires: Option<u64>,
}

/// The longest name.
const NAME_CHARS_MAX: usize = 64;
/// The shortest password (NIST SP 800-63B, section 5.1.1), and the longest, so that nobody has much of anything hashed.
const PASSWORD_CHARS_MIN: usize = 8;
const PASSWORD_BYTES_MAX: usize = 1024;
/// What a token begins with, so that it is known where it is found.
const TOKEN_PREFIX: &str = "lode_";
/// The random bytes of a token.
const SECRET_BYTES: usize = 32;

/// Memory, passes and lanes of Argon2id: one of the settings that OWASP recommends, with little memory for many at once.
const MEMORY_KIB: u32 = 9 << 10;
const PASSES: u32 = 4;
const LANES: u32 = 1;
/// Bytes that a check of a password takes.
pub(crate) const CHECK_BYTES: usize = (MEMORY_KIB as usize + 64) << 10;
/// Of hashes from elsewhere, no check may take more memory than so many KiB, or more passes.
const FOREIGN_KIB_MAX: u32 = MEMORY_KIB;
const FOREIGN_PASSES_MAX: u32 = 16;

/// A list entry: a name, its rights, and for tokens when they expire.
pub type Entry = (String, Rights, Option<u64>);

impl User {
    fn rights(&self) -> Rights {
        rights_of(self.role.as_ref(), &self.databases).unwrap_or_default()
    }
}

impl Token {
    fn rights(&self) -> Rights {
        rights_of(self.role.as_ref(), &self.databases).unwrap_or_default()
    }
}

impl Users {
    /// Whether there is nobody, and nothing is said of who does not log in.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.tokens.is_empty() && self.anonymous.is_none()
    }

    /// All users, by name.
    pub fn users(&self) -> Vec<Entry> {
        self.users.iter().map(|(name, user)| (name.clone(), user.rights(), None)).collect()
    }

    /// All tokens, by name.
    pub fn tokens(&self) -> Vec<Entry> {
        self.tokens.iter().map(|(name, token)| (name.clone(), token.rights(), token.expires)).collect()
    }

    /// Whether a user can be called so.
    ///
    /// # Errors
    /// Where the name is not fit for it.
    pub fn check_new(name: &str) -> Result<(), UserError> {
        if name == ANONYMOUS {
            return Err(refused(format!(
                "{ANONYMOUS} is who does not log in, without a password: lode user grant says what they may do"
            )));
        }
        check_name(name)
    }

    /// Adds a user.
    ///
    /// # Errors
    /// Where there is one of this name, or the name or the password is not fit for it.
    pub fn add(&mut self, name: &str, rights: Rights, password: &str) -> Result<(), UserError> {
        Self::check_new(name)?;
        if self.users.contains_key(name) {
            return Err(refused(format!(
                "there is a user {name} already: passwd changes the password, remove removes it"
            )));
        }
        check_rights(&rights)?;
        let password = hashed(password)?;
        let (role, databases) = written(&rights);
        self.users.insert(name.to_owned(), User { role, databases, password });
        Ok(())
    }

    /// Gives a user a role in these databases (in all, where none is named), and says for which graphs it is: [`Rights::give`].
    ///
    /// # Errors
    /// Where there is no such user, or the role cannot have rules for graphs.
    pub fn grant(
        &mut self,
        name: &str,
        role: Role,
        databases: &[String],
        graphs: &Graphs,
    ) -> Result<Rights, UserError> {
        if name == ANONYMOUS {
            return self.grant_anonymous(role, databases, graphs);
        }
        let user = self.users.get_mut(name).ok_or_else(|| refused(format!("there is no user {name}")))?;
        let mut rights = user.rights();
        rights.give(role, databases, graphs);
        check_rights(&rights)?;
        (user.role, user.databases) = written(&rights);
        Ok(rights)
    }

    /// Gives a user another password.
    ///
    /// # Errors
    /// Where there is no such user, or the password is not fit for it.
    pub fn change_password(&mut self, name: &str, password: &str) -> Result<(), UserError> {
        let user = self.users.get_mut(name).ok_or_else(|| refused(format!("there is no user {name}")))?;
        user.password = hashed(password)?;
        Ok(())
    }

    /// Removes a user.
    ///
    /// # Errors
    /// Where there is no such user.
    pub fn remove(&mut self, name: &str) -> Result<(), UserError> {
        if name == ANONYMOUS {
            return self.remove_anonymous();
        }
        self.users.remove(name).map(drop).ok_or_else(|| refused(format!("there is no user {name}")))
    }

    /// Adds a token; what is to be sent, which nobody can tell again.
    ///
    /// # Errors
    /// Where there is one of this name, the name is not fit for it, or there is no randomness.
    pub fn add_token(
        &mut self,
        name: &str,
        rights: Rights,
        expires: Option<u64>,
    ) -> Result<String, UserError> {
        check_name(name)?;
        if self.tokens.contains_key(name) {
            return Err(refused(format!(
                "there is a token {name} already: revoke it first, or choose another name"
            )));
        }
        check_rights(&rights)?;
        let mut random = [0; SECRET_BYTES];
        getrandom::fill(&mut random).map_err(|error| refused(format!("no randomness: {error}")))?;
        let sent = format!("{TOKEN_PREFIX}{}", hex(&random));
        let ((role, databases), secret) = (written(&rights), hex(&Sha256::digest(sent.as_bytes())));
        self.tokens.insert(name.to_owned(), Token { role, databases, secret, expires });
        Ok(sent)
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// Where there is no such token.
    pub fn revoke_token(&mut self, name: &str) -> Result<(), UserError> {
        self.tokens.remove(name).map(drop).ok_or_else(|| refused(format!("there is no token {name}")))
    }

    /// The rights of a user with this password. Takes as long where there is no such user.
    pub(crate) fn verify(&self, name: &str, password: &str) -> Option<Rights> {
        if password.len() > PASSWORD_BYTES_MAX {
            return None;
        }
        let user = self.users.get(name);
        let text = user.map_or(NOBODY, |user| &user.password);
        let is_right = PasswordHash::new(text).is_ok_and(|hash| {
            is_bounded(&hash) && Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()
        });
        user.filter(|_| is_right).map(User::rights)
    }

    /// Whose token this is, and until when.
    pub(crate) fn token(&self, sent: &str) -> Option<(&str, Rights)> {
        if !sent.starts_with(TOKEN_PREFIX) || sent.len() > PASSWORD_BYTES_MAX {
            return None;
        }
        let digest = hex(&Sha256::digest(sent.as_bytes()));
        // What is compared is a hash of what was sent: how much of it is right tells nothing of the secret.
        let found = self.tokens.iter().find(|(_, token)| token.secret == digest);
        found
            .filter(|(_, token)| token.expires.is_none_or(|expires| now() < expires))
            .map(|(name, token)| (name.as_str(), token.rights()))
    }

    /// Whether all hashes are such that they can be checked, and all rights are some.
    pub(crate) fn check(&self) -> Result<(), String> {
        let users = self.users.iter().map(|(name, user)| (name, &user.role, &user.databases));
        let tokens = self.tokens.iter().map(|(name, token)| (name, &token.role, &token.databases));
        for (name, role, databases) in users.chain(tokens) {
            rights_of(role.as_ref(), databases).map_err(|what| format!("the rights of {name}: {what}"))?;
        }
        self.check_standing()?;
        for (name, user) in &self.users {
            let hash = PasswordHash::new(&user.password);
            if !hash.is_ok_and(|hash| is_bounded(&hash)) {
                return Err(format!(
                    "the password of {name} is no hash by Argon2id with up to {} MiB and {FOREIGN_PASSES_MAX} passes",
                    FOREIGN_KIB_MAX >> 10
                ));
            }
        }
        Ok(())
    }
}

/// A hash of nothing that anybody knows.
const NOBODY: &str =
    "$argon2id$v=19$m=9216,t=4,p=1$bm9ib2R5IGhhcyB0aGlz$47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";

fn argon2() -> Result<Argon2<'static>, UserError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|error| refused(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hashed(password: &str) -> Result<String, UserError> {
    if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > PASSWORD_BYTES_MAX {
        return Err(refused(format!(
            "a password has at least {PASSWORD_CHARS_MIN} characters, and at most {PASSWORD_BYTES_MAX} bytes"
        )));
    }
    let hash = argon2()?.hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| refused(error.to_string()))
}

/// Whether a check takes no more than was reserved for it.
fn is_bounded(hash: &PasswordHash) -> bool {
    let params = Params::try_from(hash);
    hash.algorithm == Algorithm::Argon2id.ident()
        && params
            .is_ok_and(|params| params.m_cost() <= FOREIGN_KIB_MAX && params.t_cost() <= FOREIGN_PASSES_MAX)
}

fn check_name(name: &str) -> Result<(), UserError> {
    let is_fit = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
    if (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && name.chars().all(is_fit) {
        return Ok(());
    }
    Err(refused(format!("a name has 1 to {NAME_CHARS_MAX} letters, digits, and - _ . @")))
}

pub(super) fn check_rights(rights: &Rights) -> Result<(), UserError> {
    rights.problem().map_or(Ok(()), |problem| Err(refused(problem.to_owned())))
}

pub(super) fn refused(what: String) -> UserError {
    UserError::Refused(what)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
