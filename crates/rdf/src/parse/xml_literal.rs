//! XML literals of RDF/XML in the form that the specification asks for: Exclusive XML Canonicalization (RDF 1.1 XML Syntax,
//! section 7.2.17; xml-exc-c14n), where an element declares just the namespaces that it uses itself. The parser declares all that
//! are in scope.

use oxrdf::vocab::rdf;
use oxrdf::{Literal, Term, Triple};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use std::collections::{BTreeMap, BTreeSet};

/// Namespaces by prefix; the default one has the empty prefix.
type Scope = BTreeMap<Vec<u8>, Vec<u8>>;

/// Rewrites the XML literals of a triple, also within its triple terms.
pub(super) fn canonicalize(triple: &mut Triple) {
    match &mut triple.object {
        Term::Literal(literal) if literal.datatype() == rdf::XML_LITERAL => {
            if let Some(text) = exclusive(literal.value()) {
                *literal = Literal::new_typed_literal(text, rdf::XML_LITERAL);
            }
        }
        Term::Triple(inner) => canonicalize(inner),
        _ => {}
    }
}

/// The same XML with the declarations of exclusive canonicalisation; `None` for what is not well-formed.
fn exclusive(xml: &str) -> Option<String> {
    let mut reader = Reader::from_str(xml);
    let mut writer = Writer::new(Vec::with_capacity(xml.len()));
    // For each open element: the namespaces in scope, and those that the output declares there.
    let mut scopes: Vec<(Scope, Scope)> = vec![<(Scope, Scope)>::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(start) => {
                let (declared, written) = scopes.last()?.clone();
                let (element, scope) = rewrite(&start, declared, written)?;
                scopes.push(scope);
                writer.write_event(Event::Start(element)).ok()?;
            }
            end @ Event::End(_) => {
                scopes.pop();
                writer.write_event(end).ok()?;
            }
            other => writer.write_event(other).ok()?,
        }
    }
    String::from_utf8(writer.into_inner()).ok()
}

/// The start tag with its declarations as exclusive canonicalisation has them, and the scopes within the element.
fn rewrite(
    start: &BytesStart<'_>,
    mut declared: Scope,
    mut written: Scope,
) -> Option<(BytesStart<'static>, (Scope, Scope))> {
    let mut used = BTreeSet::from([prefix(start.name().as_ref()).unwrap_or(b"").to_vec()]);
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.ok()?;
        let (name, value) = (attribute.key.as_ref().to_vec(), attribute.value.into_owned());
        match declared_prefix(&name) {
            Some(prefix) => drop(declared.insert(prefix.to_vec(), value)),
            None => {
                used.extend(prefix(&name).map(<[u8]>::to_vec));
                attributes.push((name, value));
            }
        }
    }
    let mut element = BytesStart::new(std::str::from_utf8(start.name().as_ref()).ok()?.to_owned());
    for prefix in used.into_iter().filter(|prefix| prefix != b"xml") {
        let namespace = declared.get(&prefix).cloned().unwrap_or_default();
        if written.get(&prefix).map_or(&[][..], Vec::as_slice) == namespace.as_slice() {
            continue;
        }
        let name =
            if prefix.is_empty() { b"xmlns".to_vec() } else { [b"xmlns:", prefix.as_slice()].concat() };
        element.push_attribute((name.as_slice(), namespace.as_slice()));
        written.insert(prefix, namespace);
    }
    // Canonical order: by namespace, those without one first, then by local name.
    attributes.sort_by_key(|(name, _)| {
        let namespace = prefix(name).and_then(|prefix| declared.get(prefix)).cloned().unwrap_or_default();
        (namespace, local_name(name).to_vec())
    });
    for (name, value) in &attributes {
        element.push_attribute((name.as_slice(), value.as_slice()));
    }
    Some((element, (declared, written)))
}

/// The prefix that an attribute of this name declares, empty for the default namespace.
fn declared_prefix(name: &[u8]) -> Option<&[u8]> {
    if name == b"xmlns" { Some(b"") } else { name.strip_prefix(b"xmlns:") }
}

fn prefix(name: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', name)?;
    name.get(..colon)
}

fn local_name(name: &[u8]) -> &[u8] {
    memchr::memchr(b':', name).and_then(|colon| name.get(colon + 1..)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    //! Declarations that stay, move and go.
    use super::exclusive;

    #[track_caller]
    fn check(xml: &str, expected: &str) {
        assert_eq!(exclusive(xml).as_deref(), Some(expected));
    }

    #[test]
    fn unused_declarations_go() {
        check(r#"<br xmlns:a="http://a/" xmlns:b="http://b/"></br>"#, "<br></br>");
        check(
            r#"text <a:i xmlns:a="http://a/" xmlns:b="http://b/">x</a:i> more"#,
            r#"text <a:i xmlns:a="http://a/">x</a:i> more"#,
        );
    }

    #[test]
    fn declarations_move_to_where_they_are_used() {
        check(
            r#"<p xmlns:a="http://a/"><a:i></a:i><a:i><a:j></a:j></a:i></p>"#,
            r#"<p><a:i xmlns:a="http://a/"></a:i><a:i xmlns:a="http://a/"><a:j></a:j></a:i></p>"#,
        );
        check(r#"<p xmlns:a="http://a/" a:x="1" b="2"></p>"#, r#"<p xmlns:a="http://a/" b="2" a:x="1"></p>"#);
    }

    #[test]
    fn the_default_namespace_ends() {
        check(r#"<p xmlns="http://a/"><q xmlns=""></q></p>"#, r#"<p xmlns="http://a/"><q xmlns=""></q></p>"#);
        check(r#"<p xmlns="http://a/"><q xmlns="http://a/"></q></p>"#, r#"<p xmlns="http://a/"><q></q></p>"#);
    }

    #[test]
    fn escapes_stay() {
        check(r#"<p a="&lt;&quot;">&amp;<!-- c --></p>"#, r#"<p a="&lt;&quot;">&amp;<!-- c --></p>"#);
    }
}
