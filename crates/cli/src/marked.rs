//! Text that programs write into pages that people write: it stands between two lines that mark its place.

use anyhow::{Context, bail};
use std::fs;
use std::path::Path;

/// Puts text into a Markdown file in place of what is there between the marks of this name. Fails where the file cannot be read or
/// written, or has no such place.
pub fn replace(path: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let page = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let Some(page) = with_text(&page, name, text) else {
        bail!("{} has no lines <!-- {name}: begin --> and <!-- {name}: end -->", path.display());
    };
    fs::write(path, page).with_context(|| format!("writing {}", path.display()))
}

/// The page with the text in its place; `None` where it has no place.
fn with_text(page: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{text}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_between_its_lines() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = with_text(page, "x", "new\n").unwrap();
        assert_eq!(new, page.replace("old", "new"));
        assert_eq!(with_text(&new, "x", "new\n").unwrap(), new);
        assert!(with_text("a", "x", "b").is_none() && with_text(page, "y", "b").is_none());
    }
}
