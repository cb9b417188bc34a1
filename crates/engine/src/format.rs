//! The formats that results can be written in.

use lode_rdf::format::RdfFormat;
use sparesults::QueryResultsFormat;

/// What a query returns, as far as formats care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// Rows (SELECT).
    Solutions,
    /// Yes or no (ASK).
    Boolean,
    /// Triples (CONSTRUCT, DESCRIBE).
    Graph,
}

/// What columns are written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnContainer {
    /// An Arrow IPC stream.
    Arrow,
    /// A Parquet file.
    Parquet,
}

impl ColumnContainer {
    const ARROW: &'static str = "application/vnd.apache.arrow.stream";
    const PARQUET: &'static str = "application/vnd.apache.parquet";
}

/// What columns are made of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColumnForm {
    /// A column of numbers, dates or texts where all its values are of one kind, else one of structs.
    #[default]
    Typed,
    /// Structs of kind, value, datatype and language.
    Struct,
    /// Texts without what tells their kind, as in CSV.
    Text,
}

/// The media types of JSON lines, none of them registered; the first is sent.
const JSON_LINES: [&str; 3] = ["application/x-ndjson", "application/jsonl", "application/x-jsonlines"];

/// A format for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// SPARQL 1.1 Query Results: JSON, XML, CSV or TSV.
    Results(QueryResultsFormat),
    /// One solution a line, each an object like those in the bindings of SPARQL 1.1 Query Results JSON: for programs that read line by line.
    JsonLines,
    /// An RDF syntax.
    Rdf(RdfFormat),
    /// Aligned columns for people.
    Table,
    /// Columns for programs that compute with them. This crate writes none: see the crate lode-arrow.
    Columns(ColumnContainer, ColumnForm),
}

impl OutputFormat {
    /// Every name that [`OutputFormat::from_name`] knows, for help texts.
    pub const NAMES: &'static str = "table, json, jsonl, xml, csv, tsv, nt, nq, ttl, trig, rdf, jsonld";
    /// Those of columns that it knows besides.
    pub const COLUMN_NAMES: &'static str =
        "arrow, arrow-struct, arrow-text, parquet, parquet-struct, parquet-text";

    /// The format with this short name or file extension.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "table" => Self::Table,
            "jsonl" | "ndjson" => Self::JsonLines,
            "json" | "srj" => Self::Results(QueryResultsFormat::Json),
            "xml" | "srx" => Self::Results(QueryResultsFormat::Xml),
            "csv" => Self::Results(QueryResultsFormat::Csv),
            "tsv" => Self::Results(QueryResultsFormat::Tsv),
            "arrow" | "arrows" => Self::Columns(ColumnContainer::Arrow, ColumnForm::Typed),
            "arrow-struct" => Self::Columns(ColumnContainer::Arrow, ColumnForm::Struct),
            "arrow-text" => Self::Columns(ColumnContainer::Arrow, ColumnForm::Text),
            "parquet" => Self::Columns(ColumnContainer::Parquet, ColumnForm::Typed),
            "parquet-struct" => Self::Columns(ColumnContainer::Parquet, ColumnForm::Struct),
            "parquet-text" => Self::Columns(ColumnContainer::Parquet, ColumnForm::Text),
            other => Self::Rdf(RdfFormat::from_extension(other)?),
        })
    }

    /// The format with this media type (parameters ignored) for results of this kind.
    pub fn from_media_type(media_type: &str, kind: ResultKind) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        let container = match essence.as_str() {
            ColumnContainer::ARROW => Some(ColumnContainer::Arrow),
            ColumnContainer::PARQUET => Some(ColumnContainer::Parquet),
            _ => None,
        };
        if let Some(container) = container {
            return Some(Self::Columns(container, ColumnForm::Typed));
        }
        match kind {
            ResultKind::Boolean | ResultKind::Solutions if JSON_LINES.contains(&essence.as_str()) => {
                Some(Self::JsonLines)
            }
            ResultKind::Graph => RdfFormat::from_media_type(&essence).map(Self::Rdf),
            ResultKind::Boolean | ResultKind::Solutions => {
                QueryResultsFormat::from_media_type(&essence).map(Self::Results)
            }
        }
    }

    /// The format for results of this kind that has the same name: `xml` is RDF/XML for graphs, and `json` JSON-LD.
    #[must_use]
    pub fn of_kind(self, kind: ResultKind) -> Self {
        match (self, kind) {
            (Self::Results(QueryResultsFormat::Json), ResultKind::Graph) => Self::Rdf(RdfFormat::JsonLd),
            (Self::Results(QueryResultsFormat::Xml), ResultKind::Graph) => Self::Rdf(RdfFormat::RdfXml),
            (format, _) => format,
        }
    }

    /// What `*/*` gets.
    pub const fn default_for(kind: ResultKind) -> Self {
        match kind {
            ResultKind::Graph => Self::Rdf(RdfFormat::Turtle),
            ResultKind::Boolean | ResultKind::Solutions => Self::Results(QueryResultsFormat::Json),
        }
    }

    /// The media type to send, with its charset where it has one.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Results(QueryResultsFormat::Csv) => "text/csv; charset=utf-8",
            Self::Results(QueryResultsFormat::Tsv) => "text/tab-separated-values; charset=utf-8",
            Self::Results(format) => format.media_type(),
            Self::Rdf(format) => format.media_type(),
            Self::JsonLines => JSON_LINES[0],
            Self::Table => "text/plain; charset=utf-8",
            Self::Columns(ColumnContainer::Arrow, _) => ColumnContainer::ARROW,
            Self::Columns(ColumnContainer::Parquet, _) => ColumnContainer::PARQUET,
        }
    }
}
