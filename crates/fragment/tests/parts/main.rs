//! Fragments of queries over a small database: what is refused, and that whatever is changed in bytes is refused or can be run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cuts;
mod exchanges;

use lode_base::cancel::CancelToken;
use lode_base::checksum::checksum;
use lode_base::mem_vfs::MemVfs;
use lode_base::memory_budget::MemoryBudget;
use lode_base::varint::write_varint;
use lode_exec::statistics::SnapshotStatistics;
use lode_fragment::*;
use lode_packed::Order;
use lode_rdf::{NamedNode, RdfFormat, Term, ValueId};
use lode_sparql::plan::{DatasetOverride, VisibleGraphs};
use lode_sparql::{GraphScope, Plan, PlanNode, PlanOp, PlanOptions, ScanPattern, Slot};
use lode_store::load::{LoadOptions, LoadProgress, Source};
use lode_store::{Snapshot, Store};
use oxsdatatypes::DateTime;
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, OnceLock};

const DATA: &str = "@prefix : <http://e/> .
:a :p 1, 2, 3 ; :q :b ; :name \"A\" . :b :p 2, 4 ; :q :c ; :name \"B\"@en . :c :p 9 ; :q :a .
GRAPH :g1 { :a :p 7 . :b :q :a } GRAPH :g2 { :c :p 8 }";

/// Queries whose plans have, together, all operators that travel.
const QUERIES: &[&str] = &[
    "SELECT * { ?s :p ?v ; :q ?o ; :name ?n }",
    "SELECT * { ?s :q ?o . OPTIONAL { ?o :p ?v FILTER (?v > 1 && ?v IN (2, 4, 9)) } }",
    "SELECT ?s (COUNT(DISTINCT ?v) AS ?n) { ?s :p ?v FILTER (STRLEN(STR(?v)) = 1) } GROUP BY ?s",
    "SELECT DISTINCT ?s ?b { ?s :p ?v BIND (IF(?v < 3, true, false) AS ?b) }",
    "SELECT * { { ?s :p ?v } UNION { ?s :q ?v } MINUS { ?s :name \"A\" } }",
    "SELECT * { GRAPH ?g { ?s :p ?v } }",
    "SELECT * { VALUES (?s ?v) { (:a 1) (:b UNDEF) } ?s :p ?v }",
    "SELECT * { ?a :q ?b . ?b :q ?c . ?c :q ?a }",
    "SELECT ?x { ?x :p ?v FILTER (COALESCE(?v / 2, -?v, +?v) * 2 - 1 != NOW() || BOUND(?v)) }",
];

fn snapshot() -> Snapshot {
    snapshot_of(DATA)
}

fn snapshot_of(data: &str) -> Snapshot {
    let store = Store::create_or_open(Arc::new(MemVfs::new()), Path::new("/db"), 1 << 20).unwrap();
    let source = Source::bytes("data", data.as_bytes().to_vec()).with_format(RdfFormat::TriG);
    let progress = Arc::new(LoadProgress::default());
    lode_store::load(&store, vec![source], LoadOptions::default(), &progress).unwrap();
    store.snapshot()
}

fn plan(text: &str, snapshot: &Snapshot, visible: Option<VisibleGraphs>, options: &PlanOptions) -> Plan {
    let query = lode_sparql::parse_query(&format!("PREFIX : <http://e/> {text}"), None).unwrap();
    let cancel = CancelToken::default();
    let budget = MemoryBudget::unlimited();
    let statistics = SnapshotStatistics::new(snapshot, &budget, &cancel);
    let dataset = DatasetOverride { visible, ..DatasetOverride::default() };
    lode_sparql::plan_query(&query, &dataset, options, &statistics).unwrap()
}

fn now() -> DateTime {
    "2020-01-01T00:00:00.5+01:00".parse().unwrap()
}

fn wanted(visible: Option<VisibleGraphs>) -> Wanted {
    Wanted { cost_min: 0.0, now: now(), visible, exchange: None }
}

/// The fragments of all queries, planned in several ways.
fn fragments(snapshot: &Snapshot) -> Vec<(Fragment, Vec<u8>)> {
    let mut all = Vec::new();
    for joins_multiway in [false, true] {
        for optimize in [false, true] {
            let options = PlanOptions { joins_multiway, optimize, ..PlanOptions::default() };
            for text in QUERIES {
                let plan = plan(text, snapshot, None, &options);
                all.extend(take_apart(&plan, snapshot, &wanted(None)).unwrap().fragments);
            }
        }
    }
    all
}

