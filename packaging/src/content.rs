//! What a package has in it, whatever its form: the program, and what the program says of itself.

use crate::metadata::{Metadata, Package};
use crate::third_party;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::Command;

/// The parts of a package.
#[derive(Debug, Clone)]
pub struct Content {
    pub version: String,
    /// Seconds since 1970: that of the last commit, so that the same source makes the same bytes.
    pub time: u64,
    pub program: Vec<u8>,
    /// Pages of the manual: name, text.
    pub pages: Vec<(String, Vec<u8>)>,
    pub completions: Completions,
    pub readme: Vec<u8>,
    pub changes: Vec<u8>,
    /// Names and texts of the project's own licences.
    pub licences: Vec<(String, Vec<u8>)>,
    pub third_party: String,
    /// Alerts and a dashboard: name, text.
    pub monitoring: Vec<(String, Vec<u8>)>,
}

/// For each shell.
#[derive(Debug, Clone)]
pub struct Completions {
    pub bash: Vec<u8>,
    pub zsh: Vec<u8>,
    pub fish: Vec<u8>,
}

impl Content {
    /// Collects them in the workspace `root`. `speaker` is a program of the same source that runs on this machine: it writes its manual.
    ///
    /// # Errors
    /// Where something is missing, or the speaker does not run.
    pub fn collect(root: &Path, metadata: &Metadata, program: &Path, speaker: &Path) -> anyhow::Result<Self> {
        let read = |path: &Path| std::fs::read(path).with_context(|| path.display().to_string());
        let named = |folder: &str, names: &[&str]| -> anyhow::Result<Vec<(String, Vec<u8>)>> {
            names.iter().map(|name| Ok(((*name).to_owned(), read(&root.join(folder).join(name))?))).collect()
        };
        let completion = |shell: &str| said(speaker, &["completions", shell]);
        let parts: Vec<&Package> = metadata.parts("lode")?.into_iter().map(|(part, _)| part).collect();
        Ok(Self {
            version: metadata.own("lode")?.version.clone(),
            time: time_of_source(root)?,
            program: read(program)?,
            pages: pages(speaker)?,
            completions: Completions {
                bash: completion("bash")?,
                zsh: completion("zsh")?,
                fish: completion("fish")?,
            },
            readme: read(&root.join("README.md"))?,
            changes: read(&root.join("CHANGELOG.md"))?,
            licences: named("", &["LICENSE-APACHE", "LICENSE-MIT"])?,
            third_party: third_party::notices(&parts),
            monitoring: named("docs/operations", &["alerts.yml", "grafana.json"])?,
        })
    }
}

/// What a run of the program writes.
fn said(program: &Path, args: &[&str]) -> anyhow::Result<Vec<u8>> {
    let shown = || format!("{} {}", program.display(), args.join(" "));
    let output = Command::new(program).args(args).output().with_context(shown)?;
    if !output.status.success() {
        bail!("{}: {}", shown(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

fn pages(speaker: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let folder = std::env::temp_dir().join(format!("lode-pages-{}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
    let read = || -> anyhow::Result<Vec<(String, Vec<u8>)>> {
        said(speaker, &["man", &folder.to_string_lossy()])?;
        let mut pages = Vec::new();
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            pages.push((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?));
        }
        pages.sort_unstable();
        Ok(pages)
    };
    let pages = read();
    let _ = std::fs::remove_dir_all(&folder);
    pages
}

/// What `SOURCE_DATE_EPOCH` says, else the time of the last commit, else 1980, before which some archives have no times.
fn time_of_source(root: &Path) -> anyhow::Result<u64> {
    const EARLIEST: u64 = 315_532_800;
    if let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") {
        return text.to_string_lossy().parse().context("SOURCE_DATE_EPOCH");
    }
    let output = Command::new("git").current_dir(root).args(["log", "-1", "--format=%ct"]).output();
    let text = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let time = text.and_then(|text| String::from_utf8(text).ok()?.trim().parse().ok());
    Ok(time.unwrap_or(EARLIEST))
}
