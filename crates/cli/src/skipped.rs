//! Files in folders and archives that `lode load` leaves out, and how that is told: nothing is left out in silence.

use crate::number;
use crate::talk::say;
use lode_engine::store::load::Skipped;
use serde_json::{Value, json};
use std::fmt;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;

/// Names that are told of each reason.
const NAMES_SHOWN_MAX: usize = 5;

/// Why a file is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// Its name is not that of an RDF file.
    Name,
    /// A link to a folder, which may lead around in circles.
    LinkedFolder,
    /// A link that leads to no file.
    DanglingLink,
    /// Reading it might never end, or never begin.
    Fifo,
    /// It cannot be read like a file.
    Socket,
    /// Reading it might never end.
    Device,
}

impl SkipReason {
    /// In the order in which they are told.
    const ALL: [Self; 6] =
        [Self::Name, Self::LinkedFolder, Self::DanglingLink, Self::Fifo, Self::Socket, Self::Device];

    /// Of a file that is not a regular one.
    pub fn of_special(kind: FileType) -> Self {
        match kind {
            kind if kind.is_fifo() => Self::Fifo,
            kind if kind.is_socket() => Self::Socket,
            _ => Self::Device,
        }
    }

    /// What one such file is, and several of them.
    fn nouns(self) -> [&'static str; 2] {
        match self {
            Self::Name => [
                "file whose name is not that of an RDF file",
                "files whose names are not that of an RDF file",
            ],
            Self::LinkedFolder => ["link to a folder", "links to folders"],
            Self::DanglingLink => ["link that leads to no file", "links that lead to no file"],
            Self::Fifo => ["FIFO", "FIFOs"],
            Self::Socket => ["socket", "sockets"],
            Self::Device => ["device", "devices"],
        }
    }

    /// In JSON; these stay.
    fn key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::LinkedFolder => "link to folder",
            Self::DanglingLink => "dangling link",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::Device => "device",
        }
    }
}

/// A file that is left out.
#[derive(Debug)]
pub struct SkippedFile {
    pub name: String,
    pub reason: SkipReason,
}

/// All files that were left out.
#[derive(Debug)]
pub struct SkippedFiles<'a> {
    in_folders: &'a [SkippedFile],
    /// All because of their names, of which some are known.
    in_archives: &'a Skipped,
}

impl<'a> SkippedFiles<'a> {
    pub fn new(in_folders: &'a [SkippedFile], in_archives: &'a Skipped) -> Self {
        Self { in_folders, in_archives }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.in_folders.len() as u64 + self.in_archives.files
    }

    fn names(&self, reason: SkipReason) -> impl Iterator<Item = &str> {
        let in_folders = self.in_folders.iter().filter(move |file| file.reason == reason);
        let in_archives = self.in_archives.names.iter().filter(move |_| reason == SkipReason::Name);
        in_folders.map(|file| file.name.as_str()).chain(in_archives.map(String::as_str))
    }

    /// Tells them on standard error, a line for each reason.
    pub fn tell(&self) {
        SkipReason::ALL.into_iter().filter_map(|reason| self.line(reason)).for_each(|line| say!("{line}"));
    }

    fn line(&self, reason: SkipReason) -> Option<impl fmt::Display> {
        let in_archives = if reason == SkipReason::Name { self.in_archives.files } else { 0 };
        let in_folders = self.in_folders.iter().filter(|file| file.reason == reason).count() as u64;
        let count = in_folders + in_archives;
        let shown: Vec<&str> = self.names(reason).take(NAMES_SHOWN_MAX).collect();
        let more = if count > shown.len() as u64 { ", ..." } else { "" };
        let [one, several] = reason.nouns();
        let noun = if count == 1 { one } else { several };
        (count > 0).then(|| format!("skipped {} {noun}: {}{more}", number::grouped(count), shown.join(", ")))
    }

    /// Each of them as JSON; of archives with very many, only the first.
    pub fn as_json(&self) -> Vec<Value> {
        let of = |reason: SkipReason| {
            self.names(reason).map(move |name| json!({"name": name, "reason": reason.key()}))
        };
        SkipReason::ALL.into_iter().flat_map(of).collect()
    }
}
