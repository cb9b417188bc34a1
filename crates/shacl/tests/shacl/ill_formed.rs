//! Wrong shapes: each gets a message with the shape, the property and what is wrong.

use crate::support::{database, found, graph, shapes};
use lode_engine::MemoryBudget;
use lode_rdf::RdfFormat;
use lode_rdf::parse::ParseOptions;
use lode_shacl::{ShaclError, Shapes, ShapesGraph, ValidateOptions, empty_targets, validate};

const SH: &str = "http://www.w3.org/ns/shacl#";

#[test]
fn wrong_shapes_are_told() {
    let with_target = |rest: &str| format!(":S sh:targetClass :C ; {rest} .");
    for (text, parts) in [
        ("sh:minCount 1", vec!["<http://e/S>", "sh:minCount", "no sh:path", "sh:property [ sh:path"]),
        ("sh:path :p ; sh:minCount \"1\"", vec!["sh:minCount", "no integer from 0 on"]),
        ("sh:path :p ; sh:minCount -1", vec!["sh:minCount", "no integer from 0 on"]),
        ("sh:path :p ; sh:minCount 1, 2", vec!["sh:minCount", "one value"]),
        ("sh:path :p, :q", vec!["sh:path", "one path"]),
        ("sh:path \"p\"", vec!["sh:path", "no path"]),
        ("sh:path [ :x :y ]", vec!["sh:path", "the blank node is no path"]),
        ("sh:path ( :p )", vec!["sh:path", "two members"]),
        ("sh:path [ sh:inversePath :p, :q ]", vec!["sh:inversePath has more than one value"]),
        ("sh:property :P", vec!["sh:property", "<http://e/P> is no property shape"]),
        ("sh:property \"x\"", vec!["sh:property", "no shape"]),
        ("sh:in :x", vec!["sh:in", "is no list"]),
        ("sh:or ( \"x\" )", vec!["sh:or", "no shape"]),
        ("sh:nodeKind sh:Thing", vec!["sh:nodeKind", "sh:BlankNodeOrIRI"]),
        ("sh:datatype \"x\"", vec!["sh:datatype", "no IRI"]),
        ("sh:pattern 5", vec!["sh:pattern", "no xsd:string"]),
        ("sh:severity \"x\"", vec!["sh:severity", "one IRI"]),
        ("sh:message :x", vec!["sh:message", "no text"]),
        ("sh:targetNode [ ]", vec!["sh:targetNode", "neither an IRI nor a literal"]),
        ("sh:targetSubjectsOf \"x\"", vec!["sh:targetSubjectsOf", "no IRI"]),
        ("sh:closed \"true\"", vec!["sh:closed", "no xsd:boolean", "without quotes"]),
        ("sh:deactivated :yes", vec!["sh:deactivated", "no xsd:boolean"]),
        (
            "sh:path :p ; sh:uniqueLang \"yes\"^^<http://www.w3.org/2001/XMLSchema#boolean>",
            vec!["sh:uniqueLang", "no xsd:boolean"],
        ),
        (
            "sh:path :p ; sh:qualifiedMinCount 1 ; sh:qualifiedValueShape :S2 ; sh:qualifiedValueShapesDisjoint 1",
            vec!["sh:qualifiedValueShapesDisjoint", "no xsd:boolean"],
        ),
        ("sh:sparql [ ]", vec!["sh:sparql", "no sh:select"]),
        ("sh:sparql \"x\"", vec!["sh:sparql", "no constraint"]),
    ] {
        let text = with_target(text);
        let error = shapes(&text).unwrap_err();
        assert!(error.is_of_shapes());
        let message = error.to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "{text}\n{message}"));
    }
}

#[test]
fn what_the_engine_knows_is_told_before_anything_is_validated() {
    let told = found(":a a :C .", ":S sh:targetClass :C ; sh:pattern \"(\" .").unwrap_err();
    assert!(told.is_of_shapes(), "{told}");
    assert!(told.to_string().contains("no regular expression"), "{told}");
}

