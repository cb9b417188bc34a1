//! XML as elements in memory, without namespaces: GML and KML are read from these.

use crate::error::GeoError;
use crate::limits::XML_DEPTH_MAX;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    /// Its name, without a prefix.
    pub name: String,
    /// Its attributes, without prefixes.
    attributes: Vec<(String, String)>,
    /// Its text, without that of its children.
    pub text: String,
    pub children: Vec<Self>,
}

impl Element {
    /// The only element at the top of a text; none where it is blank.
    pub fn read(format: &'static str, text: &str) -> Result<Option<Self>, GeoError> {
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = vec![Self::default()];
        loop {
            let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let wrong = |message: String| GeoError::syntax(format, at, message);
            match reader.read_event().map_err(|error| wrong(error.to_string()))? {
                Event::Start(start) => {
                    if open.len() > XML_DEPTH_MAX {
                        return Err(GeoError::TooLarge { what: "levels of elements", limit: XML_DEPTH_MAX });
                    }
                    open.push(Self::of(&start).map_err(wrong)?);
                }
                Event::Empty(start) => {
                    let element = Self::of(&start).map_err(wrong)?;
                    if let Some(parent) = open.last_mut() {
                        parent.children.push(element);
                    }
                }
                // The reader sees to it that names match.
                Event::End(_) => {
                    let element = open.pop();
                    if let (Some(parent), Some(element)) = (open.last_mut(), element) {
                        parent.children.push(element);
                    }
                }
                Event::Text(more) => {
                    let more = more.unescape().map_err(|error| wrong(error.to_string()))?;
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(&more);
                    }
                }
                Event::CData(more) => {
                    let more = more.decode().map_err(|error| wrong(error.to_string()))?;
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(&more);
                    }
                }
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        let wrong = |message: &str| Err(GeoError::syntax(format, text.len(), message));
        let Some(mut top) = open.pop().filter(|_| open.is_empty()) else {
            return wrong("an element does not end");
        };
        if !top.text.trim().is_empty() || top.children.len() > 1 {
            return wrong("one element is expected, and nothing around it");
        }
        Ok(top.children.pop())
    }

    fn of(start: &BytesStart<'_>) -> Result<Self, String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let value = attribute.unescape_value().map_err(|error| error.to_string())?;
            attributes.push((text(attribute.key.local_name().as_ref()), value.into_owned()));
        }
        Ok(Self { name: text(start.local_name().as_ref()), attributes, ..Self::default() })
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The children of these names.
    pub fn named<'e>(&'e self, names: &'e [&str]) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| names.contains(&child.name.as_str()))
    }
}
