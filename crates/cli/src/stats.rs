//! `lode stats`.

use crate::again;
use crate::args::StatsArgs;
use crate::direct;
use crate::exit::{Done, wrong_usage};
use crate::load_scratch::tell_work_beside;
use crate::number;
use crate::published;
use crate::remote::{self, Remote};
use crate::screen::Screen;
use crate::talk::{say_found_log, tell_damaged_snapshots};
use lode_engine::store::{StoreStats, WordsOf, words_of};
use lode_engine::{CancelToken, KeptInferences, OpenOptions, Order, stripe_folders};
use lode_rdf::value_id::Section;
use serde_json::json;
use std::io::Write;

/// Named graphs that are listed.
const GRAPHS_SHOWN_MAX: usize = 20;
/// What text is collected to before it is written.
const BUFFER_BYTES: usize = 1 << 16;

pub fn run(args: &StatsArgs) -> anyhow::Result<Done> {
    if let Some(url) = remote::url(&args.database) {
        if args.direct {
            return Err(wrong_usage(
                "--direct is for a folder: a server reads its files as it was told to (lode serve --direct)",
            ));
        }
        let server = Remote::new(url, &args.login)?;
        let mut out = Screen::new(false);
        remote::stats(&server, args.at.as_deref(), args.json, &CancelToken::default(), &mut out)?;
        out.finish()?;
        return Ok(Done::Ok);
    }
    direct::use_if(args.direct);
    if !published::is_address(&args.database) {
        tell_work_beside(&args.database)?;
    }
    again::to_stdout(BUFFER_BYTES, &|out| write(args, out))
}

fn write(args: &StatsArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let open = OpenOptions::default();
    let (database, snapshot) = published::read(&args.database, args.at.as_deref(), &args.published, &open)?;
    say_found_log(&database);
    tell_damaged_snapshots(&database);
    let stats = StoreStats::gather_at(database.store(), &snapshot, GRAPHS_SHOWN_MAX)?;
    let inferences = database.inferences(&snapshot)?;
    let stripes = stripe_folders(&args.database)?;
    let words = words_of(database.store())?;
    if args.json {
        let mut json = as_json(&stats);
        json["text_index"] = words
            .as_ref()
            .map_or(json!(null), |of| json!({"predicates": of.predicates, "graphs": of.graphs}));
        json["inferences"] = serde_json::to_value(&inferences)?;
        if !stripes.is_empty() {
            json["stripe_folders"] = serde_json::to_value(&stripes)?;
        }
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)?;
    } else {
        write_text(&stats, inferences.as_ref(), out)?;
        if let Some(of) = &words {
            writeln!(out, "\nindex of words of {}", told(of))?;
        }
        for (number, folder) in stripes.iter().enumerate() {
            let name = if number == 0 { "\nspread over the folders" } else { "" };
            writeln!(out, "{name:<24} {}", folder.display())?;
        }
    }
    Ok(())
}

/// Which texts an index of words has.
fn told(of: &WordsOf) -> String {
    let list = |values: &[String]| values.join(", ");
    match (of.predicates.is_empty(), of.graphs.is_empty()) {
        (true, true) => "all texts".to_owned(),
        (false, true) => format!("texts behind {}", list(&of.predicates)),
        (true, false) => format!("texts in {}", list(&of.graphs)),
        (false, false) => format!("texts behind {} in {}", list(&of.predicates), list(&of.graphs)),
    }
}

/// What a section of the dictionary holds.
pub fn section_name(section: Section) -> &'static str {
    match section {
        Section::Iri => "IRIs",
        Section::String => "strings",
        Section::LangString => "language strings",
        Section::TypedLiteral => "other literals",
        Section::TripleTerm => "triple terms",
    }
}

