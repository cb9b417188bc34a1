//! The text of SPARQL queries and updates: its tokens, its tree, what is wrong with it, where, and what would be right.
//!
//! [`parse`] is a recursive descent over the grammar of SPARQL 1.1 and 1.2, with LATERAL of SEP-0006. It makes a lossless [`Tree`] in two vectors, and
//! keeps to the grammar and nothing else: what a text means, and rules that are not of the grammar, are for who makes algebra of the tree.
//!
//! [`check`] is the same descent for a text that is wrong. It also follows what variables are in scope, knows the mistakes that people make, and goes on behind those
//! that it can repair or skip.
//!
//! Both take time and memory in proportion to the text, and recurse to a fixed depth, on a stack of their own where the thread's is too small.

mod chars;
mod diagnostic;
mod lexer;
mod parser;
mod prefixes;
mod spelling;
mod token;
mod tree;
mod vocabulary;

pub use chars_in_escapes::unescaped;
pub use diagnostic::Diagnostic;
pub use lexer::count_tokens;
pub use parser::{BYTES_MAX, DEPTH_MAX, Extent, Form, Parsed, check, parse};
pub use prefixes::{all_usual as usual_prefixes, usual as usual_prefix};
pub use spelling::meant as nearest;
pub use token::{Kind as TokenKind, Token};
pub use tree::{At, Children, Node, Tree};
pub use vocabulary::{Callable, Vocabulary};

mod chars_in_escapes;
