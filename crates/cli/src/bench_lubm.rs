//! `lode bench lubm`.

use crate::args::{LubmCommand, LubmGenerateArgs};
use crate::bench_queries;
use crate::exit::{Done, wrong_usage};
use crate::number;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::lubm::{self, Options};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

pub fn run(command: &LubmCommand) -> anyhow::Result<Done> {
    match command {
        LubmCommand::Generate(args) => generate(args),
        LubmCommand::Ontology(args) => {
            lubm::write_ontology(&mut opened(args.output.as_deref())?)?;
            Ok(Done::Ok)
        }
        LubmCommand::Run(args) => bench_queries::run("lubm", &lubm::QUERIES, args),
    }
}

fn generate(args: &LubmGenerateArgs) -> anyhow::Result<Done> {
    if args.format != "nt" {
        return Err(wrong_usage(format!("unknown format {}: use nt", args.format)));
    }
    if args.universities == 0 {
        bail!("--universities must be above 0");
    }
    let options = Options { universities: args.universities, seed: args.seed, inferred: !args.asserted };
    let mut out = opened(args.output.as_deref())?;
    let triples = lubm::generate(&options, &mut BufWriter::with_capacity(1 << 18, &mut out))?;
    if !args.quiet {
        say!("generated {} triples", number::grouped(triples));
    }
    Ok(Done::Ok)
}

fn opened(path: Option<&Path>) -> anyhow::Result<Box<dyn Write>> {
    Ok(match path {
        None => Box::new(std::io::stdout().lock()),
        Some(path) => Box::new(File::create(path).with_context(|| format!("creating {}", path.display()))?),
    })
}
