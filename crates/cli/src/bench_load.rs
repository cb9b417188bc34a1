//! `lode bench load`: loads data of many shapes and sizes with this very program, and makes a table of what it took.
//!
//! Each load is a process of its own, so that its time and memory are those that a user sees, start and sync included.

use crate::args::BenchLoadArgs;
use crate::bench_data::{make_files, program, run_child};
use crate::exit::Done;
use crate::marked;
use crate::number;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::load::{Case, Syntax, cases};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The lines between which a file gets the table.
const MARK: &str = "table of lode bench load";

const HEAD: &str = "| Case | Triples | Seconds | Million triples/s | CPU s per million | Peak MiB | Bytes a triple: orders + dictionary | Leaves packed |\n\
                    |---|---|---|---|---|---|---|---|\n";

pub fn run(args: &BenchLoadArgs) -> anyhow::Result<Done> {
    let chosen = chosen_cases(args)?;
    if args.list {
        let mut out = std::io::stdout().lock();
        for case in &chosen {
            writeln!(
                out,
                "{:<18} {:>6} triples  {}",
                case.name,
                number::short(case.triples() as f64),
                describe(case)
            )?;
        }
        return Ok(Done::Ok);
    }
    let folder = &args.folder;
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut rows = Vec::new();
    for case in &chosen {
        let measured = measure(case, folder, args.runs.max(1))?;
        say!("{}", measured.line());
        rows.push(measured);
    }
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Measured::as_json).collect();
        writeln!(std::io::stdout().lock(), "{:#}", Value::from(rows))?;
    } else {
        write!(std::io::stdout().lock(), "{}", table(&rows))?;
    }
    if let Some(path) = &args.markdown {
        marked::replace(path, MARK, &table(&rows))?;
    }
    Ok(Done::Ok)
}

fn chosen_cases(args: &BenchLoadArgs) -> anyhow::Result<Vec<Case>> {
    let all = cases();
    if let Some(unknown) = args.cases.iter().find(|name| !all.iter().any(|case| case.name == **name)) {
        bail!("there is no case {unknown}: see `lode bench load --list`");
    }
    let wanted = |case: &Case| {
        if args.cases.is_empty() {
            case.triples() + case.before().map_or(0, |data| data.triples()) <= args.up_to
        } else {
            args.cases.iter().any(|name| name == case.name)
        }
    };
    Ok(all.into_iter().filter(wanted).collect())
}

/// What is special about a case.
fn describe(case: &Case) -> String {
    let mut text = format!("{}{}", case.syntax.extension(), case.compression.extension());
    if case.files > 1 {
        let _ = write!(text, ", {} files", case.files);
    }
    if let Some(before) = case.before() {
        let _ = write!(text, ", into a database of {} triples", number::short(before.triples() as f64));
    }
    if let Some(threads) = case.threads {
        let _ = write!(text, ", --threads {threads}");
    }
    if let Some(memory) = case.memory {
        let _ = write!(text, ", --memory {memory}");
    }
    text
}

/// One case: the median run.
struct Measured {
    case: Case,
    /// Wall seconds of all runs, ascending.
    seconds: Vec<f64>,
    /// The report of the median run.
    report: Value,
}

fn measure(case: &Case, folder: &Path, runs: usize) -> anyhow::Result<Measured> {
    let files = make_files(case, folder)?;
    let base = case.before().map(|data| base_database(&data, folder)).transpose()?;
    let database = folder.join("bench.db");
    let mut measured = Vec::new();
    for _ in 0..runs {
        remove(&database)?;
        if let Some(base) = &base {
            copy_folder(base, &database)?;
        }
        let mut command = program()?;
        command.arg("load").arg(&database).args(&files).args(["--json", "--quiet"]);
        if let Some(threads) = case.threads {
            command.args(["--threads", &threads.to_string()]);
        }
        if let Some(memory) = case.memory {
            command.args(["--memory", memory]);
        }
        let start = Instant::now();
        let output = run_child(command)?;
        let seconds = start.elapsed().as_secs_f64();
        let report: Value = serde_json::from_slice(&output).context("the report of a load is not JSON")?;
        measured.push((seconds, report));
    }
    remove(&database)?;
    measured.sort_by(|a, b| a.0.total_cmp(&b.0));
    let seconds = measured.iter().map(|(seconds, _)| *seconds).collect();
    let (_, report) = measured.swap_remove(measured.len() / 2);
    Ok(Measured { case: *case, seconds, report })
}

/// The database that a case's load goes into, made once.
fn base_database(data: &lode_bench::load::Data, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{}.db", data.stem()));
    if path.join("MANIFEST").exists() {
        return Ok(path);
    }
    let file = crate::bench_data::make_file(data, Syntax::Nt, folder)?;
    let mut command = program()?;
    command.arg("load").arg(&path).arg(&file).arg("--quiet");
    run_child(command)?;
    Ok(path)
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("creating {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &copy)?;
        } else {
            std::fs::copy(&path, &copy).with_context(|| format!("copying {}", path.display()))?;
        }
    }
    Ok(())
}

impl Measured {
    fn number(&self, key: &str) -> f64 {
        self.report.get(key).and_then(Value::as_f64).unwrap_or(0.0)
    }

    fn median(&self) -> f64 {
        self.seconds.get(self.seconds.len() / 2).copied().unwrap_or(0.0)
    }

    fn millions(&self) -> f64 {
        self.number("quads") / 1e6
    }

    /// Bytes a triple of the orders and of the dictionary.
    fn bytes_per_triple(&self) -> (f64, f64) {
        let added = self.number("added").max(1.0);
        let dictionary = self.report.pointer("/file_bytes/dictionary").and_then(Value::as_f64).unwrap_or(0.0);
        let all: f64 = self
            .report
            .get("file_bytes")
            .and_then(Value::as_object)
            .map_or(0.0, |files| files.values().filter_map(Value::as_f64).sum());
        ((all - dictionary) / added, dictionary / added)
    }

    fn line(&self) -> String {
        let all: Vec<String> = self.seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
        format!(
            "{}: {:.2} M/s, {:.2} CPU s per million ({} s)",
            self.case.name,
            self.millions() / self.median(),
            self.number("processor_seconds") / self.millions(),
            all.join(", "),
        )
    }

    fn row(&self) -> String {
        let (orders, dictionary) = self.bytes_per_triple();
        format!(
            "| {} ({}) | {} | {:.2} | {:.2} | {:.2} | {:.0} | {orders:.1} + {dictionary:.1} = {:.1} | {:.1} % |\n",
            self.case.name,
            describe(&self.case),
            number::grouped(self.number("quads") as u64),
            self.median(),
            self.millions() / self.median(),
            self.number("processor_seconds") / self.millions(),
            self.number("peak_resident_bytes") / f64::from(1 << 20),
            orders + dictionary,
            100.0 * self.number("block_fill"),
        )
    }

    fn as_json(&self) -> Value {
        json!({ "case": self.case.name, "seconds": self.seconds, "report": self.report })
    }
}

fn table(rows: &[Measured]) -> String {
    rows.iter().fold(HEAD.to_owned(), |text, row| text + &row.row())
}