#[test]
fn shapes_that_contain_themselves_are_refused() {
    for text in [
        ":S sh:targetClass :C ; sh:node :S .",
        ":S sh:targetClass :C ; sh:property :P . :P sh:path :p ; sh:or ( [ sh:class :D ] [ sh:node :S ] ) .",
        ":S sh:targetClass :C ; sh:not [ sh:and ( :S ) ] .",
    ] {
        let message = shapes(text).unwrap_err().to_string();
        assert!(message.contains("refers to itself (<http://e/S>, which refers to"), "{message}");
    }
    // One that is used twice does not contain itself.
    let twice = ":S sh:targetClass :C ; sh:node :T, [ sh:node :T ] . :T sh:nodeKind sh:Literal .";
    assert_eq!(
        found(":a a :C .", twice).unwrap(),
        ["<a> Node", "<a> Node"].map(|line| line.replace("> ", "> <a> "))
    );
}

#[test]
fn mistakes_are_warned_of() {
    let text = ":S sh:targetClass :C ; sh:property [ sh:path :p ; sh:minCounts 1 ; sh:node :Nothing ] .";
    let warnings = shapes(text).unwrap().warnings().join("\n");
    assert!(warnings.contains("no sh:minCounts for shapes; did you mean sh:minCount?"), "{warnings}");
    assert!(warnings.contains("sh:node refers to <http://e/Nothing>, of which"), "{warnings}");
    let warnings = shapes(":S sh:property [ sh:path :p ] .").unwrap().warnings().join("\n");
    assert!(warnings.contains("no shape has a target"), "{warnings}");
    let of_type = |name: &str| {
        let text = format!(":S sh:targetClass :C ; sh:property [ sh:path :p ; sh:datatype {name} ] .");
        shapes(&text).unwrap().warnings().join("\n")
    };
    let warnings = of_type("xsd:integr");
    assert!(warnings.contains("no datatype xsd:integr") && warnings.contains("did you mean xsd:integer?"));
    for known in [
        "xsd:integer",
        "xsd:gMonthDay",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>",
        "<http://e/own>",
    ] {
        assert_eq!(of_type(known), "", "{known}");
    }
}

#[test]
fn documents_that_are_none_are_told() {
    let error = shapes(":S sh:targetClass ").unwrap_err();
    assert!(matches!(error, ShaclError::Document { .. }), "{error}");
}

#[test]
fn what_has_no_effect_is_warned_of() {
    let text =
        ":S sh:targetClass :C ; sh:ignoredProperties ( :p ) ; sh:flags \"i\" ; sh:property [ sh:path :p ; \
                sh:qualifiedMinCount 1 ], [ sh:path :q ; sh:qualifiedValueShape [ sh:class :D ] ; \
                sh:uniqueLang \"1\"^^<http://www.w3.org/2001/XMLSchema#boolean> ] .
                <http://e/> owl:imports <http://e/more>, <http://www.w3.org/ns/shacl#> .";
    let warnings = shapes(text).unwrap().warnings().join("\n");
    for part in [
        "sh:ignoredProperties has no effect without sh:closed",
        "sh:flags has no effect without sh:pattern",
        "sh:qualifiedMinCount has no effect without sh:qualifiedValueShape",
        "sh:qualifiedValueShape has no effect without sh:qualifiedMinCount or sh:qualifiedMaxCount",
        "sh:uniqueLang 1 has no effect",
        "owl:imports <http://e/more> is not followed",
    ] {
        assert!(warnings.contains(part), "{part}\n{warnings}");
    }
    assert_eq!(warnings.lines().count(), 6, "{warnings}");
}

