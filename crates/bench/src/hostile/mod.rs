//! Queries that ask for trouble.
//!
//! Some are short and ask for much ([`QUERIES`]): texts that grow, regular expressions, products, hard plans. The others are deep, long and
//! wide, a few kilobytes each, of any size. A shape makes a query of `n` parts. Each has the most parts that are answered; one more is refused with a clear error, unless nothing
//! but the size of the text limits it. All can be asked of any data; [`DATA`] gives most of them rows.

mod expressions;
mod lists;
mod nesting;
mod paths;
mod patterns;
mod regular_expressions;
mod shape;

use crate::NamedQuery;
use crate::named_query::query_set;
pub use shape::Shape;

/// A few quads, in TriG, with a loop, so that paths of any length have an end.
pub const DATA: &str = "@prefix : <http://e/> .
:a :p :b . :b :p :c . :c :p :a . :a :q 1 . :b :q 2 . :c :q 3 .
:a :name \"a\" . :b :name \"b\" . :c :name \"c\" . :a :list (1 2 3) .
:g { :a :p :c . }
";

/// All of them.
pub fn shapes() -> Vec<Shape> {
    [
        patterns::SHAPES,
        paths::SHAPES,
        expressions::SHAPES,
        regular_expressions::SHAPES,
        nesting::SHAPES,
        lists::SHAPES,
    ]
    .concat()
}

/// Short queries that ask for much, of any data.
pub const QUERIES: [NamedQuery; 56] = query_set![
    "text-replace-growing",
    "text-replace-growing-rows",
    "text-doubled",
    "text-doubled-rows",
    "text-encode-growing",
    "text-group-concat-all",
    "text-group-concat-product",
    "text-group-concat-groups",
    "text-distinct-concat",
    "text-distinct-concat-product",
    "text-order-concat-product",
    "text-group-by-concat",
    "text-distinct-uuids",
    "text-order-str",
    "text-construct-growing",
    "text-select-growing",
    "text-max-growing",
    "text-hashes-chained",
    "text-numbers-growing",
    "text-triple-terms-growing",
    "regex-nested-stars",
    "regex-ambiguous",
    "regex-repeats-nested",
    "regex-repeats-of-classes",
    "regex-of-each-row",
    "regex-of-each-pair",
    "regex-back-reference",
    "regex-back-references-many",
    "regex-long-text",
    "regex-replace-groups",
    "product-count",
    "product-rows",
    "product-distinct",
    "product-ordered",
    "product-groups",
    "product-count-distinct",
    "product-filtered",
    "product-optional",
    "product-minus",
    "product-exists",
    "product-of-unions",
    "product-late",
    "product-constructed",
    "product-described",
    "product-aggregates",
    "product-of-paths",
    "product-of-path-ends",
    "planning-clique",
    "planning-star",
    "planning-chain",
    "planning-grid",
    "planning-unions",
    "planning-optionals",
    "planning-subselects",
    "planning-exists",
    "planning-filters",
];

/// All that ask for trouble, with their names: [`QUERIES`], and the largest of each shape.
pub fn queries() -> Vec<(&'static str, String)> {
    let short = QUERIES.iter().map(|query| (query.name, query.text.to_owned()));
    short.chain(shapes().iter().map(|shape| (shape.name, (shape.query)(shape.parts_max)))).collect()
}