/// A database and its fragments, made once.
fn known() -> &'static (Snapshot, Vec<(Fragment, Vec<u8>)>) {
    static KNOWN: OnceLock<(Snapshot, Vec<(Fragment, Vec<u8>)>)> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let snapshot = snapshot();
        let all = fragments(&snapshot);
        (snapshot, all)
    })
}

fn options() -> RunOptions {
    RunOptions::new(8 << 20, CancelToken::default())
}

/// All rows, run over so many ranges.
fn rows_of(fragment: &Fragment, snapshot: &Snapshot, parts: usize) -> Result<usize, FragmentError> {
    let (_, ranges) = ranges(fragment, snapshot, &options(), parts)?;
    let mut count = 0;
    for range in ranges {
        let mut execution = run(fragment, snapshot, &range, &options())?;
        while let Some(batch) = execution.next()? {
            count += batch.rows;
        }
    }
    Ok(count)
}

fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len().saturating_sub(8);
    bytes.truncate(body);
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The same fragment with another plan.
fn with_root(fragment: &Fragment, change: impl FnOnce(&mut PlanNode)) -> Fragment {
    let mut root = fragment.plan.root.clone();
    change(&mut root);
    Fragment { plan: Arc::new(fragment.plan.with_root(root)), ..fragment.clone() }
}

fn of(text: &str, snapshot: &Snapshot) -> Fragment {
    let plan = plan(text, snapshot, None, &PlanOptions::default());
    let apart = take_apart(&plan, snapshot, &wanted(None)).unwrap();
    apart.fragments.into_iter().next().unwrap().0
}

#[test]
fn what_is_read_is_what_was_written_and_ranges_have_all_rows() {
    let snapshot = snapshot();
    let all = fragments(&snapshot);
    assert!(all.len() > 20, "{}", all.len());
    for (fragment, bytes) in &all {
        let came = read(bytes, &snapshot).unwrap();
        assert_eq!(came.plan.root, fragment.plan.root);
        assert_eq!(write(&came, &snapshot).unwrap(), *bytes);
        assert!(bytes.len() < 1000, "{} bytes", bytes.len());
        let whole = rows_of(&came, &snapshot, 1).unwrap();
        assert_eq!([2, 3, 100].map(|parts| rows_of(&came, &snapshot, parts).unwrap()), [whole; 3]);
    }
}

/// A fragment over the rows of others is not run by ranges, and whatever is changed in its bytes is refused or a plan.
#[test]
fn fragments_over_rows_of_others_travel() {
    let snapshot = snapshot();
    let text = "SELECT ?n (SUM(?w) AS ?x) { ?s :q ?o ; :name ?n . ?o :p ?v ; :q ?r BIND (?v * 2 AS ?w) } GROUP BY ?n";
    let exchange = Some(Exchange { rows_min: 0.0, row_cost: 0.0, parts: 4, begin_cost: 0.0 });
    let plan = plan(text, &snapshot, None, &PlanOptions { joins_multiway: false, ..PlanOptions::default() });
    let apart = take_apart(&plan, &snapshot, &Wanted { exchange, ..wanted(None) }).unwrap();
    let mut over = 0;
    for (number, (fragment, bytes)) in apart.fragments.iter().enumerate() {
        let came = read(bytes, &snapshot).unwrap();
        assert_eq!(came.plan.root, fragment.plan.root);
        assert_eq!(came.input_columns().len(), fragment.inputs.len());
        assert!(fragment.inputs.iter().all(|input| (input.fragment as usize) < number));
        if fragment.inputs.is_empty() {
            continue;
        }
        over += 1;
        assert!(rows_of(&came, &snapshot, 3).is_err());
        for (at, input) in fragment.inputs.iter().enumerate() {
            let (from, _) = &apart.fragments[input.fragment as usize];
            assert_eq!(came.input_columns()[at].0.len(), from.plan.root.vars.len());
            assert!(!input.by.is_empty());
            assert!(input.by.iter().all(|place| !from.terms.contains(&from.plan.root.vars[*place])));
        }
        for place in 0..bytes.len() {
            for change in [1, 2, 0x80] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                if let Ok(fragment) = read(&sealed(changed), &snapshot) {
                    assert!(write(&fragment, &snapshot).is_ok());
                }
            }
        }
    }
    assert!(over > 0);
}

