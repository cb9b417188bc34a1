//! Names of files that were given in place of a text.

/// The text, where it looks like the name of a file.
pub(super) fn file_name(text: &str) -> Option<&str> {
    let name = text.trim();
    let ends = [".rq", ".ru", ".sparql", ".sparqlu", ".txt", ".qry"];
    let is_one = !name.is_empty()
        && !name.contains(['{', '\n', '<', '?'])
        && ends.iter().any(|end| name.ends_with(end));
    is_one.then_some(name)
}
