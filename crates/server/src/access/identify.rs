//! Who sends a request, by what its head says of it.

use super::credentials::Credentials;
use super::layer::{Access, Current, Identity};
use super::refusal::{CHALLENGE_TOKEN, unauthorized};
use super::rights::Rights;
use super::role::Role;
use super::users::CHECK_BYTES;
use crate::error::HttpError;
use crate::listener::Peer;
use axum::http::{HeaderMap, StatusCode, header};
use std::sync::Arc;

impl Access {
    /// Who sends these.
    pub(crate) async fn identify(
        self: &Arc<Self>,
        peer: Peer,
        headers: &HeaderMap,
    ) -> Result<Identity, HttpError> {
        let unreadable = |()| unauthorized("the Authorization field cannot be read: send Basic or Bearer");
        let credentials = match Credentials::of(headers) {
            // Where nobody has to log in, what clients send for others does not matter.
            _ if !self.has_users() && self.admin_token.is_none() => return Ok(self.anonymous()),
            Ok(None) => return Ok(self.anonymous()),
            credentials => credentials.map_err(unreadable)?,
        };
        match credentials {
            None => Ok(self.anonymous()),
            Some(Credentials::Token(sent)) => self.holder(peer, &sent).await,
            Some(Credentials::Password { name, password }) => {
                let current = self.current();
                if let Some(rights) = current.cache.as_ref().and_then(|cache| cache.get(&name, &password)) {
                    return Ok(Identity::new(rights, Some(name.into()), true));
                }
                let rights = self.verify(peer, current, name.clone(), password).await?;
                Ok(Identity::new(rights, Some(name.into()), true))
            }
        }
    }

    /// Whose token this is.
    async fn holder(self: &Arc<Self>, peer: Peer, sent: &str) -> Result<Identity, HttpError> {
        let known =
            |rights: Rights, name: String| Ok(Identity::new(Arc::new(rights), Some(name.into()), true));
        if self.admin_token.as_deref().is_some_and(|token| is_equal(token.as_bytes(), sent.as_bytes())) {
            return known(Some(Role::Admin).into(), "(admin token)".to_owned());
        }
        // Nobody guesses a token: one that is right passes, whatever others at this address have sent.
        if let Some((name, rights)) = self.current().users.token(sent) {
            return known(rights, format!("token:{name}"));
        }
        let refused = match self.proved(sent).await {
            Some(Ok((name, rights))) => return known(rights, format!("oidc:{name}")),
            Some(Err(error)) if error.status != StatusCode::UNAUTHORIZED => return Err(error),
            Some(Err(error)) => error.message,
            None => "this token is not valid here, or no more".to_owned(),
        };
        self.wait(peer, "")?;
        self.throttle.failed(peer, "");
        let error = unauthorized(refused);
        Err(HttpError { field: Some((header::WWW_AUTHENTICATE, CHALLENGE_TOKEN)), ..error })
    }

    /// The name and the rights of who has a token of the OpenID Connect provider; none where this is none, or there is no provider.
    #[cfg(feature = "tls")]
    async fn proved(&self, sent: &str) -> Option<Result<(String, Rights), HttpError>> {
        use super::oidc::Refused;

        let provider = self.provider().filter(|_| sent.matches('.').count() == 2)?;
        let proved = match provider.proved(sent).await {
            Ok(proved) => proved,
            Err(refused @ Refused::NoKeys) => return Some(Err(HttpError::busy(refused.told()))),
            Err(refused) => return Some(Err(unauthorized(refused.told()))),
        };
        let is_had = |name: &str| name == ANY || proved.roles.iter().any(|role| role == name);
        let configured =
            provider.oidc.roles.iter().filter(|(name, _)| is_had(name)).map(|(_, rights)| rights.clone());
        let rights = configured.chain(self.current().users.of_groups(is_had));
        Some(Ok((proved.name, rights.fold(Rights::default(), |all, rights| all.or(&rights)))))
    }

    #[cfg(not(feature = "tls"))]
    async fn proved(&self, _: &str) -> Option<Result<(String, Rights), HttpError>> {
        None
    }

    async fn verify(
        self: &Arc<Self>,
        peer: Peer,
        current: Arc<Current>,
        name: String,
        password: String,
    ) -> Result<Arc<Rights>, HttpError> {
        let busy = || HttpError::busy("too many are logging in: try again later");
        self.wait(peer, &name)?;
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let turn = Arc::clone(&self.checks).acquire_owned().await.map_err(|_| busy())?;
        // Others have failed meanwhile, or it was found to be right.
        if let Some(rights) = current.cache.as_ref().and_then(|cache| cache.get(&name, &password)) {
            return Ok(rights);
        }
        self.wait(peer, &name)?;
        let room = self.memory.reserve(CHECK_BYTES).map_err(|_| busy())?;
        let asked = name.clone();
        let rights = tokio::task::spawn_blocking(move || {
            let rights = current.users.verify(&asked, &password).map(Arc::new);
            if let (Some(rights), Some(cache)) = (&rights, &current.cache) {
                cache.put(&asked, &password, rights);
            }
            drop((turn, room));
            rights
        });
        match rights.await.map_err(|_| busy())? {
            Some(rights) => {
                self.throttle.succeeded(peer, &name);
                Ok(rights)
            }
            None => {
                self.throttle.failed(peer, &name);
                Err(unauthorized("the name or the password is wrong"))
            }
        }
    }

    /// Refuses who has failed too often of late.
    fn wait(&self, peer: Peer, name: &str) -> Result<(), HttpError> {
        let wait = self.throttle.wait(peer, name);
        if wait.is_zero() {
            return Ok(());
        }
        let busy = HttpError::busy_for("too many failed logins: try again later", wait);
        Err(HttpError { status: StatusCode::TOO_MANY_REQUESTS, ..busy })
    }
}

/// What everybody has who has a token of the provider.
#[cfg(feature = "tls")]
const ANY: &str = "*";

/// Compares in a time that tells nothing of where the difference is.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
