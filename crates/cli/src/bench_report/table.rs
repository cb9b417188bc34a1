//! The tables: a line for each thing that was measured, a column for each store.

use super::results::Results;
use serde_json::Value;

/// Benchmarks that are sets of queries, and what their tables are called.
const SETS: [(&str, &str); 5] = [
    ("explore-1", "Explore, each query, one client"),
    ("bi", "Business Intelligence, each query"),
    ("analytic", "Query classes"),
    ("paths", "Property paths"),
    ("lubm", "Universities"),
];

/// What a store did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell {
    /// It was not asked.
    Missing,
    /// It has no answer, or not within the time.
    Failed,
    Value {
        value: f64,
        /// Whether its answer is another one than the first store's.
        differs: bool,
    },
}

impl Cell {
    fn of(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, |value| Self::Value { value, differs: false })
    }

    /// The figure, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Value { value, .. } => Some(value),
            Self::Missing | Self::Failed => None,
        }
    }

    fn as_text(self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Failed => "–".to_owned(),
            Self::Value { value, differs } => short(value) + if differs { " ≠" } else { "" },
        }
    }
}

/// One table.
pub struct Table {
    /// For the name of a file.
    pub name: String,
    pub title: String,
    pub stores: Vec<String>,
    pub rows: Vec<(String, Vec<Cell>)>,
    /// Whether the rows are times, of which less is better.
    is_of_times: bool,
}

/// All that the results give, without tables that would be empty.
pub fn tables(results: &Results) -> Vec<Table> {
    let mut tables: Vec<Table> =
        results.benchmarks("load-").map(|benchmark| load(results, benchmark)).collect();
    tables.push(mixes(results, "mixes", "Query mixes an hour", &["/qmph"], 1.0));
    let processors = &["/processor_seconds_per_mix"];
    tables.push(mixes(
        results,
        "mix-processors",
        "Query mixes: the server's processors, ms a mix",
        processors,
        1e3,
    ));
    tables.extend(SETS.iter().map(|(benchmark, title)| queries(results, benchmark, title)));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn load(results: &Results, benchmark: &str) -> Table {
    let per_triple = |run: &Value| Some(number(run, "/disk_bytes")? / number(run, "/triples")?);
    let gigabytes = |run: &Value| Some(number(run, "/peak_bytes")? / 1e9);
    let figures: [(&str, &dyn Fn(&Value) -> Option<f64>); 4] = [
        ("seconds", &|run| number(run, "/wall_seconds")),
        ("seconds of processors", &|run| number(run, "/processor_seconds")),
        ("peak memory, GB", &gigabytes),
        ("bytes a triple on disk", &per_triple),
    ];
    let cells = |of: &dyn Fn(&Value) -> Option<f64>| -> Vec<Cell> {
        results.stores.iter().map(|store| Cell::of(of(results.get(benchmark, store)))).collect()
    };
    let rows = figures.into_iter().map(|(name, of)| (name.to_owned(), cells(of))).collect();
    let data = benchmark.trim_start_matches("load-").to_ascii_uppercase();
    table(results, benchmark, &format!("Loading {data}"), rows, false)
}

/// The Explore mix with each number of clients, and the BI mix.
fn mixes(results: &Results, name: &str, title: &str, pointers: &[&str], scale: f64) -> Table {
    let mut benchmarks: Vec<&str> = results.benchmarks("explore-").chain(results.benchmarks("bi")).collect();
    benchmarks.sort_by_key(|name| (!name.starts_with('e'), name.len(), *name));
    let cell = |benchmark: &str, store: &String| {
        let value = pointers.iter().find_map(|pointer| number(results.get(benchmark, store), pointer));
        Cell::of(value.map(|value| value * scale))
    };
    let row = |benchmark: &&str| {
        let label = match benchmark.strip_prefix("explore-") {
            Some("1") => "Explore, 1 client".to_owned(),
            Some(clients) => format!("Explore, {clients} clients"),
            None => "Business Intelligence, 1 client".to_owned(),
        };
        (label, results.stores.iter().map(|store| cell(benchmark, store)).collect())
    };
    table(results, name, title, benchmarks.iter().map(row).collect(), false)
}

/// Milliseconds of each query: the median where it is told, else the mean.
fn queries(results: &Results, benchmark: &str, title: &str) -> Table {
    let first = results.stores.first().map_or(&Value::Null, |store| results.get(benchmark, store));
    let names = names(first);
    let row = |name: &String| {
        let expected = &query(first, name)["checksum"];
        let cells =
            results.stores.iter().map(|store| cell(query(results.get(benchmark, store), name), expected));
        (name.clone(), cells.collect())
    };
    table(results, benchmark, &format!("{title}, ms"), names.iter().map(row).collect(), true)
}

/// The queries that a run has, in its order.
fn names(run: &Value) -> Vec<String> {
    match &run["queries"] {
        Value::Array(queries) => {
            queries.iter().filter_map(|query| query["name"].as_str()).map(str::to_owned).collect()
        }
        Value::Object(queries) => {
            let mut names: Vec<String> = queries.keys().cloned().collect();
            names.sort_by_key(|name| (name.len(), name.clone()));
            names
        }
        _ => Vec::new(),
    }
}

fn query<'a>(run: &'a Value, name: &str) -> &'a Value {
    match &run["queries"] {
        Value::Array(queries) => queries.iter().find(|query| query["name"] == name).unwrap_or(&Value::Null),
        queries => &queries[name],
    }
}

