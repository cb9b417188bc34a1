//! Who asks, and what they may.

use super::Operation;
use super::cache::Cache;
use super::credentials::Credentials;
use super::file::{Stamp, stamp};
use super::rights::Rights;
use super::role::Role;
use super::throttle::Throttle;
use super::users::{CHECK_BYTES, UserError, Users};
use crate::error::HttpError;
use crate::listener::{Bind, Peer};
use crate::observe::Who;
use axum::http::{HeaderMap, StatusCode, header};
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
/// What to log in with.
const CHALLENGE: &str = "Basic realm=\"lode\", charset=\"UTF-8\", Bearer realm=\"lode\"";

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
    fn new(rights: Arc<Rights>, name: Option<Arc<str>>, is_known: bool) -> Self {
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

/// The role of those who send no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anonymous(pub Option<Role>);

/// What decides who may what.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) users: Option<PathBuf>,
    pub(crate) anonymous: Option<Anonymous>,
    pub(crate) admin_token: Option<String>,
    pub(crate) memory: Option<MemoryBudget>,
}

/// What is known of users.
pub(crate) struct Access {
    current: RwLock<Arc<Current>>,
    file: Option<PathBuf>,
    stamp: Mutex<Option<Stamp>>,
    /// Whether there were users or tokens since the start: when the last one goes, nobody gets more than before.
    had_users: AtomicBool,
    /// The role of who sends no name, where there are users, and where there are none.
    anonymous: [Option<Role>; 2],
    admin_token: Option<String>,
    throttle: Throttle,
    checks: Arc<Semaphore>,
    waiting: Semaphore,
    memory: MemoryBudget,
}

struct Current {
    users: Users,
    cache: Option<Cache>,
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
        let anonymous = match options.anonymous {
            Some(chosen) => [chosen.0; 2],
            None => [None, Some(open)],
        };
        let had_users = !users.is_empty();
        Ok(Self {
            current: RwLock::new(Current::new(users)),
            file,
            stamp: Mutex::new(stamp),
            had_users: AtomicBool::new(had_users),
            anonymous,
            admin_token: options.admin_token,
            throttle: Throttle::default(),
            checks: Arc::new(Semaphore::new(CHECKS_MAX)),
            waiting: Semaphore::new(WAITING_MAX),
            memory: options.memory.unwrap_or_else(MemoryBudget::unlimited),
        })
    }

    fn current(&self) -> Arc<Current> {
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

    /// Reads the file again whenever it changes, for ever, and tells of it. Where it cannot be used, or is gone, the users of before stay.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let access = Arc::clone(&self);
            let _ = tokio::task::spawn_blocking(move || access.look()).await;
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

    fn anonymous(&self) -> Identity {
        let [with_users, without] = self.anonymous;
        let role = if self.has_users() { with_users } else { without };
        Identity::new(Arc::new(role.into()), None, false)
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

    /// Who sends these.
    pub(crate) async fn identify(
        self: &Arc<Self>,
        peer: Peer,
        headers: &HeaderMap,
    ) -> Result<Identity, HttpError> {
        let current = self.current();
        let unreadable = |()| unauthorized("the Authorization field cannot be read: send Basic or Bearer");
        let known = |rights: Arc<Rights>, name: String| Ok(Identity::new(rights, Some(name.into()), true));
        let credentials = match Credentials::of(headers) {
            // Where nobody has to log in, what clients send for others does not matter.
            _ if !self.has_users() && self.admin_token.is_none() => return Ok(self.anonymous()),
            Ok(None) => return Ok(self.anonymous()),
            credentials => credentials.map_err(unreadable)?,
        };
        match credentials {
            None => Ok(self.anonymous()),
            Some(Credentials::Token(sent)) => {
                if self
                    .admin_token
                    .as_deref()
                    .is_some_and(|token| is_equal(token.as_bytes(), sent.as_bytes()))
                {
                    return known(Arc::new(Some(Role::Admin).into()), "(admin token)".to_owned());
                }
                // Nobody guesses a token: one that is right passes, whatever others at this address have sent.
                match current.users.token(&sent) {
                    Some((name, rights)) => known(Arc::new(rights), format!("token:{name}")),
                    None => {
                        self.wait(peer, "")?;
                        Err(self.failed(peer, "", "this token is not valid here, or no more"))
                    }
                }
            }
            Some(Credentials::Password { name, password }) => {
                if let Some(rights) = current.cache.as_ref().and_then(|cache| cache.get(&name, &password)) {
                    return known(rights, name);
                }
                known(self.verify(peer, current, name.clone(), password).await?, name)
            }
        }
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
            None => Err(self.failed(peer, &name, "the name or the password is wrong")),
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

    fn failed(&self, peer: Peer, name: &str, message: &str) -> HttpError {
        self.throttle.failed(peer, name);
        unauthorized(message)
    }
}

fn unauthorized(message: impl Into<String>) -> HttpError {
    let error = HttpError::new(StatusCode::UNAUTHORIZED, message);
    HttpError { field: Some((header::WWW_AUTHENTICATE, CHALLENGE)), ..error }
}

/// Compares in a time that tells nothing of where the difference is.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
