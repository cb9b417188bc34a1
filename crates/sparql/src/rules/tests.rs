//! What is a rule, what is none and why; strata; forms of bodies.

use super::*;

fn rules(text: &str) -> Vec<Rule> {
    parse_rules(&format!("PREFIX : <http://e/>\n{text}")).unwrap()
}

fn refused(text: &str) -> String {
    let parsed = parse_rules(&format!("PREFIX : <http://e/>\n{text}"));
    match parsed.and_then(|rules| strata(&rules)) {
        Ok(found) => panic!("{text}: {found:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn texts_have_several_rules_with_names_and_lines() {
    let found = rules(
        "# rule first\nCONSTRUCT { ?x :p ?y ; :q ?z } WHERE { ?x :r ?y ; :s ?z . FILTER(?y != \";\") }\n\n# rule  the second \nconstruct { ?x :p 1 } where { ?x :q 2 } ;\n\
         PREFIX e: <http://e/> INSERT { ?x e:a ?y } WHERE { { SELECT ?x ?y { ?x e:b ?y } } };",
    );
    let names: Vec<_> = found.iter().map(|rule| (rule.name.as_str(), rule.line, rule.head.len())).collect();
    assert_eq!(names, [("first", 3, 2), ("the second", 6, 1), ("3", 7, 1)]);
}

#[test]
fn what_must_not_be_is_a_rule_without_a_head() {
    for (text, heads) in [
        ("ASK { ?x :p ?y }", vec![0]),
        ("ASK { ?x :p ?y };", vec![0]),
        ("ASK { ?x :p ?y } ASK WHERE { ?x :p 1 }", vec![0, 0]),
        (
            "CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z } ASK { ?x :p ?y } CONSTRUCT { ?x :p 1 ; :r 2 } WHERE { ?x :q ?z }",
            vec![1, 0, 2],
        ),
        (
            "CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z } ; ask { { ?x :p \"}\" } UNION { ?x :q ?x } } ; CONSTRUCT { ?x :p 1 ; :r 2 } WHERE { ?x :q ?z } ;",
            vec![1, 0, 2],
        ),
        (
            "ASK { ?x :p ?y } ; PREFIX e: <http://other/> CONSTRUCT { ?x e:p 1 } WHERE { ?x :q ?z } ASK { ?x e:p ?y }",
            vec![0, 1, 0],
        ),
    ] {
        let found = rules(text);
        assert_eq!(found.iter().map(|rule| rule.head.len()).collect::<Vec<_>>(), heads, "{text}");
        assert!(
            found.iter().all(|rule| rule.is_contradiction() == rule.head.is_empty() && rule.ways().len() < 3),
            "{text}"
        );
    }
    let named = rules(
        "# rule one\nCONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z }\n# rule two\nASK { ?x :p ?y } ;\n ASK { ?x :p ?y }",
    );
    let names: Vec<_> = named.iter().map(|rule| (rule.name.as_str(), rule.line)).collect();
    assert_eq!(names, [("one", 3), ("two", 5), ("3", 6)]);
    for (text, message) in [
        ("ASK { ?x :p ?y", "line 2"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z } ;\n ASK { ?x :p }", "line 3"),
        ("ASK FROM :g { ?x :p ?y }", "FROM is for queries"),
        ("ASK { ?x :p ?y FILTER(?y < RAND()) }", "RAND() gives something else"),
        ("ASK { ?x :p ?y } LIMIT 1", "line 2"),
        ("SELECT * { ?x :p ?y }", "line 2"),
        ("ASK { ?x nope:p ?y }", "line 2"),
    ] {
        let told = refused(text);
        assert!(told.contains(message), "{text}\n{told}");
    }
}

#[test]
fn bodies_are_taken_apart_into_ways() {
    for (text, ways, premises, conditions) in [
        ("?x :a ?y . ?y :b [ :c ?z ]", 1, 3, 0),
        ("{ ?x :a ?y } UNION { ?x :b ?y . ?y :c 1 } FILTER(?x != ?y)", 2, 3, 2),
        ("?x :a/^:b|:c ?y", 2, 3, 0),
        ("?x :a/:b*/:c ?y", 1, 3, 0),
        ("?x :a ?y OPTIONAL { ?x :b ?z } MINUS { ?x :c ?y }", 1, 1, 2),
        ("?x :a ?y FILTER NOT EXISTS { ?x :c ?y }", 1, 1, 1),
        ("{ SELECT ?x ?y { ?x :a ?m . ?m :b ?y } } ?y :c ?k", 1, 3, 0),
        ("{ SELECT ?x ?y { ?x :a ?m . ?m :b ?y } } ?y :c ?m", 1, 1, 1),
        ("{ SELECT ?x (COUNT(*) AS ?y) { ?x :a ?m } GROUP BY ?x }", 1, 0, 1),
        ("GRAPH ?g { ?x :a ?y } BIND(1 AS ?z) VALUES ?k { 1 }", 1, 1, 0),
    ] {
        let rule = rules(&format!("CONSTRUCT {{ ?x :p ?y }} WHERE {{ {text} }}")).remove(0);
        let found = rule.ways();
        let count = |of: fn(&Way) -> usize| found.iter().map(of).sum::<usize>();
        let counts = (found.len(), count(|way| way.premises.len()), count(|way| way.conditions.len()));
        assert_eq!(counts, (ways, premises, conditions), "{text}\n{found:?}");
    }
    let many = "{ ?x :a ?y } UNION { ?x :b ?y } ".repeat(8);
    let rule = rules(&format!("CONSTRUCT {{ ?x :p ?y }} WHERE {{ {many} }}")).remove(0);
    assert!(rule.ways().len() <= 64);
}

#[test]
fn built_in_sets_are_rules_in_strata() {
    for set in RuleSet::ALL {
        let rules = set.rules().unwrap();
        let found = strata(&rules).unwrap();
        assert_eq!(found.iter().map(|stratum| stratum.rules.len()).sum::<usize>(), rules.len());
        let mut names: Vec<_> = rules.iter().map(|rule| &rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rules.len(), "{}: each has a name of its own", set.name());
        assert!(rules.iter().any(|rule| matches!(rule.shape, Shape::Transitive(_))), "{}", set.name());
        assert_eq!(RuleSet::from_name(set.name()), Some(set));
    }
    let rules = RuleSet::Owl2Rl.rules().unwrap();
    let by_class = rules.iter().filter(|rule| matches!(rule.shape, Shape::TransitiveOf { .. }));
    assert_eq!(by_class.map(|rule| rule.name.as_str()).collect::<Vec<_>>(), ["prp-trp"]);
}

#[test]
fn what_is_no_rule_is_told_with_its_place() {
    for (text, message) in [
        ("", "there is no rule"),
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x :q ?z }", "rule 1 (line 2): ?y is in its head, and nothing"),
        (
            "\n# rule odd\nCONSTRUCT { ?x :p [] } WHERE { ?x :q ?z }",
            "rule odd (line 4): a blank node is in its head",
        ),
        ("CONSTRUCT { GRAPH :g { ?x :p 1 } } WHERE { ?x :q ?z }", "GRAPH is in its head"),
        ("CONSTRUCT {} WHERE { ?x :q ?z }", "its head has no triple"),
        ("DELETE { ?x :p 1 } WHERE { ?x :q ?z }", "a rule only adds"),
        ("INSERT DATA { :x :p 1 }", "a rule is CONSTRUCT"),
        ("CLEAR ALL", "a rule is CONSTRUCT"),
        ("WITH :g INSERT { ?x :p 1 } WHERE { ?x :q ?z }", "USING, WITH and FROM"),
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x :q ?z BIND(UUID() AS ?y) }", "UUID() gives something else"),
        (
            "CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z FILTER(?z > 1 && ?z < NOW()) }",
            "NOW() gives something else",
        ),
        ("CONSTRUCT { ?x :p 1 } WHERE { SERVICE :s { ?x :q ?z } }", "SERVICE asks elsewhere"),
        ("CONSTRUCT { ?x :p 1 } WHERE { GRAPH <urn:lodestore:inferred> { ?x :q ?z } }", "the program's own"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z", "line 2"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z } LIMIT 1", "line 2"),
        ("SELECT * { ?x :p 1 }", "line 2"),
        (
            "CONSTRUCT { ?x :p 1 } WHERE { ?x :q ?z FILTER NOT EXISTS { ?x :p 1 } }",
            "rule 1 (line 2): it asks by NOT EXISTS",
        ),
    ] {
        let told = refused(text);
        assert!(told.contains(message), "{text}\n{told}");
    }
}

