//! The workspace is tidy, and each rule finds what it is for.

use super::files::SourceFile;
use super::*;

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), bytes: text.len() as u64, text: text.to_owned() }
}

fn messages(problems: Vec<Problem>) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_workspace_is_tidy() {
    let problems = check(&crate::workspace_root());
    assert!(problems.is_empty(), "\n{}\n", messages(problems));
}

#[test]
fn undocumented_and_long_files_are_found() {
    let long = format!("//! Long.\n{}", "x\n".repeat(900));
    let tested = format!("//! Fine.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(900));
    let files = [
        file("crates/a/src/bare.rs", "fn main() {}\n"),
        file("crates/a/src/long.rs", &long),
        file("crates/a/src/tested.rs", &tested),
        file("crates/a/src/tests.rs", &long),
    ];
    let found = messages(sizes::check(&files, "crates/a/src/tested.rs 900 once was long\n"));
    assert!(found.contains("bare.rs:1: must open"), "{found}");
    assert!(found.contains("long.rs: 901 lines"), "{found}");
    assert!(found.contains("tested.rs needs no exception"), "{found}");
    assert!(found.contains("the list may only shrink"), "{found}");
    assert_eq!(found.lines().count(), 4, "{found}");
}

#[test]
fn empty_names_and_machine_paths_are_found() {
    let path = concat!("see /ho", "me/me/notes\nhttp://example.org/ho", "me/\n");
    let files = [
        file("crates/a/src/utils.rs", ""),
        file("docs/a.md", path),
        file("docs/b.md", "`crates/gone.rs`\n[a](a.md) [up](../docs/a.md#x) [gone](c.md)\n"),
    ];
    let found = messages(names::check(&files));
    assert!(found.contains("`utils.rs` says nothing"), "{found}");
    assert!(found.contains("docs/a.md:1: a path"), "{found}");
    assert!(found.contains("`crates/gone.rs` does not exist"), "{found}");
    assert!(found.contains("docs/b.md:2: links to `c.md`"), "{found}");
    assert_eq!(found.lines().count(), 4, "{found}");
}

#[test]
fn uses_in_the_wrong_place_are_found() {
    let files = [
        file("crates/exec/src/a.rs", "use std::fs; // std::fs\n// std::fs\n"),
        file("crates/base/src/real_vfs.rs", "use std::fs;\n"),
        file("crates/exec/src/tests.rs", "use std::fs;\n"),
        file("crates/packed/src/b.rs", "let m = Mutex::new(1);\n"),
        file(
            "crates/sparql/src/c.rs",
            "use lode_packed::{Order, Position};\nuse lode_packed::segment::Segment;\n",
        ),
    ];
    let found = messages(restricted::check(&files));
    assert!(found.contains("exec/src/a.rs:1: `std::fs`"), "{found}");
    assert!(found.contains("packed/src/b.rs:1: `Mutex`"), "{found}");
    assert!(found.contains("sparql/src/c.rs:2: `lode_packed::segment`"), "{found}");
    assert_eq!(found.lines().count(), 3, "{found}");
}

#[test]
fn arrows_against_the_layers_are_found() {
    let manifest = "[dependencies]\nlode-exec.workspace = true\nlode-base.workspace = true\n[dev-dependencies]\nlode-rdf = \"1\"\nlode-cli = \"1\"\n";
    let files = [file("crates/store/Cargo.toml", manifest), file("crates/new/Cargo.toml", "")];
    let found = messages(layers::check(&files));
    assert!(found.contains("Cargo.toml:2: store must not depend on exec"), "{found}");
    assert!(found.contains("Cargo.toml:6: store must not depend on cli"), "{found}");
    assert!(found.contains("without a place"), "{found}");
    assert_eq!(found.lines().count(), 3, "{found}");
}

#[test]
fn a_drifted_format_document_is_found() {
    let sources = |version: &str| {
        let mut files: Vec<SourceFile> = [
            "crates/packed/src/format.rs",
            "crates/packed/src/order.rs",
            "crates/rdf/src/key.rs",
            "crates/rdf/src/value_id.rs",
            "crates/store/src/log/frame.rs",
            "crates/store/src/log/record.rs",
            "crates/store/src/manifest/file_names.rs",
            "crates/store/src/manifest/mod.rs",
        ]
        .map(|path| file(path, &format!("//! Doc.\nconst V: u32 = {version};\n")))
        .into();
        files.push(file("docs/format.md", "# Format\n<!-- format sources: 0 -->\n"));
        files
    };
    let found = messages(format_hash::check(&sources("1")));
    assert!(found.contains("docs/format.md:2: the sources of the format changed"), "{found}");
    assert!(messages(format_hash::check(&[])).contains("is missing"));
    assert!(messages(format_hash::check(&sources("1")[8..])).contains("defines the format"));
}

/// A crate whose root declares `a` and `b`, with these sources.
fn two_modules(a: &str, b: &str) -> [SourceFile; 3] {
    [
        file("crates/x/src/lib.rs", "//! X.\nmod a;\npub mod b;\npub use b::B;\n"),
        file("crates/x/src/a.rs", a),
        file("crates/x/src/b/mod.rs", b),
    ]
}

#[test]
fn modules_that_use_each_other_are_found() {
    let found = |a, b| messages(imports::check(&two_modules(a, b)));
    let mutual = found("use crate::B;\npub struct A(B);", "pub struct B;\nfn f() { crate::a::g() }");
    assert!(
        mutual.contains(
            "a.rs:1: `crate::B` makes modules use each other (pair x a b; back: crates/x/src/b/mod.rs:2"
        ),
        "{mutual}"
    );
    assert!(mutual.contains("(knot x 2)"), "{mutual}");
    assert_eq!(mutual.lines().count(), 2, "{mutual}");

    let braces = found("use crate::{b::{self, B}, c};", "use super::{super::x, a::A as Z};\npub struct B;");
    assert!(braces.contains("pair x a b"), "{braces}");
    let glob = found("use crate::b::*;", "use crate::a::A;\npub struct B;");
    assert!(glob.contains("pair x a b"), "{glob}");
    let module = found("use super::b;\nfn f() { b::g(); }", "use crate::a::A;");
    assert!(module.contains("pair x a b"), "{module}");

    assert_eq!(found("use crate::B;", "pub struct B;"), "");
    assert_eq!(found("use super::b;", "use crate::a::A;"), "", "a module's name alone is no use");
    let text = "pub struct B; // crate::a::A\nconst T: &str = r#\"crate::a::A \"\"#; fn f() { g('\"', \"crate::a::g\") }";
    assert_eq!(found("use crate::B;", text), "", "comments and strings are no uses");
    let tests =
        "pub struct B;\n#[cfg(test)]\nuse crate::a::A;\n#[cfg(test)]\nmod tests { use crate::a::A; }\n";
    assert_eq!(found("use crate::B;", tests), "", "tests may use anything");
}

#[test]
fn a_file_and_its_children_may_not_use_each_other() {
    let found = |b: &str, child: &str| {
        let mut files = two_modules("", b).to_vec();
        files.push(file("crates/x/src/b/c.rs", child));
        messages(imports::check(&files))
    };
    let child = "use super::B;\npub struct C(B);";
    assert!(found("mod c;\nuse c::C;\npub struct B;", child).contains("pair x::b (own) c"));
    assert!(
        found("mod c;\npub use c::C;\npub struct B;\nfn f(c: C) {}", child).contains("pair x::b (own) c")
    );
    assert_eq!(
        found("mod c;\npub use c::C;\npub struct B;", child),
        "",
        "declaring and re-exporting is no use"
    );
    // What the child takes from its parent may come from elsewhere.
    assert_eq!(found("mod c;\nuse c::C;\nuse crate::a::B;", "use super::B;\npub struct C(B);"), "");
}

#[test]
fn a_circle_of_three_is_a_knot() {
    let mut files = two_modules("use crate::b::c::C;", "pub mod c;\npub use c::C;").to_vec();
    files[0].text.push_str("mod d;\n");
    files.push(file("crates/x/src/b/c.rs", "use crate::d::D;"));
    files.push(file("crates/x/src/d.rs", "use crate::a::A;"));
    let found = messages(imports::check(&files));
    assert!(found.contains("`a b d` makes modules use each other (knot x 3)"), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn product_code_in_files_named_like_tests_is_found() {
    let files = [
        file("crates/x/src/lib.rs", "mod text_tests;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod a;"),
        file("crates/x/src/text_tests.rs", "//! Product."),
        file("crates/x/src/tests.rs", "//! Tests."),
        file("crates/x/src/a.rs", "mod tests;"),
        file("crates/x/src/a/tests.rs", "//! Tests of what only tests use."),
    ];
    let found = messages(test_names::check(&files));
    assert!(found.contains("text_tests.rs: is named like tests"), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn public_functions_that_do_not_say_when_they_fail_are_found() {
    let root = "mod a;\npub mod b;\npub use a::{A, Reader as R};\n";
    let a = "\
pub struct A; struct Private;
impl<'a> A { pub fn bare(&self) -> Result<u8, E> { Ok(1) } pub(crate) fn inner() -> Result<u8, E> { Ok(1) } }
impl A {
    /// Reads.
    ///
    /// # Errors
    ///
    /// On bad bytes.
    #[must_use]
    pub fn told(&self) -> io::Result<()> { Ok(()) }
    pub const fn number(f: fn() -> Result<u8, E>) -> u8 { 1 }
}
impl Private { pub fn hidden() -> Result<u8, E> { Ok(1) } }
impl Reader for A { fn read(&self) -> Result<u8, E> { Ok(1) } }
pub trait Reader { fn read(&self) -> Result<u8, E>; }
pub fn not_exported() -> Result<u8, E> { Ok(1) }
";
    let b = "pub fn load() -> crate::Result<u8> where u8: Copy { Ok(1) }\npub fn maybe() -> Option<Result<u8, E>> { None }";
    let files =
        [file("crates/x/src/lib.rs", root), file("crates/x/src/a.rs", a), file("crates/x/src/b.rs", b)];
    let found = messages(error_docs::check(&files));
    for name in ["a.rs:2: `bare`", "a.rs:15: `read`", "b.rs:1: `load`"] {
        assert!(found.contains(name), "{name} in {found}");
    }
    assert_eq!(found.lines().count(), 3, "{found}");
}
