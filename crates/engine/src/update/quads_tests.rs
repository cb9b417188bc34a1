//! What programs change that think in quads, and parameters of updates.

use crate::{CancelToken, Database, GraphRules, QuadPattern, QueryOptions, UpdateOptions};
use lode_rdf::{BlankNode, GraphName, Literal, NamedNode, Quad, Term};

fn name(text: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{text}"))
}

fn quad(subject: &BlankNode, value: i64) -> Quad {
    Quad {
        subject: subject.clone().into(),
        predicate: name("p"),
        object: Literal::from(value).into(),
        graph_name: GraphName::DefaultGraph,
    }
}

/// All quads of a pattern.
fn found(database: &Database, pattern: &QuadPattern) -> Vec<Quad> {
    let mut quads =
        pattern.quads(&database.snapshot(), &GraphRules::default(), &CancelToken::default()).unwrap();
    let mut all = Vec::new();
    loop {
        let next = quads.next_quads().unwrap();
        if next.is_empty() {
            return all;
        }
        all.extend(next);
    }
}

#[test]
fn labels_that_the_database_has_given_mean_its_blank_nodes() {
    let database = Database::in_memory().unwrap();
    let options = UpdateOptions::default();
    let own = BlankNode::new_unchecked("own");
    let mut open = database.begin(&QueryOptions::default()).unwrap();
    let given = open.new_blank().unwrap();
    assert_ne!(open.new_blank().unwrap(), given);
    open.insert(&[quad(&given, 1), quad(&own, 2), quad(&own, 3)], &options).unwrap();
    open.commit().unwrap();
    let mut open = database.begin(&QueryOptions::default()).unwrap();
    open.insert(&[quad(&given, 4), quad(&own, 5)], &options).unwrap();
    open.commit().unwrap();
    let all = found(&database, &QuadPattern::default());
    let subject = |value: i64| {
        let object = Term::from(Literal::from(value));
        all.iter().find(|quad| quad.object == object).unwrap().subject.clone()
    };
    assert_eq!(all.len(), 5);
    assert_eq!(subject(1), given.clone().into());
    assert_eq!((subject(1), subject(2)), (subject(4), subject(3)));
    assert_ne!(subject(3), subject(5));
    let of_given = QuadPattern { subject: Some(given.into()), ..QuadPattern::default() };
    assert_eq!(found(&database, &of_given).len(), 2);
}

#[test]
fn quads_of_one_triple_come_one_after_the_other() {
    let database = Database::in_memory().unwrap();
    let text: String = (0..3000)
        .map(|i| {
            format!("<a:{i}> <a:p> 1 . GRAPH <a:g> {{ <a:{i}> <a:p> 1 }} GRAPH <a:h> {{ <a:{i}> <a:p> 1 }} ")
        })
        .collect();
    database.update(&format!("INSERT DATA {{ {text} }}"), &UpdateOptions::default()).unwrap();
    let all = found(&database, &QuadPattern::default());
    assert_eq!(all.len(), 9000);
    assert!(all.chunks(3).all(|same| same.iter().all(|quad| quad.subject == same[0].subject)));
    let cancel = CancelToken::default();
    let pattern = QuadPattern::default();
    let mut quads = pattern.quads(&database.snapshot(), &GraphRules::default(), &cancel).unwrap();
    quads.next_quads().unwrap();
    cancel.cancel();
    quads.next_quads().unwrap_err();
}

#[test]
fn parameters_of_updates_are_values() {
    let database = Database::in_memory().unwrap();
    let with = |bindings: &[(&str, Term)]| {
        let bindings = bindings.iter().map(|(name, term)| ((*name).to_owned(), term.clone())).collect();
        UpdateOptions {
            evaluation: QueryOptions { bindings, ..QueryOptions::default() },
            ..UpdateOptions::default()
        }
    };
    let evil = Term::from(Literal::from("x\" } ; DROP ALL ; #"));
    let given = [("s", name("s").into()), ("o", evil.clone()), ("g", name("g").into())];
    let text = "INSERT { GRAPH ?g { ?s <http://e/p> ?o } } WHERE {}";
    assert_eq!(database.update(text, &with(&given)).unwrap().inserted, 1);
    let all = found(&database, &QuadPattern::default());
    assert_eq!((&all[0].object, &all[0].graph_name), (&evil, &GraphName::from(name("g"))));
    // A value that there can be no such quad of leaves it out.
    assert_eq!(
        database
            .update(text, &with(&[("s", evil.clone()), given[1].clone(), given[2].clone()]))
            .unwrap()
            .inserted,
        0
    );
    let delete = "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }";
    assert_eq!(database.update(delete, &with(&[("o", Literal::from("x").into())])).unwrap().deleted, 0);
    let mut open = database.begin(&QueryOptions::default()).unwrap();
    open.update(delete, &with(&[("o", evil)])).unwrap();
    assert_eq!(open.commit().unwrap().deleted, 1);
}
