//! The cost model: nanoseconds of one core, for choosing between plans and not for predicting times.
//!
//! The constants come from measurements of the kernels (a decoded column 0.2 ns a value, a merge step 1 to 3 ns, a probe of a
//! large hash table 15 ns, a block look-up some hundred ns), rounded up for what surrounds a kernel.

/// Reading a row of a permutation, whatever its columns.
const SCAN_ROW: f64 = 0.5;
/// Decoding and delivering one value of a row.
const SCAN_VALUE: f64 = 0.7;
/// Opening a scan: block index, first block.
const SCAN_START: f64 = 3_000.0;
/// Checking a row's graph.
const GRAPH_CHECK: f64 = 0.5;
/// Advancing a merge join by one row of either side.
const MERGE_ROW: f64 = 3.0;
/// Putting a row into a hash table.
const HASH_BUILD: f64 = 40.0;
/// Reading a geometry.
const GEOMETRY: f64 = 1_000.0;
/// Finding what is where a geometry is, and testing that.
const GEOMETRY_PROBE: f64 = 1_000.0;
/// Looking a row up in a hash table that fits the caches (more: a miss each).
const HASH_PROBE: f64 = 15.0;
/// Comparing a pair of rows in a nested loop.
const LOOP_PAIR: f64 = 4.0;
/// One look-up in a permutation, keys ascending.
const LOOKUP_KEY: f64 = 300.0;
/// The same where keys lie so close together that each block is decoded once for many.
const LOOKUP_DENSE: f64 = 40.0;
/// Sorting one row of a batch by its key, and its matches back.
const LOOKUP_SORT: f64 = 30.0;
/// Rows that are looked up together.
const LOOKUP_BATCH: f64 = 4096.0;
/// Putting a row into a trie.
const TRIE_ROW: f64 = 4.0;
/// Going down to the values under another one, in a trie in memory.
const TRIE_OPEN: f64 = 25.0;
/// Going to the next value in a trie in memory that lies close.
const TRIE_LEAP: f64 = 4.0;
/// Going down where values are read from the permutation.
const SOUGHT_OPEN: f64 = 2_500.0;
/// Values that are read from the permutation at once, at least.
const SOUGHT_ROWS: f64 = 64.0;
/// Putting one value of an output row together.
const OUTPUT_VALUE: f64 = 1.0;
/// Evaluating one condition on ids.
const FILTER_CHEAP: f64 = 5.0;
/// Evaluating one condition that needs terms.
const FILTER_TERMS: f64 = 60.0;
/// Planning and running an EXISTS by substitution, per distinct binding.
const EXISTS_BINDING: f64 = 20_000.0;
/// To plan the pattern of a LATERAL.
pub(super) const LATERAL: f64 = 200_000.0;
/// A solution of it, put together with its row.
pub(super) const LATERAL_ROW: f64 = 1_000.0;
/// Comparing two rows while sorting by value.
const SORT_COMPARE: f64 = 25.0;
/// Finding a row's group.
const GROUP_HASH: f64 = 30.0;
/// Finding a row's group when equal keys are neighbours.
const GROUP_SORTED: f64 = 3.0;
/// Making a common sub-plan rather than running it where its rows are wanted.
const SPOOL_START: f64 = 5_000.0;
/// Keeping one value of a common sub-plan's rows: mostly memory that is touched for the first time.
const SPOOL_WRITE: f64 = 2.0;
/// Copying one of them to a reader.
const SPOOL_READ: f64 = 0.5;
/// Taking a triple term apart.
const TRIPLE_TERM: f64 = 200.0;
/// One step of a path search, per edge.
const PATH_EDGE: f64 = 40.0;
/// A request to another endpoint, and the wait for the first row.
const SERVICE_REQUEST: f64 = 20_000_000.0;
/// Requests of one SERVICE that are on their way at once.
const SERVICE_REQUESTS: f64 = 4.0;
/// Bindings that go with a request.
const SERVICE_BINDINGS: f64 = 512.0;
/// What the endpoint does for one of them, and what it takes to send.
const SERVICE_BINDING: f64 = 20_000.0;
/// A row of an answer: made there, sent, and read here.
const SERVICE_ROW: f64 = 2_000.0;

/// A scan of so many rows of which so many columns are delivered.
pub(super) fn scan(rows: f64, columns: usize, checks_graph: bool) -> f64 {
    let check = if checks_graph { GRAPH_CHECK } else { 0.0 };
    SCAN_START + rows * (SCAN_ROW + check + SCAN_VALUE * columns as f64)
}

/// Output of so many rows and columns.
pub(super) fn output(rows: f64, columns: usize) -> f64 {
    rows * OUTPUT_VALUE * columns.max(1) as f64
}

/// A merge join without its output.
pub(super) fn merge(left: f64, right: f64) -> f64 {
    MERGE_ROW * (left + right)
}

/// A union of so many sorted inputs, without its output.
pub(super) fn merge_union(rows: f64, inputs: usize) -> f64 {
    MERGE_ROW * rows * (inputs as f64).log2()
}

