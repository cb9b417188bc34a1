//! Module documentation and sizes: every source file says what it is, and none grows past what one can keep in mind.

use super::files::SourceFile;
use super::problem::Problem;

/// The list of files that may be longer: `path lines reason`.
pub const EXCEPTIONS: &str = "xtask/tidy_exceptions.txt";

/// How many exceptions there may be. May only be lowered.
const EXCEPTIONS_MAX: usize = 0;
const LINES_MAX: usize = 800;
const BYTES_MAX: u64 = 1 << 20;

pub fn check(files: &[SourceFile], exceptions: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        if file.bytes > BYTES_MAX {
            problems.push(Problem::new(
                &file.path,
                0,
                format!("{} bytes; no file may exceed 1 MiB", file.bytes),
            ));
        }
        if file.is_rust() && !file.text.starts_with("//!") {
            problems.push(Problem::new(&file.path, 1, "must open with `//!`: what the file is, and why"));
        }
    }
    check_lines(files, exceptions, &mut problems);
    problems
}

fn check_lines(files: &[SourceFile], exceptions: &str, problems: &mut Vec<Problem>) {
    let mut excepted = Vec::new();
    for (number, line) in (1..).zip(exceptions.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next().map(str::parse::<usize>), words.next()) {
            (Some(path), Some(Ok(lines)), Some(_reason)) => excepted.push((number, path, lines)),
            _ => problems.push(Problem::new(EXCEPTIONS, number, "must be `path lines reason`")),
        }
    }
    if excepted.len() > EXCEPTIONS_MAX {
        problems.push(Problem::new(
            EXCEPTIONS,
            0,
            format!("more than {EXCEPTIONS_MAX} exceptions; the list may only shrink"),
        ));
    }
    for file in files.iter().filter(|file| file.is_rust() && !file.is_test()) {
        let lines = file.code_lines().count();
        let exception = excepted.iter().find(|(_, path, _)| *path == file.path);
        let allowed = exception.map_or(LINES_MAX, |(_, _, lines)| *lines);
        if lines > allowed {
            problems.push(Problem::new(
                &file.path,
                0,
                format!("{lines} lines without tests; {allowed} are allowed"),
            ));
        }
    }
    for (number, path, allowed) in excepted {
        let lines = files.iter().find(|file| file.path == path).map_or(0, |file| file.code_lines().count());
        if lines <= LINES_MAX {
            problems.push(Problem::new(
                EXCEPTIONS,
                number,
                format!("{path} needs no exception any more: remove the line"),
            ));
        } else if lines < allowed {
            problems.push(Problem::new(
                EXCEPTIONS,
                number,
                format!("{path} shrank: lower its limit to {lines}"),
            ));
        }
    }
}
