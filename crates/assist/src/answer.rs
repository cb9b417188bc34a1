//! What is answered. Places are in UTF-16 code units from the start of the text, as editors and browsers count.

use serde::{Deserialize, Serialize};

/// What may stand at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// What is replaced begins here,
    pub from: usize,
    /// and ends here.
    pub to: usize,
    /// The best first.
    pub items: Vec<Item>,
    /// There may be more: time or the limit ended the search.
    pub incomplete: bool,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// A predicate.
    Predicate,
    /// A class.
    Class,
    /// Another term.
    Term,
    /// A graph.
    Graph,
    /// A prefix.
    Prefix,
    /// A function or an aggregate.
    Function,
    /// A variable.
    Variable,
    /// A keyword.
    Keyword,
}

/// Something that may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What is shown.
    pub label: String,
    /// What is put there.
    pub insert: String,
    /// What it is.
    pub kind: ItemKind,
    /// Its label, or its signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Of a term that is an IRI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
    /// How often it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// It may give no answer: there was no time to ask for all patterns, but for the nearest at most.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
    /// What must be declared at the top of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
}

impl Item {
    /// One that is shown as it is put there.
    pub(crate) fn new(insert: impl Into<String>, kind: ItemKind) -> Self {
        let insert = insert.into();
        Self {
            label: insert.clone(),
            insert,
            kind,
            detail: None,
            iri: None,
            count: None,
            unproven: false,
            prefix: None,
        }
    }
}

/// A prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefix {
    /// Without the colon.
    pub name: String,
    /// What it stands for.
    pub iri: String,
}

/// What is known of what stands at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hover {
    /// It begins here,
    pub from: usize,
    /// and ends here.
    pub to: usize,
    /// What it is, of an IRI or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
    /// Its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Its classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<Named>,
    /// How many quads have it in each place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// All of it, as Markdown.
    pub text: String,
}

/// An IRI with its label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The IRI.
    pub iri: String,
    /// Its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Quads that have a term in each of their places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// As their subject.
    pub subject: u64,
    /// As their predicate.
    pub predicate: u64,
    /// As their object.
    pub object: u64,
    /// As their graph.
    pub graph: u64,
}

/// What is wrong with a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Why it cannot be run.
    pub errors: Vec<Mark>,
    /// What is most likely not meant.
    pub warnings: Vec<Mark>,
}

/// A place in bytes of a text's UTF-8.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// It begins here,
    pub start: usize,
    /// and ends here.
    pub end: usize,
}

/// Something at a place. Of the text as a whole, all of its places are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// It begins here,
    pub from: usize,
    /// and ends here.
    pub to: usize,
    /// The line where it begins, from 1.
    #[serde(default)]
    pub line: usize,
    /// Its column there in characters, from 1.
    #[serde(default)]
    pub column: usize,
    /// The place in bytes.
    #[serde(default)]
    pub span: Span,
    /// The kind of a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}
