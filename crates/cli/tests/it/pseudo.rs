//! A person in front of a terminal, played by Python; tests that need it are skipped, and say so, where there is none.

use crate::lode::{Lode, note};
use serde_json::json;
use std::process::Command;

/// What a person does, or waits for.
pub enum Step<'a> {
    /// Types.
    Send(&'a str),
    /// Waits until this was written.
    See(&'a str),
    /// Waits so many seconds.
    Pause(f64),
}

/// What was written, with all escape sequences, by a run that ended with this code; none where there is no Python.
#[track_caller]
pub fn played(lode: &Lode, args: &[&str], columns: u16, steps: &[Step<'_>], code: i32) -> Option<String> {
    played_program(lode, &[&[env!("CARGO_BIN_EXE_lode")][..], args].concat(), columns, steps, code)
}

/// The same of any program.
#[track_caller]
pub fn played_program(
    lode: &Lode,
    command: &[&str],
    columns: u16,
    steps: &[Step<'_>],
    code: i32,
) -> Option<String> {
    let python = std::env::var("LODE_CLIENTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if Command::new(&python).arg("--version").output().is_err() {
        note(format_args!("skipped: no Python to play a person (LODE_CLIENTS_PYTHON, python3)"));
        return None;
    }
    let steps: Vec<_> = steps
        .iter()
        .map(|step| match step {
            Step::Send(text) => json!(["send", text]),
            Step::See(text) => json!(["see", text]),
            Step::Pause(seconds) => json!(["pause", seconds]),
        })
        .collect();
    let asked = json!({ "columns": columns, "rows": 40, "command": command, "steps": steps });
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/terminal/pseudo.py");
    let mut run = Command::new(python);
    run.arg(program).arg(asked.to_string()).current_dir(lode.path("."));
    run.env("XDG_STATE_HOME", lode.path("state")).env("TERM", "xterm").env("NO_COLOR", "1");
    run.env_remove("PAGER").env_remove("LESS");
    let outcome = run.output().unwrap();
    let text = String::from_utf8_lossy(&outcome.stdout).replace("\r\n", "\n");
    assert!(
        text.ends_with(&format!("\nEXIT {code}\n")),
        "{text}{}",
        String::from_utf8_lossy(&outcome.stderr)
    );
    Some(text)
}
