//! Names of rules, and hierarchies with circles.

use super::vocabulary::rdfs;
use super::{Directed, Schema, SchemaFact, SchemaRule, SchemaRules};
use lode_rdf::{NamedNode, Term};

fn name(name: &str) -> Term {
    NamedNode::new_unchecked(format!("http://e/{name}")).into()
}

#[test]
fn rules_by_name() {
    for (text, expected) in [
        ("none", "none"),
        ("rdfs", "rdfs"),
        ("range, domain,subclass,subproperty", "rdfs"),
        ("hierarchies,inverse", "subclass,subproperty,inverse"),
        ("rdfs-plus,none", "rdfs-plus"),
    ] {
        let rules: SchemaRules = text.parse().unwrap();
        assert_eq!(rules.to_string(), expected);
        assert_eq!(expected.parse::<SchemaRules>().unwrap(), rules);
    }
    for text in ["", "RDFS", "rdfs,", "owl"] {
        assert!(text.parse::<SchemaRules>().is_err(), "{text}");
    }
}

#[test]
fn circles_are_equivalences() {
    let below = |a: &str, b: &str| SchemaFact::SubClass(name(a), name(b));
    let facts = [below("a", "b"), below("b", "c"), below("c", "a"), below("d", "a"), below("a", "a")];
    let schema = Schema::new(SchemaRules::HIERARCHIES, facts);
    let of = |class: &str| schema.classes.below(&name(class)).len();
    assert_eq!((of("a"), of("b"), of("d"), of("other")), (4, 4, 1, 1));
    assert_eq!(schema.classes_above(&name("d")).len(), 4);
}

#[test]
fn inverses_turn_what_is_below_them() {
    let facts = [
        SchemaFact::Inverse(name("has"), name("of")),
        SchemaFact::SubProperty(name("owns"), name("has")),
        SchemaFact::Symmetric(name("near")),
        SchemaFact::Domain(name("has"), name("Owner")),
    ];
    let schema = Schema::new(SchemaRules::RDFS_PLUS, facts.clone());
    let turned = |property: &str| Directed { property: name(property), inverse: true };
    let of = schema.properties_below(&name("of"));
    assert!(of.contains(&turned("owns")) && of.contains(&turned("has")) && of.len() == 3);
    assert!(schema.properties_below(&name("near")).contains(&turned("near")));
    assert_eq!(schema.typing().len(), 3, "has, owns, and of the other way round");
    assert!(schema.is_transitive(&rdfs("subClassOf")));

    let without = Schema::new(SchemaRules::of(&[SchemaRule::SubProperty]), facts);
    assert_eq!((without.properties_below(&name("of")).len(), without.typing().len()), (1, 0));
}
