//! Queries that ask for trouble: deep, long and wide ones, a few kilobytes each, of any size.
//!
//! A shape makes a query of `n` parts. Each has the most parts that are answered; one more is refused with a clear error, unless nothing
//! but the size of the text limits it. All can be asked of any data; [`DATA`] gives most of them rows.

mod expressions;
mod lists;
mod nesting;
mod paths;
mod patterns;

/// A few quads, in TriG, with a loop, so that paths of any length have an end.
pub const DATA: &str = "@prefix : <http://e/> .
:a :p :b . :b :p :c . :c :p :a . :a :q 1 . :b :q 2 . :c :q 3 .
:a :name \"a\" . :b :name \"b\" . :c :name \"c\" . :a :list (1 2 3) .
:g { :a :p :c . }
";

/// A family of queries.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// The query of so many parts.
    pub query: fn(usize) -> String,
    /// The most parts that are answered.
    pub parts_max: usize,
    /// What the error of one part more says; `None`: no number of parts is too many, and `parts_max` is but large.
    pub refused: Option<&'static str>,
}

/// All of them.
pub fn shapes() -> Vec<Shape> {
    [patterns::SHAPES, paths::SHAPES, expressions::SHAPES, nesting::SHAPES, lists::SHAPES].concat()
}

/// `PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) { body }`
fn counting(body: &str) -> String {
    format!("PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) {{ {body} }}")
}

/// `make(0) make(1) ...`
fn each(n: usize, make: impl Fn(usize) -> String) -> String {
    (0..n).map(make).collect::<Vec<_>>().join(" ")
}

/// `open` so many times, what is inside, and `close` as often.
fn nested(n: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(n), close.repeat(n))
}