#[test]
fn other_versions_and_databases_are_refused() {
    let (first, second) = (snapshot(), snapshot());
    let (fragment, bytes) = fragments(&first).swap_remove(0);
    assert!(matches!(read(&bytes, &second), Err(FragmentError::Version { .. })));
    assert!(matches!(rows_of(&fragment, &second, 1), Err(FragmentError::Version { .. })));
    let later = Fragment { version: fragment.version + 1, ..fragment };
    assert!(matches!(write(&later, &first), Err(FragmentError::Version { .. })));
    let mut changed = bytes;
    changed[8] = 77;
    let error = read(&sealed(changed), &first).unwrap_err();
    assert!(error.to_string().contains("layout 77"), "{error}");
}

/// The rules go along, and are kept by who runs the fragment, whatever its plan says.
#[test]
fn rules_for_graphs_are_kept_where_it_is_run() {
    let snapshot = snapshot();
    let id = |name: &str| snapshot.id_of(&NamedNode::new_unchecked(name).into()).unwrap().unwrap();
    let visible = |default: bool, named: &[&str]| {
        Some(VisibleGraphs { default, named: named.iter().map(|name| id(name)).collect() })
    };
    for (text, rules, fine) in [
        ("SELECT * { ?s :p ?v }", visible(true, &[]), true),
        ("SELECT * { ?s :p ?v }", visible(false, &["http://e/g1"]), false),
        ("SELECT * { GRAPH ?g { ?s :p ?v } }", visible(true, &["http://e/g1"]), false),
        ("SELECT * { GRAPH :g1 { ?s :p ?v } }", visible(false, &["http://e/g1"]), true),
        ("SELECT * { GRAPH :g2 { ?s :p ?v } }", visible(true, &["http://e/g1"]), false),
    ] {
        let plan = plan(text, &snapshot, None, &PlanOptions::default());
        let apart = take_apart(&plan, &snapshot, &wanted(None)).unwrap();
        for (fragment, _) in apart.fragments {
            let ruled = Fragment { visible: rules.clone(), ..fragment };
            let came = read(&write(&ruled, &snapshot).unwrap(), &snapshot).unwrap();
            let ran = rows_of(&came, &snapshot, 2);
            assert_eq!(ran.is_ok(), fine, "{text}: {ran:?}");
            assert!(fine || matches!(ran, Err(FragmentError::Forbidden(_))));
        }
        let apart = take_apart(&plan, &snapshot, &wanted(rules.clone()));
        assert_eq!(apart.is_ok(), fine, "{text}");
    }
    // Planned by the same rules it is fine, and has what may be seen.
    let rules = visible(false, &["http://e/g1"]);
    let text = "SELECT * { GRAPH ?g { ?s ?p ?v } }";
    let plan = plan(text, &snapshot, rules.clone(), &PlanOptions::default());
    let apart = take_apart(&plan, &snapshot, &wanted(rules)).unwrap();
    assert_eq!(rows_of(&apart.fragments[0].0, &snapshot, 2).unwrap(), 2);
}

#[test]
fn claims_that_cannot_hold_are_refused() {
    let snapshot = snapshot();
    let star = of("SELECT * { ?s :p ?v ; :q ?o FILTER (?v > 1) }", &snapshot);
    let filtered = of("SELECT ?s ?v { ?s :p ?v FILTER (STRLEN(STR(?v)) = 1) }", &snapshot);
    let wrong: Vec<Fragment> = vec![
        with_root(&star, |root| root.sorted_by.reverse()),
        with_root(&star, |root| root.vars.swap(0, 1)),
        with_root(&star, |root| root.rows = f64::NAN),
        with_root(&filtered, |root| root.sorted_by = root.vars.iter().rev().copied().collect()),
        with_root(&filtered, |root| {
            let input = root.clone();
            root.op = PlanOp::Reduced(Arc::new(PlanNode { certain: Vec::new(), ..input }));
        }),
        with_root(&filtered, |root| {
            let columns = root.vars.len();
            root.op = PlanOp::Values(vec![vec![None; columns]]);
        }),
        with_root(&filtered, |root| {
            root.op = PlanOp::Values(vec![vec![None; 7]]);
        }),
        with_root(&star, |root| root.op = PlanOp::MergeUnion(Vec::new())),
        with_root(&star, |root| {
            let constant = snapshot.id_of(&NamedNode::new_unchecked("http://e/p").into()).unwrap().unwrap();
            (root.vars, root.certain, root.sorted_by) = Default::default();
            root.op = PlanOp::IndexScan(ScanPattern {
                subject: Slot::Const(constant),
                predicate: Slot::Const(constant),
                object: Slot::Const(constant),
                graph: GraphScope::Default,
                order: Order::Spog,
                within: Some(ValueId::UNDEF..ValueId::MAX),
            });
        }),
        with_root(&star, |root| root.vars.push(lode_sparql::VarId(60_000))),
    ];
    for fragment in &wrong {
        let refused = write(fragment, &snapshot).unwrap_err();
        let expected = matches!(refused, FragmentError::Invalid(_) | FragmentError::Damaged(_));
        assert!(expected, "{refused:?}");
    }
}

