//! The guide: its reference, which is made of the program, and HTML of it.

use std::path::Path;
use std::process::{Command, ExitCode};

const FOLDER: &str = "docs/guide";

/// Writes the pages of the reference: the test that compares them does, when it is asked to.
pub fn reference(root: &Path) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).env("UPDATE_GOLDEN", "1");
    ended(command.args([
        "test",
        "--quiet",
        "--package",
        "lode",
        "--lib",
        "the_reference_is_that_of_the_program",
    ]))
}

/// Makes HTML of the guide, where mdBook is installed.
pub fn html(root: &Path) -> ExitCode {
    let is_there = Command::new("mdbook").arg("--version").output().is_ok();
    if !is_there {
        eprintln!(
            "mdbook is not installed: cargo install mdbook. The pages are Markdown and read well without: {FOLDER}/src/SUMMARY.md"
        );
        return ExitCode::FAILURE;
    }
    let code = ended(Command::new("mdbook").current_dir(root).args(["build", FOLDER]));
    if code == ExitCode::SUCCESS {
        eprintln!("target/guide/index.html");
    }
    code
}

fn ended(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}: {error}", command.get_program().display());
            ExitCode::FAILURE
        }
    }
}
