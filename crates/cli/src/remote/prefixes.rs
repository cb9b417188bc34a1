//! The prefixes that a `lode serve` knows of its data, for who shows names.

use super::{Remote, text_of};
use lode_assist::Prefix;
use lode_engine::CancelToken;
use serde::Deserialize;
use std::time::Duration;

/// An answer is worth no longer wait.
const TIME: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
struct Answer {
    prefixes: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    iri: String,
}

/// Those that the data has or uses; none where the server does not tell, as others than this one do not.
pub fn prefixes(remote: &Remote) -> Option<Vec<Prefix>> {
    let cancel = CancelToken::new(Some(TIME));
    let response = remote.get("/api/prefixes", "application/json", &cancel).ok()?;
    let answer: Answer = serde_json::from_str(&text_of(response, &cancel).ok()?).ok()?;
    Some(answer.prefixes.into_iter().map(|Named { name, iri }| Prefix { name, iri }).collect())
}
