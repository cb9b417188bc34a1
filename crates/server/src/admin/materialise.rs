//! Inferences of a database that is served: by which rules they are made, and whether commits keep them up to date.
//!
//! Only the one who runs the server asks for them: rules read all that is in the default graph, or in all graphs, and what they add is seen by others. Writers wait until it is done.

use super::{Client, work};
use crate::body::{Incoming, Whole};
use crate::error::HttpError;
use crate::protocol::body_coding;
use crate::state::AppState;
use crate::update::json;
use crate::warnings;
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use lode_engine::{
    Consistency, DefaultGraph, EngineError, GraphRules, KeptInferences, MaterialiseOptions,
    MaterialiseReport, RuleSource, WhyOptions,
};
use serde::Serialize;
use std::sync::Arc;

/// A text of rules has so many bytes at most: a database keeps no more.
const BODY_BYTES_MAX: usize = 1 << 20;
/// What a text is called that came without a name.
const UNNAMED: &str = "rules";
const KNOWN: &str = "rules (rdfs, rdfs-plus, owl2-rl or skos; repeatable), name (of the rules in the body), maintain (sync or async) and default-graph \
                     (separate or union)";

/// So many contradictions are told: /why tells others.
const TOLD: usize = 10;

/// What came of rules.
#[derive(Serialize)]
struct Applied {
    #[serde(flatten)]
    report: MaterialiseReport,
    /// What is contradictory now; none where that was not found out.
    consistency: Option<Consistency>,
}

/// What is asked for.
#[derive(Debug, Default)]
struct Asked {
    rules: Vec<String>,
    name: Option<String>,
    maintained: Option<bool>,
    default_graph: Option<DefaultGraph>,
}

impl Asked {
    fn read(uri: &Uri) -> Result<Self, HttpError> {
        let mut asked = Self::default();
        let wrong = |name: &str, value: &str, expected: &str| {
            HttpError::bad_request(format!("{name}={value}: expected {expected}"))
        };
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or("").as_bytes()) {
            match (name.as_ref(), value.as_ref()) {
                ("rules", set) => asked.rules.push(set.to_owned()),
                ("name", name) => asked.name = Some(name.to_owned()),
                ("maintain", "sync") => asked.maintained = Some(true),
                ("maintain", "async") => asked.maintained = Some(false),
                ("maintain", other) => return Err(wrong("maintain", other, "sync or async")),
                ("default-graph", "separate") => asked.default_graph = Some(DefaultGraph::Separate),
                ("default-graph", "union") => asked.default_graph = Some(DefaultGraph::Union),
                ("default-graph", other) => return Err(wrong("default-graph", other, "separate or union")),
                (other, _) => {
                    let message =
                        format!("'{other}' is no parameter of /admin/materialise: there are {KNOWN}");
                    return Err(HttpError::bad_request(message));
                }
            }
        }
        Ok(asked)
    }
}

/// Applies rules, those that are kept where none are given; the answer comes when that is done.
pub(crate) async fn materialise(
    State(state): State<Arc<AppState>>,
    client: Client,
    request: Request,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let body = Incoming::new(body, state.shared());
    let allowed = client.check(&state).and_then(|()| state.check_writable());
    let read = allowed.and_then(|()| Ok((Asked::read(&parts.uri)?, body_coding(&parts.headers)?)));
    let (asked, coding) = match read {
        Ok(read) => read,
        Err(error) => return body.refuse(&parts.headers, error).await,
    };
    let Whole { bytes, room } = body.decoded(coding).collect(BODY_BYTES_MAX).await?;
    let mut rules: Vec<RuleSource> = asked.rules.into_iter().map(RuleSource::Set).collect();
    if !bytes.is_empty() {
        let text = String::from_utf8(bytes)
            .map_err(|_| HttpError::bad_request("the rules in the body are not UTF-8"))?;
        let name = asked.name.unwrap_or_else(|| UNNAMED.to_owned());
        rules.push(RuleSource::Text { name, text });
    }
    let report = work(state, move |state, cancel| {
        let _room = room;
        let mut evaluation = state.query_options(&GraphRules::default());
        evaluation.cancel = cancel.clone();
        let (maintained, default_graph) = (asked.maintained, asked.default_graph);
        let options = MaterialiseOptions {
            rules,
            maintained,
            default_graph,
            evaluation,
            ..MaterialiseOptions::default()
        };
        let report = state.database.materialise(&options)?;
        // What was to be done is done, whatever becomes of this.
        let checking =
            WhyOptions { evaluation: options.evaluation, proofs_max: TOLD, ..WhyOptions::default() };
        let consistency = state.database.consistency(state.database.snapshot(), &checking);
        Ok::<_, EngineError>((report, consistency.map_err(|error| error.to_string())))
    })
    .await?;
    let (report, consistency) = report;
    let warning = match &consistency {
        Ok(consistency) => consistency.told().map(|told| format!("{told} (GET /why?triple=false tells why)")),
        Err(error) => Some(format!("whether the data are contradictory was not found out: {error}")),
    };
    let mut response = json(&text(&Applied { report, consistency: consistency.ok() })?);
    warnings::tell(warning.as_slice(), &mut response);
    Ok(response)
}

/// Removes all that was inferred, and the rules.
pub(crate) async fn drop_inferences(
    State(state): State<Arc<AppState>>,
    client: Client,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    state.check_writable()?;
    let dropped = work(state, |state, cancel| {
        let mut evaluation = state.query_options(&GraphRules::default());
        evaluation.cancel = cancel.clone();
        state.database.drop_inferences(&evaluation)
    })
    .await?;
    Ok(json(&format!("{{\"dropped\":{dropped}}}\n")))
}

/// By which rules there are inferences, and whether they are up to date; `null` where there are no rules.
pub(crate) async fn inferences(
    State(state): State<Arc<AppState>>,
    client: Client,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    let known: Option<KeptInferences> =
        work(state, |state, _| state.database.inferences(&state.database.snapshot())).await?;
    Ok(json(&text(&known)?))
}

fn text(value: &impl Serialize) -> Result<String, HttpError> {
    let text = serde_json::to_string(value);
    let text = text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(text + "\n")
}
