//! Tokens of an OpenID Connect provider (JWT, RFC 7519): whether they are its own and for us, and whose they are.
//!
//! What is believed follows RFC 8725: the algorithm must be one of the key's, and none that shares a secret; issuer, audience and times must be
//! there and right. Keys come from one place that the configuration names, whatever a token says of its keys.

mod claims;
mod keys;
mod place;
mod refused;
mod signatures;

pub use place::KeyPlace;
pub(super) use refused::Refused;

use super::file::{Stamp, stamp};
use super::rights::Rights;
use claims::{Claims, name_of, roles_of};
use jsonwebtoken::{Validation, decode, decode_header};
use keys::Keys;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Clocks may differ by so many seconds.
const LEEWAY_SECONDS: u64 = 30;
/// An address is asked so often at least, so that a key which was taken back is believed no more.
const REFRESH_EVERY: Duration = Duration::from_secs(3600);

/// The provider, and what its tokens give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oidc {
    /// Who makes the tokens: the claim `iss`, to the letter.
    pub issuer: String,
    /// For whom they are: one of these is in the claim `aud`.
    pub audiences: Vec<String>,
    /// Where its keys are.
    pub keys: KeyPlace,
    /// The claim with the name of who sends one.
    pub name_claim: String,
    /// The claim with its roles or groups.
    pub roles_claim: String,
    /// What these give; `*` is had by all. Groups of the file of users give theirs besides.
    pub roles: Vec<(String, Rights)>,
    /// An address is asked so often at most, whatever tokens come.
    pub fetch_every: Duration,
}

impl Oidc {
    /// What [`Oidc::fetch_every`] is unless told otherwise.
    pub const FETCH_EVERY: Duration = Duration::from_secs(60);
}

/// Whose a token is.
#[derive(Debug)]
pub(super) struct Proved {
    pub(super) name: String,
    /// The values of the claim with roles.
    pub(super) roles: Vec<String>,
}

/// What is known of a provider.
pub(super) struct Provider {
    pub(super) oidc: Oidc,
    keys: RwLock<Arc<Keys>>,
    /// When its address was asked last, or what its file was: who has this reads.
    read: Mutex<Read>,
}

#[derive(Default)]
struct Read {
    asked: Option<Instant>,
    stamp: Option<Stamp>,
}

impl Provider {
    /// Without keys yet.
    pub(super) fn new(oidc: Oidc) -> Arc<Self> {
        signatures::install();
        Arc::new(Self { oidc, keys: RwLock::default(), read: Mutex::default() })
    }

    fn keys(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the keys from where they are. Where that fails, those of before stay.
    pub(super) fn read(&self) -> Result<(), String> {
        let place = &self.oidc.keys;
        let keys = place.read().map_err(|error| error.to_string()).and_then(|text| Keys::parse(&text));
        let keys = keys.map_err(|what| format!("the keys of {} ({place}): {what}", self.oidc.issuer))?;
        tracing::info!("OpenID Connect: {} keys of {} ({place})", keys.len(), self.oidc.issuer);
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        Ok(())
    }

    /// Reads a file; an address is asked later, since it may be down.
    pub(super) fn begin(&self) -> Result<(), String> {
        let KeyPlace::File(path) = &self.oidc.keys else { return Ok(()) };
        if let Ok(mut read) = self.read.try_lock() {
            read.stamp = stamp(path);
        }
        self.read()
    }

    /// The same, telling what is wrong.
    pub(super) fn look(&self) {
        if let Err(error) = self.read() {
            tracing::warn!("OpenID Connect: {error}; those of before stay ({} keys)", self.keys().len());
        }
    }

    async fn look_aside(self: &Arc<Self>) {
        let provider = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || provider.look()).await;
    }

    /// Reads a file that has changed, and an address that was not asked for long.
    pub(super) async fn refresh(self: &Arc<Self>) {
        let mut read = self.read.lock().await;
        match &self.oidc.keys {
            KeyPlace::File(path) => {
                let now = stamp(path);
                if now.is_none() || read.stamp == now {
                    return;
                }
                read.stamp = now;
            }
            KeyPlace::Url(_) => {
                let every = if self.keys().len() == 0 { self.oidc.fetch_every } else { REFRESH_EVERY };
                if read.asked.is_some_and(|asked| asked.elapsed() < every) {
                    return;
                }
                read.asked = Some(Instant::now());
            }
        }
        self.look_aside().await;
    }

    /// Asks the address for keys that came since these, unless it was asked of late; whether there are others now.
    async fn fetch(self: &Arc<Self>, known: &Arc<Keys>) -> bool {
        let is_other = || !Arc::ptr_eq(known, &self.keys());
        // Who waits here waits for the one who asks: not longer than that may take.
        let mut read = self.read.lock().await;
        if is_other() {
            return true;
        }
        let is_late = read.asked.is_some_and(|asked| asked.elapsed() < self.oidc.fetch_every);
        if is_late || !matches!(self.oidc.keys, KeyPlace::Url(_)) {
            return false;
        }
        read.asked = Some(Instant::now());
        self.look_aside().await;
        is_other()
    }

    /// Whose a token is.
    pub(super) async fn proved(self: &Arc<Self>, token: &str) -> Result<Proved, Refused> {
        let keys = self.keys();
        match self.check(&keys, token) {
            Err(Refused::UnknownKey | Refused::NoKeys) if self.fetch(&keys).await => {
                self.check(&self.keys(), token)
            }
            checked => checked,
        }
    }

    fn check(&self, keys: &Keys, token: &str) -> Result<Proved, Refused> {
        let header = decode_header(token).map_err(|error| Refused::from(&error))?;
        // What must be understood is not, and what is encrypted or packed is none of ours.
        if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
            return Err(Refused::Unreadable);
        }
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&self.oidc.issuer]);
        validation.set_audience(&self.oidc.audiences);
        let mut refused = match &header.kid {
            _ if keys.len() == 0 => Refused::NoKeys,
            Some(id) if !keys.has(id) => Refused::UnknownKey,
            _ => Refused::Algorithm,
        };
        for key in keys.of(header.kid.as_deref(), header.alg) {
            match decode::<Claims>(token, &key.key, &validation) {
                Ok(token) => return self.proved_by(&token.claims),
                Err(error) => refused = Refused::from(&error),
            }
            // Where the signature was right, no other key makes the rest so.
            if refused != Refused::Signature {
                break;
            }
        }
        Err(refused)
    }

    fn proved_by(&self, claims: &Claims) -> Result<Proved, Refused> {
        let name = name_of(claims, &self.oidc.name_claim).ok_or(Refused::Unreadable)?;
        Ok(Proved { name, roles: roles_of(claims, &self.oidc.roles_claim) })
    }
}
