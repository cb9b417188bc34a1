//! What cargo knows of the packages that a build is made of.

use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// All packages of the workspace, and what each needs.
#[derive(Debug, Clone, Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    resolve: Resolve,
}

/// A package.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub id: String,
    pub license: Option<String>,
    /// Where it is from; those of the workspace are from nowhere.
    pub source: Option<String>,
    pub manifest_path: PathBuf,
    pub description: Option<String>,
    pub repository: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Clone, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Clone, Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Metadata {
    /// Asks cargo about the workspace in this folder, as it is built for these targets; only what is not on this machine is fetched.
    ///
    /// # Errors
    /// Where cargo cannot tell.
    pub fn read(root: &Path, targets: &[&str]) -> anyhow::Result<Self> {
        let ask = |more: &[&str]| {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut command = Command::new(cargo);
            command.current_dir(root).args(["metadata", "--format-version", "1", "--locked"]).args(more);
            command.args(targets.iter().flat_map(|target| ["--filter-platform", target]));
            command.output().context("running cargo metadata")
        };
        let mut output = ask(&["--offline"])?;
        if !output.status.success() {
            output = ask(&[])?;
        }
        if !output.status.success() {
            bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        }
        serde_json::from_slice(&output.stdout).context("the answer of cargo metadata")
    }

    /// The package of this name in the workspace.
    ///
    /// # Errors
    /// Where there is none.
    pub fn own(&self, name: &str) -> anyhow::Result<&Package> {
        let is_it = |package: &&Package| package.source.is_none() && package.name == name;
        self.packages.iter().find(is_it).with_context(|| format!("the workspace has no package {name}"))
    }

    /// What the package's program is made of, itself included, sorted; each with what it needs of these. Build scripts and tests, and what
    /// they need, are no part of it.
    ///
    /// # Errors
    /// Where the workspace has no such package.
    pub fn parts(&self, name: &str) -> anyhow::Result<Vec<(&Package, Vec<&Package>)>> {
        let packages: BTreeMap<&str, &Package> =
            self.packages.iter().map(|package| (package.id.as_str(), package)).collect();
        let nodes: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let needs = |id: &str| -> Vec<&str> {
            let deps = nodes.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
            let is_part = |dep: &&Dependency| dep.dep_kinds.iter().any(|kind| kind.kind.is_none());
            deps.iter().filter(is_part).map(|dep| dep.pkg.as_str()).collect()
        };
        let mut seen = BTreeSet::new();
        let mut next = vec![self.own(name)?.id.as_str()];
        while let Some(id) = next.pop() {
            if seen.insert(id) {
                next.extend(needs(id));
            }
        }
        let order = |package: &&Package| (package.name.clone(), package.version.clone());
        let sorted = |ids: Vec<&str>| {
            let mut of_ids: Vec<&Package> = ids.iter().filter_map(|id| packages.get(id).copied()).collect();
            of_ids.sort_by_key(order);
            of_ids
        };
        let parts = sorted(seen.into_iter().collect());
        Ok(parts.into_iter().map(|package| (package, sorted(needs(&package.id)))).collect())
    }
}