fn cell(query: &Value, expected: &Value) -> Cell {
    let seconds = number(query, "/median_seconds").or_else(|| number(query, "/aqet_seconds"));
    // In a mix a query is asked many times; if only some were answered, their mean says nothing.
    let has_failed = !query["failure"].is_null() || number(query, "/failures") > Some(0.0);
    match seconds {
        Some(seconds) if !has_failed => {
            Cell::Value { value: seconds * 1e3, differs: query["checksum"] != *expected }
        }
        _ if query.is_null() => Cell::Missing,
        _ => Cell::Failed,
    }
}

fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer).and_then(Value::as_f64)
}

fn table(
    results: &Results,
    name: &str,
    title: &str,
    rows: Vec<(String, Vec<Cell>)>,
    is_of_times: bool,
) -> Table {
    let rows: Vec<_> =
        rows.into_iter().filter(|(_, cells)| cells.iter().any(|cell| *cell != Cell::Missing)).collect();
    // A store without any figure here has no column.
    let has_any =
        |at: usize| rows.iter().any(|(_, cells)| cells.get(at).is_some_and(|cell| *cell != Cell::Missing));
    let kept: Vec<usize> = (0..results.stores.len()).filter(|at| has_any(*at)).collect();
    let stores = kept.iter().filter_map(|at| results.stores.get(*at).cloned()).collect();
    let keep = |cells: &Vec<Cell>| kept.iter().filter_map(|at| cells.get(*at).copied()).collect();
    let rows = rows.iter().map(|(label, cells)| (label.clone(), keep(cells))).collect();
    Table { name: name.to_owned(), title: title.to_owned(), stores, rows, is_of_times }
}

impl Table {
    /// Whether there are times of several stores.
    pub fn is_plotted(&self) -> bool {
        self.is_of_times && self.stores.len() > 1
    }

    pub fn as_markdown(&self) -> String {
        let mut text = format!(
            "| {} | {} |\n|---|{}\n",
            self.title,
            self.stores.join(" | "),
            "---|".repeat(self.stores.len())
        );
        for (label, cells) in &self.rows {
            let cells: Vec<String> = cells.iter().map(|cell| cell.as_text()).collect();
            text += &format!("| {label} | {} |\n", cells.join(" | "));
        }
        if self.is_plotted() {
            let means: Vec<String> = (0..self.stores.len()).map(|at| self.mean_ratio(at)).collect();
            text += &format!(
                "| times the first, geometric mean of those both answer | {} |\n",
                means.join(" | ")
            );
        }
        text + "\n"
    }

