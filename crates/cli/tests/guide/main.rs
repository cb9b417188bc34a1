//! The guide and the README do what they say: each page is a session of a shell in an empty folder, and what its commands write is what the page shows.
//!
//! A page is Markdown. Its blocks of `sh` run in order, in one `bash`. A block of `text` below one is what it writes, to both standard output and standard error:
//! `...` stands for anything within a line, and alone in a line for any number of lines; numbers before units of time and size are not compared.
//! `sh,exits=4` ends with that code. `sh,norun WHY` is not run, and says why. `LODE_GUIDE_PAGE=load` tries one page alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod compare;
mod page;
mod session;

use page::{Code, Page};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and all pages.
fn pages() -> Vec<Page> {
    let mut paths = vec![PathBuf::from("README.md")];
    for folder in ["docs/guide/src", "docs/guide/src/reference"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        paths.extend(names.filter(|name| name.ends_with(".md")).map(|name| Path::new(folder).join(name)));
    }
    paths.sort();
    paths.iter().map(|path| Page::read(&root(), path)).collect()
}

#[test]
fn commands_do_what_the_pages_say() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: no curl");
        return;
    }
    let only = std::env::var("LODE_GUIDE_PAGE").unwrap_or_default();
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.path.contains(&only)).collect();
    for page in &pages {
        for block in &page.blocks {
            if let Code::NotRun { reason } = &block.code {
                assert!(!reason.is_empty(), "{}:{}: sh,norun without a reason", page.path, block.line);
                eprintln!("not run: {}:{}: {reason}", page.path, block.line);
            }
        }
    }
    let waiting = Mutex::new(pages.iter().filter(|page| page.has_commands()));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(page) = waiting.lock().unwrap().next() else { break };
                    let start = std::time::Instant::now();
                    let failed = session::run(page);
                    eprintln!("{}: {:.1} s", page.path, start.elapsed().as_secs_f64());
                    failures.lock().unwrap().extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

#[test]
fn the_pages_are_in_the_summary() {
    let folder = root().join("docs/guide/src");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    for page in pages().iter().filter_map(|page| page.path.strip_prefix("docs/guide/src/")) {
        assert!(page == "SUMMARY.md" || summary.contains(page), "{page} is not in SUMMARY.md");
    }
    for line in summary.lines().filter(|line| !line.starts_with("<!--")) {
        let Some(link) = line.split_once("](").and_then(|(_, rest)| rest.split_once(')')) else { continue };
        assert!(folder.join(link.0).is_file(), "SUMMARY.md: {} is missing", link.0);
    }
}

#[test]
fn links_lead_somewhere() {
    let mut lost = Vec::new();
    for page in pages() {
        let folder = root().join(&page.path).parent().unwrap().to_owned();
        for (line, link) in page.links() {
            let (file, part) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() { root().join(&page.path) } else { folder.join(file) };
            if !path.exists() {
                lost.push(format!("{}:{line}: {link}: no such file", page.path));
                continue;
            }
            let is_markdown = path.extension().is_some_and(|extension| extension == "md");
            if is_markdown && !part.is_empty() {
                let text = std::fs::read_to_string(&path).unwrap();
                if !page::headings(&text).iter().any(|heading| heading == part) {
                    lost.push(format!("{}:{line}: {link}: no such heading", page.path));
                }
            }
        }
    }
    assert!(lost.is_empty(), "\n{}", lost.join("\n"));
}
