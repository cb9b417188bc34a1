//! `lode materialise`.

use crate::args::{DefaultGraphArg, MaintainArg, MaterialiseArgs};
use crate::contradictions;
use crate::exit::{DataSyntaxError, Done, wrong_usage};
use crate::inferring::{apply, sources};
use crate::memory::SharedMemory;
use crate::number;
use crate::remote;
use crate::talk::{say, say_found_log, tell_damaged_snapshots, write_json};
use lode_engine::{CancelToken, Database, DefaultGraph, MaterialiseOptions, QueryOptions, RuleSet};

pub fn run(args: &MaterialiseArgs) -> anyhow::Result<Done> {
    let rules = sources(&args.rules)?;
    if let Some(url) = remote::url(&args.database) {
        if args.check {
            return Err(wrong_usage(
                "--check is for a folder; lode why URL false tells what is contradictory at a server",
            ));
        }
        let report = remote::materialise(args, &rules, url)?;
        if args.json {
            write_json(&report)?;
        }
        return Ok(Done::Ok);
    }
    if args.check {
        return contradictions::check(args);
    }
    let memory = SharedMemory::of(args.memory, None);
    let database =
        Database::open_for_writing(&args.database, &memory.open_options(), memory.write_options())?;
    say_found_log(&database);
    tell_damaged_snapshots(&database);
    let mut evaluation = memory.options();
    evaluation.cancel = CancelToken::new(args.timeout);
    if let Some(threads) = args.threads {
        evaluation.threads = threads.max(1);
    }
    if args.drop {
        return drop_all(args, &database, &evaluation);
    }
    if rules.is_empty() && database.inferences(&database.snapshot())?.is_none() {
        let sets = RuleSet::ALL.map(RuleSet::name).join(", ");
        let place = args.database.display();
        return Err(DataSyntaxError(format!(
            "the database keeps no rules: name a set ({sets}) or a file with some, as in `lode materialise {place} --rules owl2-rl`"
        ))
        .into());
    }
    let options = MaterialiseOptions {
        rules,
        default_graph: args.default_graph.map(|which| match which {
            DefaultGraphArg::Separate => DefaultGraph::Separate,
            DefaultGraphArg::Union => DefaultGraph::Union,
        }),
        maintained: args.maintain.map(|when| when == MaintainArg::Sync),
        evaluation: evaluation.clone(),
        ..MaterialiseOptions::default()
    };
    let report = apply(&database, options, args.quiet)?;
    let consistency = contradictions::warn(&database, evaluation, args.contradictions, args.quiet);
    if args.json {
        let mut value = serde_json::to_value(&report)?;
        value["consistency"] = serde_json::to_value(&consistency)?;
        write_json(&value)?;
    }
    Ok(Done::Ok)
}

fn drop_all(args: &MaterialiseArgs, database: &Database, evaluation: &QueryOptions) -> anyhow::Result<Done> {
    let dropped = database.drop_inferences(evaluation)?;
    if !args.quiet {
        say!("dropped {}; there are no rules any more", number::of(dropped, "inferred triple"));
    }
    if args.json {
        write_json(&serde_json::json!({ "dropped": dropped }))?;
    }
    Ok(Done::Ok)
}