    /// How many times as long as the first store this one takes.
    pub fn ratio(&self, cells: &[Cell], at: usize) -> Option<f64> {
        let (first, own) = (cells.first()?.value()?, cells.get(at)?.value()?);
        (first > 0.0 && own > 0.0).then(|| own / first)
    }

    fn mean_ratio(&self, at: usize) -> String {
        let ratios: Vec<f64> =
            self.rows.iter().filter_map(|(_, cells)| self.ratio(cells, at)).map(f64::ln).collect();
        if ratios.is_empty() {
            return String::new();
        }
        short((ratios.iter().sum::<f64>() / ratios.len() as f64).exp())
    }
}

/// Three digits that count; thousands in groups.
pub fn short(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    if decimals == 0 { crate::number::grouped(value.round() as u64) } else { format!("{value:.decimals$}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn results(runs: &[(&str, &str, Value)]) -> Results {
        let mut results = Results { stores: vec!["ours".into(), "theirs".into()], runs: BTreeMap::new() };
        for (benchmark, store, run) in runs {
            results.runs.entry((*benchmark).into()).or_default().insert((*store).into(), run.clone());
        }
        results
    }

    #[test]
    fn queries_are_told_beside_one_another() {
        let ours = json!({"queries": [
            {"name": "a", "median_seconds": 0.002, "checksum": "1", "failure": null},
            {"name": "b", "median_seconds": 1.5, "checksum": "2", "failure": null},
            {"name": "c", "median_seconds": 0.01, "checksum": "3", "failure": null}]});
        let theirs = json!({"queries": [
            {"name": "b", "median_seconds": 3.0, "checksum": "2", "failure": null},
            {"name": "a", "median_seconds": 0.016, "checksum": "9", "failure": null},
            {"name": "c", "median_seconds": null, "checksum": null, "failure": "time-out"}]});
        let tables = tables(&results(&[("analytic", "ours", ours), ("analytic", "theirs", theirs)]));
        let text: Vec<String> = tables.iter().map(Table::as_markdown).collect();
        let expected = "| Query classes, ms | ours | theirs |\n|---|---|---|\n| a | 2.00 | 16.0 ≠ |\n| b | 1,500 | 3,000 |\n\
            | c | 10.0 | – |\n| times the first, geometric mean of those both answer | 1.00 | 4.00 |\n\n";
        assert_eq!(text, [expected]);
    }

    #[test]
    fn mixes_and_loads_have_tables_of_their_own() {
        let mix = |qmph: f64| json!({"qmph": qmph, "processor_seconds_per_mix": 0.05, "queries": {"bi-1": {"aqet_seconds": 0.25}}});
        let load = json!({"wall_seconds": 5.0, "processor_seconds": 9.5, "peak_bytes": 2e9, "disk_bytes": 2650, "triples": 100});
        let results = results(&[
            ("explore-16", "ours", mix(9e5)),
            ("explore-4", "ours", mix(5e5)),
            ("bi", "ours", json!({"queries": {"bi-1": {"aqet_seconds": 0.25, "failures": 1}}})),
            ("bi", "theirs", mix(10.0)),
            ("load-bsbm", "ours", load),
        ]);
        let tables = tables(&results);
        let text: String = tables.iter().map(Table::as_markdown).collect();
        assert!(text.starts_with("| Loading BSBM | ours |\n|---|---|\n| seconds | 5.00 |\n"), "{text}");
        assert!(text.contains("| peak memory, GB | 2.00 |\n| bytes a triple on disk | 26.5 |"), "{text}");
        let mixes = "| Explore, 4 clients | 500,000 |  |\n| Explore, 16 clients | 900,000 |  |\n| Business Intelligence, 1 client |  | 10.0 |\n";
        assert!(text.contains(mixes), "{text}");
        assert!(text.contains("ms a mix | ours | theirs |"), "{text}");
        assert!(text.contains("| bi-1 | – | 250 |"), "{text}");
    }
}
