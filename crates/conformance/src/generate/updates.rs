//! Random update requests: all operations, with patterns and templates as queries have them, over the same small vocabularies.

use super::ast::{Column, Element, Expr, Form, Group, Query, Select, Triple};
use super::data::{GRAPHS, Vocabulary};
use super::queries::Generator;
use super::{PREFIXES, Random};

/// Queries that are asked before the first request and after each.
const QUERIES: usize = 3;

/// Data, and requests to be run on it one after the other.
#[derive(Debug, Clone)]
pub struct UpdateCase {
    /// Quads, each as TriG without prefixes.
    pub data: Vec<String>,
    /// The requests.
    pub requests: Vec<Request>,
    /// Whether WHERE takes the union of all graphs for the default graph.
    pub union_default_graph: bool,
    /// Queries to be asked before the first request and again after each, whose plans are kept meanwhile.
    pub queries: Vec<Query>,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Whether prefixes are declared before each operation, not only before the first.
    pub declares_again: bool,
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The text, without prefixes.
    pub text: String,
    /// Of COPY, MOVE and ADD: where from.
    pub transfer: Option<TransferSource>,
}

/// Where COPY, MOVE and ADD get their triples.
#[derive(Debug, Clone)]
pub struct TransferSource {
    /// The graph, as it stands in the text; none: the default graph.
    pub graph: Option<&'static str>,
    /// Whether the graph may lack.
    pub silent: bool,
}

impl UpdateCase {
    /// The case of a seed.
    pub fn new(seed: u64) -> Self {
        // Other cases than those of queries.
        let mut random = Random::new(seed ^ 0x00dd_ba11);
        let vocabulary = Vocabulary::new(&mut random);
        let data = vocabulary.quads(&mut random);
        let count = 1 + random.below(4);
        let requests = (0..count).map(|_| request(&mut random, &vocabulary, &data)).collect();
        let union_default_graph = random.chance(10);
        let queries = (0..QUERIES).map(|number| query(&mut random, &vocabulary, number)).collect();
        Self { data, requests, union_default_graph, queries }
    }

    /// The data as TriG.
    pub fn data_text(&self) -> String {
        format!("{PREFIXES}{}\n", self.data.join("\n"))
    }
}

impl Request {
    /// The request as SPARQL.
    pub fn text(&self) -> String {
        let between = if self.declares_again { format!(" ;\n{PREFIXES}") } else { " ;\n".to_owned() };
        let texts: Vec<&str> = self.operations.iter().map(|operation| operation.text.as_str()).collect();
        format!("{PREFIXES}{}\n", texts.join(&between))
    }
}

impl Operation {
    /// The operation by itself as SPARQL.
    pub fn request_text(&self) -> String {
        format!("{PREFIXES}{}\n", self.text)
    }
}

fn request(random: &mut Random, vocabulary: &Vocabulary, data: &[String]) -> Request {
    let count = [1, 2, 3, 5][random.weighted(&[50, 25, 15, 10])];
    let operations = (0..count).map(|number| operation(random, vocabulary, data, number)).collect();
    Request { operations, declares_again: random.chance(15) }
}

fn operation(random: &mut Random, vocabulary: &Vocabulary, data: &[String], number: usize) -> Operation {
    let text = match random.weighted(&[18, 12, 34, 12, 12, 4, 8]) {
        0 => insert_data(random, vocabulary, number),
        1 => delete_data(random, vocabulary, data),
        2 => modify(random, vocabulary),
        3 => delete_where(random, vocabulary),
        4 => {
            let graphs = ["DEFAULT", "NAMED", "GRAPH :g1", "GRAPH :g2", "GRAPH :g3"];
            // All at once would leave little to differ.
            let graphs = if random.chance(8) { "ALL" } else { random.word(&graphs) };
            format!("{} {}{graphs}", random.word(&["CLEAR", "DROP"]), random.word(&["", "SILENT "]))
        }
        5 => format!("CREATE {}GRAPH {}", random.word(&["", "SILENT ", "SILENT "]), random.word(GRAPHS)),
        _ => return transfer(random),
    };
    Operation { text, transfer: None }
}

