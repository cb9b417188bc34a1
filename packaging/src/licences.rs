//! `cargo xtask licences`: whether `deny.toml` allows the licence and the source of everything that is built or tested with, and, where
//! cargo-deny is installed, whether advisories warn of any. What was not looked at is said to be that, never to be well.

use crate::metadata::{Metadata, Package};
use crate::spdx;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The only registry that packages may be from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What we read of `deny.toml`; the rest is for cargo-deny.
#[derive(Debug, Clone, Deserialize)]
pub struct Deny {
    graph: Graph,
    licenses: Licenses,
}

#[derive(Debug, Clone, Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Debug, Clone, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

impl Deny {
    /// # Errors
    /// Text that is no such file.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).context("deny.toml")
    }

    /// What is not allowed, and what is allowed and not needed.
    pub fn problems(&self, packages: &[Package]) -> Vec<String> {
        let mut problems = Vec::new();
        let used = std::cell::RefCell::new(BTreeSet::new());
        for package in packages {
            let shown = format!("{} {}", package.name, package.version);
            if package.source.as_deref().is_some_and(|source| source != REGISTRY) {
                problems.push(format!("{shown}: from {}", package.source.as_deref().unwrap_or_default()));
            }
            let Some(licence) = &package.license else {
                problems.push(format!("{shown}: names no licence"));
                continue;
            };
            let own = self.licenses.exceptions.iter().filter(|exception| exception.package == package.name);
            let own: BTreeSet<&str> = own.flat_map(|own| &own.allow).map(String::as_str).collect();
            let is_allowed = |name: &str| {
                let is_general = self.licenses.allow.iter().any(|allowed| allowed == name);
                if is_general {
                    used.borrow_mut().insert(name.to_owned());
                }
                is_general || own.contains(name)
            };
            match spdx::is_allowed(licence, &is_allowed) {
                Ok(true) => {}
                Ok(false) => problems.push(format!("{shown}: {licence} is not allowed")),
                Err(error) => problems.push(format!("{shown}: {licence}: {error}")),
            }
        }
        let used = used.into_inner();
        let unused = self.licenses.allow.iter().filter(|allowed| !used.contains(*allowed));
        problems.extend(unused.map(|allowed| format!("{allowed} is allowed, and nothing has it")));
        problems
    }
}

/// Checks the workspace in this folder, and says on standard error what was checked.
///
/// # Errors
/// Where something is not as it should be.
pub fn check_all(root: &Path) -> anyhow::Result<()> {
    let path = root.join("deny.toml");
    let deny = Deny::parse(&std::fs::read_to_string(&path).with_context(|| path.display().to_string())?)?;
    let targets: Vec<&str> = deny.graph.targets.iter().map(String::as_str).collect();
    let mut packages = Metadata::read(root, &targets)?.packages;
    // The Python package has a lock file of its own.
    let python = Metadata::read(&root.join("python"), &targets);
    let of_python = python.as_ref().map_or(0, |python| add(&mut packages, &python.packages));
    let problems = deny.problems(&packages);
    if !problems.is_empty() {
        bail!("deny.toml:\n  {}", problems.join("\n  "));
    }
    eprintln!(
        "licences and sources of {} packages, {of_python} of them of python alone: allowed",
        packages.len()
    );
    if let Err(error) = python {
        eprintln!("licences of python: NOT CHECKED: {error:#}");
    }
    advisories(root)
}

/// Adds packages that are not among these; how many.
fn add(packages: &mut Vec<Package>, others: &[Package]) -> usize {
    let before = packages.len();
    let known: BTreeSet<(String, String)> =
        packages.iter().map(|package| (package.name.clone(), package.version.clone())).collect();
    let is_new = |package: &&Package| !known.contains(&(package.name.clone(), package.version.clone()));
    packages.extend(others.iter().filter(is_new).cloned());
    packages.len() - before
}

/// cargo-deny knows them from a copy of the advisory database, which it does not fetch here.
fn advisories(root: &Path) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    let is_there = command.args(["deny", "--version"]).output().is_ok_and(|output| output.status.success());
    if !is_there {
        eprintln!("advisories: NOT CHECKED, for cargo-deny is not installed (cargo install cargo-deny)");
        return Ok(());
    }
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["deny", "--offline", "check", "--disable-fetch", "advisories"]);
    let status = command.status().context("running cargo deny")?;
    if !status.success() {
        bail!("advisories: cargo deny failed (without a copy of their database: cargo deny fetch)");
    }
    eprintln!("advisories: none that is not allowed");
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Packages that are allowed, and such as are not.
    use super::{Deny, REGISTRY};
    use crate::metadata::Package;

    fn package(name: &str, licence: Option<&str>, source: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            id: name.to_owned(),
            license: licence.map(str::to_owned),
            source: (!source.is_empty()).then(|| source.to_owned()),
            manifest_path: name.into(),
            description: None,
            repository: None,
        }
    }

    #[test]
    fn packages_of_two_lock_files_are_looked_at_once() {
        let mut packages = vec![package("a", Some("MIT"), REGISTRY), package("b", Some("MIT"), REGISTRY)];
        let others = [package("b", Some("MIT"), REGISTRY), package("pyo3", None, REGISTRY)];
        assert_eq!((super::add(&mut packages, &others), packages.len()), (1, 3));
        let deny = Deny::parse("[graph]\ntargets = []\n[licenses]\nallow = [\"MIT\"]").unwrap();
        assert_eq!(deny.problems(&packages), ["pyo3 1.0.0: names no licence"]);
    }

    #[test]
    fn what_is_not_allowed_is_told() {
        let text = "[graph]\ntargets = []\n[licenses]\nallow = [\"MIT\", \"ISC\"]\nexceptions = [{ crate = \"c\", allow = [\"Zlib\"] }]";
        let deny = Deny::parse(text).unwrap();
        let packages = [
            package("own", Some("MIT"), ""),
            package("a", Some("GPL-3.0 OR MIT"), REGISTRY),
            package("b", Some("GPL-3.0"), REGISTRY),
            package("c", Some("Zlib AND MIT"), REGISTRY),
            package("d", Some("Zlib"), REGISTRY),
            package("e", None, REGISTRY),
            package("f", Some("MIT"), "git+https://example.org/f"),
        ];
        assert_eq!(
            deny.problems(&packages),
            [
                "b 1.0.0: GPL-3.0 is not allowed",
                "d 1.0.0: Zlib is not allowed",
                "e 1.0.0: names no licence",
                "f 1.0.0: from git+https://example.org/f",
                "ISC is allowed, and nothing has it",
            ]
        );
    }
}
