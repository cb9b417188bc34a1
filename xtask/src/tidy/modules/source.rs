//! What one source file says about modules: which it declares, which names it brings in, and which paths it uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::tokens::{Kind, Token, product_tokens};

/// A path as it stands in the source, `["super", "plan", "Plan"]`.
pub type Path = Vec<String>;

/// A path that the code of a module uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    pub path: Path,
    pub line: usize,
    /// The path ends in `*`.
    pub glob: bool,
}

/// A module of a file: the file's own, or one written inside it.
#[derive(Debug, Default)]
pub struct Scope {
    /// Names from the file's module down to this one; empty for the file's own.
    pub inner: Path,
    /// Modules declared here, with a file of their own or not.
    pub children: BTreeSet<String>,
    /// What is defined here.
    pub items: BTreeSet<String>,
    /// Names brought in by `use`, and for what they stand.
    pub aliases: BTreeMap<String, Path>,
    /// Modules whose names are all brought in.
    pub globs: Vec<Path>,
    /// All paths that the code uses. A re-export alone is none.
    pub uses: Vec<Use>,
    /// Names with plain `pub`: modules, items and re-exports.
    pub public: BTreeSet<String>,
    /// The same for re-exports of everything.
    pub public_globs: Vec<Path>,
    /// The names of `aliases` that are re-exported, so that the `use` alone tells nothing.
    exported: BTreeSet<String>,
}

/// Reads a file; the first scope is the file's own.
pub fn read(text: &str) -> Vec<Scope> {
    let tokens: Vec<Token> =
        product_tokens(text).into_iter().filter(|token| token.kind != Kind::Doc).collect();
    let mut reader =
        Reader { tokens: &tokens, at: 0, depth: 0, open: vec![(0, 0)], scopes: vec![Scope::default()] };
    reader.declarations();
    reader = Reader { at: 0, depth: 0, open: vec![(0, 0)], ..reader };
    reader.paths();
    reader.scopes
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// Brackets of all kinds that are open.
    depth: usize,
    /// The scopes that are open, with the depth of their content.
    open: Vec<(usize, usize)>,
    scopes: Vec<Scope>,
}

