//! What the shell keeps between sessions: its history, and prefixes for each database. Only their owner can read it.

use anyhow::Context;
use lode_assist::Prefix;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Prefixes of each database, by its path or address.
type Kept = BTreeMap<String, Vec<Prefix>>;

/// The folder of the state; none where there is no home.
pub fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("lode"))
}

/// The file of the history, made where there is none.
pub fn history() -> anyhow::Result<Option<PathBuf>> {
    let Some(folder) = folder() else { return Ok(None) };
    let path = folder.join("history");
    opened(&path, false)?;
    Ok(Some(path))
}

/// A file that only its owner can read.
fn opened(path: &Path, anew: bool) -> anyhow::Result<File> {
    let shown = || path.display().to_string();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(anew);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path).with_context(shown)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).with_context(shown)?;
    }
    Ok(file)
}

/// The prefixes of a database.
pub struct KeptPrefixes {
    file: Option<PathBuf>,
    database: String,
    /// Those that people have declared,
    pub all: Vec<Prefix>,
    /// and those that are kept with the data, which count less.
    pub of_data: Vec<Prefix>,
}

impl KeptPrefixes {
    /// Reads what is kept; without `keeps` nothing is read or written.
    pub fn read(database: &str, keeps: bool) -> Self {
        let file = folder().filter(|_| keeps).map(|folder| folder.join("prefixes.json"));
        let all = file.as_deref().map(read).unwrap_or_default().remove(database).unwrap_or_default();
        Self { file, database: database.to_owned(), all, of_data: Vec::new() }
    }

    /// All that need not be declared besides the usual ones; of several with one name the last counts.
    pub fn known(&self) -> Vec<Prefix> {
        let is_own = |prefix: &&Prefix| self.all.iter().any(|own| own.name == prefix.name);
        let of_data = self.of_data.iter().filter(|prefix| !is_own(prefix));
        of_data.chain(&self.all).cloned().collect()
    }

    /// Keeps a prefix in place of what had its name.
    pub fn add(&mut self, prefix: Prefix) -> anyhow::Result<()> {
        if self.all.contains(&prefix) {
            return Ok(());
        }
        self.all.retain(|kept| kept.name != prefix.name);
        self.all.push(prefix);
        self.write()
    }

    /// Keeps no prefix of this name; whether there was one.
    pub fn remove(&mut self, name: &str) -> anyhow::Result<bool> {
        let before = self.all.len();
        self.all.retain(|kept| kept.name != name);
        if self.all.len() < before {
            self.write()?;
        }
        Ok(self.all.len() < before)
    }

    /// Puts a new file in place of the old one, with what others have written meanwhile.
    fn write(&self) -> anyhow::Result<()> {
        let Some(path) = &self.file else { return Ok(()) };
        let mut kept = read(path);
        kept.insert(self.database.clone(), self.all.clone());
        let new = path.with_extension(format!("json.{}", std::process::id()));
        let mut file = opened(&new, true)?;
        file.write_all(&serde_json::to_vec_pretty(&kept)?)?;
        Ok(std::fs::rename(&new, path)?)
    }
}

/// All that is kept; nothing where that cannot be read.
fn read(path: &Path) -> Kept {
    std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}