fn write_text(
    stats: &StoreStats,
    inferences: Option<&KeptInferences>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let count =
        |name: &str, n: u64, out: &mut dyn Write| writeln!(out, "{name:<24} {:>16}", number::grouped(n));
    count("quads", stats.quads, out)?;
    count("  in the default graph", stats.default_graph_quads, out)?;
    count("  in named graphs", stats.gspo_quads, out)?;
    count("named graphs", stats.named_graphs, out)?;
    for (graph, quads) in &stats.largest_graphs {
        writeln!(out, "  {:>38}  {graph}", number::grouped(*quads))?;
    }
    if let Some(inferences) = inferences {
        count("inferred triples", inferences.triples, out)?;
        writeln!(out, "  {}", state(inferences))?;
    }
    for (name, n) in
        ["distinct subjects", "distinct predicates", "distinct objects"].iter().zip(stats.distinct)
    {
        let about = if n.is_exact { "" } else { "about " };
        writeln!(out, "{name:<24} {:>16}", format!("{about}{}", number::grouped(n.values)))?;
    }
    count("terms in the dictionary", stats.terms.iter().sum(), out)?;
    for (section, n) in Section::ALL.iter().zip(stats.terms).filter(|(_, n)| *n > 0) {
        count(&format!("  {}", section_name(*section)), n, out)?;
    }
    count("blank nodes", stats.blank_nodes, out)?;
    count("segments", stats.segments, out)?;
    let (sets, others) = stats.predicate_sets;
    count("sets of predicates", sets, out)?;
    if others > 0 {
        count("  subjects with others", others, out)?;
    }
    writeln!(out, "\n{:<24} {:>16} {:>14}", "file", "bytes", "per quad")?;
    for (order, bytes) in Order::ALL.iter().zip(stats.permutation_bytes) {
        write_bytes(order.name(), bytes, stats.quads, out)?;
    }
    write_bytes("all orders", stats.permutation_bytes.iter().sum(), stats.quads, out)?;
    write_bytes("dictionary", stats.dictionary_bytes, stats.quads, out)?;
    write_bytes("other", stats.other_bytes, stats.quads, out)?;
    write_bytes("total", stats.bytes(), stats.quads, out)?;
    if stats.snapshots > 0 {
        writeln!(
            out,
            "\nkept of older versions: {}, by {}",
            number::of(stats.snapshot_bytes, "byte"),
            number::of(stats.snapshots, "named snapshot")
        )?;
    }
    Ok(())
}

/// By which rules, and whether all of it is there.
fn state(inferences: &KeptInferences) -> String {
    let read = if inferences.all_graphs { " over all graphs" } else { "" };
    let rules = inferences.rules.join(", ");
    match (inferences.up_to_date, inferences.maintained) {
        (true, true) => format!("by {rules}{read}: up to date, and each commit keeps them so"),
        (true, false) => format!("by {rules}{read}: up to date"),
        (false, _) => {
            let of = inferences.of_version.map(|of| format!(" after version {of}")).unwrap_or_default();
            format!(
                "by {rules}{read}: stale, the data has changed{of} (lode materialise brings them up to date, and a server does in the background)"
            )
        }
    }
}

fn write_bytes(name: &str, bytes: u64, quads: u64, out: &mut dyn Write) -> std::io::Result<()> {
    let per_quad = bytes as f64 / quads.max(1) as f64;
    writeln!(out, "{name:<24} {:>16} {per_quad:>14.2}", number::grouped(bytes))
}

fn as_json(stats: &StoreStats) -> serde_json::Value {
    let graphs: Vec<_> = stats
        .largest_graphs
        .iter()
        .map(|(graph, quads)| json!({"graph": graph.to_string(), "quads": quads}))
        .collect();
    let terms: serde_json::Map<_, _> =
        Section::ALL.iter().zip(stats.terms).map(|(s, n)| (section_name(*s).to_owned(), json!(n))).collect();
    let orders: serde_json::Map<_, _> = Order::ALL
        .iter()
        .zip(stats.permutation_bytes)
        .map(|(o, n)| (o.name().to_owned(), json!(n)))
        .collect();
    let [subjects, predicates, objects] = stats.distinct.map(|distinct| distinct.values);
    let is_exact = stats.distinct.iter().all(|distinct| distinct.is_exact);
    json!({
        "quads": stats.quads,
        "default_graph_quads": stats.default_graph_quads,
        "named_graphs": stats.named_graphs,
        "largest_graphs": graphs,
        "distinct": {"subjects": subjects, "predicates": predicates, "objects": objects, "exact": is_exact},
        "terms": terms,
        "blank_nodes": stats.blank_nodes,
        "segments": stats.segments,
        "predicate_sets": {"kept": stats.predicate_sets.0, "subjects_with_others": stats.predicate_sets.1},
        "snapshots": stats.snapshots,
        "snapshot_bytes": stats.snapshot_bytes,
        "bytes": {
            "orders": orders,
            "dictionary": stats.dictionary_bytes,
            "dictionary_keys_uncompressed": stats.dictionary_key_bytes,
            "other": stats.other_bytes,
            "total": stats.bytes(),
        },
    })
}
