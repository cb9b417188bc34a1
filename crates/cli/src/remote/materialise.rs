//! Inferences of a database that a server has.

use super::{Asked, Remote, Told, parameter, read_for};
use crate::args::{DefaultGraphArg, MaintainArg, MaterialiseArgs};
use crate::exit::wrong_usage;
use crate::number;
use crate::talk::say;
use anyhow::Context;
use lode_engine::{CancelToken, RuleSource};
use std::io::Read;
use std::time::Duration;

const PATH: &str = "/admin/materialise";

/// Has the server apply rules, or drop what they added. What it tells of that.
pub fn materialise(
    args: &MaterialiseArgs,
    rules: &[RuleSource],
    url: &str,
) -> anyhow::Result<serde_json::Value> {
    let own = [(args.threads.is_some(), "--threads"), (args.memory.is_some(), "--memory")];
    if let Some((_, name)) = own.iter().find(|(is_given, _)| *is_given) {
        return Err(wrong_usage(format!("{name} is for a folder: a server has its own (lode serve {name})")));
    }
    let cancel = CancelToken::new(args.timeout);
    let server = Remote::new(url, &args.login)?;
    let response = match args.drop {
        true => server.delete_at(PATH, &cancel)?,
        false => {
            let (parameters, text) = asked(args, rules)?;
            let media_type = "application/sparql-update";
            server.ask_at(PATH, &Asked { media_type, text: &text, accept: "*/*", parameters }, &cancel)?
        }
    };
    read_for(&cancel);
    let mut text = String::new();
    let mut told = Told::new(response, &cancel);
    told.read_to_string(&mut text).map_err(|error| Told::failed(&cancel, error))?;
    let report: serde_json::Value =
        serde_json::from_str(&text).context("what the server tells is not JSON")?;
    if !args.quiet {
        say!("{}", summary(&report));
        let consistency = &report["consistency"];
        let found = consistency["contradictions"].as_array().map_or(0, Vec::len) as u64;
        if found > 0 {
            let more = if consistency["is_complete"] == true { "" } else { ", and there are more" };
            let count = number::of(found, "contradiction");
            say!("warning: the data are contradictory: {count}{more} (lode why {url} false tells why)");
        }
    }
    Ok(report)
}

/// Parameters, and the body: one text at most.
fn asked(args: &MaterialiseArgs, rules: &[RuleSource]) -> anyhow::Result<(String, String)> {
    let (mut parameters, mut body) = (Vec::new(), None);
    for source in rules {
        match source {
            RuleSource::Set(name) => parameters.push(parameter("rules", name)),
            RuleSource::Text { name, text } if body.is_none() => {
                parameters.push(parameter("name", name));
                body = Some(text.clone());
            }
            RuleSource::Text { .. } => {
                return Err(wrong_usage("a server takes one file of rules, beside any sets".to_owned()));
            }
        }
    }
    parameters.extend(
        args.maintain
            .map(|when| parameter("maintain", if when == MaintainArg::Sync { "sync" } else { "async" })),
    );
    parameters.extend(args.default_graph.map(|which| {
        parameter("default-graph", if which == DefaultGraphArg::Union { "union" } else { "separate" })
    }));
    Ok((parameters.join("&"), body.unwrap_or_default()))
}

fn summary(report: &serde_json::Value) -> String {
    let count = |name: &str| report[name].as_u64().unwrap_or(0);
    if let Some(dropped) = report["dropped"].as_u64() {
        return format!("dropped {}; there are no rules any more", number::of(dropped, "inferred triple"));
    }
    let inferred = number::of(count("inferred"), "triple");
    if report["was_up_to_date"] == true {
        return format!("nothing to do: {inferred} inferred, up to date");
    }
    let time = Duration::from_secs_f64(report["seconds"].as_f64().unwrap_or(0.0));
    let rounds = number::of(count("rounds"), "round");
    format!("inferred {inferred} in {rounds} and {}; version {}", number::duration(time), count("version"))
}
