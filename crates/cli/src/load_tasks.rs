//! `lode load --workers`: shares a load out to processes of this program, looks after them, and publishes what they have made.

use crate::args::LoadArgs;
use crate::exit::{DataSyntaxError, Done, unknown_format, wrong_usage};
use crate::load_line::left_text;
use crate::load_target::LoadTarget;
use crate::memory;
use crate::number;
use crate::progress::{LiveLine, remaining};
use crate::skipped::SkippedFiles;
use crate::sources::Sources;
use crate::stats::section_name;
use crate::talk::{say, write_json};
use anyhow::{Context, bail};
use lode_engine::store::load::parts::{
    Board, Failure, LEASE, PartsReport, PartsStatus, PhaseStatus, Plan, ReadPlan, give_up, worker_name,
};
use lode_engine::store::load::{LoadOptions, Skipped};
use lode_rdf::NamedNode;
use lode_rdf::format::RdfFormat;
use lode_rdf::value_id::Section;
use serde_json::{Map, Value, json};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often workers are looked after.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// After so many looks the tasks are counted, too: all may be done although a worker does not end.
const LOOKS_PER_COUNT: u32 = 20;
/// A worker gets no less memory.
const MEMORY_BYTES_MIN: usize = 48 << 20;
/// So often workers that were killed are started anew, for each of them.
const RESTARTS: usize = 4;

pub fn run(args: &LoadArgs, workers: usize) -> anyhow::Result<Done> {
    let target = LoadTarget::of(args)?;
    let found = Sources::find(&args.files, args.source_options())?;
    let mut files = Vec::new();
    for source in &found.sources {
        let Some(path) = source.file() else {
            return Err(wrong_usage(format!(
                "{} cannot be read more than once: a load with workers takes files and folders only",
                source.name()
            )));
        };
        files.push(std::path::absolute(path)?);
    }
    let read = read_plan(args)?;
    let memory_bytes = args.memory.unwrap_or_else(|| LoadOptions::default().memory_bytes);
    let of_one = (memory_bytes / workers).max(MEMORY_BYTES_MIN);
    memory::keep_to(of_one);
    let board = target.board()?;
    let parts = args.shared.parts.map_or(workers, usize::from);
    let plan = Plan::new(&**board.vfs(), &files, parts, of_one, read)?;
    let start = Instant::now();
    if board.has_ended(&plan)? {
        return tell_ended(&board, args);
    }
    let report = load(&target, &board, &plan, workers, args).inspect_err(|_| target.leave())?;
    let in_archives = Skipped::default();
    let skipped = SkippedFiles::new(&found.skipped, &in_archives);
    skipped.tell();
    if args.json {
        write_json(&as_json(&report, &skipped, start.elapsed()))?;
    }
    if !args.quiet {
        summary(&report, start.elapsed());
    }
    target.tell(args.quiet)?;
    Ok(Done::Ok)
}

/// Says of a load that it has ended before, and removes its work.
fn tell_ended(board: &Board, args: &LoadArgs) -> anyhow::Result<Done> {
    board.remove()?;
    if args.json {
        write_json(&json!({ "ended_before": true }))?;
    }
    if !args.quiet {
        say!(
            "this load had ended: all of it is in the database, and its work in {} is removed now",
            board.name()
        );
    }
    Ok(Done::Ok)
}

fn read_plan(args: &LoadArgs) -> anyhow::Result<ReadPlan> {
    let format = args.format.as_deref();
    let format =
        format.map(|name| RdfFormat::from_name(name).ok_or_else(|| unknown_format(name))).transpose()?;
    if let Some(graph) = &args.graph {
        NamedNode::new(graph)
            .map_err(|error| wrong_usage(format!("--graph {graph} is not an absolute IRI: {error}")))?;
    }
    Ok(ReadPlan {
        format,
        base_iri: args.base.clone(),
        graph: args.graph.clone(),
        lenient: args.lenient,
        statement_bytes_max: args.statement_bytes_max,
    })
}

