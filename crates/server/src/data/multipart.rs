//! Files of a form (RFC 7578), as browsers and `curl -F` send them. A form is read whole before it is taken apart.

use crate::error::HttpError;
use axum::http::{HeaderMap, StatusCode, header};
use lode_engine::{Document, DocumentBody};
use lode_rdf::RdfFormat;
use std::sync::Arc;

/// How `curl` gives a part of a form its type.
pub(super) const OF_A_PART: &str = "such as curl -F 'file=@NAME;type=text/turtle'";

/// The documents in a form. Fields that are no files are passed over.
pub(super) fn documents(headers: &HeaderMap, body: &[u8]) -> Result<Vec<Document>, HttpError> {
    let boundary = boundary(headers)
        .ok_or_else(|| HttpError::bad_request("multipart/form-data has no boundary in its Content-Type"))?;
    let parts = parts(body, &boundary)
        .ok_or_else(|| HttpError::bad_request("the form ends before its last boundary: it has been cut"))?;
    let documents = parts.into_iter().filter_map(|part| document(part).transpose());
    let documents: Vec<Document> = documents.collect::<Result<_, _>>()?;
    if documents.is_empty() {
        return Err(HttpError::bad_request("the form has no file"));
    }
    Ok(documents)
}

fn boundary(headers: &HeaderMap) -> Option<Vec<u8>> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(format!("--{}", parameter(value, "boundary")?).into_bytes())
}

/// A parameter of a header's value, without its quotes.
fn parameter(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// What is between the boundaries; `None` where the last one is missing.
fn parts<'a>(body: &'a [u8], boundary: &[u8]) -> Option<Vec<&'a [u8]>> {
    let mut parts = Vec::new();
    let mut start = None;
    let mut from = 0;
    while let Some(found) = find(body.get(from..)?, boundary) {
        let at = from + found;
        from = at + boundary.len();
        // A boundary begins a line; whatever looks like it elsewhere is text.
        if at > 0 && body.get(at - 1) != Some(&b'\n') {
            continue;
        }
        if let Some(start) = start {
            let end = at - if body.get(..at)?.ends_with(b"\r\n") { 2 } else { 1 };
            parts.push(body.get(start..end.max(start))?);
        }
        let rest = body.get(from..)?;
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        start = Some(from + find(rest, b"\n")? + 1);
    }
    None
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// The document of a part; `None` for a field that is no file.
fn document(part: &[u8]) -> Result<Option<Document>, HttpError> {
    let cut = find(part, b"\r\n\r\n").map(|at| (at, 4)).or_else(|| find(part, b"\n\n").map(|at| (at, 2)));
    let (end, gap) = cut.ok_or_else(|| HttpError::bad_request("a part of the form has no end of headers"))?;
    let head = String::from_utf8_lossy(part.get(..end).unwrap_or_default());
    let field = |name: &str| {
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let file_name = field("content-disposition").and_then(|value| parameter(&value, "filename"));
    let media_type = field("content-type");
    if file_name.is_none() && media_type.is_none() {
        return Ok(None);
    }
    let by_type = media_type.as_deref().filter(|name| !name.starts_with("text/plain"));
    let format = by_type
        .and_then(RdfFormat::from_media_type)
        .or_else(|| RdfFormat::from_file_name(file_name.as_deref()?))
        .or_else(|| RdfFormat::from_media_type(media_type.as_deref()?));
    let name = file_name.unwrap_or_else(|| "part of the form".to_owned());
    let format = format.ok_or_else(|| {
        let message = format!(
            "{name}: neither its Content-Type nor its name tells its RDF syntax: name it, {OF_A_PART}"
        );
        HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
    })?;
    let body = DocumentBody::Bytes(Arc::from(part.get(end + gap..).unwrap_or_default()));
    Ok(Some(Document { name, format, body, unpacked_max: None }))
}

#[cfg(test)]
mod tests {
    //! Forms as they are sent.
    use super::documents;
    use axum::http::{HeaderMap, HeaderValue, header};
    use lode_engine::DocumentBody;
    use lode_rdf::RdfFormat;

    fn read(body: &str) -> Option<Vec<(String, RdfFormat, String)>> {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_static("multipart/form-data; boundary=\"xyz\"");
        headers.insert(header::CONTENT_TYPE, value);
        let found = documents(&headers, body.as_bytes()).ok()?;
        let text = |body: &DocumentBody| match body {
            DocumentBody::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            DocumentBody::Stream(_) => unreachable!(),
        };
        Some(found.iter().map(|found| (found.name.clone(), found.format, text(&found.body))).collect())
    }

    #[test]
    fn files_and_fields() {
        let body = "--xyz\r\nContent-Disposition: form-data; name=\"graph\"\r\n\r\nignored\r\n\
                    --xyz\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.ttl\"\r\n\
                    Content-Type: application/octet-stream\r\n\r\n<a> <b> \"--xyz\" .\r\n\r\n--xyz\r\n\
                    content-type: application/n-triples\r\n\r\n\r\n--xyz--\r\n";
        let found = read(body).unwrap();
        assert_eq!(found[0], ("a.ttl".to_owned(), RdfFormat::Turtle, "<a> <b> \"--xyz\" .\r\n".to_owned()));
        assert_eq!((found[1].1, found[1].2.as_str()), (RdfFormat::NTriples, ""));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn what_is_no_form() {
        assert_eq!(read("--xyz\r\nContent-Type: text/turtle\r\n\r\n<a> <b> <c> ."), None);
        assert_eq!(read("--xyz--\r\n"), None);
        let unknown = "--xyz\r\nContent-Disposition: form-data; filename=\"a.png\"\r\n\r\n.\r\n--xyz--\r\n";
        assert_eq!(read(unknown), None);
    }
}
