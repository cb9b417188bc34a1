//! What `lode load` is told to load: files, folders, standard input, and addresses on the web.

use crate::skipped::{SkipReason, SkippedFile};
use anyhow::bail;
use lode_engine::store::load::{Source, is_loadable};
use lode_engine::web::{self, WebOptions};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How often a server may send us elsewhere.
const REDIRECTS_MAX: u32 = 5;

/// How to take what is named.
#[derive(Debug, Clone, Copy, Default)]
pub struct SourceOptions {
    /// Whether the format of all files is told, so that their names need not.
    pub format_is_told: bool,
    /// Whether addresses on the web may be read.
    pub allow_url: bool,
    /// Whether files that are there and cannot be read are left out later, and not an error now.
    pub sets_aside: bool,
}

/// What there is to load.
#[derive(Debug, Default)]
pub struct Sources {
    /// To load.
    pub sources: Vec<Source>,
    /// What is in folders and is left out.
    pub skipped: Vec<SkippedFile>,
}

impl Sources {
    /// Finds what is named: a file, a folder (all RDF files in it and in those below it, by name), `-` for standard input, an address.
    /// A name that is wrong is told before anything is read.
    pub fn find(names: &[PathBuf], options: SourceOptions) -> anyhow::Result<Self> {
        let mut found = Self::default();
        for name in names {
            found.add(name, options)?;
        }
        Ok(found)
    }

    fn add(&mut self, path: &Path, options: SourceOptions) -> anyhow::Result<()> {
        if path.as_os_str() == "-" {
            self.sources.push(Source::reader("standard input", Box::new(std::io::stdin())));
            return Ok(());
        }
        if let Some(url) = path.to_str().filter(|name| web::is_url(name)) {
            if !options.allow_url {
                bail!("{url} is an address on the web: give --allow-url to load from there");
            }
            let options = WebOptions { redirects_max: REDIRECTS_MAX, timeout: None };
            self.sources.push(web::source(url, options).map_err(anyhow::Error::msg)?);
            return Ok(());
        }
        if path.is_dir() {
            let before = self.sources.len();
            self.add_folder(path, options)?;
            if self.sources.len() == before {
                bail!(
                    "{}: no regular file in this folder has the name of an RDF file (.nt .nq .ttl .trig .rdf .jsonld): \
                     name the files, or their --format",
                    path.display()
                );
            }
            return Ok(());
        }
        // A FIFO opens when somebody writes to it, and can be read once: only what is there can be told of it now.
        let opened = match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => Ok(()),
            _ => File::open(path).map(drop),
        };
        match opened {
            Err(error) if !options.sets_aside || error.kind() == ErrorKind::NotFound => {
                bail!("{}: {}", path.display(), opening(&error));
            }
            _ => {}
        }
        self.sources.push(Source::path(path));
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path, options: SourceOptions) -> anyhow::Result<()> {
        let failed = |error: std::io::Error| anyhow::anyhow!("{}: {}", folder.display(), opening(&error));
        let mut entries = Vec::new();
        let found = match std::fs::read_dir(folder) {
            // It is told like a file that cannot be read.
            Err(_) if options.sets_aside => {
                self.sources.push(Source::path(folder));
                return Ok(());
            }
            found => found.map_err(failed)?,
        };
        for entry in found {
            entries.push(entry.map_err(failed)?);
        }
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_hidden = name.starts_with('.');
            if entry.file_type().map_err(failed)?.is_dir() {
                if !is_hidden {
                    self.add_folder(&path, options)?;
                }
                continue;
            }
            let is_named = is_loadable(&name) || (options.format_is_told && !is_hidden);
            match skip_reason(&path, is_named) {
                None => self.add(&path, options)?,
                Some(reason) => {
                    self.skipped.push(SkippedFile { name: path.display().to_string(), reason });
                }
            }
        }
        Ok(())
    }
}

/// Why something in a folder that is no folder itself is left out, if it is. A link to a file is as good as the file.
fn skip_reason(path: &Path, is_named: bool) -> Option<SkipReason> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Some(SkipReason::LinkedFolder),
        _ if !is_named => Some(SkipReason::Name),
        Ok(found) if !found.is_file() => Some(SkipReason::of_special(found.file_type())),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(SkipReason::DanglingLink),
        // What is wrong is told when it is opened.
        _ => None,
    }
}

/// Why a file cannot be opened, and what to do.
fn opening(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied: this user may not read it".to_owned(),
        _ => error.to_string(),
    }
}
