//! `cargo xtask ci`: the steps of continuous integration, the same on every machine.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// A step: its title, what to run, and variables for it.
struct Step {
    title: &'static str,
    cargo: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

/// The cheap steps first. Tidy is one of the tests, but runs early as well because it takes no time.
const STEPS: [Step; 8] = [
    Step { title: "format", cargo: &["fmt", "--all", "--check"], variables: &[] },
    Step { title: "tidy", cargo: &["xtask", "tidy"], variables: &[] },
    Step { title: "licences", cargo: &["xtask", "licences"], variables: &[] },
    Step {
        title: "lints",
        cargo: &["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"],
        variables: &[],
    },
    Step { title: "tests", cargo: &["test", "--workspace"], variables: &[] },
    // What is not built by default: the command line and the server with columns and with stores of objects.
    Step {
        title: "lints with the features arrow and object-store",
        cargo: &[
            "clippy",
            "--locked",
            "--workspace",
            "--features",
            "lode/arrow,lode/object-store",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        variables: &[],
    },
    Step {
        title: "tests of the feature arrow",
        cargo: &[
            "test",
            "--workspace",
            "--features",
            "lode/arrow,lode/object-store",
            "--test",
            "it",
            "arrow",
        ],
        variables: &[],
    },
    Step {
        title: "documentation",
        cargo: &["doc", "--workspace", "--no-deps", "--document-private-items"],
        // The pages are for developers and show private items, so links to them work.
        variables: &[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")],
    },
];

/// Runs all steps, stops at the first that fails.
pub fn run(root: &Path) -> ExitCode {
    for step in &STEPS {
        eprintln!("\n=== {}: cargo {}", step.title, step.cargo.join(" "));
        let start = Instant::now();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(step.cargo).current_dir(root).envs(step.variables.iter().copied());
        match command.status() {
            Ok(status) if status.success() => {
                eprintln!("=== {} passed in {:.0} s", step.title, start.elapsed().as_secs_f64());
            }
            Ok(_) => {
                eprintln!("=== {} FAILED", step.title);
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("=== {} FAILED: cannot run cargo: {error}", step.title);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
