//! What a token says of who sends it.

use serde_json::{Map, Value};

/// All claims.
pub(super) type Claims = Map<String, Value>;

/// So much of a name is told.
const NAME_CHARS_MAX: usize = 128;
/// Of more roles only the first count.
const ROLES_MAX: usize = 1000;

/// The claim of this name; else that of a path, `realm_access.roles`, say.
fn find<'a>(claims: &'a Claims, name: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(name) {
        return Some(value);
    }
    let (first, rest) = name.split_once('.')?;
    find(claims.get(first)?.as_object()?, rest)
}

/// The name of who sends a token: of this claim, or the subject.
pub(super) fn name_of(claims: &Claims, claim: &str) -> Option<String> {
    let text = |claim: &str| find(claims, claim).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text(claim).or_else(|| text("sub"))?;
    // It stands in lines of logs, where what parts their fields is others' to write.
    let is_plain = |c: char| c.is_alphanumeric() || "-._@+:/|~=%#!".contains(c);
    Some(name.chars().take(NAME_CHARS_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect())
}

/// The values of a claim: a list of texts, or a text of words, as scopes are (RFC 8693, section 4.2).
pub(super) fn roles_of(claims: &Claims, claim: &str) -> Vec<String> {
    let all: Vec<&str> = match find(claims, claim) {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
        _ => Vec::new(),
    };
    all.into_iter().take(ROLES_MAX).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    //! Claims as providers send them.
    use super::{Claims, name_of, roles_of};

    #[test]
    fn names_and_roles() {
        let claims: Claims = serde_json::from_str(
            r#"{"sub": "8f1", "preferred_username": "ann\u0007] \u202e", "scope": "a b", "groups": ["/x", 7, "y"],
                "realm_access": {"roles": ["editor"]}, "https://e.org/roles": ["z"]}"#,
        )
        .unwrap();
        assert_eq!(name_of(&claims, "preferred_username").as_deref(), Some("ann____"));
        assert_eq!(name_of(&claims, "email").as_deref(), Some("8f1"));
        assert_eq!(name_of(&Claims::new(), "sub"), None);
        for (claim, roles) in [
            ("scope", &["a", "b"][..]),
            ("groups", &["/x", "y"]),
            ("realm_access.roles", &["editor"]),
            ("https://e.org/roles", &["z"]),
            ("realm_access", &[]),
            ("sub.x", &[]),
        ] {
            assert_eq!(roles_of(&claims, claim), roles, "{claim}");
        }
    }
}
