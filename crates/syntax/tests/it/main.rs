//! Trees: nothing is lost, nothing overflows.

use lode_syntax::{At, Callable, DEPTH_MAX, Form, Node, Vocabulary, check, count_tokens, parse};

static VOCABULARY: Vocabulary = Vocabulary {
    functions: &[Callable { name: "ABS", least: 1, most: 1 }],
    aggregates: &["COUNT"],
    aggregate_iris: &["http://e/agg"],
};

const TEXTS: [(&str, Form); 4] = [
    (
        "PREFIX : <http://e/> # a\nSELECT DISTINCT ?s (COUNT(*) AS ?n) { ?s :p [ :q 1, -2.5 ] ; :r/:s* 'x'@en . FILTER(?s > 1 + 2 * 3 && !(?s = :a)) } GROUP BY ?s",
        Form::Query,
    ),
    (
        "ASK { { ?s ?p <<( ?a :b 'c' )>> } UNION { << ?s ?p ?o >> ?q ( 1 2 ) {| :p ?x |} } OPTIONAL { VALUES (?x ?y) { (1 UNDEF) } } }",
        Form::Query,
    ),
    (
        "BASE <http://e/> WITH <g> DELETE { ?s ?p ?o } INSERT { GRAPH ?g { ?s ?p 1 } } USING <h> WHERE { ?s ?p ?o BIND(ABS(?o) AS ?x) } ; COPY <a> TO DEFAULT",
        Form::Update,
    ),
    ("SELECT * { ?s ?p ", Form::Query),
];

/// Nodes stand one behind the other, each inside of the one that it is in.
fn nested(at: At<'_>) -> usize {
    let mut from = at.tokens().start;
    let mut count = 1;
    for child in at.children() {
        assert!(child.tokens().start >= from && child.tokens().end <= at.tokens().end, "{:?}", child.node());
        from = child.tokens().end;
        count += nested(child);
    }
    count
}

#[test]
fn nothing_is_lost() {
    for (text, form) in TEXTS {
        let parsed = parse(text, form, &VOCABULARY);
        let (mut again, mut done) = (String::new(), 0);
        for token in parsed.tree.tokens() {
            again.push_str(&text[done..token.start()]);
            again.push_str(&text[token.span()]);
            done = token.end();
        }
        again.push_str(&text[done..]);
        assert_eq!(again, text);
        assert_eq!(parsed.tree.tokens().len(), count_tokens(text) + 1);
        if parsed.diagnostics.is_empty() {
            assert!(nested(parsed.tree.root()) > 20, "{text}");
            assert_eq!(parsed.tree.root().text(), text);
        }
    }
}

#[test]
fn operators_bind_as_the_grammar_says() {
    let text = "ASK { FILTER(?a || ?b && ?c = 1 + 2 * -3 - 4) }";
    let parsed = parse(text, Form::Query, &VOCABULARY);
    fn shown(at: At<'_>) -> String {
        let inside: Vec<String> = at.children().map(shown).collect();
        if inside.is_empty() {
            at.text().to_owned()
        } else {
            format!("{:?}({})", at.node(), inside.join(" "))
        }
    }
    let whole = shown(parsed.tree.root());
    assert!(whole.contains("Or(?a And(?b Comparison(?c Sum(1 Product(2 -3) 4))))"), "{whole}");
}

/// The depth of a tree.
fn depth(at: At<'_>) -> usize {
    1 + at.children().map(depth).max().unwrap_or(0)
}

#[test]
fn chains_are_as_wide_as_they_are_long() {
    let long = 50_000;
    let texts = [
        format!("ASK {{ FILTER(1{}) }}", " || 2".repeat(long)),
        format!("ASK {{ FILTER(1{}) }}", " && 2".repeat(long)),
        format!("ASK {{ FILTER(1{}) }}", " + 2 - 3".repeat(long)),
        format!("ASK {{ ?s <p>{} ?o }}", "/<q>".repeat(long)),
        format!("ASK {{ ?s <p>{} ?o }}", "|<q>".repeat(long)),
        format!("ASK {{ {{}}{} }}", " UNION {}".repeat(long)),
        format!("ASK {{ ?s ?p ?o {} }}", "; ?p ?o, ?o ".repeat(long)),
        format!("ASK {{ {} }}", "OPTIONAL {} ".repeat(long)),
    ];
    let work = move || {
        for text in &texts {
            let parsed = parse(text, Form::Query, &VOCABULARY);
            assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
            assert!(depth(parsed.tree.root()) < 12);
        }
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn deep_texts_are_refused_on_any_stack() {
    let work = || {
        for piece in [
            "(",
            "!",
            "{",
            "IF(",
            "FILTER(",
            "[ ?p ",
            "<< ",
            "<<( ",
            "ABS(",
            "EXISTS { FILTER ",
            "{ SELECT * {",
            "{| ?p ?o ",
        ] {
            for head in
                ["ASK { ?s ?p ?o ", "ASK { FILTER(", "ASK { ", "ASK { ?s ?p ", "SELECT (", "ASK { ?s (", ""]
            {
                for count in [DEPTH_MAX - 2, DEPTH_MAX + 2, 100_000] {
                    let text = format!("{head}{}", piece.repeat(count));
                    let parsed = parse(&text, Form::Query, &VOCABULARY);
                    assert!(!parsed.diagnostics.is_empty() && parsed.extent.depth <= DEPTH_MAX);
                    assert!(check(&text, Form::Update, &VOCABULARY).len() <= 8);
                }
            }
        }
        let text = format!("ASK {{ {} {} }}", "{".repeat(2_000), "}".repeat(2_000));
        assert!(parse(&text, Form::Query, &VOCABULARY).is_too_deep);
        let text = format!("ASK {{ ?s ?p ?o {} {} }}", "{| ?p ?o ".repeat(2_000), "|}".repeat(2_000));
        assert!(parse(&text, Form::Query, &VOCABULARY).is_too_deep);
        // `<` before a prefixed name is an operator; what begins like an IRI is one that is broken.
        let parsed = parse("PREFIX ex: <a:> ASK { ?a ?b ?c FILTER(?a<ex:b) }", Form::Query, &VOCABULARY);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        assert!(!parse("ASK { <http://a b> ?p ?o }", Form::Query, &VOCABULARY).diagnostics.is_empty());
        let text = format!("ASK {{ {} {} }}", "{".repeat(900), "}".repeat(900));
        let parsed = parse(&text, Form::Query, &VOCABULARY);
        assert!(parsed.diagnostics.is_empty() && parsed.tree.root().child(Node::Ask).is_some());
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn names_are_as_the_grammar_has_them() {
    let right = [
        ":a.b.c",
        ":a:b",
        ":%20",
        ":\\~x",
        "e-x:y",
        "e.x:y",
        ":1",
        "_:a.b",
        "_:1",
        ":\u{10000}",
        ":a\u{b7}",
        "?1",
        "$\u{e9}",
        ":",
    ];
    for name in right {
        let text = format!(
            "PREFIX : <http://e/> PREFIX e-x: <http://e/> PREFIX e.x: <http://e/> ASK {{ {name} ?p 1 }}"
        );
        assert_eq!(parse(&text, Form::Query, &VOCABULARY).diagnostics, [], "{name}");
    }
    for name in [":-a", ":%2", ":\\x", "-x:y", "_:-a", "?-a", "_a:b", "\u{d7}:a", "?\u{d7}"] {
        let text = format!("ASK {{ {name} ?p 1 }}");
        assert!(!parse(&text, Form::Query, &VOCABULARY).diagnostics.is_empty(), "{name}");
    }
}
