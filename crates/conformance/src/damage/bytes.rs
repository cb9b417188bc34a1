//! Damage to bytes: what disks, transfers and people do to files.

use crate::generate::Random;

/// Pieces that mean something to parsers.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "<<(",
    ")>>",
    "\"",
    "'",
    "\"\"\"",
    "\\",
    "\\u12",
    "\\U0010FFFF",
    "\\uD800",
    "@",
    "@en--up",
    "^^",
    "^",
    "_:",
    ":",
    ";",
    ",",
    ".",
    "#",
    "\n",
    "\r",
    "\t",
    "\0",
    "\u{feff}",
    "\u{10ffff}",
    "a",
    "?x",
    "$",
    "999999999999999999999999",
    "-",
    "1e999",
    "0x",
    "UNION",
    "OPTIONAL",
    "FILTER",
    "SELECT",
    "{{{{{{{{",
    "((((((((",
    "||",
    "&&",
    "!",
    "*",
    "+",
    "/",
    "|",
    "<http://e/%zz>",
    "<../x y>",
    "PREFIX",
    "BASE",
    "VERSION",
    "&amp;",
    "<!--",
    "]]>",
    "<?xml?>",
    "&x;",
    "null",
    "true",
    "\"@id\":",
    "\"@context\":",
    "xml:lang=\"?\"",
];

/// The text with one or two errors. It need not be UTF-8 any more.
pub(super) fn damage_text(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..1 + random.below(2) {
        edit(random, &mut bytes);
    }
    bytes
}

fn edit(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    let to = (at + 1 + random.below(12)).min(bytes.len());
    match random.below(8) {
        0 => drop(bytes.drain(at..to)),
        1 => {
            let piece = bytes[at..to].to_vec();
            let place = random.below(bytes.len() + 1);
            bytes.splice(place..place, piece);
        }
        2 | 3 => {
            let piece = random.word(PIECES);
            bytes.splice(at..at, piece.bytes());
        }
        4 => {
            let piece = random.word(PIECES);
            bytes.splice(at..to, piece.bytes());
        }
        5 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        6 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        _ => {
            if random.chance(30) {
                bytes.truncate(at);
            } else {
                let other = random.below(bytes.len() + 1);
                if at < bytes.len() && other < bytes.len() {
                    bytes.swap(at, other);
                }
            }
        }
    }
}

/// The file with one damage: flipped bits, overwritten, zeroed, swapped or repeated blocks, cut off or grown.
pub(super) fn damage_file(random: &mut Random, file: &[u8]) -> (String, Vec<u8>) {
    let mut bytes = file.to_vec();
    let at = random.below(bytes.len().max(1));
    let block = [1, 8, 64, 512, 4096][random.below(5)];
    let what = match random.below(9) {
        0..3 => {
            let bit = random.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            format!("bit {bit} of byte {at} flipped")
        }
        3 => {
            for byte in bytes.iter_mut().skip(at).take(block) {
                *byte = random.below(256) as u8;
            }
            format!("{block} bytes at {at} overwritten")
        }
        4 => {
            bytes.iter_mut().skip(at).take(block).for_each(|b| *b = 0);
            format!("{block} bytes at {at} zeroed")
        }
        5 => {
            bytes.truncate(at);
            format!("cut off at {at}")
        }
        6 => {
            let more: Vec<u8> = (0..block).map(|_| random.below(256) as u8).collect();
            bytes.extend(more);
            format!("{block} bytes appended")
        }
        7 => {
            let piece: Vec<u8> = bytes.iter().skip(at).take(block).copied().collect();
            let to = random.below(bytes.len().max(1));
            for (place, byte) in bytes.iter_mut().skip(to).zip(piece) {
                *place = byte;
            }
            format!("{block} bytes at {at} copied to {to}")
        }
        _ => {
            let other = random.below(bytes.len().max(1));
            for i in 0..block {
                if at + i < bytes.len() && other + i < bytes.len() {
                    bytes.swap(at + i, other + i);
                }
            }
            format!("blocks of {block} bytes at {at} and {other} swapped")
        }
    };
    (what, bytes)
}
