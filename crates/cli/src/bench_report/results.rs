//! The results of a folder: what each store's JSON says, by benchmark.

use anyhow::{Context, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All results.
pub struct Results {
    /// The one that others are compared with comes first.
    pub stores: Vec<String>,
    /// By benchmark, then by store.
    pub runs: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Results {
    /// What this store's run of this benchmark says; null where there is none.
    pub fn get(&self, benchmark: &str, store: &str) -> &Value {
        self.runs.get(benchmark).and_then(|runs| runs.get(store)).unwrap_or(&Value::Null)
    }

    /// The benchmarks whose names begin so.
    pub fn benchmarks<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.runs.keys().map(String::as_str).filter(move |name| name.starts_with(prefix))
    }
}

/// Reads all files named `STORE.BENCHMARK.json`. Fails where one is no JSON, or the store that comes first has none.
pub fn read(folder: &Path, first: &str) -> anyhow::Result<Results> {
    let mut results = Results { stores: Vec::new(), runs: BTreeMap::new() };
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let parts: Vec<&str> = name.split('.').collect();
        let [store, benchmark, "json"] = parts.as_slice() else { continue };
        let text = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let value =
            serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", path.display()))?;
        if !results.stores.iter().any(|known| known == store) {
            results.stores.push((*store).to_owned());
        }
        results.runs.entry((*benchmark).to_owned()).or_default().insert((*store).to_owned(), value);
    }
    results.stores.sort_by_key(|store| (store != first, store.clone()));
    if results.stores.first().is_some_and(|store| store != first) {
        bail!("{first} has no results; --first names the store that the others are compared with");
    }
    Ok(results)
}
