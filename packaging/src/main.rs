//! `cargo xtask dist` and `cargo xtask licences`, which call this.

use anyhow::bail;
use packaging::{Asked, Metadata, Target, dist, licences};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask dist [TARGET...] [--binary FILE] [--output DIR]
       cargo xtask licences

TARGET: x86_64-unknown-linux-musl (unless told otherwise), aarch64-unknown-linux-musl
--binary FILE: package this one, instead of building
--output DIR:  where to write (target/packages)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    match arguments.split_first() {
        Some((first, rest)) if first == "dist" => {
            for path in dist(root, &asked(rest)?)? {
                eprintln!("{}", path.display());
            }
            Ok(())
        }
        Some((first, [])) if first == "licences" => licences::check_all(root),
        _ => bail!("{USAGE}"),
    }
}

fn asked(arguments: &[String]) -> anyhow::Result<Asked> {
    let mut asked = Asked::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().map(PathBuf::from);
        match (argument.as_str(), Target::named(argument)) {
            ("--binary", _) => asked.binary = value(),
            ("--output", _) => asked.output = value(),
            (_, Some(target)) => asked.targets.push(target),
            _ => bail!("{argument}: unknown\n{USAGE}"),
        }
    }
    Ok(asked)
}

// The type is part of the library's face only for tests.
const _: fn(&Path, &[&str]) -> anyhow::Result<Metadata> = Metadata::read;
