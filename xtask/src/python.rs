//! `cargo xtask python`: the Python package as users get it, built, installed into an environment of its own, and tested there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs};

/// The crate and the package.
const FOLDER: &str = "python";
/// Packages that it is built and tested with.
const REQUIREMENTS: &str = "python/requirements.txt";
/// The environment.
const ENVIRONMENT: &str = "target/python";
/// Where the wheel comes to lie.
const WHEELS: &str = "target/wheels";

/// The stubs of the extension module against what it has.
const STUBTEST: [&str; 6] =
    ["-P", "-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "lodestore._lodestore"];

/// Builds, installs and tests; in the development profile unless told otherwise.
pub fn run(root: &Path, release: bool) -> ExitCode {
    match steps(root, release) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("=== python FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}

fn steps(root: &Path, release: bool) -> Result<(), String> {
    let environment = Environment::prepare(root)?;
    let wheel = environment.build(root, release)?;
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    step("installing the wheel", environment.python(root).args(install).arg(&wheel))?;
    let package = environment.package(root)?;
    let folder = root.join(FOLDER);
    let python = || {
        let mut command = environment.python(root);
        command.current_dir(&folder);
        command
    };
    // Without the folder of the sources among those that are searched: the package that was installed is tested.
    step("tests", python().args(["-P", "-m", "pytest"]))?;
    step(
        "examples in the documentation of the package",
        python().args(["-P", "-m", "pytest", "--doctest-modules"]).arg(package),
    )?;
    step("types", python().args(["-m", "mypy", "--strict", "lodestore", "tests"]))?;
    step("types of the extension module", python().args(STUBTEST))?;
    eprintln!("{}", wheel.display());
    Ok(())
}

/// An interpreter with the packages of the list.
struct Environment(PathBuf);

impl Environment {
    /// Makes it, or takes the one that is there.
    fn prepare(root: &Path) -> Result<Self, String> {
        let folder = root.join(ENVIRONMENT);
        let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let this = Self(programs.join("python"));
        if !this.0.exists() {
            let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
            check_version(&python)?;
            step("an environment", Command::new(&python).args(["-m", "venv"]).arg(&folder)).map_err(
                |error| format!("{error}; on Debian and Ubuntu it needs the package python3-venv"),
            )?;
        }
        this.install(root, &folder)?;
        Ok(this)
    }

    /// Installs the packages, unless the list is that of the last time.
    fn install(&self, root: &Path, folder: &Path) -> Result<(), String> {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let (list, mark) = (root.join(REQUIREMENTS), folder.join("installed.txt"));
        if read(&list) == read(&mark) {
            return Ok(());
        }
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        step("packages", self.python(root).args(install).arg(&list)).map_err(|error| {
            format!("{error}; the packages of {REQUIREMENTS} (maturin among them) come from PyPI: this needs the network once")
        })?;
        fs::copy(&list, &mark).map(drop).map_err(|error| format!("{}: {error}", mark.display()))
    }

    fn python(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.current_dir(root);
        command
    }

    /// Builds the wheel.
    fn build(&self, root: &Path, release: bool) -> Result<PathBuf, String> {
        let wheels = root.join(WHEELS);
        for old in wheels_in(&wheels) {
            fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
        }
        let mut command = self.python(root);
        command.args(["-m", "maturin", "build", "--locked", "--manifest-path", "python/Cargo.toml"]);
        command.arg("--interpreter").arg(&self.0).arg("--out").arg(&wheels);
        // Crates that the workspace has built already are not built again.
        command.env("CARGO_TARGET_DIR", root.join("target"));
        if release {
            command.arg("--release");
        }
        step("the wheel", &mut command)?;
        let mut found = wheels_in(&wheels);
        found.pop().ok_or_else(|| format!("maturin has left no wheel in {WHEELS}"))
    }

    /// Where the package was installed.
    fn package(&self, root: &Path) -> Result<PathBuf, String> {
        let print = "import lodestore, os; print(os.path.dirname(lodestore.__file__))";
        let output = self.python(root).args(["-P", "-c", print]).output();
        let output = output.map_err(|error| format!("cannot run python: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "the package cannot be imported: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    }
}

/// The interpreter must be there, and have what is used of it here.
fn check_version(python: &OsStr) -> Result<(), String> {
    let wanted = "Python 3.11 or later is needed to build and test the package (PYTHON=... names it)";
    let check = ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"];
    match Command::new(python).args(check).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{} is older: {wanted}", python.display())),
        Err(error) => Err(format!("cannot run {}: {error}: {wanted}", python.display())),
    }
}

/// The wheels in a folder.
fn wheels_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension() == Some(OsStr::new("whl"))).collect()
}

fn step(title: &str, command: &mut Command) -> Result<(), String> {
    eprintln!("\n=== python: {title}");
    let start = Instant::now();
    match command.status() {
        Ok(status) if status.success() => {
            eprintln!("=== passed in {:.0} s", start.elapsed().as_secs_f64());
            Ok(())
        }
        Ok(_) => Err(title.to_owned()),
        Err(error) => Err(format!("{title}: cannot run {}: {error}", command.get_program().display())),
    }
}
