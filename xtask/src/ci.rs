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
const STEPS: [Step; 9] = [
    Step { title: "format", cargo: &["fmt", "--all", "--check"], variables: &[] },
    Step { title: "tidy", cargo: &["xtask", "tidy"], variables: &[] },
    Step { title: "licences", cargo: &["xtask", "licences"], variables: &[] },
    Step { title: "what the program is made of", cargo: &["xtask", "lean"], variables: &[] },
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

/// The program with workers: a job of its own, since DataFusion takes some twenty minutes of a processor to build.
const CLUSTER: [Step; 3] = [
    Step {
        title: "format",
        cargo: &["fmt", "--manifest-path", "cluster/Cargo.toml", "--check"],
        variables: &[],
    },
    Step {
        title: "lints",
        cargo: &[
            "clippy",
            "--locked",
            "--manifest-path",
            "cluster/Cargo.toml",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        variables: &[],
    },
    Step {
        title: "tests",
        cargo: &["test", "--locked", "--manifest-path", "cluster/Cargo.toml"],
        variables: &[],
    },
];

/// Runs all steps, stops at the first that fails.
pub fn run(root: &Path) -> ExitCode {
    steps(root, &STEPS)
}

/// The same of the program with workers.
pub fn run_cluster(root: &Path) -> ExitCode {
    steps(root, &CLUSTER)
}

/// What must not be in the program that is built by default.
const HEAVY: [&str; 4] = ["arrow", "datafusion", "parquet", "tonic"];

/// Looks whether the default build has grown by what has features or workspaces of its own.
pub fn lean(root: &Path) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["tree", "--locked", "--package", "lode", "--edges", "normal", "--prefix", "none"]);
    let output = match command.current_dir(root).output() {
        Ok(output) if output.status.success() => output,
        Ok(output) => {
            eprintln!("cargo tree: {}", String::from_utf8_lossy(&output.stderr));
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            return ExitCode::FAILURE;
        }
    };
    let tree = String::from_utf8_lossy(&output.stdout);
    let heavy: Vec<&str> =
        tree.lines().filter(|line| HEAVY.iter().any(|name| line.starts_with(name))).collect();
    if heavy.is_empty() && tree.contains("lode-engine") {
        return ExitCode::SUCCESS;
    }
    eprintln!("the default build of lode has what only features may bring: {heavy:?}");
    ExitCode::FAILURE
}

fn steps(root: &Path, steps: &[Step]) -> ExitCode {
    for step in steps {
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
