//! Rules in N3 are the rules that SPARQL writes; what is wrong is told at its place, whatever the text.

use super::parse_n3_rules;
use crate::rules::{Rule, RuleError, parse_rules, strata};

const PROLOGUE: &str = "@prefix : <http://e/> . @prefix log: <http://www.w3.org/2000/10/swap/log#> .
@prefix math: <http://www.w3.org/2000/10/swap/math#> . PREFIX string: <http://www.w3.org/2000/10/swap/string#>\n";

fn of_n3(text: &str) -> Result<Vec<Rule>, RuleError> {
    parse_n3_rules(&format!("{PROLOGUE}{text}"))
}

fn said(rule: &Rule) -> String {
    // Names of blank nodes and of what is between steps are anyone's.
    let text = format!("{:?} {}", rule.head, rule.query());
    let mut names = Vec::new();
    text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
        .map(|word| match word.split_once("_:") {
            Some((before, label)) => {
                let own = label.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned();
                let number = names.iter().position(|name| *name == own).unwrap_or_else(|| {
                    names.push(own.clone());
                    names.len() - 1
                });
                format!("{before}_:{number} ")
            }
            None => word.to_owned(),
        })
        .collect()
}

#[test]
fn rules_are_those_of_sparql() {
    for (n3, sparql) in [
        ("{ ?x :p ?y } => { ?y :q ?x } .", "CONSTRUCT { ?y :q ?x } WHERE { ?x :p ?y }"),
        ("{ ?y :q ?x } <= { ?x :p ?y . ?y a :C } .", "CONSTRUCT { ?y :q ?x } WHERE { ?x :p ?y . ?y a :C }"),
        (
            "{ ?x :p ?y , ?z ; a :C ; } => { ?y = ?z } .",
            "CONSTRUCT { ?y <http://www.w3.org/2002/07/owl#sameAs> ?z } WHERE { ?x :p ?y , ?z ; a :C }",
        ),
        ("{ ?x ?p ?y } log:implies { ?y ?p ?x } .", "CONSTRUCT { ?y ?p ?x } WHERE { ?x ?p ?y }"),
        (
            "{} => { :x :p 1 , 2.5 , 1e3 , -4 , true , 'a.}b' , \"\"\"c\"d\"\"\" , 'e'@en-GB , '7'^^:t } .",
            "CONSTRUCT { :x :p 1 , 2.5 , 1e3 , -4 , true , 'a.}b' , \"\"\"c\"d\"\"\" , 'e'@en-GB , '7'^^:t } WHERE {}",
        ),
        ("true => { :x :p <http://e/y> } .", "CONSTRUCT { :x :p <http://e/y> } WHERE {}"),
        (
            "{ ?x :p ?n . ?n math:greaterThan 3 } => { ?x a :Big } . # done",
            "CONSTRUCT { ?x a :Big } WHERE { ?x :p ?n . FILTER(?n > 3) }",
        ),
        (
            "{ ?n math:notGreaterThan 3 . ?x :p ?n } => { ?x a :Small } .",
            "CONSTRUCT { ?x a :Small } WHERE { ?x :p ?n . FILTER(?n <= 3) }",
        ),
        (
            "{ ?x :p ?a ; :q ?b . (?a ?b 1) math:sum ?c } => { ?x :r ?c } .",
            "CONSTRUCT { ?x :r ?c } WHERE { ?x :p ?a . ?x :q ?b . BIND((?a + ?b + 1) AS ?c) }",
        ),
        (
            "{ ?x :r ?c . (?a ?b) math:difference ?c . ?x :p ?a ; :q ?b } => { ?x a :C } .",
            "CONSTRUCT { ?x a :C } WHERE { ?x :r ?c . ?x :p ?a . ?x :q ?b . FILTER((?a - ?b) = ?c) }",
        ),
        (
            "{ (?d 2) math:product ?e . ?a math:negation ?d . ?x :p ?a } => { ?x :r ?e } .",
            "CONSTRUCT { ?x :r ?e } WHERE { ?x :p ?a . BIND((-(?a)) AS ?d) BIND((?d * 2) AS ?e) }",
        ),
        (
            "{ ?x :p ?a . ?a string:matches '^b' ; log:notEqualTo 'bb' } => { ?x a :C } .",
            "CONSTRUCT { ?x a :C } WHERE { ?x :p ?a . FILTER(REGEX(STR(?a), STR('^b'))) FILTER(!sameTerm(?a, 'bb')) }",
        ),
        (
            "{ ?x :p ?a . ('http://e/' ?a) string:concatenation ?s . ?i log:uri ?s } => { ?x :q ?i } .",
            "CONSTRUCT { ?x :q ?i } WHERE { ?x :p ?a . BIND((CONCAT(STR('http://e/'), STR(?a))) AS ?s) BIND((IRI(?s)) AS ?i) }",
        ),
        (
            "{ ?x :p ?a . ?x log:uri ?s } => { ?x :q ?s } .",
            "CONSTRUCT { ?x :q ?s } WHERE { ?x :p ?a . BIND((STR(?x)) AS ?s) }",
        ),
        (
            "{ ?x log:uri ?s . ?x :p ?a } => { ?x :q ?s } .",
            "CONSTRUCT { ?x :q ?s } WHERE { ?x :p ?a . BIND((STR(?x)) AS ?s) }",
        ),
        (
            "{ ?x a :P . ?w log:notIncludes { ?x :knows ?y } } => { ?x a :Lonely } .",
            "CONSTRUCT { ?x a :Lonely } WHERE { ?x a :P . FILTER NOT EXISTS { ?x :knows ?y } }",
        ),
        (
            "{ ?x a :P . {} log:notIncludes { ?x :knows ?y . ?y :age ?n . ?n math:lessThan 5 } } => { ?x a :L } .",
            "CONSTRUCT { ?x a :L } WHERE { ?x a :P . FILTER NOT EXISTS { ?x :knows ?y . ?y :age ?n . FILTER(?n < 5) } }",
        ),
        ("{ ?x a :A , :B } => false .", "ASK { ?x a :A , :B }"),
        (
            "{ ?x :p [ :q ?y ; a :C , :D ] . [] :r ?x . _:b :s ?x ; :t _:b } => { ?x :u ?y } .",
            "CONSTRUCT { ?x :u ?y } WHERE { ?x :p [ :q ?y ; a :C , :D ] . [] :r ?x . _:b :s ?x ; :t _:b }",
        ),
        (
            "{ ?x :p (?a 1 (:b)) . [ :q ?x ] } => { ?x :u ?a } .",
            "CONSTRUCT { ?x :u ?a } WHERE { ?x :p (?a 1 (:b)) . [ :q ?x ] }",
        ),
        (
            "@prefix e: <http://other/a.> . { ?x e:b.c ?y. ?y e: 1. } => { ?x e:d ?y. } .",
            "PREFIX e: <http://other/a.> CONSTRUCT { ?x e:d ?y } WHERE { ?x e:b.c ?y . ?y e: 1 }",
        ),
        (
            "@base <http://base/> . { ?x <p> ?y } => { ?x <q> ?y } .",
            "CONSTRUCT { ?x <http://base/q> ?y } WHERE { ?x <http://base/p> ?y }",
        ),
    ] {
        let found = of_n3(n3).unwrap_or_else(|error| panic!("{n3}: {error}"));
        let expected = parse_rules(&format!("PREFIX : <http://e/> {sparql}")).unwrap();
        assert_eq!(found.len(), 1, "{n3}");
        let same = said(&found[0]).replace("BASE <http://base/>\n", "");
        assert_eq!(
            same.split_whitespace().collect::<String>(),
            said(&expected[0]).split_whitespace().collect::<String>(),
            "{n3}"
        );
        assert_eq!(found[0].shape, expected[0].shape);
        strata(&found).unwrap();
    }
}

