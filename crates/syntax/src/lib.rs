//! What is wrong with the text of a SPARQL query or update, where, and what would be right.
//!
//! The parser that makes the algebra says what it could have gone on with. People want to know their mistake: a prefix that is not declared, a
//! word that is misspelt, a brace that was never closed. [`check`] reads a text that the parser has refused, by recursive descent over the grammar of
//! SPARQL 1.1 and 1.2, knows the mistakes that people make, goes on behind those that it can repair, and stops at what it does not know.
//!
//! It takes time and memory in proportion to the text, and recurses to a fixed depth.

mod diagnostic;
mod functions;
mod lexer;
mod parser;
mod prefixes;
mod spelling;
mod token;

pub use diagnostic::Diagnostic;
pub use parser::{Form, check};
pub use prefixes::usual as usual_prefix;
