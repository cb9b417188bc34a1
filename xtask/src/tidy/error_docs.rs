//! Public functions that return `Result` say when they fail, in a section `# Errors`.
//!
//! Public is what other crates can name: functions of public modules or re-exported ones, methods of such types, and what such
//! traits ask for. Implementations of traits take their documentation from the trait.

use std::collections::BTreeSet;

use super::files::SourceFile;
use super::modules;
use super::problem::Problem;
use super::tokens::{Kind, Token, product_tokens};

pub fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for code in modules::crates(files).iter().filter(|code| code.name != "xtask") {
        let public = code.public_names();
        problems.extend(code.files().flat_map(|file| undocumented(file, &public)));
    }
    problems
}

/// The public functions of a file that return `Result` and do not say when.
fn undocumented(file: &SourceFile, public: &BTreeSet<String>) -> Vec<Problem> {
    let tokens = product_tokens(&file.text);
    let mut walker = Walker { tokens: &tokens, public, depth: 0, open: Vec::new(), documented: false };
    let mut problems = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if let Some(name) = walker.step(at) {
            let what = format!("`{name}` returns `Result`, but no section `# Errors` says when it fails");
            problems.push(Problem::new(&file.path, token.line, what));
        }
    }
    problems
}

/// What braces belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Module,
    /// Methods of a public type.
    Methods,
    /// A public trait.
    Trait,
    /// Anything else: bodies, implementations of traits, private types.
    Other,
}

struct Walker<'a> {
    tokens: &'a [Token<'a>],
    public: &'a BTreeSet<String>,
    depth: usize,
    /// The blocks that are open, with the depth outside of them.
    open: Vec<(Block, usize)>,
    /// A section `# Errors` stands before what follows.
    documented: bool,
}

impl Walker<'_> {
    /// Goes over a token. Gives the name of a function that lacks the section if one begins here.
    fn step(&mut self, at: usize) -> Option<String> {
        let token = self.tokens[at];
        match (token.kind, token.text) {
            (Kind::Doc, text) => self.documented |= text.trim_start_matches('/').trim() == "# Errors",
            (Kind::Word, "fn") => return self.function(at),
            (Kind::Sign, "{") => {
                let block = self.block(at);
                self.open.push((block, self.depth));
                self.depth += 1;
                self.documented = false;
            }
            (Kind::Sign, "}") => {
                self.depth = self.depth.saturating_sub(1);
                if self.open.last().is_some_and(|(_, outside)| *outside == self.depth) {
                    self.open.pop();
                }
                self.documented = false;
            }
            (Kind::Sign, ";") => self.documented = false,
            _ => {}
        }
        None
    }

    /// What the braces that open at `at` belong to: the tokens since the last `;`, `{` or `}` tell.
    fn block(&self, at: usize) -> Block {
        let ends = |token: &Token| token.is(";") || token.is("{") || token.is("}");
        let start = self.tokens[..at].iter().rposition(ends).map_or(0, |end| end + 1);
        let head = &self.tokens[start..at];
        let first = |word: &str| head.iter().position(|token| token.is(word));
        let name_after =
            |place: usize| head.get(place + 1).is_some_and(|token| self.public.contains(token.text));
        if !matches!(self.open.last(), None | Some((Block::Module, _))) || first("fn").is_some() {
            return Block::Other;
        }
        if first("mod").is_some() {
            Block::Module
        } else if let Some(place) = first("trait") {
            if name_after(place) { Block::Trait } else { Block::Other }
        } else if let Some(place) = first("impl") {
            match implemented(&head[place + 1..]) {
                Some(name) if self.public.contains(name) => Block::Methods,
                _ => Block::Other,
            }
        } else {
            Block::Other
        }
    }

    fn function(&self, at: usize) -> Option<String> {
        let name = self.tokens.get(at + 1)?.text;
        let before = self.tokens[..at].iter().rev();
        let mut before = before.skip_while(|token| {
            token.kind == Kind::Literal || ["const", "unsafe", "async", "extern"].contains(&token.text)
        });
        let is_pub = before.next().is_some_and(|token| token.is("pub"));
        let public = match self.open.last() {
            None | Some((Block::Module, _)) => is_pub && self.public.contains(name),
            Some((Block::Methods, _)) => is_pub,
            Some((Block::Trait, _)) => true,
            Some((Block::Other, _)) => false,
        };
        (public && !self.documented && returns_result(&self.tokens[at..])).then(|| name.to_owned())
    }
}

/// The type that an `impl` is for, from what stands between the word and its braces; `None` if it implements a trait.
fn implemented<'a>(head: &[Token<'a>]) -> Option<&'a str> {
    let is_trait = (1..head.len()).any(|at| head[at - 1].is("for") && !head[at].is("<"));
    let mut angles = 0_usize;
    let mut name = None;
    for token in head {
        match token.text {
            "<" => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            "where" => break,
            text if angles == 0 && token.kind == Kind::Word => name = Some(text),
            _ => {}
        }
    }
    name.filter(|_| !is_trait)
}

/// Whether the function whose signature begins here returns a `Result`, whatever its error.
fn returns_result(signature: &[Token]) -> bool {
    let mut depth = 0_usize;
    let mut arrow = None;
    for (at, token) in signature.iter().enumerate() {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "->" if depth == 0 => arrow = arrow.or(Some(at)),
            "{" | ";" | "where" if depth == 0 => break,
            _ => {}
        }
    }
    let Some(arrow) = arrow else { return false };
    let path = signature[arrow + 1..].iter().take_while(|token| token.kind == Kind::Word || token.is("::"));
    path.last().is_some_and(|token| token.is("Result"))
}
