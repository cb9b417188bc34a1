//! A small shop: the data behind the plan goldens. Deterministic, skewed as such data are.

use crate::fake::Quads;
use lode_rdf::{Literal, NamedNode, Term};
use std::sync::OnceLock;

/// The namespace.
pub const NS: &str = "http://shop/";

fn iri(name: &str) -> Term {
    NamedNode::new_unchecked(format!("{NS}{name}")).into()
}

fn number(n: u32) -> Term {
    Literal::from(i64::from(n)).into()
}

fn text(text: String) -> Term {
    Literal::new_simple_literal(text).into()
}

/// 2,000 products, 10,000 offers, 6,000 reviews; two named graphs.
pub fn shop() -> &'static Quads {
    static SHOP: OnceLock<Quads> = OnceLock::new();
    SHOP.get_or_init(build)
}

fn build() -> Quads {
    let mut quads = Vec::new();
    let mut add = |s: &Term, p: &str, o: Term| quads.push((s.clone(), iri(p), o, None));
    for i in 0..2_000_u32 {
        let product = iri(&format!("product{i}"));
        add(&product, "type", iri(&format!("Type{}", (i * i) % 37)));
        add(&product, "label", text(format!("product {i}")));
        add(&product, "producer", iri(&format!("producer{}", i % 40)));
        add(&product, "rank", number(i % 500));
        for f in 0..6 {
            add(&product, "feature", iri(&format!("feature{}", (i * 7 + f * f * 31) % 150)));
        }
        if i % 3 == 0 {
            add(&product, "note", text(format!("note {}", i % 17)));
        }
    }
    for i in 0..10_000_u32 {
        let offer = iri(&format!("offer{i}"));
        add(&offer, "product", iri(&format!("product{}", (i * 13) % 2_000)));
        add(&offer, "vendor", iri(&format!("vendor{}", i % 25)));
        add(&offer, "price", number((i * 97) % 3_000));
    }
    for i in 0..6_000_u32 {
        let review = iri(&format!("review{i}"));
        add(&review, "reviewFor", iri(&format!("product{}", (i * i + 5) % 2_000)));
        add(&review, "reviewer", iri(&format!("person{}", i % 700)));
        if i % 2 == 0 {
            add(&review, "rating", number(i % 10));
        }
    }
    for i in 0..700_u32 {
        add(&iri(&format!("person{i}")), "country", iri(&format!("country{}", i % 12)));
        add(&iri(&format!("person{i}")), "knows", iri(&format!("person{}", (i * 3 + 1) % 700)));
    }
    for i in 0..300_u32 {
        let graph = Some(iri(if i % 3 == 0 { "graphA" } else { "graphB" }));
        let s = iri(&format!("thing{}", i % 50));
        quads.push((s, iri(&format!("link{}", i % 4)), iri(&format!("thing{}", (i * 7) % 50)), graph));
    }
    Quads::new(&quads)
}
