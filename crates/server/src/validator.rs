//! Validators (RFC 9110, section 8.8): tags of answers, by the version of the database that they are of, and the conditions that
//! clients make with them.
//!
//! A tag tells a client that an answer which it has is still the one that it would get, without the query being run. Tags have a key of
//! the process in them: what another server, or another database behind the same address, has given out means nothing here.

use crate::coding::ALL_CODINGS;
use crate::error::HttpError;
use crate::request::QueryRequest;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::UploadCondition;
use lode_rdf::RdfFormat;
use std::hash::{BuildHasher, Hash, RandomState};

/// Kept copies are to be asked for each time: the next update may have changed what they tell.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// What tags are made with.
#[derive(Debug, Default)]
pub(crate) struct Validators(RandomState);

impl Validators {
    /// The tag of a query's answer over a version. A weak one: another run may find the same rows in another order.
    pub(crate) fn of_query(
        &self,
        version: u64,
        request: &QueryRequest,
        accept: &str,
        base: Option<&str>,
    ) -> Tag {
        let QueryRequest {
            query,
            default_graphs,
            named_graphs,
            bindings,
            format,
            reason,
            only_stated,
            plan: _,
            timeout: _,
            at: _,
            min_version: _,
        } = request;
        let format = format.map(|format| format.media_type());
        let asked =
            (query, default_graphs, named_graphs, bindings, format, (reason, only_stated), accept, base);
        Tag(format!("W/\"{version}-{:016x}\"", self.hash(asked)))
    }

    /// The tag of a graph, or of the whole dataset, in a format.
    pub(crate) fn of_graph(&self, version: u64, format: RdfFormat) -> Tag {
        Tag(format!("\"{}-{version}-{}\"", self.key(), format.extension()))
    }

    /// The tag of what else is told of a version.
    pub(crate) fn of_description(&self, version: u64, format: RdfFormat) -> Tag {
        Tag(format!("W/\"{}-{version}-{}\"", self.key(), format.extension()))
    }

    fn key(&self) -> String {
        format!("{:016x}", self.hash(0_u8))
    }

    fn hash(&self, asked: impl Hash) -> u64 {
        self.0.hash_one(asked)
    }

    /// The version that a tag of a graph is of.
    fn version_of(&self, tag: &str) -> Option<u64> {
        let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
        let (version, _) = inner.strip_prefix(&self.key())?.strip_prefix('-')?.split_once('-')?;
        version.parse().ok()
    }

    /// The condition that a client sets for what it would change.
    pub(crate) fn condition(&self, headers: &HeaderMap) -> Result<Option<UploadCondition>, HttpError> {
        let versions = |list: &str| tags(list).filter_map(|tag| self.version_of(tag)).collect();
        let matches = values(headers, &header::IF_MATCH).map(|list| match list.trim() {
            "*" => UploadCondition::Exists,
            // Tags that are none of ours, or weak, match nothing.
            _ => UploadCondition::VersionIn(versions(&list)),
        });
        let none_matches = values(headers, &header::IF_NONE_MATCH).map(|list| match list.trim() {
            "*" => UploadCondition::Missing,
            _ => UploadCondition::VersionNotIn(versions(&list)),
        });
        match (matches, none_matches) {
            (Some(_), Some(_)) => {
                Err(HttpError::bad_request("both If-Match and If-None-Match: send one of them"))
            }
            (one, other) => Ok(one.or(other)),
        }
    }
}

/// A tag as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tag(String);

impl Tag {
    /// Whether the client has what it is of already.
    pub(crate) fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(list) = values(headers, &header::IF_NONE_MATCH) else { return false };
        list.trim() == "*" || tags(&list).any(|tag| opaque(tag) == opaque(&self.0))
    }

    /// The answer for who has it.
    pub(crate) fn not_modified(&self) -> Response {
        let mut response =
            (StatusCode::NOT_MODIFIED, [(header::VARY, "Accept, Accept-Encoding")]).into_response();
        self.tell(&mut response);
        response
    }

    /// Puts the tag into the head of an answer.
    pub(crate) fn tell(&self, response: &mut Response) {
        if let Ok(value) = HeaderValue::from_str(&self.0) {
            response.headers_mut().insert(header::ETAG, value);
            response.headers_mut().insert(header::CACHE_CONTROL, REVALIDATE);
        }
    }
}

