//! The triples that follow, one after the other until there are no more: what the rules say and no more, without any cleverness.

use std::collections::BTreeSet;

/// Subject, predicate, object and graph, as they are written.
pub type Quad = [String; 4];

const SCHEMA: [&str; 7] = [
    "rdfs:subClassOf",
    "rdfs:subPropertyOf",
    "rdfs:domain",
    "rdfs:range",
    "owl:inverseOf",
    "owl:equivalentClass",
    "owl:equivalentProperty",
];

/// All quads that follow from `stated` by all rules, with them.
pub fn written_out(stated: &BTreeSet<Quad>) -> BTreeSet<Quad> {
    let schema: Vec<[&str; 3]> = stated.iter().map(|[s, p, o, _]| [s.as_str(), p, o]).collect();
    let is_schema = |p: &str| SCHEMA.contains(&p) || p == "rdf:type";
    let schema: Vec<[&str; 3]> = schema.into_iter().filter(|[_, p, _]| is_schema(p)).collect();
    let mut all = stated.clone();
    loop {
        let mut new = Vec::new();
        for quad in &all {
            for fact in &schema {
                new.extend(by_fact(quad, *fact));
            }
            new.extend(by_axioms(quad));
        }
        for [a, p, b, g] in &all {
            let is_transitive = ["rdfs:subClassOf", "rdfs:subPropertyOf"].contains(&p.as_str())
                || schema.contains(&[p.as_str(), "rdf:type", "owl:TransitiveProperty"]);
            if is_transitive {
                let next = all.iter().filter(|[s, q, _, h]| (s, q, h) == (b, p, g));
                new.extend(next.map(|[_, _, c, _]| quad(a, p, c, g)));
            }
        }
        let before = all.len();
        all.extend(new);
        if all.len() == before {
            // With literals as subjects more follows of what has none: they go at the end.
            all.retain(|[s, ..]| !is_literal(s));
            return all;
        }
    }
}

fn quad(s: &str, p: &str, o: &str, g: &str) -> Quad {
    [s.to_owned(), p.to_owned(), o.to_owned(), g.to_owned()]
}

fn is_literal(term: &str) -> bool {
    term.starts_with(|c: char| c.is_ascii_digit())
}

/// What follows from a quad by one triple of the schema.
fn by_fact([s, p, o, g]: &Quad, fact: [&str; 3]) -> Vec<Quad> {
    let [a, says, b] = fact;
    let mut new = Vec::new();
    let mut sub_class = |below: &str, above: &str| {
        if p == "rdf:type" && o == below {
            new.push(quad(s, p, above, g));
        }
    };
    match says {
        "rdfs:subClassOf" => sub_class(a, b),
        "owl:equivalentClass" => {
            sub_class(a, b);
            sub_class(b, a);
        }
        "rdfs:subPropertyOf" if p == a => new.push(quad(s, b, o, g)),
        "owl:equivalentProperty" if p == a => new.push(quad(s, b, o, g)),
        "owl:equivalentProperty" if p == b => new.push(quad(s, a, o, g)),
        "rdfs:domain" if p == a => new.push(quad(s, "rdf:type", b, g)),
        "rdfs:range" if p == a => new.push(quad(o, "rdf:type", b, g)),
        "owl:inverseOf" => {
            if p == a {
                new.push(quad(o, b, s, g));
            }
            if p == b {
                new.push(quad(o, a, s, g));
            }
        }
        "rdf:type" if b == "owl:SymmetricProperty" && p == a => new.push(quad(o, p, s, g)),
        _ => {}
    }
    new
}

/// Equivalence is a hierarchy both ways.
fn by_axioms([s, p, o, g]: &Quad) -> Vec<Quad> {
    let above = match p.as_str() {
        "owl:equivalentClass" => "rdfs:subClassOf",
        "owl:equivalentProperty" => "rdfs:subPropertyOf",
        _ => return Vec::new(),
    };
    vec![quad(s, above, o, g), quad(o, above, s, g)]
}