impl Reader<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.tokens
            .get(self.at + ahead)
            .map_or("", |token| if token.kind == Kind::Literal { "" } else { token.text })
    }

    /// Whether the item here, with `const`, `unsafe` and the like before it, is plainly `pub`.
    fn is_public(&self) -> bool {
        let before = self.tokens[..self.at].iter().rev();
        let mut before = before
            .skip_while(|token| ["const", "unsafe", "async", "extern"].iter().any(|word| token.is(word)));
        before.next().is_some_and(|token| token.is("pub"))
    }

    fn before(&self) -> &str {
        self.at.checked_sub(1).map_or("", |at| self.tokens[at].text)
    }

    fn innermost(&self) -> (usize, usize) {
        self.open.last().copied().unwrap_or_default()
    }

    fn scope(&mut self) -> &mut Scope {
        let (index, _) = self.innermost();
        &mut self.scopes[index]
    }

    /// Follows brackets, and the ends of scopes.
    fn bracket(&mut self) {
        match self.word(0) {
            "(" | "[" | "{" => self.depth += 1,
            ")" | "]" | "}" => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth < self.innermost().1 {
                    self.open.pop();
                }
            }
            _ => {}
        }
    }

    /// The first pass: modules, items and what `use` brings in.
    fn declarations(&mut self) {
        while self.at < self.tokens.len() {
            let outside = self.depth == self.innermost().1;
            let (word, name) = (self.word(0).to_owned(), self.word(1).to_owned());
            match word.as_str() {
                "use" if self.before() != "::" => {
                    self.import(outside);
                    continue;
                }
                "mod" if outside => {
                    self.publish(&name);
                    self.module(&name);
                }
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" if outside => {
                    self.publish(&name);
                    self.scope().items.insert(name);
                }
                "macro_rules" if outside => {
                    let name = self.word(2).to_owned();
                    self.scope().items.insert(name);
                }
                _ => self.bracket(),
            }
            self.at += 1;
        }
    }

    fn publish(&mut self, name: &str) {
        if self.is_public() {
            self.scope().public.insert(name.to_owned());
        }
    }

    /// `mod name;` or `mod name {`.
    fn module(&mut self, name: &str) {
        self.scope().children.insert(name.to_owned());
        if self.word(2) == "{" {
            let mut inner = self.scope().inner.clone();
            inner.push(name.to_owned());
            self.scopes.push(Scope { inner, ..Scope::default() });
            self.at += 2;
            self.depth += 1;
            self.open.push((self.scopes.len() - 1, self.depth));
        }
    }

    /// A `use` declaration, up to its `;`.
    fn import(&mut self, outside: bool) {
        let exported = outside && matches!(self.before(), "pub" | ")");
        let public = outside && self.is_public();
        self.at += 1;
        let mut leaves = Vec::new();
        self.tree(&mut Vec::new(), &mut leaves);
        while self.at < self.tokens.len() && self.word(0) != ";" {
            self.at += 1;
        }
        for (name, used) in leaves {
            let scope = self.scope();
            if public && used.glob {
                scope.public_globs.push(used.path.clone());
            } else if public {
                scope.public.insert(name.clone());
            }
            if used.glob {
                scope.globs.push(used.path.clone());
            } else if outside || !scope.aliases.contains_key(&name) {
                scope.aliases.insert(name.clone(), used.path.clone());
            }
            if exported {
                scope.exported.insert(name);
            } else {
                scope.uses.push(used);
            }
        }
    }

    /// A use tree: gives its leaves with the names that they get.
    fn tree(&mut self, prefix: &mut Path, leaves: &mut Vec<(String, Use)>) {
        let long = prefix.len();
        loop {
            let line = self.tokens.get(self.at).map_or(0, |token| token.line);
            match self.word(0) {
                "" | ";" => break,
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while !matches!(self.word(0), "}" | "" | ";") {
                        self.tree(prefix, leaves);
                        if self.word(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                "*" => {
                    self.at += 1;
                    leaves.push(("*".to_owned(), Use { path: prefix.clone(), line, glob: true }));
                    break;
                }
                word => {
                    // `a::b::{self}` is `a::b`.
                    if word != "self" || prefix.is_empty() {
                        let word = word.to_owned();
                        prefix.push(word);
                    }
                    self.at += 1;
                    if self.word(0) == "::" {
                        continue;
                    }
                    let mut name = prefix.last().cloned().unwrap_or_default();
                    if self.word(0) == "as" {
                        name = self.word(1).to_owned();
                        self.at += 2;
                    }
                    leaves.push((name, Use { path: prefix.clone(), line, glob: false }));
                    break;
                }
            }
        }
        prefix.truncate(long);
    }

    /// The second pass: paths in the code, and re-exported names that the code uses itself.
    fn paths(&mut self) {
        let mut next_inner = 1;
        while self.at < self.tokens.len() {
            match self.word(0) {
                "use" if self.before() != "::" => {
                    while self.at < self.tokens.len() && self.word(0) != ";" {
                        self.at += 1;
                    }
                    continue;
                }
                "mod" if self.word(2) == "{" && self.depth == self.innermost().1 => {
                    self.at += 3;
                    self.depth += 1;
                    self.open.push((next_inner, self.depth));
                    next_inner += 1;
                    continue;
                }
                _ => {}
            }
            self.bracket();
            let token = self.tokens[self.at];
            if token.kind == Kind::Word && !matches!(self.before(), "::" | "." | "fn" | "mod" | "'") {
                self.path(token);
            }
            self.at += 1;
        }
    }

    /// A word that may begin a path. A path of one word counts if the module re-exports the name.
    fn path(&mut self, token: Token) {
        let mut path = vec![token.text.to_owned()];
        let mut ahead = 1;
        while self.word(ahead) == "::"
            && self.tokens.get(self.at + ahead + 1).is_some_and(|t| t.kind == Kind::Word)
        {
            path.push(self.word(ahead + 1).to_owned());
            ahead += 2;
        }
        let called = matches!(self.word(ahead), "(" | "!");
        let is_type = token.text.starts_with(char::is_uppercase);
        let scope = self.scope();
        let own = scope.exported.contains(token.text) && (is_type || called);
        if path.len() > 1 || own {
            scope.uses.push(Use { path, line: token.line, glob: false });
        }
    }
}
