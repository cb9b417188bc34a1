//! Around the parsers of libraries: their panics, and quads that nest deeper than the store keeps.

use oxrdf::{Quad, Term, Triple};

/// Takes the next item of a library's parser. A panic in there is a bug of the library, but not a reason to end a server.
pub(super) fn next_item<T>(mut next: impl FnMut() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut next))
        .map_err(|_| "the parser failed on this text, which is a bug in it".to_owned())
}

/// Whether a quad's triple terms nest deeper than the store keeps. If so the quad is taken apart without recursion,
/// because dropping a chain of a million boxes would overflow the stack.
pub(super) fn take_too_deep(quad: Quad) -> Result<Quad, ()> {
    let mut depth = 0;
    let mut object = &quad.object;
    while let Term::Triple(triple) = object {
        depth += 1;
        object = &triple.object;
    }
    if depth <= crate::key::TRIPLE_DEPTH_MAX {
        return Ok(quad);
    }
    let mut object = quad.object;
    while let Term::Triple(triple) = object {
        let Triple { object: inner, .. } = *triple;
        object = inner;
    }
    Err(())
}

/// The message for triple terms that nest too deep.
pub(super) fn too_deep_message() -> String {
    format!("triple terms nest more than {} deep", crate::key::TRIPLE_DEPTH_MAX)
}