/// Any query, or one whose answer depends on nothing but which graphs there are.
fn query(random: &mut Random, vocabulary: &Vocabulary, number: usize) -> Query {
    if number == 0 {
        return Generator::new(random, vocabulary).query();
    }
    let graphs: Vec<&'static str> = GRAPHS.iter().copied().chain(["?g", ":none"]).collect();
    let graph = Element::Graph(random.word(&graphs).to_owned(), group_for_graphs(random));
    let pattern = match random.below(5) {
        0 => vec![Element::Triples(vec![triple(":p")]), Element::Optional(vec![graph])],
        1 => {
            let exists = Expr::Exists(random.word(&["EXISTS", "NOT EXISTS"]), vec![graph]);
            vec![Element::Triples(vec![triple("?q")]), Element::Filter(exists)]
        }
        2 => vec![Element::Triples(vec![triple(":q")]), Element::Minus(vec![graph])],
        _ => vec![graph],
    };
    let form = if random.chance(25) { Form::Ask } else { Form::Select };
    let mut from_named = Vec::new();
    if random.chance(30) {
        from_named = graphs
            .iter()
            .filter(|name| **name != "?g" && random.chance(40))
            .map(|name| (*name).to_owned())
            .collect();
    }
    Query { form, from: Vec::new(), from_named, select: Select { pattern, ..Select::default() } }
}

/// A group that may have solutions in a graph without quads.
fn group_for_graphs(random: &mut Random) -> Group {
    match random.below(7) {
        0 => Vec::new(),
        1 => vec![Element::Bind(Expr::Atom("1".to_owned()), "?x".to_owned())],
        2 => vec![Element::Optional(vec![Element::Triples(vec![triple(":p")])])],
        3 => vec![Element::Triples(vec![Triple { subject: ":a".to_owned(), ..triple(":p*") }])],
        4 => {
            let count = Expr::Aggregate("COUNT(", Some(Box::new(Expr::Atom("?b".to_owned()))), ")");
            let columns = vec![Column::As(count, "?n".to_owned())];
            let pattern = vec![Element::Triples(vec![triple(":q")])];
            vec![Element::Sub(Box::new(Select { columns, pattern, ..Select::default() }))]
        }
        5 => vec![Element::Triples(vec![triple(":p")])],
        _ => vec![Element::Graph(random.word(GRAPHS).to_owned(), Vec::new())],
    }
}

fn triple(predicate: &str) -> Triple {
    Triple { subject: "?a".to_owned(), predicate: predicate.to_owned(), object: "?b".to_owned() }
}

fn transfer(random: &mut Random) -> Operation {
    let graph = |random: &mut Random| (!random.chance(30)).then(|| random.word(GRAPHS));
    let name = |graph: Option<&str>| graph.map_or("DEFAULT".to_owned(), str::to_owned);
    let (from, to, silent) = (graph(random), graph(random), random.chance(60));
    let verb = random.word(&["ADD", "COPY", "MOVE"]);
    let text = format!("{verb} {}{} TO {}", if silent { "SILENT " } else { "" }, name(from), name(to));
    // To itself nothing is done, whether it exists or not.
    let source = TransferSource { graph: from, silent };
    Operation { text, transfer: (from != to).then_some(source) }
}

fn insert_data(random: &mut Random, vocabulary: &Vocabulary, number: usize) -> String {
    let quads: Vec<String> = (0..random.below(5))
        .map(|_| {
            // Two operations must not share a label.
            let triple = vocabulary.triple(random).replace("_:", &format!("_:n{number}"));
            in_graph(random, triple)
        })
        .collect();
    format!("INSERT DATA {{ {} }}", quads.join(" "))
}

fn in_graph(random: &mut Random, triple: String) -> String {
    if random.chance(40) {
        format!("GRAPH {} {{ {triple} }}", random.word(GRAPHS))
    } else {
        format!("{triple} .")
    }
}