#[test]
fn too_deep_and_too_much_stays() {
    let snapshot = snapshot();
    let fragment = of("SELECT ?s ?v { ?s :p ?v }", &snapshot);
    let deep = with_root(&fragment, |root| {
        for _ in 0..LEVELS_MAX + 1 {
            let input = root.clone();
            root.op = PlanOp::Reduced(Arc::new(input));
        }
    });
    assert!(matches!(write(&deep, &snapshot), Err(FragmentError::Stays(_))));
    let wide = with_root(&fragment, |root| {
        root.certain.clear();
        root.sorted_by.clear();
        root.op = PlanOp::Values(vec![vec![None; 2]; PARTS_MAX]);
    });
    assert!(matches!(write(&wide, &snapshot), Err(FragmentError::Stays(_))));
    // Rows without columns take no bytes.
    let mut empty = with_root(&fragment, |root| *root = PlanNode { vars: Vec::new(), ..root.clone() });
    empty = with_root(&empty, |root| {
        root.certain.clear();
        root.sorted_by.clear();
        root.op = PlanOp::Values(vec![Vec::new(); PARTS_MAX + 1]);
    });
    assert!(matches!(write(&empty, &snapshot), Err(FragmentError::Stays(_))));
}

#[test]
fn what_comes_from_elsewhere_stays_or_is_refused() {
    let snapshot = snapshot();
    let plans = [
        "SELECT * { ?s :p ?v } ORDER BY ?v",
        "SELECT (SUM(?v) AS ?n) { ?s :p ?v }",
        "SELECT * { ?s :q+ ?o }",
        "SELECT (CONCAT(STR(?v), 'x') AS ?t) { ?s :p ?v }",
        "SELECT * { ?s :p ?v FILTER (RAND() < 2) }",
        "SELECT * { ?s :p ?v VALUES ?s { :nowhere } }",
    ];
    for text in plans {
        let plan = plan(text, &snapshot, None, &PlanOptions::default());
        let apart = take_apart(&plan, &snapshot, &wanted(None)).unwrap();
        assert!(!matches!(apart.head.root.op, PlanOp::Fragment { .. }), "{text}");
        for (fragment, _) in apart.fragments {
            assert!(rows_of(&fragment, &snapshot, 3).is_ok(), "{text}");
        }
    }
}

/// What counts of parts add up to, in the first column.
fn counted(fragment: &Fragment, snapshot: &Snapshot, parts: usize) -> u64 {
    let (_, ranges) = ranges(fragment, snapshot, &options(), parts).unwrap();
    let mut sum = 0;
    for range in ranges {
        let mut execution = run(fragment, snapshot, &range, &options()).unwrap();
        while let Some(batch) = execution.next().unwrap() {
            for id in &batch.columns[0] {
                let Some(Term::Literal(count)) = lode_rdf::key::inline_term(*id) else { panic!("{id:?}") };
                sum += count.value().parse::<u64>().unwrap();
            }
        }
    }
    sum
}

/// A part counts its own rows only, also where the index tells the count without reading them.
#[test]
fn counts_of_parts_add_up_to_those_of_the_whole() {
    // Where there are no named graphs, no row has to be looked at to tell its graph.
    let in_default_graph = DATA.split("GRAPH").next().unwrap();
    for (data, graphs) in [(DATA, true), (in_default_graph, false)] {
        let snapshot = snapshot_of(data);
        for (text, expected) in [
            ("SELECT (COUNT(*) AS ?n) { ?s ?p ?v }", 11),
            ("SELECT (COUNT(*) AS ?n) { ?s :p ?v }", 6),
            ("SELECT (COUNT(?v) AS ?n) { ?s :p ?v BIND (STR(?v) AS ?unused) }", 6),
            ("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :p ?v } }", 2),
            ("SELECT (COUNT(*) AS ?n) { ?s :p ?v ; :q ?o }", 6),
        ] {
            if !graphs && text.contains("GRAPH") {
                continue;
            }
            let plan = plan(text, &snapshot, None, &PlanOptions::default());
            let apart = take_apart(&plan, &snapshot, &wanted(None)).unwrap();
            let (fragment, _) = &apart.fragments[0];
            assert!(matches!(fragment.plan.root.op, PlanOp::Group { .. }), "{text}");
            for parts in 1..6 {
                assert_eq!(counted(fragment, &snapshot, parts), expected, "{text} in {parts}, {graphs}");
            }
        }
    }
}

