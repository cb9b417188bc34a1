//! Words of which some characters are open: `*` is any number of them, `?` is one.

/// A part of such a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    /// This character.
    Char(char),
    /// One character.
    One,
    /// Any number of characters.
    Any,
}

/// Whether all of a word is as the pieces say. It takes as many steps as one length times the other, at most.
pub(crate) fn is_match(pieces: &[Piece], word: &str) -> bool {
    let mut rest = word;
    let mut at = 0;
    // Where to go on when what follows the last `*` does not fit: it takes one character more.
    let mut again: Option<(usize, &str)> = None;
    loop {
        let next = rest.chars().next();
        let fits = match (pieces.get(at), next) {
            (Some(Piece::Any), _) => {
                again = Some((at + 1, rest));
                at += 1;
                continue;
            }
            (None, None) => return true,
            (Some(Piece::Char(c)), Some(next)) => *c == next,
            (Some(Piece::One), Some(_)) => true,
            _ => false,
        };
        if fits {
            at += 1;
            rest = behind_first(rest);
            continue;
        }
        let Some((piece, from)) = &mut again else { return false };
        if from.is_empty() {
            return false;
        }
        *from = behind_first(from);
        (at, rest) = (*piece, *from);
    }
}

fn behind_first(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}
