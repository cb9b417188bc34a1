//! What may be used only in certain places: files, threads, clocks, locks, `async`.

use super::files::SourceFile;
use super::problem::Problem;

/// Words that may stand only below certain paths.
struct Restriction {
    /// Any of these in a line of code is a use.
    words: &'static [&'static str],
    /// Checked in sources whose path begins so.
    within: &'static [&'static str],
    /// Except in these.
    except: &'static [&'static str],
    reason: &'static str,
}

const CRATES: &[&str] = &["crates/", "python/src/"];

const RESTRICTIONS: [Restriction; 5] = [
    Restriction {
        words: &["std::fs", "fs::File", "File::open", "File::create"],
        within: CRATES,
        except: &[
            "crates/base/src/real_vfs",
            "crates/base/src/file_cache",
            "crates/base/src/direct.rs",
            "crates/base/src/host.rs",
            "crates/rdf/src/input",
            // Users, certificates, sockets and logs are no files of the database.
            "crates/server/src/access/file.rs",
            "crates/server/src/access/oidc/place.rs",
            "crates/server/src/observe/log_file.rs",
            // Looks at sizes only.
            "crates/server/src/admin/figures.rs",
            "crates/server/src/listener.rs",
            "crates/server/src/tls/certificate.rs",
            // Parts of objects, which may go at any time.
            "crates/remote/src/cache.rs",
            "crates/cli/",
            "crates/bench/",
            "crates/conformance/",
            // What a load sets aside.
            "python/src/load.rs",
        ],
        reason: "files are read and written through lode_base::vfs",
    },
    Restriction {
        words: &["thread::spawn", "thread::scope", "thread::Builder"],
        within: CRATES,
        except: &[
            "crates/base/src/pieces.rs",
            "crates/base/src/radix_sort.rs",
            "crates/base/src/block_source/queue.rs",
            "crates/base/src/stripes/lane.rs",
            "crates/base/src/io_probe.rs",
            "crates/ingest/src/archive.rs",
            "crates/ingest/src/feeders.rs",
            "crates/ingest/src/read_ahead.rs",
            "crates/store/src/load/",
            "crates/store/src/segment_builder/",
            "crates/store/src/compact/",
            "crates/store/src/maintenance.rs",
            "crates/store/src/warmer.rs",
            "crates/store/src/words/",
            "crates/scheduler/src/pool.rs",
            "crates/scheduler/src/removal.rs",
            "crates/engine/src/materialise/background.rs",
            "crates/engine/src/service/mod.rs",
            "crates/remote/src/cache.rs",
            "crates/remote/src/opening.rs",
            "crates/server/src/observe/log_file.rs",
            "crates/server/src/observe/traces.rs",
            "crates/cli/",
            "crates/conformance/",
            // The interpreter's main thread looks for signals meanwhile; the server has a thread of its own.
            "python/src/interruptible.rs",
            "python/src/serve.rs",
        ],
        reason: "threads are started in a few named modules only",
    },
    Restriction {
        words: &["Mutex", "RwLock", "Condvar", "Instant", "SystemTime", "std::thread", "Atomic"],
        within: &["crates/packed/", "crates/sparql/"],
        except: &[],
        reason: "packed files and planning know no threads, locks or clocks",
    },
    Restriction {
        words: &["async fn", "async move", "async {", ".await"],
        within: CRATES,
        except: &["crates/server/", "crates/cli/", "python/src/serve.rs"],
        reason: "async exists only in the server",
    },
    Restriction {
        words: &[".sync_all(", ".sync_data(", "fsync", ".sync("],
        within: &[
            "crates/packed/",
            "crates/sparql/",
            "crates/eval/",
            "crates/exec/",
            "crates/engine/",
            "crates/server/",
        ],
        except: &["crates/server/src/access/file.rs"],
        reason: "only the store makes files durable",
    },
];

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_rust() && !file.is_test()) {
        for restriction in &RESTRICTIONS {
            if starts_with_any(&file.path, restriction.within)
                && !starts_with_any(&file.path, restriction.except)
            {
                uses(file, restriction, &mut problems);
            }
        }
        if file.path.starts_with("crates/sparql/") {
            packed_is_order_only(file, &mut problems);
        }
    }
    problems
}

fn starts_with_any(path: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| path.starts_with(prefix))
}

fn uses(file: &SourceFile, restriction: &Restriction, problems: &mut Vec<Problem>) {
    for (number, line) in file.code_lines() {
        let code = line.split("//").next().unwrap_or_default();
        if let Some(word) = restriction.words.iter().find(|word| code.contains(*word)) {
            problems.push(Problem::new(&file.path, number, format!("`{word}`: {}", restriction.reason)));
        }
    }
}

/// The planner may know the sort orders of the packed files, and nothing else of them.
fn packed_is_order_only(file: &SourceFile, problems: &mut Vec<Problem>) {
    const ALLOWED: [&str; 6] = ["order", "Order", "Position", "{Order", "{Position", "{order"];
    for (number, line) in file.code_lines() {
        let code = line.split("//").next().unwrap_or_default();
        for used in code.split("lode_packed::").skip(1) {
            let name = used.split([':', ';', ',', '}', '(', ' ', '>']).next().unwrap_or_default();
            if !ALLOWED.contains(&name) {
                let what =
                    format!("`lode_packed::{name}`: the planner knows only the sort orders of packed files");
                problems.push(Problem::new(&file.path, number, what));
            }
        }
    }
}
