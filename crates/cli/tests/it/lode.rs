//! A scratch folder, and the binary run in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A scratch folder with a binary to run in it.
pub struct Lode {
    folder: tempfile::TempDir,
}

impl Lode {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A scratch folder with a database `db` of this Turtle.
    pub fn with_turtle(text: &str) -> Self {
        let lode = Self::new();
        lode.write("data.ttl", text);
        lode.run(&["load", "db", "data.ttl"]).ok();
        lode
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lode"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Outcome {
        Outcome::of(self.command(args).output().unwrap())
    }
}

/// Tells something of a test's run, on standard error.
pub fn note(text: std::fmt::Arguments<'_>) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

/// Copies a folder and all in it.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// What a run of the binary printed and how it ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Outcome {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Standard output of a run that must have gone well.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:#?}");
        self.out
    }

    /// Standard error of a run that must have ended with this code.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self.err
    }
}
