//! Development tasks, run as `cargo xtask <task>`. Depends on the standard library only, so that it builds in a moment.

mod ci;
mod guide;
mod python;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  ci            everything that must pass before a change lands: format, lints, tidy, tests, documentation
                `--cluster`: the program with workers (folder cluster), instead: a job of its own
  lean          whether the default program is free of Arrow, DataFusion and the like
  tidy          the rules of the house that the compiler does not check
  imports       the modules that use each other, of all crates or of one: `imports sparql`
  dist          what users get: static programs in archives and packages (packaging/src/main.rs)
  licences      whether all that is built with may be, by deny.toml
  guide         HTML of docs/guide, in target/guide, where mdBook is installed
  python        build the Python package, install it into target/python, and test it there; `--release`: as users get it
  reference     write the reference of the guide (docs/guide/src/reference) from the program's own lists
  format-hash   write the hash of the format-defining sources into docs/format.md,
                after the document has been brought up to date by hand
";

fn main() -> ExitCode {
    let root = workspace_root();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["ci"] => ci::run(&root),
        ["ci", "--cluster"] => ci::run_cluster(&root),
        ["lean"] => ci::lean(&root),
        ["tidy"] => report(&tidy::check(&root)),
        ["imports"] => print_imports(&root, None),
        ["imports", only] => print_imports(&root, Some(only)),
        ["python"] => python::run(&root, false),
        ["python", "--release"] => python::run(&root, true),
        ["guide"] => guide::html(&root),
        ["reference"] => guide::reference(&root),
        ["dist" | "licences", ..] => packaging(&root, &arguments),
        ["format-hash"] => match tidy::format_hash::refresh(&root) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", tidy::format_hash::DOCUMENT);
                ExitCode::FAILURE
            }
        },
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The tasks that need more than the standard library have a program of their own.
fn packaging(root: &Path, arguments: &[&str]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.current_dir(root).args(["run", "--quiet", "--locked", "--package", "packaging", "--"]);
    match command.args(arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_imports(root: &Path, only: Option<&str>) -> ExitCode {
    use std::io::Write as _;
    let printed = tidy::imports(root, only).and_then(|text| std::io::stdout().write_all(text.as_bytes()));
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn report(problems: &[tidy::Problem]) -> ExitCode {
    for problem in problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}
