//! A database in memory: load Turtle from a string, ask, print the rows.

use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{Database, QueryOptions, QueryResults};
use lode_rdf::format::RdfFormat;
use std::sync::Arc;

const TURTLE: &str = "
    @prefix : <http://example.org/> .
    :ada :knows :grace ; :born 1815 .
    :grace :knows :ada ; :born 1906 .
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let database = Database::in_memory()?;
    let source = Source::bytes("people.ttl", TURTLE).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default()))?;
    let query = "SELECT ?who ?year { ?who <http://example.org/born> ?year } ORDER BY ?year";
    if let QueryResults::Solutions(mut solutions) = database.query(query, &QueryOptions::default())? {
        for row in solutions.collect_rows()? {
            let cells: Vec<String> = row.iter().flatten().map(ToString::to_string).collect();
            eprintln!("{}", cells.join("  "));
        }
    }
    Ok(())
}
