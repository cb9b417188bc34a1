//! `lode bench reason`: how fast rules infer from data of several kinds, beside other reasoners where they are installed.

mod process;
mod tool;

use crate::args::BenchReasonArgs;
use crate::bench_scratch::Scratch;
use crate::exit::{Done, wrong_usage};
use crate::number;
use crate::talk::{say, write_json};
use anyhow::Context;
use lode_bench::reason::Case;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use tool::{Inferred, Tool};

/// One tool's median run over one kind of data; or why there is none.
struct Row {
    case: Case,
    size: u64,
    stated: u64,
    tool: Tool,
    result: Result<Inferred, String>,
}

pub fn run(args: &BenchReasonArgs) -> anyhow::Result<Done> {
    let cases: Vec<(Case, u64)> =
        Case::ALL.into_iter().map(|case| (case, size(args, case))).filter(|(_, size)| *size > 0).collect();
    if cases.is_empty() {
        return Err(wrong_usage("all sizes are 0: nothing is measured".to_owned()));
    }
    let scratch = Scratch::new(args.folder.as_deref(), "reason")?;
    let folder = &scratch.path;
    let (tools, missing) = tools(args, folder)?;
    let mut rows = Vec::new();
    for (case, size) in cases {
        // N-Triples, which is Turtle: reasonable goes by the name, and knows Turtle alone.
        let data = folder.join(format!("{}-{size}-{}.ttl", case.name(), args.seed));
        let stated = write_data(case, size, args.seed, &data)?;
        for tool in &tools {
            let row =
                Row { case, size, stated, tool: *tool, result: median(args, *tool, folder, &data, stated)? };
            if !args.json {
                say!("{}", row.line());
            }
            rows.push(row);
        }
    }
    if args.json {
        let missing: Vec<Value> =
            missing.iter().map(|(tool, why)| json!({ "reasoner": tool.name(), "reason": why })).collect();
        let runs: Vec<Value> = rows.iter().map(Row::json).collect();
        write_json(&json!({
            "rules": args.rules, "seed": args.seed, "runs_each": args.runs.max(1), "runs": runs, "missing": missing,
        }))?;
    } else {
        write_table(&rows)?;
    }
    let own_failed = rows.iter().any(|row| row.tool == Tool::Lode && row.result.is_err());
    if own_failed {
        anyhow::bail!("lode did not infer from all data: see above");
    }
    Ok(Done::Ok)
}

fn size(args: &BenchReasonArgs, case: Case) -> u64 {
    match case {
        Case::Chain => args.chain,
        Case::Wide => args.wide,
        Case::Deep => args.deep,
        Case::Equal => args.equal,
        Case::Joins => args.joins,
    }
}

/// Those that can be run, and why the others cannot.
fn tools(args: &BenchReasonArgs, folder: &Path) -> anyhow::Result<(Vec<Tool>, Vec<(Tool, String)>)> {
    if args.alone {
        return Ok((vec![Tool::Lode], Vec::new()));
    }
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for tool in Tool::ALL {
        match tool.missing(args, folder)? {
            None => there.push(tool),
            Some(why) => {
                if !args.json {
                    say!("without {}: {why}", tool.name());
                }
                missing.push((tool, why));
            }
        }
    }
    Ok((there, missing))
}

fn write_data(case: Case, size: u64, seed: u64, path: &Path) -> anyhow::Result<u64> {
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    case.generate(size, seed, &mut out).with_context(|| format!("writing {}", path.display()))
}

/// The run that is in the middle by the time of inferring.
fn median(
    args: &BenchReasonArgs,
    tool: Tool,
    folder: &Path,
    data: &Path,
    stated: u64,
) -> anyhow::Result<Result<Inferred, String>> {
    let mut runs = Vec::new();
    for _ in 0..args.runs.max(1) {
        match tool.infer(args, folder, data, stated)? {
            Ok(inferred) => runs.push(inferred),
            Err(why) => return Ok(Err(why)),
        }
    }
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(Ok(runs.swap_remove(runs.len() / 2)))
}

impl Row {
    fn head(&self) -> [String; 3] {
        [
            format!("{} {}", self.case.name(), self.size),
            number::grouped(self.stated),
            self.tool.name().to_owned(),
        ]
    }

    fn line(&self) -> String {
        let [case, _, tool] = self.head();
        match &self.result {
            Ok(inferred) => {
                let triples = number::of(inferred.triples, "triple");
                format!(
                    "{case}, {tool}: {triples} in {:.3} s, {}/s",
                    inferred.seconds,
                    number::short(inferred.rate())
                )
            }
            Err(why) => format!("{case}, {tool}: failed: {why}"),
        }
    }

    fn json(&self) -> Value {
        let mut value = json!({
            "data": self.case.name(), "size": self.size, "stated": self.stated, "reasoner": self.tool.name(),
        });
        match &self.result {
            Ok(inferred) => {
                value["inferred"] = inferred.triples.into();
                value["infer_seconds"] = inferred.seconds.into();
                value["whole_seconds"] = inferred.whole_seconds.into();
                value["inferred_per_second"] = inferred.rate().into();
                value["peak_resident_bytes"] = inferred.peak_bytes.into();
            }
            Err(why) => value["failed"] = why.as_str().into(),
        }
        value
    }
}

impl Inferred {
    fn rate(&self) -> f64 {
        self.triples as f64 / self.seconds.max(1e-9)
    }
}

fn write_table(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "| data | stated | reasoner | inferred | infer s | whole s | inferred/s | peak MiB |")?;
    writeln!(out, "|---|--:|---|--:|--:|--:|--:|--:|")?;
    for row in rows {
        let figures = match &row.result {
            Ok(inferred) => {
                let peak = inferred.peak_bytes.map_or("-".to_owned(), |bytes| (bytes >> 20).to_string());
                format!(
                    "{} | {:.3} | {:.3} | {} | {peak}",
                    number::grouped(inferred.triples),
                    inferred.seconds,
                    inferred.whole_seconds,
                    number::grouped(inferred.rate() as u64),
                )
            }
            Err(_) => "failed | - | - | - | -".to_owned(),
        };
        writeln!(out, "| {} | {figures} |", row.head().join(" | "))?;
    }
    Ok(())
}