/// Counts of all rows, and by what rows are not cut by, are made in parts and added up at the head.
#[test]
fn groups_in_parts_are_added_up() {
    let snapshot = snapshot();
    for (text, whole) in [
        ("SELECT (COUNT(*) AS ?n) { ?s :p ?v }", 1),
        ("SELECT (COUNT(*) AS ?n) (COUNT(?o) AS ?m) { ?s :p ?v OPTIONAL { ?s :q ?o FILTER (?v = 9) } }", 1),
        ("SELECT ?v (COUNT(?s) AS ?n) { ?s :p ?v ; :q ?o } GROUP BY ?v", 5),
    ] {
        let plan = plan(text, &snapshot, None, &PlanOptions::default());
        let apart = take_apart(&plan, &snapshot, &wanted(None)).unwrap();
        let (fragment, _) = &apart.fragments[0];
        let mut node = &apart.head.root;
        while !matches!(node.op, PlanOp::Group { .. } | PlanOp::Fragment { .. }) {
            node = node.children()[0];
        }
        let added =
            matches!(&node.op, PlanOp::Group { input, .. } if matches!(input.op, PlanOp::Fragment { .. }));
        let grouped = matches!(fragment.plan.root.op, PlanOp::Group { .. });
        assert!(!added || grouped, "{text}");
        assert_eq!(rows_of(fragment, &snapshot, 1).unwrap(), whole, "{text}");
        if added && whole == 1 {
            let (_, cut) = ranges(fragment, &snapshot, &options(), 3).unwrap();
            assert!(cut.len() > 1);
            assert_eq!(rows_of(fragment, &snapshot, 3).unwrap(), cut.len(), "{text}");
        }
        lode_sparql::validate::validate(&apart.head).unwrap();
    }
}

#[test]
fn scans_and_ranges_travel() {
    let snapshot = snapshot();
    let predicate = snapshot.id_of(&NamedNode::new_unchecked("http://e/p").into()).unwrap().unwrap();
    let scan = ScanDescriptor {
        database: snapshot.database_number(),
        version: snapshot.version_number(),
        order: Order::Psog,
        prefix: vec![predicate],
        range: ValueId::UNDEF..ValueId::MAX,
        columns: 0b0110,
    };
    let came = ScanDescriptor::read(&scan.write()).unwrap();
    assert_eq!(came, scan);
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut opened = came.open(&snapshot).unwrap();
    while opened.next(100, &mut columns).unwrap() > 0 {}
    assert_eq!(columns.map(|column| column.len()), [0, 8, 8, 0]);
    for wrong in [
        ScanDescriptor { prefix: vec![predicate; 4], ..scan.clone() },
        ScanDescriptor { columns: 16, ..scan.clone() },
    ] {
        assert!(matches!(ScanDescriptor::read(&wrong.write()), Err(FragmentError::Damaged(_))));
    }
    let other = ScanDescriptor { version: 99, ..scan };
    assert!(matches!(other.open(&snapshot), Err(FragmentError::Version { .. })));
    let range = |from, to| ValueId::from_bits(from)..ValueId::from_bits(to);
    let ranges = vec![range(0, 5), range(5, 9), range(20, 30)];
    assert_eq!(read_ranges(&write_ranges(&ranges)).unwrap(), ranges);
    for wrong in [vec![range(0, 5), range(4, 9)], vec![range(5, 4)]] {
        assert!(read_ranges(&write_ranges(&wrong)).is_err());
    }
    assert!(read_ranges(&other.write()).is_err());
}

