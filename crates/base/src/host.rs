//! What the machine has: memory in all, memory of this process, and files that are read as input, not as part of a database.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Bytes of memory of the machine, or of the control group this process is confined to, where that can be told.
pub fn memory_bytes() -> Option<u64> {
    let machine = kibibytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let limit =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(limit.map_or(machine, |limit: u64| limit.min(machine)))
}

/// The most bytes of memory that this process has had resident, where that can be told.
pub fn peak_resident_bytes() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Bytes of memory that this process has resident, where that can be told. It is asked often: the short file is read, which has the size and
/// then the resident part, in pages.
pub fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}

/// Seconds of processors that this process has used, where that can be told.
pub fn processor_seconds() -> Option<f64> {
    // After the name in parentheses, which may hold anything: user and system time in hundredths of a second.
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let fields = text.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
    let ticks: Option<Vec<u64>> = fields.map(|field| field.parse().ok()).collect();
    Some(ticks?.into_iter().sum::<u64>() as f64 / 100.0)
}

/// Files that this process has open, where that can be told.
pub fn open_files() -> Option<u64> {
    // One of them is the folder that is being read.
    Some((fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1))
}

/// How many it may have open.
pub fn open_files_max() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// When this process began, in seconds since 1970, where that can be told.
pub fn start_seconds() -> Option<f64> {
    // The 22nd field counts hundredths of a second since the machine started.
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks: u64 = text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let boot = machine.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(boot.trim().parse::<u64>().ok()? as f64 + ticks as f64 / 100.0)
}

/// Bytes that are free for this process on the disk of a folder, and bytes that the disk has, where that can be told.
pub fn disk_bytes(folder: &Path) -> Option<(u64, u64)> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some((found.f_bavail.checked_mul(found.f_frsize)?, found.f_blocks.checked_mul(found.f_frsize)?))
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Opens a file (or pipe) to read from start to end; its length where it has one.
///
/// # Errors
///
/// `IsADirectory` where it is a folder; else where it cannot be opened.
pub fn open_input(path: &Path) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
    }
    let length = meta.is_file().then_some(meta.len());
    // Lets the system read far ahead: files that are not in its cache come several times as fast. Where it takes no advice, it
    // reads as it likes.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Sequential);
    Ok((Box::new(file), length))
}

/// The path of a file or folder that exists, without links and dots.
///
/// # Errors
///
/// Where there is no such file or folder, or one above it cannot be looked into.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// A path from the root, without dots, whether or not there is such a file; none where nobody knows where we are. Links stay.
pub fn absolute_path(path: &Path) -> Option<PathBuf> {
    let mut absolute = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            Component::ParentDir => drop(absolute.pop()),
            other => absolute.push(other),
        }
    }
    Some(absolute)
}

/// The length of a file, where it has one.
pub fn input_bytes(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| meta.len())
}
