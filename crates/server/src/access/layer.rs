//! Who asks, and what they may.

use super::Operation;
use super::cache::Cache;
use super::file::{Stamp, stamp};
#[cfg(feature = "tls")]
use super::oidc::{Oidc, Provider};
use super::refusal::unauthorized;
use super::rights::Rights;
use super::role::Role;
use super::throttle::Throttle;
use super::users::{UserError, Users};
use crate::error::HttpError;
use crate::listener::Bind;
use crate::observe::Who;
use axum::http::StatusCode;
use lode_engine::{GraphRules, MemoryBudget};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Passwords that are checked at once: each check takes a processor.
const CHECKS_MAX: usize = 2;
/// Of those that wait for it so many may be there.
const WAITING_MAX: usize = 64;
/// So often it is looked whether the file has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Who asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Identity {
    /// What it may in the database that it asks; on the server as a whole, where it asks none.
    pub(crate) role: Option<Role>,
    /// With which graphs of it.
    graphs: GraphRules,
    rights: Arc<Rights>,
    /// The user, or the token.
    pub(crate) name: Option<Arc<str>>,
    /// Whether it was proved.
    is_known: bool,
}

impl Identity {
    pub(super) fn new(rights: Arc<Rights>, name: Option<Arc<str>>, is_known: bool) -> Self {
        Self { role: rights.role(None), graphs: rights.graphs(None), rights, name, is_known }
    }

    /// The same, asking a database.
    pub(crate) fn within(mut self, database: Option<&str>) -> Self {
        self.role = self.rights.role(database);
        self.graphs = self.rights.graphs(database);
        self
    }

    /// The graphs that it may read and change.
    pub(crate) fn graph_rules(&self) -> GraphRules {
        self.graphs.clone()
    }

    /// The same for the logs.
    pub(crate) fn who(&self) -> Who {
        let role = self.role.map(|role| match role {
            Role::Read => "read",
            Role::Update => "update",
            Role::Admin => "admin",
        });
        Who { name: self.name.clone(), role }
    }
}

/// The role of those who send no name. Where the file of users has rules for them, these count, up to this role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anonymous(pub Option<Role>);

/// What decides who may what.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) users: Option<PathBuf>,
    pub(crate) anonymous: Option<Anonymous>,
    pub(crate) admin_token: Option<String>,
    pub(crate) memory: Option<MemoryBudget>,
    #[cfg(feature = "tls")]
    pub(crate) oidc: Option<Oidc>,
}

/// What is known of users.
pub(crate) struct Access {
    current: RwLock<Arc<Current>>,
    file: Option<PathBuf>,
    stamp: Mutex<Option<Stamp>>,
    /// Whether there were users or tokens since the start: when the last one goes, nobody gets more than before.
    had_users: AtomicBool,
    /// The role of who sends no name, as it was chosen.
    chosen: Option<Anonymous>,
    /// The same where it was not chosen, and there are no users.
    open: Role,
    pub(super) admin_token: Option<String>,
    pub(super) throttle: Throttle,
    pub(super) checks: Arc<Semaphore>,
    pub(super) waiting: Semaphore,
    pub(super) memory: MemoryBudget,
    /// Whose tokens are believed besides.
    #[cfg(feature = "tls")]
    provider: RwLock<Option<Arc<Provider>>>,
}

pub(super) struct Current {
    pub(super) users: Users,
    pub(super) cache: Option<Cache>,
}

impl Current {
    fn new(users: Users) -> Arc<Self> {
        Arc::new(Self { users, cache: Cache::new() })
    }
}

impl Access {
    /// Reads the users.
    pub(crate) fn new(options: Settings, bind: &Bind) -> Result<Self, UserError> {
        let file = options.users;
        let (stamp, users) = match &file {
            Some(path) => (stamp(path), Users::read_or_empty(path)?),
            None => (None, Users::default()),
        };
        let open = if bind.is_local() { Role::Update } else { Role::Read };
        let had_users = !users.is_empty();
        let access = Self {
            current: RwLock::new(Current::new(users)),
            file,
            stamp: Mutex::new(stamp),
            had_users: AtomicBool::new(had_users),
            chosen: options.anonymous,
            open,
            admin_token: options.admin_token,
            throttle: Throttle::default(),
            checks: Arc::new(Semaphore::new(CHECKS_MAX)),
            waiting: Semaphore::new(WAITING_MAX),
            memory: options.memory.unwrap_or_else(MemoryBudget::unlimited),
            #[cfg(feature = "tls")]
            provider: RwLock::default(),
        };
        #[cfg(feature = "tls")]
        access.set_oidc(options.oidc)?;
        Ok(access)
    }

