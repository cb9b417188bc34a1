//! What parsing costs, in time and memory: `parse_cost ROUNDS FOLDER...` reads the `.rq` and `.ru` files of the folders and parses each of them so often.

use lode_sparql::{parse_query, parse_update};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Counts what is allocated.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on as it is.
#[expect(unsafe_code, reason = "an allocator is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps to what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the same.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|end| end == "rq" || end == "ru") {
            files.push(path);
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut given = std::env::args().skip(1);
    let rounds: u32 = given.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    for folder in given {
        let mut files = Vec::new();
        gather(Path::new(&folder), &mut files);
        files.sort();
        let texts: Vec<(bool, String)> = files
            .iter()
            .filter_map(|file| Some((file.extension()? == "ru", std::fs::read_to_string(file).ok()?)))
            .collect();
        let parse = |(is_update, text): &(bool, String)| {
            let base = Some("http://example.org/");
            if *is_update { parse_update(text, base).is_ok() } else { parse_query(text, base).is_ok() }
        };
        let right: Vec<&(bool, String)> = texts.iter().filter(|text| parse(text)).collect();
        let bytes: usize = right.iter().map(|(_, text)| text.len()).sum();
        let mut most = 0;
        for text in &right {
            MOST.store(NOW.load(Relaxed), Relaxed);
            let before = NOW.load(Relaxed);
            parse(text);
            most += MOST.load(Relaxed) - before;
        }
        let start = Instant::now();
        for _ in 0..rounds {
            right.iter().for_each(|text| {
                parse(text);
            });
        }
        let each = start.elapsed().as_nanos() / u128::from(rounds) / right.len().max(1) as u128;
        writeln!(
            std::io::stdout(),
            "{folder}: {} texts, {bytes} bytes: {each} ns and at most {} bytes each",
            right.len(),
            most / right.len().max(1)
        )?;
    }
    Ok(())
}