#[test]
fn shapes_take_memory_of_a_budget() {
    let budget = MemoryBudget::new(4 << 20);
    let text = |count: usize| -> String {
        let shape = |n| format!("<http://e/S{n}> <{SH}targetClass> <http://e/C{n}> ; <{SH}closed> true .\n");
        (0..count).map(shape).collect()
    };
    let read = |text: &str| {
        let mut graph = ShapesGraph::within(&budget);
        let options = ParseOptions::default();
        graph.add_document("shapes", RdfFormat::Turtle, text.as_bytes(), &options)?;
        Shapes::read(graph)
    };
    let shapes = read(&text(100)).unwrap();
    assert!(budget.used() > text(100).len() * 5, "{} are counted", budget.used());
    let error = read(&text(10_000)).unwrap_err();
    assert!(!error.is_of_shapes() && error.to_string().contains("memory"), "{error}");
    drop(shapes);
    assert_eq!(budget.used(), 0);
}

#[test]
fn shapes_about_nobody_are_warned_of() {
    let database = database(":a a :C ; :p 1 . :D rdfs:subClassOf :E . :b a :D .");
    let text = ":S sh:targetClass :C . :T sh:targetClass :Cc . :U sh:targetClass :E . :V sh:targetSubjectsOf :p, :q . \
                :W sh:targetObjectsOf :q . :X sh:targetNode :nobody . :Y sh:targetClass :Cc ; sh:deactivated true .";
    let shapes = shapes(text).unwrap();
    let options = ValidateOptions::default();
    let warnings = empty_targets(&database.snapshot(), &shapes, &options).unwrap().join("\n");
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
    assert!(
        warnings.contains("<http://e/T> is about no node of the data (sh:targetClass <http://e/Cc>)"),
        "{warnings}"
    );
    assert!(warnings.contains("<http://e/W>"), "{warnings}");
}

#[test]
fn what_is_wrong_has_its_place() {
    // A line of prefixes is before it.
    let text =
        "\n# a comment\n\n:S sh:targetClass :C ;\n  sh:property [ sh:path :p ; sh:minCount \"x\" ] .\n";
    let error = shapes(text).unwrap_err().to_string();
    assert_eq!(error, "shapes, line 5: the shape [...]: sh:minCount: \"x\" is no integer from 0 on");
    let named = shapes("\n:S sh:targetClass :C ; sh:severity 1 .").unwrap_err().to_string();
    assert!(named.starts_with("shapes, line 3: the shape <http://e/S>: sh:severity: "), "{named}");
    let warned = shapes(":A sh:targetClass :C .\n[] sh:targetClass :C ; sh:flags \"i\" .").unwrap();
    assert_eq!(
        warned.warnings(),
        ["shapes, line 3: the shape [...]: sh:flags has no effect without sh:pattern"]
    );
    // Found only once the data are asked.
    let late = shapes("\n\n:S sh:targetClass :C ; sh:property [ sh:path :p ; sh:pattern \"(\" ] .").unwrap();
    let database = database(":a a :C ; :p \"x\" .");
    let error =
        validate(&database.snapshot(), &late, &ValidateOptions::default(), &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().starts_with("shapes, line 4: the shape [...]: sh:pattern: "), "{error}");
    // Two documents.
    let mut graph = graph("\n\n:S sh:targetClass :C .").unwrap();
    let more = format!(
        "<http://e/T> <{SH}targetClass> <http://e/C> ; <{SH}minCount> 1 .\n<http://e/T> <{SH}property> [ <{SH}minCount> 1 ] ."
    );
    graph.add_document("more.ttl", RdfFormat::Turtle, more.as_bytes(), &ParseOptions::default()).unwrap();
    let error = Shapes::read(graph).unwrap_err().to_string();
    assert!(error.starts_with("more.ttl, line "), "{error}");
}

#[test]
fn of_many_shapes_about_nobody_few_are_named() {
    let database = database(":a a :C .");
    let many: String = (0..9).map(|n| format!(":S{n} sh:targetClass :Nobody{n} . ")).collect();
    let shapes = shapes(&many).unwrap();
    let warnings = empty_targets(&database.snapshot(), &shapes, &ValidateOptions::default()).unwrap();
    assert_eq!((warnings.len(), warnings[5].as_str()), (6, "so are 4 other shapes"));
}
