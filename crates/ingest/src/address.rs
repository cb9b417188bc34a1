//! Addresses of files: what relative IRIs in them are resolved against (RFC 3986, section 5.1.3).

use lode_base::host;
use std::path::Path;

/// The address of a file: `file://` and its path from the root, with escapes for what IRIs may not have.
pub(crate) fn file_address(path: &Path) -> Option<String> {
    let path = host::absolute_path(path)?;
    let mut address = "file://".to_owned();
    escape_path(&path.to_string_lossy(), &mut address);
    Some(address)
}

/// Appends a path with escapes for what a path in an IRI may not have.
pub(crate) fn escape_path(path: &str, address: &mut String) {
    for c in path.chars() {
        let is_plain = c.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:@".contains(c);
        // Other letters may stand in IRIs, controls and private ones may not.
        if is_plain || (!c.is_ascii() && c.is_alphanumeric()) {
            address.push(c);
        } else {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).bytes();
            address.extend(bytes.map(|byte| format!("%{byte:02X}")));
        }
    }
}

#[cfg(test)]
mod tests {
    //! Paths as addresses.
    use super::*;

    #[test]
    fn paths_have_escapes_and_no_dots() {
        let address = |path: &str| file_address(Path::new(path)).unwrap();
        assert_eq!(address("/a b/./c/../d#e%.ttl"), "file:///a%20b/d%23e%25.ttl");
        assert_eq!(address("/\u{e9}\u{1}|.nt"), "file:///\u{e9}%01%7C.nt");
        assert!(address("x.ttl").starts_with("file:///") && address("x.ttl").ends_with("/x.ttl"));
    }
}
