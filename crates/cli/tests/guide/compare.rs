//! Whether what was written is what a page shows.

/// Words that numbers stand before which differ from run to run.
const UNITS: [&str; 17] = [
    "ns",
    "µs",
    "ms",
    "s",
    "min",
    "B",
    "kB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "bytes",
    "bytes/triple",
    "triples/s",
    "quads/s",
    "M/s",
];

/// What differs first: what was expected, and what there is. `None`: nothing does.
pub fn difference(expected: &[String], got: &[String]) -> Option<(String, String)> {
    let expected: Vec<String> = expected.iter().map(|line| plain(line)).collect();
    let got: Vec<String> = got.iter().map(|line| plain(line)).collect();
    // Which lines of `got` may come next, behind the lines of `expected` so far.
    let mut places = vec![0];
    let mut furthest = (String::from("(nothing)"), 0);
    for line in &expected {
        let mut next: Vec<usize> = if line == "..." {
            (places.iter().copied().min().unwrap_or(0)..=got.len()).collect()
        } else {
            places
                .iter()
                .filter(|at| got.get(**at).is_some_and(|got| fits(line, got)))
                .map(|at| at + 1)
                .collect()
        };
        next.dedup();
        if next.is_empty() {
            let at = places.first().copied().unwrap_or(0);
            return Some((line.clone(), got.get(at).cloned().unwrap_or_else(|| "(the end)".to_owned())));
        }
        furthest = (line.clone(), next[0]);
        places = next;
    }
    if places.contains(&got.len()) {
        return None;
    }
    Some((format!("(the end, behind {:?})", furthest.0), got[furthest.1].clone()))
}

/// Whether a line is one with `...` for anything.
fn fits(pattern: &str, line: &str) -> bool {
    let parts: Vec<&str> = pattern.split("...").collect();
    let [first, between @ .., last] = parts.as_slice() else { return pattern == line };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// A line with a mark in the place of each number that differs from run to run, and single blanks.
fn plain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches([',', ';', ')', '.', ':']));
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next_is_unit = words.get(at + 1).is_some_and(|next| is_unit(next));
        let bare = word.trim_start_matches('(');
        let digits =
            bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',').len();
        let opening = &word[..word.len() - bare.len()];
        if digits > 0 && digits == bare.len() && next_is_unit {
            out.push(format!("{opening}#"));
        } else if digits > 0 && is_unit(&bare[digits..]) {
            out.push(format!("{opening}#{}", &bare[digits..]));
        } else {
            out.push((*word).to_owned());
        }
    }
    out.join(" ")
}

#[test]
fn lines_that_fit() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let differs = |expected: &str, got: &str| difference(&lines(expected), &lines(got));
    assert_eq!(differs("a  b\nin 4 ms", "a b\nin 17.5 ms"), None);
    assert_eq!(differs("took 1.2s (3 MiB)", "took 9s (12.1 MiB)"), None);
    assert_eq!(differs("a ... c\n...\nz", "a b c\nd\ne\nz"), None);
    assert_eq!(differs("...\nz", "z"), None);
    assert_eq!(differs("3 quads", "4 quads"), Some(("3 quads".to_owned(), "4 quads".to_owned())));
    assert_eq!(differs("a\nb", "a"), Some(("b".to_owned(), "(the end)".to_owned())));
    assert_eq!(differs("a", "a\nb").unwrap().1, "b");
    assert!(differs("a ... c", "a b d").is_some() && differs("abc...cde", "abcde").is_some());
}
