//! Pages: their blocks of code, links and headings.

use std::path::Path;

/// Languages of blocks that are neither run nor compared.
const OTHER: &[&str] = &[
    "toml",
    "yaml",
    "json",
    "ini",
    "lua",
    "python",
    "sparql",
    "turtle",
    "html",
    "javascript",
    "caddy",
    "nginx",
    "rust",
    "java",
    "http",
];

/// What a block is.
#[derive(Debug, PartialEq, Eq)]
pub enum Code {
    /// Commands, and the code of the last one.
    Run { exits: i32 },
    /// Commands that are not run, and why.
    NotRun { reason: String },
    /// What the commands before it write.
    Text,
    /// Anything else.
    Other,
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    /// The line of the opening fence, from 1.
    pub line: usize,
    pub code: Code,
    pub lines: Vec<String>,
    /// Headings before it: what is below another heading belongs to nothing before it.
    pub headings: usize,
}

/// A page of the guide.
#[derive(Debug)]
pub struct Page {
    /// From the root of the repository.
    pub path: String,
    pub text: String,
    pub blocks: Vec<Block>,
}

impl Page {
    pub fn read(root: &Path, path: &Path) -> Self {
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        Self::parse(path.to_str().unwrap(), &text)
    }

    pub fn parse(path: &str, text: &str) -> Self {
        let (mut blocks, mut open, mut headings) = (Vec::new(), None::<Block>, 0);
        for (number, line) in (1..).zip(text.lines()) {
            match (&mut open, line.strip_prefix("```")) {
                (Some(_), Some("")) => blocks.extend(open.take()),
                (Some(block), _) => block.lines.push(line.to_owned()),
                (None, Some(info)) => {
                    let code = code(info).unwrap_or_else(|| panic!("{path}:{number}: a block of {info:?}"));
                    open = Some(Block { line: number, code, lines: Vec::new(), headings });
                }
                (None, None) => headings += usize::from(line.starts_with('#')),
            }
        }
        assert!(open.is_none(), "{path}: a block is open at the end");
        Self { path: path.to_owned(), text: text.to_owned(), blocks }
    }

    pub fn has_commands(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.code, Code::Run { .. }))
    }

    /// What the commands of a block are to write, if the page says it.
    pub fn expected(&self, block: &Block) -> Option<&Block> {
        let next = self.blocks.iter().find(|next| next.line > block.line)?;
        (next.code == Code::Text && next.headings == block.headings).then_some(next)
    }

    /// Links to files of the repository, with their lines.
    pub fn links(&self) -> Vec<(usize, &str)> {
        let mut links = Vec::new();
        let mut is_code = false;
        for (number, line) in (1..).zip(self.text.lines()) {
            is_code ^= line.starts_with("```");
            if is_code || line.starts_with("<!--") {
                continue;
            }
            for (at, _) in line.match_indices("](") {
                let Some((link, _)) = line[at + 2..].split_once(')') else { continue };
                if !link.contains("://") && !link.starts_with("mailto:") {
                    links.push((number, link));
                }
            }
        }
        links
    }
}

/// What the words behind a fence say.
fn code(info: &str) -> Option<Code> {
    let (first, reason) = info.split_once(' ').unwrap_or((info, ""));
    Some(match first.split_once(',').unwrap_or((first, "")) {
        ("sh", "") => Code::Run { exits: 0 },
        ("sh", "norun") => Code::NotRun { reason: reason.to_owned() },
        ("sh", option) => Code::Run { exits: option.strip_prefix("exits=")?.parse().ok()? },
        ("text", "") => Code::Text,
        (other, "") if OTHER.contains(&other) => Code::Other,
        _ => return None,
    })
}

/// The names by which headings are linked to.
pub fn headings(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let line = line.trim_start_matches('#').trim().to_lowercase();
        let kept = line.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    lines.map(name).collect()
}

#[test]
fn blocks_of_a_page() {
    let text = "# A\n```sh\nlode x\n```\nThen:\n```text\nout\n```\n## B\n```text\nno\n```\n```sh,norun it is slow\n```\n```sh,exits=4\n```";
    let page = Page::parse("a.md", text);
    let codes: Vec<&Code> = page.blocks.iter().map(|block| &block.code).collect();
    let slow = Code::NotRun { reason: "it is slow".to_owned() };
    let (run, fails) = (Code::Run { exits: 0 }, Code::Run { exits: 4 });
    assert_eq!(codes, [&run, &Code::Text, &Code::Text, &slow, &fails]);
    assert_eq!(page.expected(&page.blocks[0]).unwrap().lines, ["out"]);
    assert!(page.expected(&page.blocks[3]).is_none());
    assert!(code("bash").is_none() && code("").is_none() && code("sh,exit=1").is_none());
    assert_eq!(headings("## Rules for `graphs`: all\n"), ["rules-for-graphs-all"]);
}