fn load(
    target: &LoadTarget,
    board: &Board,
    plan: &Plan,
    workers: usize,
    args: &LoadArgs,
) -> anyhow::Result<PartsReport> {
    let quiet = args.quiet;
    let open = target.open()?;
    if open.begin(board, plan)? && !quiet {
        say!("goes on with the load in {}", board.name());
    }
    let mut told = Vec::new();
    tell_damage(board, &mut told)?;
    // It may have another identity than the one that was made here.
    let plan = board.plan()?.unwrap_or_else(|| plan.clone());
    let line = live_line(board, &plan, quiet);
    let mut team = Team::start(target, workers)?;
    let worked = team.look_after(board, &plan);
    drop(line);
    tell_damage(board, &mut told)?;
    worked?;
    let report = open.finish(board).with_context(|| {
        format!(
            "publishing what is made: the same command line goes on there, and makes again what is damaged; to begin again, remove {}",
            board.name()
        )
    })?;
    team.end();
    // A worker elsewhere may yet write what nobody needs.
    if let Err(error) = board.remove() {
        say!("warning: {} could not be removed: {error}", board.name());
    }
    if report.had_data && !args.no_merge {
        open.keep_few(workers * plan.memory_bytes, quiet);
    }
    Ok(report)
}

/// Warns of what was damaged of finished tasks, unless that is told already.
fn tell_damage(board: &Board, told: &mut Vec<String>) -> anyhow::Result<()> {
    for damage in board.damages()? {
        if !told.contains(&damage) {
            say!("warning: {damage}: made again; look after the disk");
            told.push(damage);
        }
    }
    Ok(())
}

/// The workers of this machine.
struct Team<'a> {
    target: &'a LoadTarget,
    members: Vec<Member>,
    restarts_left: usize,
}

/// A worker.
struct Member {
    name: String,
    process: Child,
}

impl<'a> Team<'a> {
    fn start(target: &'a LoadTarget, workers: usize) -> anyhow::Result<Self> {
        let mut team = Self { target, members: Vec::new(), restarts_left: workers * RESTARTS };
        for _ in 0..workers {
            team.members.push(Member::start(target)?);
        }
        Ok(team)
    }

