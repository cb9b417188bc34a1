//! A page as a session of a shell.

use crate::compare::difference;
use crate::page::{Block, Code, Page};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A page that takes longer has failed.
const LONGEST: Duration = Duration::from_secs(90);
/// Where a server listens unless told otherwise.
const PORT: u16 = 7878;

/// Runs all commands of a page in an empty folder; tells what failed.
pub fn run(page: &Page) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let (work, told) = (folder.path().join("work"), folder.path().join("told"));
    [&work, &told].into_iter().for_each(|path| std::fs::create_dir(path).unwrap());
    std::fs::write(folder.path().join(".curlrc"), "silent\nshow-error\nfail-with-body\n").unwrap();
    let ports = Ports::of(page);
    let script = folder.path().join("page.sh");
    std::fs::write(&script, script_of(page, &ports)).unwrap();
    std::fs::write(told.join("prelude"), include_str!("prelude.sh")).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_lode")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.arg(&script).current_dir(&work).process_group(0).stdin(Stdio::null());
    command.env_clear().env("PATH", format!("{}:{path}", bin.display())).env("HOME", folder.path());
    command.env("CURL_HOME", folder.path()).env("LANG", "C.UTF-8").env("USER", "ann");
    command.env("GUIDE", &told).env("WORK", &work).env("LODE_BIND", ports.real(PORT).to_string());
    command.stdout(Stdio::null()).stderr(Stdio::from(std::fs::File::create(told.join("shell")).unwrap()));
    let ended = wait(command.spawn().unwrap());
    outcome(page, &told, &ports, ended)
}

/// Waits for the end of a session, or ends it with all that it has started. Whether it ended by itself.
fn wait(mut session: Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < LONGEST {
        if session.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let group = format!("-{}", session.id());
    Command::new("kill").args(["-KILL", "--", &group]).status().unwrap();
    session.wait().unwrap();
    false
}

/// What of a page's blocks failed first.
fn outcome(page: &Page, told: &Path, ports: &Ports, ended: bool) -> Option<String> {
    let written = |block: &Block| -> Option<Vec<String>> {
        let read = |part: &str| std::fs::read(told.join(format!("{part}.{}", block.line)));
        let bytes = read("written").or_else(|_| read("block")).ok()?;
        let text = ports.shown(&String::from_utf8_lossy(&bytes));
        // Failures of requests end the page, unless it asks for their status.
        Some(text.lines().filter(|line| !line.starts_with("curl: (22)")).map(str::to_owned).collect())
    };
    let failure = std::fs::read_to_string(told.join("failure")).unwrap_or_default();
    let mut parts = failure.trim_end().splitn(3, '\t');
    let failed_line: Option<usize> = parts.next().and_then(|line| line.parse().ok());
    for block in page.blocks.iter().filter(|block| matches!(block.code, Code::Run { .. })) {
        let Some(got) = written(block) else {
            let shell = std::fs::read_to_string(told.join("shell")).unwrap_or_default();
            return Some(format!("{}:{}: was not reached\n{shell}", page.path, block.line));
        };
        let is_within = |line: usize| line >= block.line && line <= block.line + block.lines.len() + 1;
        if let Some(line) = failed_line.filter(|line| is_within(*line)) {
            let code = parts.next().unwrap_or_default();
            let command = ports.shown(parts.next().unwrap_or_default());
            return Some(report(page, line, &format!("exit code {code} of: {command}"), &got));
        }
        let Some(expected) = page.expected(block) else { continue };
        if let Some((expects, is)) = difference(&expected.lines, &got) {
            let what =
                format!("expected: {expects}\n  got:      {is}\n  commands:\n{}", indented(&block.lines));
            return Some(report(page, expected.line, &what, &got));
        }
    }
    (!ended).then(|| format!("{}: it did not end within {LONGEST:?}", page.path))
}

fn report(page: &Page, line: usize, what: &str, got: &[String]) -> String {
    format!("{}:{line}: {what}\n  all that was written:\n{}", page.path, indented(got))
}

fn indented(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "    {line}");
        text
    })
}