fn delete_data(random: &mut Random, vocabulary: &Vocabulary, data: &[String]) -> String {
    let mut quads = Vec::new();
    for _ in 0..1 + random.below(4) {
        let quad = if !data.is_empty() && random.chance(75) {
            let quad = random.pick(data);
            if quad.ends_with('}') { format!("GRAPH {quad}") } else { quad.clone() }
        } else {
            let triple = vocabulary.triple(random);
            in_graph(random, triple)
        };
        if !quad.contains("_:") {
            quads.push(quad);
        }
    }
    format!("DELETE DATA {{ {} }}", quads.join(" "))
}

fn modify(random: &mut Random, vocabulary: &Vocabulary) -> String {
    let mut text = String::new();
    if random.chance(20) {
        text.push_str(&format!("WITH {} ", random.word(GRAPHS)));
    }
    let kind = random.below(3);
    if kind != 0 {
        text.push_str(&format!("DELETE {{ {} }} ", template(random, vocabulary, false)));
    }
    if kind != 1 {
        text.push_str(&format!("INSERT {{ {} }} ", template(random, vocabulary, true)));
    }
    if random.chance(15) {
        let graphs: Vec<_> = (0..=random.below(2))
            .map(|_| format!("USING {}{} ", random.word(&["", "", "NAMED "]), random.word(GRAPHS)))
            .collect();
        text.push_str(&graphs.concat());
    }
    format!("{text}WHERE {}", pattern(random, vocabulary))
}

/// A pattern whose solutions are determined to the last digit: sums of floating-point numbers depend on the order.
fn pattern(random: &mut Random, vocabulary: &Vocabulary) -> String {
    for _ in 0..20 {
        let text = Generator::new(random, vocabulary).pattern();
        if !text.contains("SUM(") && !text.contains("AVG(") {
            return text;
        }
    }
    "{ ?a ?b ?c }".to_owned()
}

fn template(random: &mut Random, vocabulary: &Vocabulary, blank_nodes: bool) -> String {
    let triples = Generator::new(random, vocabulary).template();
    let mut quads = Vec::new();
    for triple in triples {
        let mut triple = triple.to_string();
        if !blank_nodes {
            triple = triple.replace("_:t0", "?b").replace("_:t1", "?c");
        }
        quads.push(match random.weighted(&[60, 22, 18]) {
            0 => format!("{triple} ."),
            1 => format!("GRAPH {} {{ {triple} }}", random.word(GRAPHS)),
            _ => format!("GRAPH {} {{ {triple} }}", random.word(&["?g", "?g", "?a"])),
        });
    }
    quads.join(" ")
}

fn delete_where(random: &mut Random, vocabulary: &Vocabulary) -> String {
    format!("DELETE WHERE {{ {} }}", template(random, vocabulary, false))
}

#[cfg(test)]
mod tests {
    //! What is generated is SPARQL.
    use super::{PREFIXES, UpdateCase};
    use crate::rdf_files::{RdfFormat, parse};
    use spargebra::SparqlParser;

    #[test]
    fn requests_parse() {
        for seed in 0..5_000 {
            let case = UpdateCase::new(seed);
            parse(case.data_text().as_bytes(), RdfFormat::TriG, "http://e/").expect("data");
            for query in &case.queries {
                let text = format!("{PREFIXES}{query}");
                if let Err(error) = SparqlParser::new().parse_query(&text) {
                    panic!("seed {seed}: {error}\n{text}");
                }
            }
            for request in &case.requests {
                for operation in &request.operations {
                    let text = operation.request_text();
                    if let Err(error) = SparqlParser::new().parse_update(&text) {
                        panic!("seed {seed}: {error}\n{text}");
                    }
                }
                if let Err(error) = lode_sparql::parse_update(&request.text(), None) {
                    panic!("seed {seed}: {error}\n{}", request.text());
                }
            }
        }
    }
}