#[test]
fn negation_is_of_earlier_strata() {
    let found = rules(
        "# rule lonely\nCONSTRUCT { ?x a :Lonely } WHERE { ?x a :Person FILTER NOT EXISTS { ?x :knows ?y } };
         # rule knows\nCONSTRUCT { ?y :knows ?x } WHERE { ?x :knows ?y };
         # rule person\nCONSTRUCT { ?x a :Person } WHERE { ?x :knows ?y }",
    );
    let order: Vec<_> = strata(&found)
        .unwrap()
        .iter()
        .map(|one| (found[one.rules[0]].name.clone(), one.is_recursive))
        .collect();
    let place = |name: &str| order.iter().position(|(found, _)| found == name).unwrap();
    assert!(place("knows") < place("person") && place("person") < place("lonely"), "{order:?}");
    assert!(order[place("knows")].1 && !order[place("person")].1);
    for text in [
        "CONSTRUCT { ?x a :A } WHERE { ?x a :T MINUS { ?x a :B } } ; CONSTRUCT { ?x a :B } WHERE { ?x a :A }",
        "CONSTRUCT { ?x :n ?n } WHERE { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } ; CONSTRUCT { ?x ?p 1 } WHERE { ?x :n 2 ; :is ?p }",
        "CONSTRUCT { ?x :p ?y } WHERE { ?x :q ?y OPTIONAL { ?x :p ?z } }",
        "CONSTRUCT { ?x :p ?y } WHERE { SELECT ?x ?y { ?x :p ?y } LIMIT 1 }",
    ] {
        assert!(refused(text).contains("no sequence in which that has one meaning"), "{text}");
    }
    // Of one class by another is no recursion.
    let two = rules("CONSTRUCT { ?x a :A } WHERE { ?x a :B FILTER NOT EXISTS { ?x a :C } }");
    assert!(!strata(&two).unwrap()[0].is_recursive);
}

#[test]
fn each_pattern_has_a_form_and_nothing_else() {
    let new = NamedNode::new_unchecked("http://new");
    for (text, forms, whole) in [
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x :a ?y . ?y :b [ :c ?z ] }", 3, 0),
        ("CONSTRUCT { ?x :p ?y } WHERE { { ?x :a ?y } UNION { ?x :b ?y . ?y :c 1 } FILTER(?x != ?y) }", 3, 0),
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x :a/:b*/^:c ?y . ?x a :C OPTIONAL { ?x :d ?z } }", 3, 1),
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x !:a ?y }", 0, 1),
        (
            "CONSTRUCT { ?x :p ?y } WHERE { ?x :a ?y BIND(1 AS ?z) MINUS { ?x :b ?y } GRAPH :g { ?x :c ?y } VALUES ?x { :x } }",
            1,
            0,
        ),
        ("CONSTRUCT { :x :p 1 } WHERE {}", 0, 0),
    ] {
        let rule = rules(text).remove(0);
        let found = rule.deltas(&new);
        assert_eq!((found.len(), rule.reads_whole().len()), (forms, whole), "{text}");
        assert!(found.iter().all(|delta| delta.query.to_string().contains("http://new")), "{text}");
    }
}
