//! The files that `lode bench load` reads: made once, kept for the next run.

use crate::talk::say;
use anyhow::{Context, bail};
use lode_bench::load::{Case, Compression, Data, Syntax};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Level of Zstandard: that of its command line.
const ZSTD_LEVEL: i32 = 3;

/// This program, for a load in a process of its own.
pub fn program() -> anyhow::Result<Command> {
    Ok(Command::new(std::env::current_exe().context("the path of this program")?))
}

/// Runs a command and returns what it wrote to standard output.
pub fn run_child(mut command: Command) -> anyhow::Result<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output().context("starting this program again")?;
    if !output.status.success() {
        bail!("{command:?} ended with {}", output.status);
    }
    Ok(output.stdout)
}

/// The files of a case; those that are not there are made.
pub fn make_files(case: &Case, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let paths: Vec<PathBuf> = case.file_names().iter().map(|name| folder.join(name)).collect();
    if paths.iter().all(|path| path.exists()) {
        return Ok(paths);
    }
    let plain = make_file(&case.data, case.syntax, folder)?;
    match (case.compression, paths.as_slice()) {
        (Compression::None, [_]) => {}
        (Compression::None, parts) => split_lines(&plain, parts)?,
        (compression, parts) => {
            for part in parts {
                compress(&plain, compression, part)?;
            }
        }
    }
    Ok(paths)
}

/// The uncompressed file of some data.
pub fn make_file(data: &Data, syntax: Syntax, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{}.{}", data.stem(), syntax.extension()));
    if path.exists() {
        return Ok(path);
    }
    say!("making {}", path.display());
    match syntax {
        Syntax::Nt | Syntax::Nq | Syntax::Ttl => {
            into_file(&path, |out| Ok(data.write(syntax, out)?))?;
        }
        Syntax::Rdf | Syntax::JsonLd => {
            let triples = make_file(data, Syntax::Nt, folder)?;
            let database = folder.join("convert.db");
            let mut load = program()?;
            load.arg("load").arg(&database).arg(&triples).arg("--quiet");
            run_child(load)?;
            let mut dump = program()?;
            dump.arg("dump").arg(&database).args(["--graph", "default", "--format", syntax.extension()]);
            let part = unfinished(&path);
            dump.stdout(File::create(&part).with_context(|| format!("creating {}", part.display()))?);
            let status = dump.status().context("starting this program again")?;
            std::fs::remove_dir_all(&database).with_context(|| format!("removing {}", database.display()))?;
            if !status.success() {
                bail!("{dump:?} ended with {status}");
            }
            finish(&part, &path)?;
        }
    }
    Ok(path)
}

fn unfinished(path: &Path) -> PathBuf {
    path.with_added_extension("part")
}

fn finish(part: &Path, path: &Path) -> anyhow::Result<()> {
    std::fs::rename(part, path).with_context(|| format!("renaming {}", part.display()))
}

/// Writes a file that has its name only once it is whole.
fn into_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let part = unfinished(path);
    let file = File::create(&part).with_context(|| format!("creating {}", part.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&mut out).with_context(|| format!("writing {}", part.display()))?;
    out.flush().with_context(|| format!("writing {}", part.display()))?;
    finish(&part, path)
}

fn compress(plain: &Path, compression: Compression, path: &Path) -> anyhow::Result<()> {
    say!("making {}", path.display());
    let mut input = File::open(plain).with_context(|| format!("opening {}", plain.display()))?;
    into_file(path, |out| {
        match compression {
            Compression::None => drop(std::io::copy(&mut input, out)?),
            Compression::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                std::io::copy(&mut input, &mut encoder)?;
                encoder.finish()?;
            }
            Compression::Zstd => zstd::stream::copy_encode(&mut input, out, ZSTD_LEVEL)?,
        }
        Ok(())
    })
}

/// Cuts a file into parts of about equal length at the ends of lines.
fn split_lines(plain: &Path, parts: &[PathBuf]) -> anyhow::Result<()> {
    let input = File::open(plain).with_context(|| format!("opening {}", plain.display()))?;
    let share = input.metadata()?.len() / parts.len().max(1) as u64 + 1;
    let mut input = BufReader::with_capacity(1 << 20, input);
    for path in parts {
        into_file(path, |out| {
            let (mut written, mut line) = (0, Vec::new());
            while written < share {
                line.clear();
                let read = input.read_until(b'\n', &mut line)?;
                if read == 0 {
                    break;
                }
                out.write_all(&line)?;
                written += read as u64;
            }
            Ok(())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lode_bench::load::cases;

    #[test]
    fn parts_and_compressed_files_hold_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let data = Data::Bsbm { products: 5, seed: 1 };
        let plain = std::fs::read(make_file(&data, Syntax::Nt, folder.path()).unwrap()).unwrap();
        let case = Case { data, ..*cases().iter().find(|case| case.files == 10).unwrap() };
        let parts = make_files(&case, folder.path()).unwrap();
        let joined: Vec<u8> = parts.iter().flat_map(|path| std::fs::read(path).unwrap()).collect();
        assert!(parts.len() == 10 && joined == plain);
        let zstd = Case { files: 1, compression: Compression::Zstd, ..case };
        let [path] = &make_files(&zstd, folder.path()).unwrap()[..] else { panic!("one file") };
        assert_eq!(zstd::decode_all(File::open(path).unwrap()).unwrap(), plain);
    }
}
