//! The RDF syntaxes: names, file extensions, media types, and telling them apart by content.

use std::fmt;

/// An RDF syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RdfFormat {
    /// One triple a line.
    NTriples,
    /// One quad a line.
    NQuads,
    /// Turtle.
    Turtle,
    /// Turtle with graphs.
    TriG,
    /// RDF/XML.
    RdfXml,
    /// JSON-LD.
    JsonLd,
}

/// Names of a format; the first of each list is the preferred one.
struct Names {
    label: &'static str,
    extensions: &'static [&'static str],
    media_types: &'static [&'static str],
    aliases: &'static [&'static str],
}

impl RdfFormat {
    /// All, the preferred ones for writing first.
    pub const ALL: [Self; 6] =
        [Self::Turtle, Self::NTriples, Self::NQuads, Self::TriG, Self::RdfXml, Self::JsonLd];

    const fn names(self) -> Names {
        match self {
            Self::NTriples => Names {
                label: "N-Triples",
                extensions: &["nt", "ntriples"],
                media_types: &["application/n-triples", "text/plain"],
                aliases: &["n-triples"],
            },
            Self::NQuads => Names {
                label: "N-Quads",
                extensions: &["nq", "nquads"],
                media_types: &["application/n-quads", "text/x-nquads", "text/nquads"],
                aliases: &["n-quads"],
            },
            Self::Turtle => Names {
                label: "Turtle",
                extensions: &["ttl", "turtle"],
                media_types: &["text/turtle", "application/turtle", "application/x-turtle"],
                aliases: &[],
            },
            Self::TriG => Names {
                label: "TriG",
                extensions: &["trig"],
                media_types: &["application/trig", "application/x-trig"],
                aliases: &[],
            },
            Self::RdfXml => Names {
                label: "RDF/XML",
                extensions: &["rdf", "xml", "owl"],
                media_types: &["application/rdf+xml", "application/xml", "text/xml"],
                aliases: &["rdfxml", "rdf/xml", "rdf-xml"],
            },
            Self::JsonLd => Names {
                label: "JSON-LD",
                extensions: &["jsonld", "json"],
                media_types: &["application/ld+json", "application/json"],
                aliases: &["json-ld"],
            },
        }
    }

    /// The preferred file extension, which is also the name on the command line.
    pub fn extension(self) -> &'static str {
        self.names().extensions.first().copied().unwrap_or_default()
    }

    /// The media type to send.
    pub fn media_type(self) -> &'static str {
        self.names().media_types.first().copied().unwrap_or_default()
    }

    /// All media types that mean this format.
    pub fn media_types(self) -> &'static [&'static str] {
        self.names().media_types
    }

    /// Whether the format has named graphs.
    pub const fn supports_datasets(self) -> bool {
        matches!(self, Self::NQuads | Self::TriG | Self::JsonLd)
    }

    /// Whether every line stands for itself, so that a file may be cut at any line end.
    pub const fn is_line_based(self) -> bool {
        matches!(self, Self::NTriples | Self::NQuads)
    }

    /// The format of a file extension, in any case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::find(|names| names.extensions.iter().any(|name| name.eq_ignore_ascii_case(extension)))
    }

    /// The format of a name as users write it: an extension, the standard's name, or a media type.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_extension(name)
            .or_else(|| {
                Self::find(|names| names.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)))
            })
            .or_else(|| Self::from_media_type(name))
    }

    /// The format of a media type as in `Content-Type`, with or without parameters.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        Self::find(|names| names.media_types.iter().any(|known| known.eq_ignore_ascii_case(essence)))
    }

    /// The format of a file name, past the extension of a compression ("data.nt.gz").
    pub fn from_file_name(name: &str) -> Option<Self> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        Self::from_extension(Self::without_compression(name).rsplit_once('.')?.1)
    }

    /// A file name without the extension of a compression.
    pub fn without_compression(name: &str) -> &str {
        let is_compression = |extension: &str| {
            ["gz", "bgz", "bz2", "zst", "zstd", "xz"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(extension))
        };
        match name.rsplit_once('.') {
            Some((stem, extension)) if is_compression(extension) => stem,
            _ => name,
        }
    }

    fn find(matches: impl Fn(Names) -> bool) -> Option<Self> {
        Self::ALL.into_iter().find(|format| matches(format.names()))
    }

    /// The format that the first bytes of a file look like. A guess: for files whose name says nothing.
    pub fn guess_from_content(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        // The last character may be cut.
        let text = String::from_utf8_lossy(head);
        let mut rest = text.trim_start();
        match rest.chars().next()? {
            '{' => return Some(if looks_like_json(rest) { Self::JsonLd } else { Self::TriG }),
            '[' if looks_like_json(rest) => return Some(Self::JsonLd),
            '<' if looks_like_xml(rest) => return Some(Self::RdfXml),
            _ => {}
        }
        // Comments tell nothing, nor do version announcements, which are the same in four formats.
        while rest.starts_with('#') || rest.starts_with("VERSION \"") {
            rest = rest.split_once(['\n', '\r'])?.1.trim_start();
        }
        Some(guess_turtle_family(rest))
    }
}

fn looks_like_json(text: &str) -> bool {
    let inner = text.trim_start_matches(['[', '{']).trim_start();
    let Some(key) = inner.strip_prefix('"') else {
        return inner.starts_with(['{', '}', ']']) || inner.is_empty();
    };
    // In TriG a quoted string cannot begin a statement; in Turtle `[` is followed by a predicate.
    key.split_once('"').is_none_or(|(_, after)| after.trim_start().starts_with([':', ',', ']']))
}

fn looks_like_xml(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('<') else { return false };
    if inner.starts_with("?xml") || inner.starts_with('!') {
        return true;
    }
    // An element name is followed by blanks or `>` and has no scheme's slashes; IRIs in `<>` have no blanks.
    let name_end = inner.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(inner.len());
    let (name, after) = inner.split_at(name_end);
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.'))
        && after.starts_with(char::is_whitespace)
}

/// Tells the four apart: by the shape of the first statement's line, and by signs of graphs.
fn guess_turtle_family(text: &str) -> RdfFormat {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let has_graphs = text.contains('{') && has_graph_block(text);
    if !(line.starts_with('<') || line.starts_with("_:")) || !line.ends_with('.') {
        return if has_graphs { RdfFormat::TriG } else { RdfFormat::Turtle };
    }
    match crate::ntriples::count_line_terms(line) {
        Some(4) => RdfFormat::NQuads,
        Some(3) => RdfFormat::NTriples,
        _ if has_graphs => RdfFormat::TriG,
        _ => RdfFormat::Turtle,
    }
}

/// Whether a brace opens a graph: outside strings and IRIs, at a line's end or after `GRAPH`.
fn has_graph_block(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        !line.starts_with('#')
            && (line.ends_with('{') || line.to_ascii_uppercase().starts_with("GRAPH "))
            && line.matches('"').count().is_multiple_of(2)
    })
}

impl fmt::Display for RdfFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().label)
    }
}

#[cfg(test)]
mod tests;