/// Every operator has a row in the table of the design note, which says whether it travels.
#[test]
fn every_operator_is_in_the_table() {
    let names = include_str!("../../../sparql/src/plan_tree.rs");
    let table = include_str!("../../../../docs/design/050-plans-that-travel.md");
    let names = names.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for name in names {
        count += 1;
        let row = |place: &str| table.contains(&format!("| {name} | {place} |"));
        assert!(row("travels") ^ row("head"), "{name}");
    }
    assert_eq!(table.matches("| travels |").count() + table.matches("| head |").count(), count);
    assert!(count > 20, "{count}");
}

#[test]
fn graphs_are_not_read_that_the_scope_hides() {
    let snapshot = snapshot();
    let fragment = of("SELECT * { GRAPH ?g { ?s :p ?v } }", &snapshot);
    let hidden = with_root(&fragment, |root| {
        let mut node = root;
        while !matches!(node.op, PlanOp::IndexScan(_)) {
            node = node.children_mut().swap_remove(0);
        }
        let PlanOp::IndexScan(pattern) = &mut node.op else { return };
        let GraphScope::Named { among, .. } = &mut pattern.graph else { panic!("{:?}", pattern.graph) };
        *among = Some(Arc::from([]));
    });
    let forbidden = Fragment { visible: Some(VisibleGraphs::default()), ..hidden };
    // No graph is asked for: there is nothing to forbid.
    let ran = rows_of(&forbidden, &snapshot, 1);
    assert!(!matches!(ran, Err(FragmentError::Forbidden(_))), "{ran:?}");
    let all = Fragment { visible: Some(VisibleGraphs::default()), ..fragment };
    assert!(matches!(rows_of(&all, &snapshot, 1), Err(FragmentError::Forbidden(_))));
}

/// What it takes to send a star of five patterns, and to understand it. For people: nothing is decided by it.
#[test]
#[ignore = "tells times"]
fn times_of_a_star() {
    let snapshot = snapshot();
    let text =
        "SELECT * { ?s :p ?v ; :q ?o ; :name ?n ; :p ?w ; :q ?r FILTER (?v > 1 && STRLEN(STR(?n)) < 9) }";
    let plan = plan(text, &snapshot, None, &PlanOptions::default());
    let (fragment, bytes) = take_apart(&plan, &snapshot, &wanted(None)).unwrap().fragments.swap_remove(0);
    let microseconds = |work: &mut dyn FnMut()| {
        let mut least = f64::MAX;
        for _ in 0..2000 {
            let started = std::time::Instant::now();
            work();
            least = least.min(started.elapsed().as_secs_f64() * 1e6);
        }
        least
    };
    let apart = microseconds(&mut || drop(take_apart(&plan, &snapshot, &wanted(None)).unwrap()));
    let written = microseconds(&mut || drop(write(&fragment, &snapshot).unwrap()));
    let came = microseconds(&mut || drop(read(&bytes, &snapshot).unwrap()));
    println!(
        "{} nodes, {} bytes: taken apart {apart:.1} us, of it written and read again {written:.1}, read {came:.1}",
        fragment.plan.node_count,
        bytes.len()
    );
}

/// A few, or what the environment's `PROPTEST_CASES` says.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes that were changed and sealed again are refused, or are of a plan that can be run.
    #[test]
    fn changed_bytes_are_refused_or_run(changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..4), cut in any::<u16>()) {
        let (snapshot, all) = known();
        for (_, bytes) in all {
            let mut changed = bytes.clone();
            for (at, change) in &changes {
                let at = usize::from(*at) % changed.len();
                changed[at] ^= change;
            }
            if cut % 4 == 0 {
                changed.truncate(usize::from(cut) % changed.len());
            }
            prop_assert!(read(&changed, snapshot).is_err() || changed == *bytes);
            if let Ok(fragment) = read(&sealed(changed), snapshot) {
                prop_assert!(write(&fragment, snapshot).is_ok());
                let _ = rows_of(&fragment, snapshot, 3);
            }
        }
    }

    #[test]
    fn any_bytes_are_refused_or_run(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let (snapshot, all) = known();
        // The head of a real one, up to the number of variables.
        let (_, bytes) = &all[0];
        let mut head = Vec::new();
        write_varint(&mut head, snapshot.version_number());
        let head = 35 + head.len() + 1 + now().to_string().len() + 1;
        let mut whole = bytes[..head].to_vec();
        whole.extend(&body);
        whole.extend([0; 8]);
        let _ = read(&sealed(whole), snapshot);
        let _ = read(&sealed(body.clone()), snapshot);
        let _ = ScanDescriptor::read(&sealed(body.clone()));
        let _ = read_ranges(&sealed(body));
    }
}
