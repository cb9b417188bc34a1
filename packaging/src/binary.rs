//! Builds the program as a static binary for a target, or says what is missing for that.

use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind of machine that there are packages for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    X86_64,
    Aarch64,
}

impl Target {
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.triple() == name)
    }

    /// As the compiler calls it. The C library is in the binary, so that it runs on any Linux.
    pub fn triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-musl",
            Self::Aarch64 => "aarch64-unknown-linux-musl",
        }
    }

    /// As Debian and containers call it.
    pub fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// As archives' names have it.
    pub fn short(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux",
            Self::Aarch64 => "aarch64-linux",
        }
    }

    /// The compiler for what is C: zstd, mimalloc, xz and parts of ring; and what gives it.
    fn c_compilers(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::X86_64 => (&["x86_64-linux-musl-gcc", "musl-gcc"], "Debian: apt install musl-tools"),
            Self::Aarch64 => {
                (&["aarch64-linux-musl-gcc"], "a cross compiler of musl, such as that of musl-cross-make")
            }
        }
    }

    fn variable(self, name: &str) -> String {
        format!("{name}_{}", self.triple().replace('-', "_"))
    }
}

/// Builds it with the profile `dist`; where it is then.
///
/// # Errors
/// Where something is missing, which is told, or the build fails.
pub fn build(root: &Path, target: Target) -> anyhow::Result<PathBuf> {
    let triple = target.triple();
    let library = sysroot()?.join("lib/rustlib").join(triple).join("lib");
    if !library.is_dir() {
        bail!("{triple}: the standard library is not there (rustup target add {triple})");
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root);
    command.args(["build", "--locked", "--profile", "dist", "--package", "lode", "--target", triple]);
    // What is told to the C compilers by the environment stays.
    let variable = target.variable("CC");
    let compiler = match std::env::var_os(&variable) {
        Some(compiler) => compiler,
        None => {
            let (names, how) = target.c_compilers();
            let found = names.iter().find(|name| is_program(name));
            let Some(name) = found else {
                bail!(
                    "{triple}: there is no C compiler for it, {} ({how}; or {variable} names one)",
                    names.join(" or ")
                )
            };
            OsString::from(name)
        }
    };
    command.env(&variable, &compiler);
    let linker = format!("CARGO_TARGET_{}_LINKER", triple.replace('-', "_").to_uppercase());
    if target == Target::Aarch64 && std::env::var_os(&linker).is_none() {
        command.env(linker, &compiler);
    }
    if !command.status().context("running cargo")?.success() {
        bail!("{triple}: the build failed");
    }
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(folder.join(triple).join("dist/lode"))
}

/// Whether it needs no library to be there when it runs: an ELF file without an interpreter.
///
/// # Errors
/// What is no ELF file of 64 bits, little-endian.
pub fn is_static(elf: &[u8]) -> anyhow::Result<bool> {
    const INTERPRETER: u64 = 3;
    let number = |at: usize, size: usize| -> anyhow::Result<u64> {
        let bytes = elf.get(at..at + size).context("the file is too short")?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        bail!("this is no program for Linux");
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for index in 0..count {
        if number(usize::try_from(table + index * size)?, 4)? == INTERPRETER {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn sysroot() -> anyhow::Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().context("running rustc")?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}
