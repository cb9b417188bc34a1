//! Mistakes that people make, as files: `tests/mistakes/*.rq` and `*.ru`, and the message that each gets beside it. `UPDATE_GOLDEN=1` writes them.
//!
//! What is right is never called a mistake: of the texts of the W3C suites, also when they are damaged at random.

use crate::suites::{files_of, suites};
use lode_sparql::parse::vocabulary;
use lode_sparql::{parse_query, parse_update};
use lode_syntax::{Form, check};
use std::path::Path;

fn message(text: &str, form: Form) -> String {
    let error = match form {
        Form::Query => parse_query(text, Some("http://example.org/")).err(),
        Form::Update => parse_update(text, Some("http://example.org/")).err(),
    };
    error.map_or_else(|| "no error".to_owned(), |error| error.to_string()) + "\n"
}

fn form_of(file: &Path) -> Form {
    if file.extension().is_some_and(|e| e == "ru") { Form::Update } else { Form::Query }
}

#[test]
fn messages_name_the_cause_and_the_remedy() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let files = files_of(&folder, &["rq", "ru"]);
    assert!(files.len() > 90, "only {} mistakes", files.len());
    let mut differing = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let actual = message(&text, form_of(&file));
        let golden = file.with_extension("txt");
        if update {
            std::fs::write(&golden, &actual).expect("writable");
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != actual {
            differing.push(format!("{}:\n{actual}", golden.display()));
        }
    }
    assert!(differing.is_empty(), "UPDATE_GOLDEN=1 writes these:\n{}", differing.join("\n"));
}

/// The parser takes these texts, though the suite says that they are wrong.
const WRONGLY_TAKEN: [&str; 2] = ["group-by-scope-1.rq", "syn-bad-26.rq"];

/// Whether the parser finds nothing wrong, and whether a mistake is found.
fn judged(text: &str, form: Form) -> (bool, bool) {
    let is_right = match form {
        Form::Query => parse_query(text, Some("http://example.org/")).is_ok(),
        Form::Update => parse_update(text, Some("http://example.org/")).is_ok(),
    };
    (is_right, !check(text, form, vocabulary()).is_empty())
}

#[test]
fn what_is_right_is_no_mistake() {
    let Some(suites) = suites() else {
        println!("skipped: no W3C suites (set LODE_SUITES)");
        return;
    };
    let files = files_of(&suites, &["rq", "ru"]);
    let (mut right, mut explained, mut contradicted, mut texts) = (0, 0, 0, 0);
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let pieces = [
        "{", "}", "(", ")", ".", ";", ",", "?x", "a", "FILTER", "SELECT", "\"", "<", "*", "|", "1", "ex:y",
        "AS", "^^", "!", " ",
    ];
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let form = form_of(file);
        for damage in 0..8 {
            let mut damaged: Vec<char> = text.chars().collect();
            if damage > 0 {
                let at = random(damaged.len());
                if damage % 2 == 0 && at < damaged.len() {
                    damaged.remove(at);
                } else {
                    let piece = pieces[random(pieces.len())];
                    damaged.splice(at..at, piece.chars());
                }
            }
            let text: String = damaged.into_iter().collect();
            let (is_right, is_mistaken) = judged(&text, form);
            let is_known = WRONGLY_TAKEN.iter().any(|name| file.ends_with(name));
            assert!(
                damage > 0 || is_known || !(is_right && is_mistaken),
                "{}: {:?}",
                file.display(),
                check(&text, form, vocabulary())
            );
            right += usize::from(is_right);
            explained += usize::from(!is_right && is_mistaken);
            contradicted += usize::from(is_right && is_mistaken);
            texts += 1;
        }
    }
    println!(
        "{texts} texts, {right} right, {contradicted} of these contradicted; {explained} of the others explained"
    );
    // The parser takes words without a space between them, such as GROUPBY, which no grammar has.
    assert!(right > 3000 && contradicted * 100 < right, "{texts} {right} {contradicted}");
    assert!(explained * 10 > (texts - right) * 9, "{texts} {right} {explained}");
}

