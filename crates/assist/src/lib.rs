//! Help for who writes queries: what may stand at a place of a text and *gives answers* ([`Assist::complete`]), what is known of what stands there
//! ([`Assist::hover`]), a text in good order ([`format()`]), and what is wrong with it ([`Assist::check`]).
//!
//! The text is unfinished most of the time. `place` says what was typed, `repair` makes a whole text of it by putting something at the place and closing what
//! is open, and the tree of that says in which `role` the place is, and which patterns stand around it (`context`). Candidates come from
//! the indexes (`schema`, `search`) and from the patterns themselves: what is offered was asked for, as far as the time goes (`ask`).
//!
//! A call takes as long as its [`CancelToken`](lode_engine::CancelToken) lets it, and answers with what it has by then.

mod answer;
mod ask;
mod assist;
mod candidates;
mod check;
mod clock;
mod complete;
mod context;
mod format;
mod hover;
mod items;
mod keywords;
mod labels;
mod names;
mod pieces;
mod place;
mod position;
mod repair;
mod role;
mod schema;
mod search;
mod shortening;
mod words;

pub use answer::{Checked, Completion, Counts, Hover, Item, ItemKind, Mark, Named, Prefix, Span};
pub use assist::Assist;
pub use format::{form_of, format};
pub use lode_sparql::ParseError;
pub use lode_syntax::{Form, usual_prefixes};
pub use pieces::{
    PieceKind, Wholeness, counting_variables, declared_prefixes, error_behind_first_line, pieces, wholeness,
    with_kept_prefixes, with_prefixes,
};
pub use shortening::{kept_prefixes, prefixes_over_usual};
pub use words::functions;