    pub(super) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there are users or tokens, or were any since the start.
    pub(crate) fn has_users(&self) -> bool {
        self.had_users.load(Ordering::Relaxed)
    }

    /// How many users and tokens there are, and what those may do who are none.
    pub(crate) fn figures(&self) -> (usize, usize, Option<Role>) {
        let current = self.current();
        (current.users.users().len(), current.users.tokens().len(), self.anonymous().role)
    }

    /// Believes tokens of this provider from now on, and of no other.
    ///
    /// # Errors
    /// Where its keys are in a file that cannot be used. An address may be down: it is asked again later.
    #[cfg(feature = "tls")]
    pub(crate) fn set_oidc(&self, oidc: Option<Oidc>) -> Result<(), UserError> {
        if self.provider().map(|provider| provider.oidc.clone()) == oidc {
            return Ok(());
        }
        let provider = oidc.map(Provider::new);
        if let Some(provider) = &provider {
            provider.begin().map_err(UserError::Refused)?;
            self.had_users.store(true, Ordering::Relaxed);
        }
        *self.provider.write().unwrap_or_else(PoisonError::into_inner) = provider;
        Ok(())
    }

    /// Whose tokens are believed besides ours.
    #[cfg(feature = "tls")]
    pub(super) fn provider(&self) -> Option<Arc<Provider>> {
        self.provider.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The issuer of tokens that are believed besides ours.
    pub(crate) fn issuer(&self) -> Option<String> {
        #[cfg(feature = "tls")]
        return self.provider().map(|provider| provider.oidc.issuer.clone());
        #[cfg(not(feature = "tls"))]
        None
    }

    /// Reads the file again whenever it changes, for ever, and tells of it. Where it cannot be used, or is gone, the users of before stay.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            #[cfg(feature = "tls")]
            if let Some(provider) = self.provider() {
                provider.refresh().await;
            }
            tokio::time::sleep(LOOK_EVERY).await;
            let access = Arc::clone(&self);
            let _ = tokio::task::spawn_blocking(move || access.look()).await;
        }
    }

    /// Reads the keys of a provider again.
    pub(crate) fn look_at_keys(&self) {
        #[cfg(feature = "tls")]
        if let Some(provider) = self.provider() {
            provider.look();
        }
    }

    /// Reads the file again if it has changed.
    pub(crate) fn look(&self) {
        match self.read_if_changed() {
            Ok(true) => {
                let (users, tokens, _) = self.figures();
                let nobody =
                    if users + tokens == 0 { "; nobody may log in, until the next start" } else { "" };
                tracing::info!("users: read again, {users} users and {tokens} tokens{nobody}");
            }
            Ok(false) => {}
            Err(error) => tracing::warn!("users: {error}; those of before stay"),
        }
    }

    fn read_if_changed(&self) -> Result<bool, UserError> {
        let Some(path) = &self.file else { return Ok(false) };
        let now = stamp(path);
        let mut stamp = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if *stamp == now {
            return Ok(false);
        }
        *stamp = now;
        let users = Users::read(path)?;
        self.had_users.fetch_or(!users.is_empty(), Ordering::Relaxed);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Current::new(users);
        Ok(true)
    }

    /// Who sends no name. What the file says counts, up to the role that was chosen.
    pub(super) fn anonymous(&self) -> Identity {
        let open = if self.has_users() { None } else { Some(self.open) };
        let rights = match (self.current().users.anonymous(), self.chosen) {
            (Some(rights), None) => rights,
            (Some(rights), Some(chosen)) => rights.up_to(chosen.0),
            (None, chosen) => chosen.map_or(open, |chosen| chosen.0).into(),
        };
        Identity::new(Arc::new(rights), None, false)
    }

    /// Refuses what a role has not. This is the only place that does.
    pub(crate) fn check(&self, identity: &Identity, operation: Operation) -> Result<(), HttpError> {
        let Some(needed) = operation.role() else { return Ok(()) };
        if identity.role.is_some_and(|role| role >= needed) {
            return Ok(());
        }
        // Without users the administration has rules of its own.
        if operation == Operation::Administer && !self.has_users() {
            return Ok(());
        }
        if identity.is_known {
            let message = format!("you may not: this takes the role {needed}");
            return Err(HttpError::new(StatusCode::FORBIDDEN, message));
        }
        let message = if self.has_users() {
            format!("log in (Basic, or Bearer with a token): this takes the role {needed}")
        } else {
            format!(
                "this takes the role {needed}, and this server has no users: its administrator can add some (lode user add), or let \
                 everybody (lode serve --anonymous)"
            )
        };
        Err(unauthorized(message))
    }
}