/// One damage is one mistake: of texts with a token deleted, doubled, replaced, or put in, few are told of more than one, and hardly any of more than two.
#[test]
fn one_damage_gets_one_message() {
    let Some(suites) = suites() else {
        println!("skipped: no W3C suites (set LODE_SUITES)");
        return;
    };
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let pieces = [
        "{", "}", "(", ")", ".", ";", ",", "?x", "a", "FILTER", "SELECT", "<x>", "*", "|", "1", "ex:y", "AS",
        "^^", "!", "OPTIONAL", "WHERE", "\"s\"", "[", "]", "UNION", "STR", "&&", "foo",
    ];
    let show = std::env::var_os("SHOW_MESSAGES").is_some();
    let (mut counts, mut wrong) = ([0_usize; 10], 0);
    for file in files_of(&suites, &["rq", "ru"]) {
        let (Ok(text), form) = (std::fs::read_to_string(&file), form_of(&file)) else { continue };
        if judged(&text, form) != (true, false) {
            continue;
        }
        for damage in 0..4 {
            let parsed = lode_syntax::parse(&text, form, vocabulary());
            let tokens = parsed.tree.tokens();
            let span = tokens[random(tokens.len() - 1)].span();
            let (start, end, piece) = match damage {
                0 => (span.start, span.end, " "),
                1 => (span.start, span.start, &format!("{} ", &text[span.clone()])[..]),
                2 => (span.start, span.end, pieces[random(pieces.len())]),
                _ => (span.start, span.start, &format!("{} ", pieces[random(pieces.len())])[..]),
            };
            let damaged = format!("{}{piece}{}", &text[..start], &text[end..]);
            if judged(&damaged, form).0 {
                continue;
            }
            wrong += 1;
            let found = check(&damaged, form, vocabulary());
            counts[found.len()] += 1;
            if found.len() > 1 && show {
                println!("---\n{}", message(&damaged, form));
            }
        }
    }
    println!("{wrong} wrong texts; messages for a text: {counts:?}");
    assert!(wrong > 1_000 && counts[1] * 100 > wrong * 80, "{counts:?}");
    assert!((counts[0] + counts[1] + counts[2]) * 100 > wrong * 95, "{counts:?}");
}

/// The deepest and the longest that may come: on a small stack, and in time.
#[test]
fn hostile_texts_are_looked_at_in_bounds() {
    let nested = ["(", "{", "[", "<<", "<<(", "!", "-", "IF(", "{ SELECT * {", "FILTER NOT EXISTS {", "^("];
    let texts: Vec<String> = nested
        .iter()
        .flat_map(|piece| {
            ["SELECT * { ?s ?p ", "SELECT * { FILTER(", ""]
                .map(|head| format!("{head}{}", piece.repeat(100_000)))
        })
        .chain(
            ["\"", "<a:", "'''", "?", "PREFIX a: ", "a:b ", "SELECT ", "( "]
                .map(|piece| piece.repeat(100_000)),
        )
        .collect();
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || {
            for text in texts {
                let form = if text.len() % 2 == 0 { Form::Query } else { Form::Update };
                assert!(check(&text, form, vocabulary()).len() <= 8);
            }
        })
        .expect("a thread")
        .join()
        .expect("no panic");
}

/// All that is hinted at in the texts of the suites, for who wants to judge it: `SHOW_HINTS=1`. Few of them are to have a hint.
#[test]
fn few_right_texts_have_hints() {
    let Some(suites) = suites() else {
        println!("skipped: no W3C suites (set LODE_SUITES)");
        return;
    };
    let (mut texts, mut hinted) = (0, 0);
    for file in files_of(&suites, &["rq"]) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if parse_query(&text, Some("http://example.org/")).is_err() {
            continue;
        }
        let found = lode_sparql::parse::hints::findings(&text, Some("http://example.org/"));
        texts += 1;
        hinted += usize::from(!found.hints.is_empty());
        if std::env::var_os("SHOW_HINTS").is_some() {
            for hint in &found.hints {
                println!("{}: {} {}; {}", file.display(), hint.kind.code(), hint.message, hint.help);
            }
            for unjoined in &found.unjoined {
                println!("{}: unjoined {:?}", file.display(), &text[unjoined.span.clone()]);
            }
        }
    }
    println!("{hinted} of {texts} texts have hints");
    assert!(texts > 500 && hinted * 20 < texts, "{hinted} of {texts}");
}
