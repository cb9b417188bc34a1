//! The modules of a crate: which files belong to it, who uses whom, and which names are public. Paths are followed to the module that
//! defines what they name.

pub mod source;

use std::collections::{BTreeMap, BTreeSet};

use super::files::SourceFile;
use source::{Path, Scope, Use};

/// A module; several may stand in one file.
struct Module<'a> {
    path: Path,
    /// How many names of `path` lead to the file's own module.
    file_depth: usize,
    file: &'a SourceFile,
    scope: Scope,
}

/// The modules of a crate, without those of tests.
pub struct Crate<'a> {
    /// The folder below `crates`, or the package's own.
    pub name: String,
    modules: Vec<Module<'a>>,
    places: BTreeMap<Path, usize>,
}

/// Where a use stands, and what it names.
#[derive(Debug, Clone)]
pub struct Site {
    pub file: String,
    pub line: usize,
    pub path: String,
}

/// The crates of the repository: one for each `lib.rs` and each `main.rs`.
pub fn crates(files: &[SourceFile]) -> Vec<Crate<'_>> {
    let by_path: BTreeMap<&str, &SourceFile> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let roots = files.iter().filter_map(|file| {
        let (package, root) = file.path.rsplit_once("/src/")?;
        matches!(root, "lib.rs" | "main.rs").then_some((package, file))
    });
    roots.map(|(package, root)| Crate::read(&by_path, package, root)).collect()
}

impl<'a> Crate<'a> {
    fn read(files: &BTreeMap<&str, &'a SourceFile>, package: &str, root: &'a SourceFile) -> Self {
        let mut modules = Vec::new();
        let mut places = BTreeMap::new();
        let mut waiting = vec![(Path::new(), root)];
        while let Some((path, file)) = waiting.pop() {
            for scope in source::read(&file.text) {
                let full: Path = path.iter().chain(&scope.inner).cloned().collect();
                for child in &scope.children {
                    let stem = full
                        .iter()
                        .chain([child])
                        .fold(format!("{package}/src"), |stem, name| stem + "/" + name);
                    let found =
                        ["", "/mod"].iter().find_map(|end| files.get(format!("{stem}{end}.rs").as_str()));
                    if let Some(found) = found {
                        waiting.push((full.iter().chain([child]).cloned().collect(), *found));
                    }
                }
                places.insert(full.clone(), modules.len());
                modules.push(Module { path: full, file_depth: path.len(), file, scope });
            }
        }
        let name = package.strip_prefix("crates/").unwrap_or(package).to_owned();
        Self { name, modules, places }
    }

    /// The files of the crate; none of them holds only tests.
    pub fn files(&self) -> impl Iterator<Item = &'a SourceFile> + use<'_, 'a> {
        self.modules.iter().filter(|module| module.scope.inner.is_empty()).map(|module| module.file)
    }

    /// Who uses whom, by the modules of files, each with its first site.
    pub fn uses(&self) -> BTreeMap<(Path, Path), Site> {
        let mut uses = BTreeMap::new();
        for module in &self.modules {
            for used in &module.scope.uses {
                let Some(target) = self.target(module, used) else { continue };
                let from = module.path[..module.file_depth].to_vec();
                let to = target.path[..target.file_depth].to_vec();
                if from != to {
                    let (file, path) = (module.file.path.clone(), used.path.join("::"));
                    uses.entry((from, to)).or_insert(Site { file, line: used.line, path });
                }
            }
        }
        uses
    }

    /// The names of items that other crates can see. By name only: a private item of the same name counts as well.
    pub fn public_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<usize> = self.places.get(&Path::new()).copied().into_iter().collect();
        while let Some(at) = waiting.pop() {
            if !seen.insert(at) {
                continue;
            }
            let module = &self.modules[at];
            for name in &module.scope.public {
                match self.named(module, std::slice::from_ref(name), 0) {
                    Some((behind, 0)) => waiting.push(behind),
                    _ => {
                        let original = module.scope.aliases.get(name).and_then(|path| path.last());
                        names.insert(original.unwrap_or(name).clone());
                    }
                }
            }
            let globs = module.scope.public_globs.iter().filter_map(|glob| self.resolve(module, glob, 0));
            waiting.extend(globs.map(|(behind, _)| behind));
        }
        names
    }

    fn target(&self, module: &Module<'_>, used: &Use) -> Option<&Module<'a>> {
        let (at, rest) = self.resolve(module, &used.path, 0)?;
        // To bring in a module's name is no use of it: what stands behind the name is followed where it is used.
        (used.glob || rest > 0).then(|| &self.modules[at])
    }

    /// The module that a path ends in, and how many names of the path lie inside it. `None` for other crates.
    fn resolve(&self, from: &Module<'_>, path: &[String], hops: usize) -> Option<(usize, usize)> {
        let (head, tail) = path.split_first()?;
        let mut place: &[String] = match head.as_str() {
            "crate" => &[],
            "self" => &from.path,
            "super" => from.path.split_last()?.1,
            _ => return self.named(from, path, hops),
        };
        let mut tail = tail;
        while let Some(("super", rest)) = tail.split_first().map(|(word, rest)| (word.as_str(), rest)) {
            place = place.split_last()?.1;
            tail = rest;
        }
        let at = *self.places.get(place)?;
        if tail.is_empty() {
            Some((at, 0))
        } else {
            self.named(&self.modules[at], tail, hops).or(Some((at, tail.len())))
        }
    }

    /// The same for a path that begins with a name of the module `from`. `None` if the module has no such name.
    fn named(&self, from: &Module<'_>, path: &[String], hops: usize) -> Option<(usize, usize)> {
        const HOPS_MAX: usize = 16;
        let (head, tail) = path.split_first()?;
        let at = *self.places.get(&from.path)?;
        let child = from.scope.children.contains(head);
        if child && !(tail.is_empty() && from.scope.aliases.contains_key(head)) {
            let mut place = from.path.clone();
            place.push(head.clone());
            let child = *self.places.get(&place)?;
            return if tail.is_empty() {
                Some((child, 0))
            } else {
                self.named(&self.modules[child], tail, hops).or(Some((child, tail.len())))
            };
        }
        if hops == HOPS_MAX {
            return None;
        }
        if from.scope.items.contains(head) {
            return Some((at, path.len()));
        }
        if let Some(alias) = from.scope.aliases.get(head) {
            if alias.first() == Some(head) && alias.len() == 1 {
                return None;
            }
            let full: Path = alias.iter().chain(tail).cloned().collect();
            return self.resolve(from, &full, hops + 1);
        }
        from.scope.globs.iter().find_map(|glob| {
            let (behind, 0) = self.resolve(from, glob, hops + 1)? else { return None };
            (behind != at).then(|| self.named(&self.modules[behind], path, hops + 1)).flatten()
        })
    }
}