/// A hash join without its output.
pub(super) fn hash(probe: f64, build: f64) -> f64 {
    HASH_BUILD * build + HASH_PROBE * probe
}

/// A nested loop without its output.
pub(super) fn nested_loop(left: f64, right: f64) -> f64 {
    LOOP_PAIR * left * right.max(1.0)
}

/// A spatial join without its output.
pub(super) fn spatial(left: f64, right: f64) -> f64 {
    GEOMETRY * (left + right) + GEOMETRY_PROBE * left
}

/// Look-ups of `keys` distinct keys for `rows` input rows. Keys are sorted within each batch, so that few batches, or sorted
/// input, cost not much more than reading all that is looked into. In input that is not sorted each batch may have any of the keys.
pub(super) fn lookup(rows: f64, keys: f64, sorted: bool, pattern_scan: f64) -> f64 {
    let (batches, sort) =
        if sorted { (1.0, 0.0) } else { ((rows / LOOKUP_BATCH).ceil().max(1.0), LOOKUP_SORT) };
    let each = keys.min(rows / batches);
    SCAN_START + rows * sort + batches * (each * LOOKUP_KEY).min(pattern_scan + each * LOOKUP_DENSE)
}

/// Making a trie of so many rows that are read.
pub(super) fn trie(rows: f64) -> f64 {
    TRIE_ROW * rows
}

/// Finding what a trie in memory has in common with others: of its own values under one combination of others, and the `least`
/// that one of them has. Where it has many more, it is searched.
pub(super) fn leap(own: f64, least: f64) -> f64 {
    TRIE_OPEN + TRIE_LEAP * (own.min(least * (1.0 + (own / least).log2().max(0.0))))
}

/// The same where its values are read when they are needed.
pub(super) fn leap_sought(own: f64, least: f64) -> f64 {
    SOUGHT_OPEN + SCAN_VALUE * own.min(least * SOUGHT_ROWS) + LOOKUP_KEY * least.min(own / SOUGHT_ROWS)
}

/// A condition over so many rows.
pub(super) fn filter(rows: f64, expr: &crate::expr::Expr) -> f64 {
    use crate::expr::Expr;
    let each = match expr {
        _ if expr.has_exists() => EXISTS_BINDING,
        Expr::Bound(_) | Expr::SameTerm(..) | Expr::Among(..) => FILTER_CHEAP,
        Expr::Not(inner) if matches!(**inner, Expr::Bound(_) | Expr::SameTerm(..)) => FILTER_CHEAP,
        _ => FILTER_TERMS,
    };
    rows * each
}

/// A value computed for so many rows.
pub(super) fn extend(rows: f64, expr: &crate::expr::Expr) -> f64 {
    match expr {
        crate::expr::Expr::Var(_) | crate::expr::Expr::Const(_) => rows * OUTPUT_VALUE,
        _ => filter(rows, expr),
    }
}

/// Sorting rows by value, of which only `limit` are kept.
pub(super) fn sort(rows: f64, keys: usize, limit: Option<usize>) -> f64 {
    let kept = limit.map_or(rows, |l| (l as f64).min(rows));
    rows * keys.max(1) as f64 * SORT_COMPARE * (kept.max(2.0).log2() / 4.0).max(1.0)
}

/// Grouping rows, or removing duplicates.
pub(super) fn group(rows: f64, sorted: bool, aggregates: usize) -> f64 {
    let find = if sorted { GROUP_SORTED } else { GROUP_HASH };
    rows * (find + 3.0 * aggregates as f64)
}

/// Remembering which arguments each group has seen.
pub(super) fn distinct_arguments(rows: f64, aggregates: &[crate::expr::Aggregate]) -> f64 {
    rows * HASH_BUILD * aggregates.iter().filter(|aggregate| aggregate.distinct).count() as f64
}

/// Taking a triple term of each row apart.
pub(super) fn triple_term(rows: f64) -> f64 {
    rows * TRIPLE_TERM
}

/// Keeping the rows of a common sub-plan.
pub(super) fn spool_write(rows: f64, columns: usize) -> f64 {
    SPOOL_START + rows * columns as f64 * SPOOL_WRITE
}

/// Reading them.
pub(super) fn spool_read(rows: f64, columns: usize) -> f64 {
    rows * columns as f64 * SPOOL_READ
}

/// A path search that visits so many edges.
pub(super) fn path(edges: f64) -> f64 {
    SCAN_START + edges * PATH_EDGE
}

/// A request to another endpoint that is answered with so many rows.
pub(super) fn service(rows: f64) -> f64 {
    SERVICE_REQUEST + rows * SERVICE_ROW
}

/// Requests to another endpoint with so many bindings, answered with so many rows. `all`: rows of an answer without any bindings.
pub(super) fn service_join(bindings: f64, rows: f64, all: f64) -> f64 {
    let requests = (bindings / SERVICE_BINDINGS).max(1.0);
    let work = (bindings * SERVICE_BINDING).min(service(all) * requests) + rows * SERVICE_ROW;
    SERVICE_REQUEST * (1.0 + (requests - 1.0) / SERVICE_REQUESTS) + work
}
