//! Where benchmarks keep their data and databases.

use anyhow::Context;
use std::path::{Path, PathBuf};

/// A folder for data, databases and what processes write; away again at the end, where none was named.
pub struct Scratch {
    /// The folder.
    pub path: PathBuf,
    kept: bool,
}

impl Scratch {
    /// Fails where a named folder is there already: it could be anything. Else it is one for temporary files, called after the benchmark.
    pub fn new(named: Option<&Path>, benchmark: &str) -> anyhow::Result<Self> {
        let own = || std::env::temp_dir().join(format!("lode-bench-{benchmark}-{}", std::process::id()));
        let path = named.map_or_else(own, Path::to_owned);
        std::fs::create_dir(&path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Self { path, kept: named.is_some() })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept {
            // What is left in the folder for temporary files does no harm.
            drop(std::fs::remove_dir_all(&self.path));
        }
    }
}