    /// Waits until all tasks are done. Workers that were killed are started anew.
    fn look_after(&mut self, board: &Board, plan: &Plan) -> anyhow::Result<()> {
        let looks_per_failure = (board.look_every().as_millis() / LOOK_EVERY.as_millis()).max(1) as u32;
        for look in 1_u32.. {
            if look.is_multiple_of(looks_per_failure) {
                refuse_failed(board)?;
            }
            let running = self.look(board)?;
            if running == 0 || look.is_multiple_of(LOOKS_PER_COUNT) {
                if PartsStatus::is_done(board, plan)? {
                    return Ok(());
                }
                if running == 0 {
                    refuse_failed(board)?;
                    bail!(
                        "all workers of this machine have ended, and not all is done. The same command line goes on where the load is; to begin again, \
                         remove {}",
                        board.name()
                    );
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Starts workers anew that were killed; how many run.
    fn look(&mut self, board: &Board) -> anyhow::Result<usize> {
        let mut running = 0;
        for member in &mut self.members {
            let Some(status) = member.process.try_wait()? else {
                running += 1;
                continue;
            };
            // It ended by itself, and has told why where that was an error.
            if status.code().is_some() {
                continue;
            }
            if self.restarts_left == 0 {
                bail!(
                    "workers are killed again and again ({status}): is there enough memory? The same command line goes on where the load is; to begin \
                     again with other options, remove {}",
                    board.name()
                );
            }
            self.restarts_left -= 1;
            say!("a worker was killed ({status}); another one goes on");
            give_up(board, &member.task_name())?;
            *member = Member::start(self.target)?;
            running += 1;
        }
        Ok(running)
    }

    /// Lets all workers give up what they are at. Those that do not hear are killed: whatever they would commit is repeatable.
    fn end(&mut self) {
        for member in &mut self.members {
            drop(member.process.stdin.take());
        }
        let start = Instant::now();
        for member in &mut self.members {
            while matches!(member.process.try_wait(), Ok(None)) {
                if start.elapsed() > LEASE {
                    let _ = member.process.kill();
                    let _ = member.process.wait();
                    break;
                }
                std::thread::sleep(LOOK_EVERY / 10);
            }
        }
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Fails where the load has.
fn refuse_failed(board: &Board) -> anyhow::Result<()> {
    let Some(Failure { text, is_syntax }) = board.failure()? else { return Ok(()) };
    let folder = board.name();
    Err(match is_syntax {
        true => anyhow::Error::new(DataSyntaxError(format!(
            "{text}\nnothing was loaded\nhint: mend the file, remove {folder} and begin again; if the file keeps its length and nothing else in it changes, the \
             same command line goes on where the load is\nhint: --dry-run without --workers lists all mistakes without loading"
        ))),
        false => anyhow::Error::msg(format!(
            "{text}\nnothing was loaded\nhint: once that is mended, the same command line goes on where the load is; to begin again, or to load otherwise, \
             remove {folder}"
        )),
    })
}

impl Member {
    fn start(target: &LoadTarget) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("finding this program")?;
        let name = worker_name();
        let mut command = Command::new(program);
        command.arg("load-worker").args(target.worker_arguments());
        command.args(["--tasks", "1", "--while-input", "--quiet", "--name", &name]);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Ok(Self { process: command.spawn().context("starting a worker")?, name })
    }

    /// The name by which it is at its tasks, one at a time.
    fn task_name(&self) -> String {
        format!("{}.0", self.name)
    }
}

fn live_line(board: &Board, plan: &Plan, quiet: bool) -> LiveLine {
    let (board, plan, every) = (board.clone(), plan.clone(), board.look_every());
    let mut began: Option<(PhaseStatus, Instant)> = None;
    let mut shown: Option<(String, Instant)> = None;
    let mut text = move || {
        let Ok(status) = PartsStatus::read(&board, &plan) else { return "publishing".to_owned() };
        let Some(now) = status.current() else { return "publishing".to_owned() };
        if began.is_none_or(|(phase, _)| phase.phase != now.phase) {
            began = Some((now, Instant::now()));
        }
        let left = began.and_then(|(first, since)| time_left(first.done, now, since.elapsed()));
        line(&status, now, left)
    };
    LiveLine::start(quiet, move || match &shown {
        Some((last, since)) if since.elapsed() < every => last.clone(),
        _ => shown.insert((text(), Instant::now())).0.clone(),
    })
}

fn line(status: &PartsStatus, now: PhaseStatus, left: Option<Duration>) -> String {
    let phases: Vec<String> = status
        .phases
        .iter()
        .filter(|phase| phase.all > 0)
        .map(|phase| format!("{} {}/{}", phase.phase.name(), phase.done, phase.all))
        .collect();
    let at = status.running.iter().filter(|(task, _)| task.phase == now.phase);
    let at: Vec<String> = at.map(|(task, worker)| format!("{worker}: {task}")).collect();
    format!("{} ({}){}", phases.join(", "), at.join(", "), left_text(left))
}

fn time_left(first: usize, now: PhaseStatus, elapsed: Duration) -> Option<Duration> {
    let since = |count: usize| count.checked_sub(first).map(|count| count as u64);
    remaining(elapsed, since(now.done)?, since(now.all)?)
}

fn summary(report: &PartsReport, elapsed: Duration) {
    if report.was_published {
        say!("the load had been published before it was killed");
    }
    say!(
        "loaded {} quads ({} read) in {}, {}; {} terms, {} blank nodes, {} inline values; {}",
        number::grouped(report.added),
        number::grouped(report.quads),
        number::duration(elapsed),
        number::rate(report.quads, elapsed),
        number::grouped(report.terms.iter().sum()),
        number::grouped(report.blank_nodes),
        number::grouped(report.inline_values),
        number::of(report.segments as u64, "segment"),
    );
}

/// In the words of a load by one process, where it has them.
fn as_json(report: &PartsReport, skipped: &SkippedFiles<'_>, elapsed: Duration) -> Value {
    let of_section = |(section, terms): (&Section, u64)| (section_name(*section).to_owned(), json!(terms));
    let terms: Map<String, Value> = Section::ALL.iter().zip(report.terms).map(of_section).collect();
    json!({
        "quads": report.quads,
        "added": report.added,
        "duplicates": report.quads.saturating_sub(report.added + report.existing),
        "existing": report.existing,
        "skipped_files": skipped.count(),
        "skipped": skipped.as_json(),
        "new_terms": terms,
        "blank_nodes": report.blank_nodes,
        "inline_values": report.inline_values,
        "segments": report.segments,
        "seconds_total": elapsed.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    //! What the live line says.
    use super::*;
    use lode_engine::store::load::parts::{Phase, Task};

    #[test]
    fn the_line_tells_phases_workers_and_time_left() {
        let phase = |phase, done, all| PhaseStatus { phase, done, all };
        let now = phase(Phase::Terms, 1, 4);
        let status = PartsStatus {
            phases: vec![phase(Phase::Read, 8, 8), now],
            running: vec![(Task::new(Phase::Terms, 2), "77.0".into())],
        };
        let left = time_left(0, now, Duration::from_secs(10));
        let text = line(&status, now, left);
        for part in ["read 8/8", "terms 1/4", "77.0: terms-000002", "about 30"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(time_left(1, now, Duration::from_secs(10)), None);
    }
}
