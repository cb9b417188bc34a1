//! The page for people: its files, which are in the program, and what it asks of the server for itself.
//!
//! Its scripts are plain modules, and nothing of it comes from elsewhere; the head of each file tells the browser to hold it to that.

use crate::access::{Identity, Role};
use crate::error::HttpError;
use crate::page::{absent, allowed};
use crate::state::AppState;
use crate::update::json_of;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use lode_engine::DefaultGraph;
use serde::Serialize;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What the browser lets the page do: its own scripts and styles, requests to this server, and pictures that a person wants to see. No text
/// becomes markup (Trusted Types), wherever it comes from.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' http: https:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the page.
#[derive(Debug)]
struct File {
    name: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
}

/// The files of a list, with the bytes that they have.
macro_rules! files {
    ($($name:literal: $media_type:expr),* $(,)?) => {
        [$(File { name: $name, media_type: $media_type, bytes: include_bytes!(concat!("page/", $name)) }),*]
    };
}

const INDEX: File = File { name: "", media_type: HTML, bytes: include_bytes!("page/index.html") };
const FILES: [File; 39] = files! {
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "answer.js": SCRIPT,
    "api.js": SCRIPT,
    "around.js": SCRIPT,
    "assist.js": SCRIPT,
    "browse.js": SCRIPT,
    "canvas.js": SCRIPT,
    "chart.js": SCRIPT,
    "complete.js": SCRIPT,
    "data.js": SCRIPT,
    "dom.js": SCRIPT,
    "editing.js": SCRIPT,
    "editor.js": SCRIPT,
    "force.js": SCRIPT,
    "graph.js": SCRIPT,
    "live.js": SCRIPT,
    "login.js": SCRIPT,
    "main.js": SCRIPT,
    "map.js": SCRIPT,
    "names.js": SCRIPT,
    "offered.js": SCRIPT,
    "plan.js": SCRIPT,
    "prefixes.js": SCRIPT,
    "query.js": SCRIPT,
    "rdf.js": SCRIPT,
    "reason.js": SCRIPT,
    "results.js": SCRIPT,
    "running.js": SCRIPT,
    "scales.js": SCRIPT,
    "search.js": SCRIPT,
    "store.js": SCRIPT,
    "table.js": SCRIPT,
    "tabs.js": SCRIPT,
    "terms.js": SCRIPT,
    "tokens.js": SCRIPT,
    "upload.js": SCRIPT,
    "why.js": SCRIPT,
    "wkt.js": SCRIPT,
};

impl File {
    /// The tag of its bytes: the same in all processes of one build.
    fn tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let tag = self.tag();
        let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|list| {
            let tags = list.to_str().unwrap_or("").split(',').map(str::trim);
            tags.map(opaque).any(|known| known == "*" || known == opaque(&tag))
        });
        let mut response = match is_known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(header::CONTENT_TYPE, self.media_type)], self.bytes).into_response(),
        };
        let fields = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::CACHE_CONTROL, "no-cache"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ] {
            fields.insert(name, HeaderValue::from_static(value));
        }
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            fields.insert(header::ETAG, tag);
        }
        response
    }
}

/// What a tag says, without the mark of a content coding.
fn opaque(tag: &str) -> &str {
    let inner = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
    inner.split_once('+').map_or(inner, |(tag, _)| tag)
}

/// The page itself.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    INDEX.answer(&headers)
}

/// One of its files.
pub(crate) async fn file(
    Path(name): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, HttpError> {
    let found = FILES.iter().find(|file| file.name == name);
    found.map(|file| file.answer(&headers)).ok_or_else(|| absent(&uri))
}

/// What the page tells a person of the server and of themselves.
#[derive(Debug, Serialize)]
struct Session<'a> {
    /// The user, or the token.
    name: Option<&'a str>,
    /// What they may do.
    role: Option<Role>,
    /// Whether there is anybody to log in as.
    users: bool,
    /// Whether there is a token for the administration.
    token: bool,
    /// Whether it may be tried to see what runs.
    administers: bool,
    /// Whether the database takes changes.
    writable: bool,
    /// Whether the default graph is the union of all.
    union: bool,
    /// The rules by which queries reason that say none.
    reason: String,
    /// Whether there are inferences of rules in the data.
    inferred: bool,
    /// Whether the server completes and checks texts.
    assist: bool,
}

/// Who asks, and what of this server they can use.
pub(crate) async fn session(
    State(state): State<Arc<AppState>>,
    request: axum::extract::Request,
) -> Result<Response, HttpError> {
    let identity = request.extensions().get::<Identity>().cloned().unwrap_or_default();
    let has_users = state.access.has_users();
    let mut response = json_of(&Session {
        name: identity.name.as_deref(),
        role: identity.role,
        users: has_users,
        token: state.options.admin_token.is_some(),
        administers: identity.role == Some(Role::Admin)
            || (!has_users && state.options.admin_token.is_none() && crate::guard::peer(&request).is_local()),
        writable: state.database.store().is_writable(),
        union: state.options.query.default_graph == DefaultGraph::Union,
        reason: state.options.query.rules().to_string(),
        // Where that cannot be read, queries tell what is wrong.
        inferred: state.database.inferences(&state.database.snapshot()).is_ok_and(|kept| kept.is_some()),
        assist: allowed("/api/complete").is_some(),
    })?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    //! What is in the program is all of the page, and small.
    use super::{FILES, INDEX, opaque};

    /// All of the page, uncompressed.
    const BYTES_MAX: usize = 250_000;

    #[test]
    fn the_files_are_small_and_name_no_others() {
        let sum: usize = FILES.iter().chain([&INDEX]).map(|file| file.bytes.len()).sum();
        assert!(sum < BYTES_MAX, "{sum} bytes");
        for file in FILES.iter().chain([&INDEX]) {
            let text = std::str::from_utf8(file.bytes).unwrap();
            assert!(text.lines().count() < 500, "{}", file.name);
            for place in ["src=\"http", "src=\"//", "@import", "url(http", "innerHTML", "eval("] {
                assert!(!text.contains(place), "{} has {place}", file.name);
            }
            // What it imports is there.
            for part in ["from './", "import('./"].iter().flat_map(|marker| text.split(marker).skip(1)) {
                let name = part.split('\'').next().unwrap_or("");
                assert!(FILES.iter().any(|other| other.name == name), "{} imports {name}", file.name);
            }
        }
    }

    #[test]
    fn all_files_of_the_folder_are_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name == "index.html" || FILES.iter().any(|file| file.name == name), "{name}");
        }
    }

    #[test]
    fn prefixes_of_the_page_are_those_of_the_server() {
        let text = include_str!("page/prefixes.js");
        let (_, list) = text.split_once("Object.entries({").unwrap();
        let (list, _) = list.split_once("}));").unwrap();
        let mut count = 0;
        for line in list.lines().filter(|line| !line.trim().is_empty()) {
            let (name, iri) = line.trim().trim_end_matches(',').split_once(": ").unwrap();
            let iri = iri.replace("W3 + '", "'http://www.w3.org/");
            let (name, iri) = (name.trim_matches('\''), iri.trim_matches('\''));
            let known = lode_assist::usual_prefixes().find(|(known, _)| *known == name);
            assert_eq!(known, Some((name, iri)));
            count += 1;
        }
        assert!(count > 40, "{count}");
    }

    #[test]
    fn tags_are_compared_without_codings() {
        assert_eq!((opaque("\"a\""), opaque("W/\"a\""), opaque("\"a+gzip\"")), ("a", "a", "a"));
    }
}