#[test]
fn rules_have_names_and_lines() {
    let found = of_n3("# rule one\n{ ?x :p ?y } => { ?y :p ?x } .\n\n  { ?x :p ?y } => false . # rule odd\n# rule three\n{} => { :a :p 1 } .").unwrap();
    let names: Vec<_> = found.iter().map(|rule| (rule.name.as_str(), rule.line, rule.head.len())).collect();
    assert_eq!(names, [("one", 4, 1), ("2", 6, 0), ("three", 8, 1)]);
}

#[test]
fn what_is_wrong_is_told_at_its_place() {
    for (text, message) in [
        ("", "there is no rule"),
        (":a :p :b .", "line 3, column 1: this is no rule"),
        ("{ ?x :p ?y } => { ?y :p ?x }", "line 3, column 29: expected `.`, found the end of the text"),
        ("{ ?x :p ?y } => { ?y :p ?x ", "line 3, column 28: expected `.` or `}`, found the end of the text"),
        ("{ ?x :p ?y . ", "line 3, column 1: this { has no }"),
        ("{ ?x :p } => { ?x :q 1 } .", "line 3, column 9: expected a term, found `}`"),
        ("{ ?x :p ?y }\n  { ?x :q 1 } .", "line 4, column 3: expected => and what follows"),
        ("{ ?x no:p ?y } => { ?x :q 1 } .", "line 3, column 6: the prefix no: is not declared"),
        ("{ ?x :p 'a } => { ?x :q 1 } .", "line 3, column 9: this text has no end"),
        ("{ ?x <http://e ?y } => { ?x :q 1 } .", "line 3, column 6: this IRI has no end"),
        ("{ ?x :p ?y } => { ?x :q ?z } .", "rule 1 (line 3): ?z is in its head"),
        ("{ ?x :p ?y } => { ?x :q [] } .", "a blank node is in its head"),
        ("{ ?x :p ?y } => {} .", "rule 1 (line 3)"),
        ("{ ?x math:sum ?y } => { ?x :q ?y } .", "line 3, column 6: math:sum is of a list"),
        ("{ (?x) math:sum ?y } => { ?x :q ?y } .", "two members or more"),
        ("{ (?x 1 2) math:quotient ?y } => { ?x :q ?y } .", "a list with two members"),
        (
            "{ ?x :p ?y . ?y math:sine ?z } => { ?x :q ?z } .",
            "is no built-in that is known: of <http://www.w3.org/2000/10/swap/math#> there are equalTo",
        ),
        ("{ ?x :p ?y } => { ?x math:sum ?y } .", "math:sum is of a list"),
        ("{ ?x :p ?y } => { ?y math:lessThan 3 } .", "what follows is triples"),
        ("{ ?x :p { ?y :q 1 } } => { ?x :q 1 } .", "a formula in a formula"),
        ("{ { ?y :q 1 } :p ?x } => { ?x :q 1 } .", "a formula in a formula"),
        ("{ ?x :p ?y . { ?y :q 1 } => { ?x :q 1 } } => { ?x :q 1 } .", "a formula in a formula"),
        ("{ ?x!:p :q ?y } => { ?x :q 1 } .", "paths are not known here"),
        ("@forAll :x . { :x :p 1 } => { :x :q 1 } .", "line 3, column 1: @forAll is not known here"),
        ("{ ?x :p [ math:lessThan 3 ] } => { ?x :q 1 } .", "built-ins are not for what is in [ ]"),
        ("false => { :x :q 1 } .", "a rule needs { ... }"),
        ("@prefix x <http://e/> .", "expected a prefix with its colon"),
        (
            "{ ?x :p ?n . (?n 1) math:sum ?m . ?x :q ?m . ?k math:sum 1 } => { ?x :r 1 } .",
            "line 3, column 49",
        ),
        ("{ ?x :p ?y . \u{1} } => { ?x :q 1 } .", "line 3, column 14: nothing begins with"),
    ] {
        let told = match of_n3(text) {
            Ok(found) => panic!("{text}: {found:?}"),
            Err(error) => error.to_string(),
        };
        assert!(told.contains(message), "{text}\n{told}");
    }
    for open in ["(", "[ :p ", "{ ?x log:notIncludes "] {
        let deep = format!("{{ ?x :p {} }} => {{ ?x :q 1 }} .", open.repeat(100_000));
        assert!(of_n3(&deep).is_err());
    }
}

#[test]
fn whatever_the_text_is_there_is_an_answer() {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ".",
        ";",
        ",",
        "=>",
        "<=",
        "=",
        "?x",
        "?y",
        "_:b",
        ":p",
        "a",
        "math:sum",
        "log:notIncludes",
        "log:uri",
        "string:length",
        "false",
        "true",
        "1",
        "2.5",
        "-",
        "'a'",
        "\"",
        "'''",
        "@en",
        "@prefix",
        "PREFIX",
        "<http://e/>",
        "<",
        ">",
        "^^",
        "^",
        "!",
        "#",
        "\n",
        "\\",
        "é",
        "𝒳",
        "\u{0}",
        "{ ?x :p ?y } => { ?y :p ?x } .",
        "{ ?x :p ?y . ",
        "} => {",
        "?x :p ?y .",
    ];
    let mut seed = 7_u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut right = 0;
    for _ in 0..20_000 {
        let text: String = (0..below(14))
            .map(|_| pieces[below(pieces.len())].to_owned() + if below(4) == 0 { "" } else { " " })
            .collect();
        match of_n3(&text) {
            Ok(rules) => right += rules.len(),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(right > 20, "{right}");
}
