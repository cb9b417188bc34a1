//! The reasoners: how each is called, whether it is there, and how what it tells is read.

use super::process::{self, Ended};
use crate::args::BenchReasonArgs;
use crate::bench_data::program;
use anyhow::Context;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A look at whether something is installed takes so long at most.
const LOOK: Duration = Duration::from_secs(30);

const REASONABLE: &str = include_str!("reasonable.py");
const OWLRL: &str = include_str!("owlrl.py");
const JENA: &str = include_str!("JenaRules.java");
/// The file that Java starts has the name of its class.
const JENA_FILE: &str = "JenaRules.java";

/// Who infers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Lode,
    Reasonable,
    Owlrl,
    Jena,
}

/// What was inferred, and what that took.
pub struct Inferred {
    pub triples: u64,
    /// Of inferring alone, as the tool tells it.
    pub seconds: f64,
    /// Of the whole process or processes.
    pub whole_seconds: f64,
    pub peak_bytes: Option<u64>,
}

impl Tool {
    pub const ALL: [Self; 4] = [Self::Lode, Self::Reasonable, Self::Owlrl, Self::Jena];

    pub fn name(self) -> &'static str {
        match self {
            Self::Lode => "lode",
            Self::Reasonable => "reasonable",
            Self::Owlrl => "owlrl",
            Self::Jena => "jena",
        }
    }

    /// Why it cannot be run here; `None` where it can.
    pub fn missing(self, args: &BenchReasonArgs, folder: &Path) -> anyhow::Result<Option<String>> {
        let look = |command| Ok(process::run(command, LOOK, folder)?.err());
        let mut python = Command::new(&args.python);
        match self {
            Self::Lode => Ok(None),
            Self::Reasonable | Self::Owlrl => {
                python.args(["-c", &format!("import {}", self.name())]);
                look(python)
            }
            Self::Jena => match class_path(args) {
                None => Ok(Some("neither --jena nor JENA_HOME tells where it is".to_owned())),
                Some(_) => {
                    let mut java = Command::new(&args.java);
                    java.arg("-version");
                    look(java)
                }
            },
        }
    }

    /// Infers from a file of so many triples, once.
    pub fn infer(
        self,
        args: &BenchReasonArgs,
        folder: &Path,
        data: &Path,
        stated: u64,
    ) -> anyhow::Result<Result<Inferred, String>> {
        let mut command = match self {
            Self::Lode => return by_lode(args, folder, data),
            Self::Reasonable | Self::Owlrl => {
                let mut python = Command::new(&args.python);
                python.args(["-c", if self == Self::Owlrl { OWLRL } else { REASONABLE }]);
                python
            }
            Self::Jena => {
                let path = folder.join(JENA_FILE);
                std::fs::write(&path, JENA).with_context(|| format!("writing {}", path.display()))?;
                let mut java = Command::new(&args.java);
                java.arg("-cp").arg(class_path(args).unwrap_or_default()).arg(path);
                java
            }
        };
        command.arg(data);
        let ended = match process::run(command, args.limit, folder)? {
            Ok(ended) => ended,
            Err(why) => return Ok(Err(why)),
        };
        let mut words = ended.out.split_whitespace();
        let told = words.next().and_then(|word| word.parse::<u64>().ok());
        let seconds = words.next().and_then(|word| word.parse::<f64>().ok());
        Ok(match (told, seconds) {
            (Some(triples), Some(seconds)) => Ok(Inferred {
                triples: triples.saturating_sub(stated),
                seconds,
                whole_seconds: ended.seconds,
                peak_bytes: ended.peak_bytes,
            }),
            _ => Err(format!("it wrote {:?}", ended.out.chars().take(100).collect::<String>())),
        })
    }
}

fn class_path(args: &BenchReasonArgs) -> Option<String> {
    let installed = || std::env::var("JENA_HOME").ok().map(|home| format!("{home}/lib/*"));
    args.jena.clone().or_else(installed)
}

/// Loads into a new database, and infers there.
fn by_lode(args: &BenchReasonArgs, folder: &Path, data: &Path) -> anyhow::Result<Result<Inferred, String>> {
    let database = folder.join("db");
    match std::fs::remove_dir_all(&database) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing {}", database.display()));
        }
        _ => {}
    }
    let (mut load, mut materialise) = (program()?, program()?);
    load.arg("load").arg(&database).arg(data);
    materialise.arg("materialise").arg(&database).args(["--json", "--rules", &args.rules]);
    for command in [&mut load, &mut materialise] {
        command.arg("--quiet");
        if let Some(memory) = args.memory {
            command.args(["--memory", &memory.to_string()]);
        }
        if let Some(threads) = args.threads {
            command.args(["--threads", &threads.to_string()]);
        }
    }
    let loaded = match process::run(load, args.limit, folder)? {
        Ok(ended) => ended,
        Err(why) => return Ok(Err(why)),
    };
    let left = args.limit.saturating_sub(Duration::from_secs_f64(loaded.seconds));
    let ended: Ended = match process::run(materialise, left, folder)? {
        Ok(ended) => ended,
        Err(why) => return Ok(Err(why)),
    };
    let report: Value =
        serde_json::from_str(&ended.out).context("the report of lode materialise is not JSON")?;
    Ok(Ok(Inferred {
        triples: report["inferred"].as_u64().context("no number of inferred triples")?,
        seconds: report["seconds"].as_f64().context("no seconds of inferring")?,
        whole_seconds: loaded.seconds + ended.seconds,
        peak_bytes: loaded.peak_bytes.max(ended.peak_bytes),
    }))
}
