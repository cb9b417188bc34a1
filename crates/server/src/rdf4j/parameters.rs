//! The parameters of RDF4J's requests.

use crate::error::HttpError;
use crate::request::{self, Asked, QueryRequest, UpdateRequest, content_type};
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use lode_engine::QuadPattern;
use lode_rdf::{GraphName, Term};

const FORM: &str = "application/x-www-form-urlencoded";
/// Among them of the transaction's isolation, which is always the highest.
const PASSED_OVER: [&str; 5] = ["queryLn", "distinct", "preserveNodeId", "isolation-level", "Accept"];

/// Names and values, in the order of the request.
#[derive(Debug, Default)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Those of the address, and of a body that is a form, a query or an update.
    pub(super) fn read(uri_query: Option<&str>, headers: &HeaderMap, body: &[u8]) -> Result<Self, HttpError> {
        let mut all = pairs(uri_query.unwrap_or("").as_bytes());
        // Programs send an empty one beside the text in the body.
        all.retain(|(name, value)| !(value.is_empty() && (name == "query" || name == "update")));
        let text =
            || String::from_utf8(body.to_vec()).map_err(|_| HttpError::bad_request("the text is not UTF-8"));
        match content_type(headers).as_deref() {
            Some(FORM) => all.extend(pairs(body)),
            Some("application/sparql-query") => all.push(("query".to_owned(), text()?)),
            Some("application/sparql-update") => all.push(("update".to_owned(), text()?)),
            _ => {}
        }
        Ok(Self(all))
    }

    pub(super) fn of_uri(uri: &Uri) -> Result<Self, HttpError> {
        Self::read(uri.query(), &HeaderMap::new(), &[])
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The query, with what its variables are bound to beforehand.
    pub(super) fn query(&self) -> Result<QueryRequest, HttpError> {
        let Asked::Query(mut query) = self.parse()? else {
            return Err(HttpError::bad_request("there is no query: send query=..."));
        };
        query.bindings.extend(self.bindings()?.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Ok(query)
    }

    /// The update.
    pub(super) fn update(&self) -> Result<UpdateRequest, HttpError> {
        if !self.bindings()?.is_empty() {
            let message = "variables of an update cannot be bound beforehand: write the terms into its text";
            return Err(HttpError::bad_request(message));
        }
        match self.parse()? {
            Asked::Update(update) => Ok(update),
            _ => Err(HttpError::bad_request("there is no update: send update=...")),
        }
    }

    fn parse(&self) -> Result<Asked, HttpError> {
        let is_own = |name: &str| PASSED_OVER.contains(&name) || name.starts_with('$') || name == "action";
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(self.0.iter().filter(|(name, _)| !is_own(name)));
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(FORM));
        request::parse(&Method::POST, None, &headers, form.finish().into_bytes())
    }

    /// `$name=TERM`.
    fn bindings(&self) -> Result<Vec<(&str, Term)>, HttpError> {
        let bound = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix('$')?, value)));
        bound
            .map(|(name, value)| {
                let is_name = |c: char| c.is_alphanumeric() || c == '_';
                if name.is_empty() || !name.chars().all(is_name) {
                    return Err(HttpError::bad_request(format!("${name} is no variable")));
                }
                Ok((name, term(value)?))
            })
            .collect()
    }

    /// The statements that are meant: `subj`, `pred`, `obj`, and `context` once or more.
    pub(super) fn pattern(&self) -> Result<QuadPattern, HttpError> {
        let given = |name| self.get(name).map(term).transpose();
        Ok(QuadPattern {
            subject: given("subj")?,
            predicate: given("pred")?,
            object: given("obj")?,
            graphs: self.contexts()?,
        })
    }

    /// The graphs; `null` is the default graph.
    pub(super) fn contexts(&self) -> Result<Vec<GraphName>, HttpError> {
        let context = |value: &str| match value {
            "null" => Ok(GraphName::DefaultGraph),
            value => match term(value)? {
                Term::NamedNode(name) => Ok(name.into()),
                Term::BlankNode(node) => Ok(node.into()),
                other => Err(HttpError::bad_request(format!("{other} is no graph"))),
            },
        };
        self.all("context").map(context).collect()
    }

    /// What relative IRIs in a document are resolved against.
    pub(super) fn base(&self) -> Result<Option<String>, HttpError> {
        match self.get("baseURI").filter(|base| !base.is_empty()).map(term).transpose()? {
            None => Ok(None),
            Some(Term::NamedNode(base)) => Ok(Some(base.into_string())),
            Some(other) => Err(HttpError::bad_request(format!("baseURI: {other} is no IRI"))),
        }
    }
}

fn pairs(encoded: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(encoded).into_owned().collect()
}

/// A term as N-Triples has it.
fn term(text: &str) -> Result<Term, HttpError> {
    text.parse().map_err(|error| {
        HttpError::bad_request(format!("'{text}' is no term as N-Triples writes it, such as <http://example.org/> or \"text\"@en: {error}"))
    })
}

#[cfg(test)]
mod tests {
    //! Parameters and what they mean.
    use super::Parameters;
    use axum::http::HeaderMap;
    use lode_rdf::GraphName;

    fn of(query: &str) -> Parameters {
        Parameters::read(Some(query), &HeaderMap::new(), &[]).unwrap()
    }

    #[test]
    fn queries_with_bindings() {
        let query = of("query=SELECT*{?s?p?o}&infer=true&queryLn=SPARQL&$s=%3Chttp://e/s%3E&$o=%22a%22@en")
            .query()
            .unwrap();
        assert_eq!(query.query, "SELECT*{?s?p?o}");
        assert!(query.reason.is_none() && of("query=ASK{}&infer=false").query().unwrap().reason.is_some());
        let bound: Vec<_> = query.bindings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(bound, ["s=<http://e/s>", "o=\"a\"@en"]);
        for wrong in
            ["query=ASK{}&$s=nonsense", "query=ASK{}&$s+{}=1", "update=CLEAR+ALL", "query=ASK{}&nonsense=1"]
        {
            assert!(of(wrong).query().is_err(), "{wrong}");
        }
        assert!(of("update=CLEAR+ALL&$s=%3Chttp://e/s%3E").update().is_err());
        assert_eq!(of("update=CLEAR+ALL").update().unwrap().update, "CLEAR ALL");
    }

    #[test]
    fn statements() {
        let pattern = of("subj=%3Chttp://e/s%3E&context=null&context=_:b1&infer=false").pattern().unwrap();
        assert!(pattern.subject.is_some() && pattern.predicate.is_none());
        assert_eq!((pattern.graphs.len(), &pattern.graphs[0]), (2, &GraphName::DefaultGraph));
        assert!(of("context=%22text%22").pattern().is_err() && of("subj=a").pattern().is_err());
        assert_eq!(of("baseURI=%3Chttp://e/%3E").base().unwrap().as_deref(), Some("http://e/"));
    }
}
