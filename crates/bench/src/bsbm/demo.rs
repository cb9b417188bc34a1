//! A few queries that show what is in the data; they fit every scale and seed.

/// What a query asks, in words, and its SPARQL text.
pub fn demo_queries() -> Vec<(&'static str, &'static str)> {
    vec![
        ("The ten largest classes", include_str!("queries/demo/classes.rq")),
        ("The most reviewed products", include_str!("queries/demo/most-reviewed.rq")),
        ("The cheapest offers for the first product", include_str!("queries/demo/offers.rq")),
        ("How reviewers of each country rate", include_str!("queries/demo/countries.rq")),
        ("Types at the end of the hierarchy, by number of products", include_str!("queries/demo/types.rq")),
    ]
}
