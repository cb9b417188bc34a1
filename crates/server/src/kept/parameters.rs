//! The parameters of a run: those that the query declares become values, the others are those of every query's answer.

use super::entry::{KeptQuery, Parameter};
use crate::error::HttpError;
use crate::request::{self, Asked, QueryRequest};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use lode_rdf::Term;

const FORM: &str = "application/x-www-form-urlencoded";
/// What says how to answer.
const OF_ANSWER: [&str; 5] = ["format", "output", "results", "timeout", "_"];

/// Whether a parameter of a query may be called so.
pub(crate) fn is_reserved(name: &str) -> bool {
    OF_ANSWER.contains(&name) || name == "query"
}

/// The request that a run of a kept query is.
pub(crate) fn read(kept: &KeptQuery, address: &[u8], form: &[u8]) -> Result<QueryRequest, HttpError> {
    let mut values: Vec<Option<String>> = vec![None; kept.parameters.len()];
    let mut others = form_urlencoded::Serializer::new(String::new());
    for (name, value) in form_urlencoded::parse(address).chain(form_urlencoded::parse(form)) {
        let declared = kept.parameters.iter().zip(&mut values).find(|(one, _)| one.name == name);
        match declared {
            Some((_, place)) if place.is_some() => {
                return Err(HttpError::bad_request(format!("more than one {name}: send exactly one")));
            }
            Some((_, place)) => *place = Some(value.into_owned()),
            None if OF_ANSWER.contains(&name.as_ref()) => {
                others.append_pair(&name, &value);
            }
            None => return Err(unknown(kept, &name)),
        }
    }
    others.append_pair("query", &kept.text);
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(FORM));
    let Asked::Query(request) = request::parse(&Method::POST, None, &headers, others.finish().into_bytes())?
    else {
        return Err(HttpError::no_request());
    };
    let bindings = kept.parameters.iter().zip(values).map(|(one, value)| bound(one, value));
    Ok(QueryRequest { bindings: bindings.collect::<Result<_, _>>()?, ..request })
}

/// A parameter with its value.
fn bound(parameter: &Parameter, value: Option<String>) -> Result<(String, Term), HttpError> {
    let Parameter { name, kind, default } = parameter;
    let Some(value) = value.as_ref().or(default.as_ref()) else {
        return Err(HttpError::bad_request(format!(
            "the parameter {name} is missing, a value of the type {kind}"
        )));
    };
    let term = kind.term(value).map_err(|what| HttpError::bad_request(format!("{name}: {what}")))?;
    Ok((name.clone(), term))
}

fn unknown(kept: &KeptQuery, name: &str) -> HttpError {
    let shown: String = name.chars().take(100).collect();
    let own: Vec<&str> = kept.parameters.iter().map(|one| one.name.as_str()).collect();
    let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
    HttpError::bad_request(format!(
        "there is no parameter '{}': those of this query are {own}, and format and timeout say how to answer",
        shown.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    //! Values, defaults, and what is neither.
    use super::super::entry::{KeptQuery, Parameter, Runner};
    use super::read;
    use std::time::Duration;

    fn kept() -> KeptQuery {
        let parameter = |name: &str, kind: &str, default: Option<&str>| Parameter {
            name: name.to_owned(),
            kind: kind.parse().unwrap(),
            default: default.map(str::to_owned),
        };
        KeptQuery {
            text: "SELECT * { ?s ?p ?o }".to_owned(),
            description: String::new(),
            role: Runner::Read,
            limits: String::new(),
            parameters: vec![parameter("s", "iri", None), parameter("o", "integer", Some("1"))],
        }
    }

    #[test]
    fn values_and_defaults() {
        let request = read(&kept(), b"s=http%3A//e/a&timeout=2&format=csv", b"").unwrap();
        let bound: Vec<String> =
            request.bindings.iter().map(|(name, term)| format!("{name}={term}")).collect();
        assert_eq!(bound, ["s=<http://e/a>", "o=\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"]);
        assert_eq!(
            (request.timeout, request.query.as_str()),
            (Some(Duration::from_secs(2)), "SELECT * { ?s ?p ?o }")
        );
        assert!(request.format.is_some() && request.plan.is_none());
        assert_eq!(read(&kept(), b"", b"s=http%3A//e/a&o=7").unwrap().bindings.len(), 2);
    }

    #[test]
    fn mistakes() {
        for (sent, told) in [
            ("", "the parameter s is missing, a value of the type iri"),
            ("s=a+b", "s: 'a b': expected an IRI"),
            ("s=http://e/&s=http://e/", "more than one s"),
            ("s=http://e/&o=x", "o: 'x': expected a value of xsd:integer, such as 7"),
            ("s=http://e/&p=x", "there is no parameter 'p': those of this query are s, o"),
            ("s=http://e/&query=ASK+{}", "there is no parameter 'query'"),
            ("s=http://e/&explain=1", "there is no parameter 'explain'"),
            ("s=http://e/&timeout=soon", "timeout=soon: expected a number of seconds"),
        ] {
            let error = read(&kept(), sent.as_bytes(), b"").unwrap_err();
            assert!(
                error.status.as_u16() == 400 && error.message.starts_with(told),
                "{sent}: {}",
                error.message
            );
        }
    }
}
