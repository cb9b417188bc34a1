//! Formatted texts, by example.

use super::format;

#[test]
fn a_query() {
    let text = "prefix foaf:<http://xmlns.com/foaf/0.1/> select ?s (count(*) as ?n) # how many\nwhere{?s a foaf:Person;foaf:knows/^foaf:knows+ ?o,\
                ?p.filter(?n>-5&&!bound(?x)) optional{?s foaf:name\"a\"@en} \n\n\n # the end\n} group by ?s limit 5";
    let expected = "PREFIX foaf: <http://xmlns.com/foaf/0.1/>

SELECT ?s (count(*) AS ?n) # how many
WHERE {
  ?s a foaf:Person ;
    foaf:knows/^foaf:knows+ ?o, ?p .
  FILTER(?n > -5 && !bound(?x))
  OPTIONAL {
    ?s foaf:name \"a\"@en
  }

  # the end
}
GROUP BY ?s
LIMIT 5
";
    let formatted = format(text).unwrap();
    assert_eq!(formatted, expected);
    assert_eq!(format(&formatted).unwrap(), expected);
}

#[test]
fn an_update_and_others() {
    for (text, expected) in [
        (
            "insert data{<a:s> <a:p> 1.graph <a:g>{<a:s> <a:p> [<a:q> 2;<a:r> ()]}};delete where{?s ?p ?o}",
            "INSERT DATA {\n  <a:s> <a:p> 1 .\n  GRAPH <a:g> {\n    <a:s> <a:p> [ <a:q> 2 ; <a:r> () ]\n  }\n} ;\n\nDELETE WHERE {\n  ?s ?p ?o\n}\n",
        ),
        ("ask{}", "ASK { }\n"),
        ("# only\nask # this\n{}", "# only\nASK # this\n{ }\n"),
        (
            "select*{{?a ?b ?c}union{?d ?e ?f}values(?x ?y){(1 2)(3 undef)}}",
            "SELECT * {\n  {\n    ?a ?b ?c\n  } UNION {\n    ?d ?e ?f\n  }\n  VALUES (?x ?y) {\n    (1 2)\n    (3 UNDEF)\n  }\n}\n",
        ),
    ] {
        let formatted = format(text).unwrap();
        assert_eq!(formatted, expected, "{text}");
        assert_eq!(format(&formatted).unwrap(), expected, "{text}");
    }
    assert!(format("SELECT * {").is_err());
}
