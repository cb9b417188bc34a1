//! Whom the language server asks: a database in a folder, a server, or nobody.

use crate::args::LoginArgs;
use crate::server_client::ServerClient;
use lode_assist::{Assist, Checked, Completion, Form, Hover};
use lode_engine::web::is_url;
use lode_engine::{CancelToken, Database, EngineError, OpenOptions, QueryOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An answer takes so long at most.
const TIME: Duration = Duration::from_millis(50);
/// The cache of blocks, and the memory of what is asked.
const MEMORY_BYTES: usize = 256 << 20;

pub enum Source {
    /// Opened for reading; again where another process has replaced its files.
    Folder {
        path: Option<PathBuf>,
        assist: Mutex<Arc<Assist>>,
    },
    Server(ServerClient),
}

impl Source {
    pub fn at(target: Option<&str>, login: &LoginArgs) -> anyhow::Result<Self> {
        let Some(target) = target else {
            return Ok(Self::Folder { path: None, assist: Mutex::new(Arc::new(Assist::without_data())) });
        };
        if is_url(target) {
            return Ok(Self::Server(ServerClient::new(target, login)?));
        }
        let path = PathBuf::from(target);
        let assist = Mutex::new(opened(&path)?);
        Ok(Self::Folder { path: Some(path), assist })
    }

    pub fn complete(&self, text: &str, position: usize, limit: usize) -> anyhow::Result<Completion> {
        match self {
            Self::Server(server) => {
                let asked = json!({ "text": text, "position": position, "limit": limit });
                Ok(post(server, "/api/complete", &asked)?.unwrap_or_default())
            }
            Self::Folder { .. } => {
                self.ask(|assist, options| assist.complete(text, position, limit, options))
            }
        }
    }

    pub fn hover(&self, text: &str, position: usize) -> anyhow::Result<Option<Hover>> {
        match self {
            Self::Server(server) => {
                post(server, "/api/hover", &json!({ "text": text, "position": position }))
            }
            Self::Folder { .. } => self.ask(|assist, options| assist.hover(text, position, options)),
        }
    }

    pub fn check(&self, text: &str, form: Form) -> anyhow::Result<Checked> {
        match self {
            Self::Server(server) => {
                let kind = if form == Form::Update { "update" } else { "query" };
                Ok(post(server, "/api/check", &json!({ "text": text, "kind": kind }))?.unwrap_or_default())
            }
            Self::Folder { .. } => self.ask(|assist, options| Ok(assist.check(text, form, options))),
        }
    }

    /// Asks the database, once more where its files were replaced.
    fn ask<T>(&self, ask: impl Fn(&Assist, &QueryOptions) -> Result<T, EngineError>) -> anyhow::Result<T> {
        let Self::Folder { path, assist } = self else { anyhow::bail!("no database is open") };
        let current = || Arc::clone(&assist.lock().unwrap_or_else(PoisonError::into_inner));
        match (ask(&current(), &options()), path) {
            (Err(error), Some(path)) if error.is_stale() => {
                *assist.lock().unwrap_or_else(PoisonError::into_inner) = opened(path)?;
                Ok(ask(&current(), &options())?)
            }
            (answer, _) => Ok(answer?),
        }
    }
}

fn opened(path: &std::path::Path) -> Result<Arc<Assist>, EngineError> {
    let database = Database::open(path, &OpenOptions::with_cache(MEMORY_BYTES))?;
    Ok(Arc::new(Assist::new(Arc::new(database))))
}

fn options() -> QueryOptions {
    QueryOptions {
        cancel: CancelToken::new(Some(TIME)),
        memory_bytes: MEMORY_BYTES,
        ..QueryOptions::default()
    }
}

/// None where the server has no content to answer.
fn post<T: DeserializeOwned>(
    server: &ServerClient,
    path: &str,
    asked: &impl Serialize,
) -> anyhow::Result<Option<T>> {
    let text = server.post_json(path, &serde_json::to_string(asked)?)?;
    if text.is_empty() { Ok(None) } else { Ok(Some(serde_json::from_str(&text)?)) }
}