/// The tag of the same in a content coding; none of a weak one, which is of all codings.
pub(crate) fn of_coding(tag: &HeaderValue, coding: &str) -> Option<HeaderValue> {
    let tag = tag.to_str().ok().filter(|tag| !tag.starts_with("W/"))?;
    HeaderValue::from_str(&format!("{}+{coding}\"", tag.strip_suffix('"')?)).ok()
}

/// What is between a tag's quotes, without the coding.
fn opaque(tag: &str) -> &str {
    let inner = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
    inner.rsplit_once('+').filter(|(_, coding)| ALL_CODINGS.contains(coding)).map_or(inner, |(tag, _)| tag)
}

fn values(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(","))
}

fn tags(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    //! Tags and conditions as they are sent.
    use super::{Validators, of_coding};
    use crate::request::QueryRequest;
    use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
    use lode_engine::UploadCondition;
    use lode_rdf::RdfFormat;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_query_has_the_same_tag_until_something_changes() {
        let validators = Validators::default();
        let query = |text: &str| QueryRequest { query: text.to_owned(), ..QueryRequest::default() };
        let first = validators.of_query(7, &query("ASK {}"), "text/csv", None);
        assert_eq!(first, validators.of_query(7, &query("ASK {}"), "text/csv", None));
        for (version, text, accept, base) in [
            (8, "ASK {}", "text/csv", None),
            (7, "ASK { }", "text/csv", None),
            (7, "ASK {}", "*/*", None),
            (7, "ASK {}", "text/csv", Some("http://e/")),
        ] {
            assert_ne!(first, validators.of_query(version, &query(text), accept, base));
        }
        assert_ne!(first, Validators::default().of_query(7, &query("ASK {}"), "text/csv", None));
        for (list, is_known) in [
            (first.0.clone(), true),
            (format!("\"x\", {}", first.0), true),
            (first.0.trim_start_matches("W/").to_owned(), true),
            ("*".to_owned(), true),
            ("\"x\"".to_owned(), false),
        ] {
            assert_eq!(first.is_known(&headers(header::IF_NONE_MATCH, &list)), is_known, "{list}");
        }
        assert!(!first.is_known(&HeaderMap::new()));
    }

    #[test]
    fn a_graph_has_one_tag_in_all_codings_and_conditions_name_its_version() {
        let validators = Validators::default();
        let tag = validators.of_graph(12, RdfFormat::Turtle);
        let zipped = of_coding(&HeaderValue::from_str(&tag.0).unwrap(), "gzip").unwrap();
        let zipped = zipped.to_str().unwrap();
        assert_ne!(tag.0, zipped);
        assert!(tag.is_known(&headers(header::IF_NONE_MATCH, zipped)));
        assert_eq!(of_coding(&HeaderValue::from_static("W/\"a\""), "gzip"), None);
        let condition = |name, value: &str| validators.condition(&headers(name, value)).unwrap();
        for value in [&tag.0, zipped] {
            assert_eq!(condition(header::IF_MATCH, value), Some(UploadCondition::VersionIn(vec![12])));
        }
        assert_eq!(condition(header::IF_MATCH, "*"), Some(UploadCondition::Exists));
        assert_eq!(condition(header::IF_NONE_MATCH, "*"), Some(UploadCondition::Missing));
        assert_eq!(condition(header::IF_NONE_MATCH, zipped), Some(UploadCondition::VersionNotIn(vec![12])));
        let other = Validators::default().of_graph(12, RdfFormat::Turtle).0;
        for value in [other, format!("W/{}", tag.0), "\"\"".to_owned(), "12".to_owned()] {
            assert_eq!(
                condition(header::IF_MATCH, &value),
                Some(UploadCondition::VersionIn(vec![])),
                "{value}"
            );
        }
        assert_eq!(validators.condition(&HeaderMap::new()).unwrap(), None);
    }
}