/// The commands of a page, each in the line in which it is there.
fn script_of(page: &Page, ports: &Ports) -> String {
    let mut lines = vec![String::new(); page.text.lines().count() + 1];
    lines[0] = ". \"$GUIDE/prelude\"".to_owned();
    for block in &page.blocks {
        let Code::Run { exits } = block.code else { continue };
        lines[block.line - 1] = format!("__begin {} {exits}", block.line);
        let mut here = None::<String>;
        for (at, line) in block.lines.iter().enumerate() {
            let line = ports.used(line);
            lines[block.line + at] = match &here {
                Some(end) if line == *end => {
                    here = None;
                    line
                }
                Some(_) => line,
                None => {
                    here = here_document(&line);
                    // Pages that wait by themselves are taken at their word.
                    let next = block.lines.get(at + 1).map_or("", String::as_str);
                    let waits = ["lode status --wait", "until "].iter().any(|start| next.starts_with(start));
                    if waits { line } else { in_background(&line, ports).unwrap_or(line) }
                }
            };
        }
        lines[block.line + block.lines.len()] = format!("__end {} $?", block.line);
    }
    lines.join("\n")
}

/// The word that ends the document which begins in a line.
fn here_document(line: &str) -> Option<String> {
    let (_, word) = line.split_once("<<")?;
    let word: String = word
        .trim_start()
        .chars()
        .filter(|c| !"'\"".contains(*c))
        .take_while(|c| !c.is_whitespace())
        .collect();
    (!word.is_empty()).then_some(word)
}

/// A line that starts something in the background, followed by waiting for it.
fn in_background(line: &str, ports: &Ports) -> Option<String> {
    let command = line.split(" #").next().unwrap_or(line).trim_end();
    let command = command.strip_suffix(" &")?;
    let socket = command.split_whitespace().find(|word| word.starts_with("unix:")).map(str::to_owned);
    let port = socket.or_else(|| ports.named(command));
    let port = port.unwrap_or_else(|| ports.real(PORT).to_string());
    Some(format!("{command} & __ready {port}"))
}

/// Ports that pages name, and those that are used in their place.
struct Ports(BTreeMap<u16, u16>);

impl Ports {
    fn of(page: &Page) -> Self {
        let mut named = vec![PORT];
        for block in page.blocks.iter().filter(|block| matches!(block.code, Code::Run { .. })) {
            for line in &block.lines {
                for before in ["127.0.0.1:", "localhost:", "--bind ", "http.server "] {
                    for (at, _) in line.match_indices(before) {
                        let rest = &line[at + before.len()..];
                        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                        named.extend(rest[..end].parse::<u16>().ok().filter(|port| *port > 1000));
                    }
                }
            }
        }
        // All are held until all are known, so that no two are the same.
        let held: Vec<TcpListener> =
            named.iter().map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
        let real = held.iter().map(|listener| listener.local_addr().unwrap().port());
        Self(named.into_iter().zip(real).collect())
    }

    fn real(&self, port: u16) -> u16 {
        self.0[&port]
    }

    /// A text with the ports that are used.
    fn used(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (shown, used)| with_number(&text, *shown, *used))
    }

    /// A text with the ports that the page names.
    fn shown(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (shown, used)| with_number(&text, *used, *shown))
    }

    /// The one that a command names.
    fn named(&self, command: &str) -> Option<String> {
        self.0.values().map(ToString::to_string).find(|port| command.contains(port))
    }
}

/// A text with another number in the place of one.
fn with_number(text: &str, from: u16, to: u16) -> String {
    let (from, mut out, mut rest) = (from.to_string(), String::new(), text);
    while let Some(at) = rest.find(&from) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        out.push_str(before);
        let is_whole =
            !out.ends_with(|c: char| c.is_ascii_digit()) && !behind.starts_with(|c: char| c.is_ascii_digit());
        if is_whole {
            out.push_str(&to.to_string())
        } else {
            out.push_str(&from)
        }
        rest = behind;
    }
    out + rest
}

#[test]
fn what_fails_is_told() {
    let text = "# A\n```sh\necho one two\n```\n```text\none ...\n```\n```sh\ntrue\nlode nonsense 2> /dev/null\n```\n";
    let failure = run(&Page::parse("a.md", text)).unwrap();
    assert!(failure.starts_with("a.md:10: exit code 2 of: lode nonsense"), "{failure}");
    let failure = run(&Page::parse("a.md", &text.replace("one ...", "three"))).unwrap();
    assert!(failure.contains("a.md:5: expected: three\n  got:      one two"), "{failure}");
    let fails = text.replace("sh\ntrue", "sh,exits=2\ntrue");
    assert_eq!(run(&Page::parse("a.md", &fails)), None);
    assert!(run(&Page::parse("a.md", &fails.replace("=2", "=3"))).unwrap().contains("exit code 2"));
    assert_eq!(with_number("17878 7878, 7878", 7878, 1), "17878 1, 1");
}
