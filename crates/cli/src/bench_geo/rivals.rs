//! Other stores that have the same places: how long they take, and whether they find the same.

use super::asked::{Queries, asked};
use super::row::{JOIN, JOINS, NEAREST, Row, WINDOW};
use crate::args::BenchGeoArgs;
use crate::bench_target::{Client, Failure, Target};
use crate::talk::say;
use lode_bench::geo::{Dialect, distances, join, nearest, window};
use lode_engine::Database;
use std::time::{Duration, Instant};

/// Stores that find what is near by an index are told how far away it is at most: so many times as far as it is.
const REACH: f64 = 2.0;

/// Asks the store of a name and an address all queries. A query that has no answer is told, and its kind is not asked again.
pub fn measured(
    database: &Database,
    queries: &Queries,
    (name, url): (&str, &str),
    args: &BenchGeoArgs,
) -> anyhow::Result<Vec<Row>> {
    let dialect = Dialect::of(name);
    let (timeout, update_url) = (args.timeout, None);
    let target = Target::Endpoint { url, update_url, timeout, is_post: true, insecure: false };
    let client = target.client();
    let mut windows = Vec::new();
    for (place, size) in &queries.windows {
        windows.push((dialect.window(*place, *size), sorted(asked(database, &window(*place, *size))?.0)));
    }
    let mut near = Vec::new();
    for place in &queries.nearest {
        let far = asked(database, &distances(*place))?.0.last().and_then(|far| far.parse::<f64>().ok());
        let query = dialect.nearest(*place, REACH * far.unwrap_or(0.0).max(1e-3));
        near.push((query, sorted(asked(database, &nearest(*place))?.0)));
    }
    let pairs = asked(database, &join())?.0;
    let joins = vec![(dialect.join(), pairs); args.runs.clamp(1, JOINS)];
    let mut rows = Vec::new();
    for (query, texts) in [(WINDOW, windows), (NEAREST, near), (JOIN, joins)] {
        let mut row = Row { query, who: name.to_owned(), times: Vec::new(), rows: 0, same: None };
        let mut same = 0;
        for (text, expected) in &texts {
            let (found, time) = match answer(&client, text) {
                Ok(answer) => answer,
                Err(failure) => {
                    say!("{name}: {query} has no answer: {:#}", failure.into_error());
                    break;
                }
            };
            if row.times.is_empty() {
                row.rows = match query {
                    JOIN => found.first().and_then(|count| count.parse().ok()).unwrap_or(0),
                    _ => found.len() as u64,
                };
            }
            same += usize::from(found == *expected);
            row.times.push(time);
        }
        row.same = Some((same, row.times.len()));
        rows.push(row);
    }
    Ok(rows)
}

/// The values of an answer's rows, each of which has one, sorted, and how long it took to have all.
fn answer(client: &Client<'_>, text: &str) -> Result<(Vec<String>, Duration), Failure> {
    let start = Instant::now();
    let mut rows = Vec::new();
    client.rows(text, &mut |row| rows.push(row))?;
    let time = start.elapsed();
    let value = |row: String| row.split_once('=').map_or(String::new(), |(_, value)| value.to_owned());
    Ok((sorted(rows.into_iter().map(value).collect()), time))
}

fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.sort_unstable();
    values
}
