//! Families of queries of any size, and what their texts are made of.

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

/// `PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) { body }`
pub(super) fn counting(body: &str) -> String {
    format!("PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) {{ {body} }}")
}

/// `make(0) make(1) ...`
pub(super) fn each(n: usize, make: impl Fn(usize) -> String) -> String {
    (0..n).map(make).collect::<Vec<_>>().join(" ")
}

/// `open` so many times, what is inside, and `close` as often.
pub(super) fn nested(n: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(n), close.repeat(n))
}
