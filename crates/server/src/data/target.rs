//! Which graph a request is about (Graph Store HTTP Protocol, section 4).

use crate::error::HttpError;
use axum::http::{StatusCode, Uri};
use lode_engine::UploadTarget;
use lode_rdf::NamedNode;

/// Why an address is not the name of a graph.
pub(super) const NO_NAME: &str = "an address is the name of a graph only where the request's Host is a name that the server is known by: name \
                                  the graph, ?graph=IRI, or ask the administrator to let the server answer to the name (lode serve --host NAME)";

/// The path of the whole dataset.
const ROOT: &str = "/data";

/// What a request is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selected {
    pub(super) target: UploadTarget,
    /// The named snapshot to read, instead of the current version.
    pub(super) at: Option<String>,
}

/// Reads the address; `own` is the request's IRI without its query.
pub(super) fn select(uri: &Uri, own: Option<&NamedNode>) -> Result<Selected, HttpError> {
    if uri.path().trim_end_matches('/') != ROOT {
        // All of it is the name of a graph, whatever it looks like.
        return Ok(Selected { target: direct(uri, own)?, at: None });
    }
    let (mut graphs, mut default, mut at) = (Vec::new(), false, Vec::new());
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or("").as_bytes()) {
        match name.as_ref() {
            "default" => default = true,
            "graph" => graphs.push(value.into_owned()),
            "at" => at.push(value.into_owned()),
            // A mistyped "graph" would otherwise mean the whole dataset, which a PUT replaces.
            other => {
                return Err(HttpError::bad_request(format!(
                    "'{other}' is no parameter of {ROOT}; nothing was done: name a graph by ?graph=IRI or ?default, a snapshot to read by \
                     ?at=NAME, and the whole dataset by {ROOT} alone"
                )));
            }
        }
    }
    if at.len() > 1 {
        return Err(HttpError::bad_request("more than one name after 'at': send exactly one"));
    }
    Ok(Selected { target: indirect(&graphs, default)?, at: at.pop() })
}

/// The graph that the parameters name.
fn indirect(graphs: &[String], default: bool) -> Result<UploadTarget, HttpError> {
    match (graphs, default) {
        ([], true) => Ok(UploadTarget::Graph(None)),
        ([], false) => Ok(UploadTarget::Dataset),
        ([iri], false) => match NamedNode::new(iri) {
            Ok(name) => Ok(UploadTarget::Graph(Some(name))),
            Err(error) => Err(HttpError::bad_request(format!(
                "graph={iri} is not an absolute IRI ({error}); the default graph is ?default"
            ))),
        },
        _ => Err(HttpError::bad_request("more than one graph: name exactly one, ?graph=IRI or ?default")),
    }
}

/// The graph that has the request's own IRI.
fn direct(uri: &Uri, own: Option<&NamedNode>) -> Result<UploadTarget, HttpError> {
    let own = own.ok_or_else(|| HttpError::bad_request(NO_NAME))?;
    let iri = match uri.query() {
        Some(query) => format!("{}?{query}", own.as_str()),
        None => own.as_str().to_owned(),
    };
    let name = NamedNode::new(&iri);
    let name = name.map_err(|error| HttpError::bad_request(format!("{iri} is not an IRI: {error}")))?;
    Ok(UploadTarget::Graph(Some(name)))
}

/// The error where there is no such graph.
pub(super) fn no_such_graph(target: &UploadTarget) -> HttpError {
    let name = match target {
        UploadTarget::Graph(Some(name)) => name.to_string(),
        _ => "with this name".to_owned(),
    };
    HttpError::new(StatusCode::NOT_FOUND, format!("there is no graph {name}"))
}

#[cfg(test)]
mod tests {
    //! Addresses of graphs.
    use super::select;
    use lode_engine::UploadTarget;
    use lode_rdf::NamedNode;

    fn selected(uri: &str) -> Option<UploadTarget> {
        let path = uri.split('?').next().unwrap();
        let own = NamedNode::new(format!("http://h:1{path}")).ok();
        select(&uri.parse().unwrap(), own.as_ref()).ok().map(|selected| selected.target)
    }

    fn named(iri: &str) -> Option<UploadTarget> {
        Some(UploadTarget::Graph(Some(NamedNode::new(iri).unwrap())))
    }

    #[test]
    fn indirect_and_direct() {
        assert_eq!(selected("/data"), Some(UploadTarget::Dataset));
        assert_eq!(selected("/data/"), Some(UploadTarget::Dataset));
        assert_eq!(selected("/data?default"), Some(UploadTarget::Graph(None)));
        assert_eq!(selected("/data?graph=http%3A%2F%2Fa%2Fb"), named("http://a/b"));
        // What is encoded twice is decoded once.
        assert_eq!(selected("/data?graph=http://a/%2531"), named("http://a/%31"));
        assert_eq!(selected("/data/a/b.ttl"), named("http://h:1/data/a/b.ttl"));
        assert_eq!(selected("/data/a?x=1"), named("http://h:1/data/a?x=1"));
        assert_eq!(selected("/data/a?at=x"), named("http://h:1/data/a?at=x"));
    }

    #[test]
    fn what_is_mistyped_is_not_the_whole_dataset() {
        for uri in ["/data?Graph=http://a/b", "/data?deafult", "/data?grahp=http://a/b&default", "/data/?x=1"]
        {
            assert_eq!(selected(uri), None, "{uri}");
        }
    }

    #[test]
    fn snapshots() {
        let at = |uri: &str| select(&uri.parse().unwrap(), None).map(|selected| selected.at).ok();
        assert_eq!(at("/data?default&at=a"), Some(Some("a".to_owned())));
        assert_eq!(at("/data?default"), Some(None));
        assert_eq!(at("/data?at=a&at=b"), None);
    }

    #[test]
    fn what_is_wrong() {
        for uri in ["/data?graph=", "/data?graph=a/b", "/data?graph=default", "/data?default&graph=http://a"]
        {
            assert_eq!(selected(uri), None, "{uri}");
        }
        assert_eq!(selected("/data?graph=http://a&graph=http://b"), None);
    }
}
