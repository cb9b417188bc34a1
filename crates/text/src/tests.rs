//! Queries against texts, by hand and at random, and against hostile ones.

use crate::analysis::{Language, folded, stem, words};
use crate::{Dialect, Marks, Matcher, Prepared, parse};
use proptest::prelude::*;

fn matches(query: &str, text: &str, tag: &str) -> bool {
    let prepared = Prepared::parse(query, Dialect::Lucene).expect(query);
    Matcher::new(&prepared).is_match(text, Language::of_tag(tag), |_| Some(())).expect("not cancelled")
}

fn score(query: &str, text: &str) -> f64 {
    let prepared = Prepared::parse(query, Dialect::Lucene).expect(query);
    Matcher::new(&prepared).score(text, Language::NONE, |_| Some(())).expect("not cancelled")
}

#[test]
fn words_phrases_patterns_and_operators() {
    let text = "The quick brown fox jumps over the lazy dog. It's the dog's café, No. 42!";
    for (query, expected) in [
        ("quick", true),
        ("QUICK", true),
        ("cafe", true),
        ("CAFÉ", true),
        ("slow", false),
        ("slow fox", true),
        ("slow OR fox", true),
        ("slow || fox", true),
        ("slow AND fox", false),
        ("quick AND fox", true),
        ("quick && fox", true),
        ("+slow fox", false),
        ("+quick slow", true),
        ("quick -fox", false),
        ("quick NOT slow", true),
        ("quick AND NOT fox", false),
        ("quick !slow", true),
        ("(slow OR quick) AND (fox OR cat)", true),
        ("(slow OR late) AND (fox OR cat)", false),
        ("slow OR fox AND quick", true),
        ("\"quick brown\"", true),
        ("\"brown quick\"", false),
        ("\"the lazy dog\"", true),
        ("\"quick fox\"", false),
        ("\"quick fox\"~1", true),
        ("\"fox quick\"~1", true),
        ("\"fox dog\"~1", false),
        ("qui*", true),
        ("q*k", true),
        ("*row*", true),
        ("qu?ck", true),
        ("qu?k", false),
        ("?uick*", true),
        ("quikc~", true),
        ("quikc~1", true),
        ("qiukc~1", false),
        ("brwn~1", true),
        ("42", true),
        ("dog's", true),
        ("fox^3 slow^0.5", true),
        ("(fox slow)^2", true),
        ("the-quick", true),
        ("quick-lazy", false),
        ("... fox", true),
        ("\\AND", false),
        ("\"AND\" fox", true),
        ("ORfox", false),
        ("NOTquick fox", true),
    ] {
        assert_eq!(matches(query, text, ""), expected, "{query}");
    }
}

#[test]
fn stems_are_those_of_the_text_and_scripts_without_spaces_are_found_in_part() {
    for (query, text, tag, expected) in [
        ("run", "Running shoes", "en", true),
        ("running", "He runs", "en-GB", true),
        ("run", "Running shoes", "", false),
        ("run", "Running shoes", "xx", false),
        ("\"run shoe\"", "Running shoes", "en", true),
        ("häuser", "Das Haus", "de", true),
        ("running", "running", "de", true),
        ("cheval", "chevaux", "fr", true),
        ("北京", "我在北京大学", "zh", true),
        ("北京*", "我在北京大学", "zh", true),
        ("京北", "我在北京大学", "zh", false),
        ("한국", "한국 사람", "ko", true),
        ("한*", "한국 사람", "ko", true),
        ("하*", "한국 사람", "ko", false),
        ("ΣΊΣΥΦΟΣ", "Σίσυφος", "", true),
        ("strasse", "Straße", "", true),
        ("lodz", "Łódź", "", true),
    ] {
        assert_eq!(matches(query, text, tag), expected, "{query} in {text}");
    }
}

/// Words that look like those of languages: a letter of ASCII, letters, and an ending that stemmers know.
fn words_like_those_of_languages(count: usize) -> Vec<String> {
    const LETTERS: [&str; 38] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        "u", "v", "w", "x", "y", "z", "é", "ä", "ö", "ß", "å", "ç", "ı", "ğ", "ñ", "о", "и", "α",
    ];
    const ENDS: [&str; 32] = [
        "", "", "", "ing", "ed", "s", "ies", "ying", "ly", "ness", "ational", "heit", "ungen", "lich",
        "amente", "ación", "issement", "euses", "zioni", "mente", "ene", "heten", "ssa", "llinen", "ekben",
        "ler", "lardan", "lor", "eaza", "ost", "ами", "ους",
    ];
    let mut state = 11_usize;
    let mut below = move |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    (0..count)
        .map(|_| {
            let mut word = LETTERS[below(26)].to_owned();
            (0..below(8)).for_each(|_| word += LETTERS[below(LETTERS.len())]);
            word + ENDS[below(ENDS.len())]
        })
        .collect()
}

#[test]
fn stems_begin_as_their_words_do() {
    let words = words_like_those_of_languages(20_000);
    for language in Language::all().filter(|language| language.keeps_first_letters()) {
        let Some(stemmer) = language.stemmer() else { continue };
        let mut reduced = String::new();
        let irregular =
            ["skis", "skies", "dying", "lying", "tying", "idly", "gently", "ugly", "early", "only", "singly"];
        for word in words.iter().map(String::as_str).chain(irregular) {
            stem(&stemmer, word, &mut reduced);
            assert_eq!(reduced.chars().next(), word.chars().next(), "{word} {language:?} {reduced}");
        }
    }
}

#[test]
fn letters_that_words_begin_with_leave_nothing_out() {
    let words = words_like_those_of_languages(3_000);
    let tags = ["", "en", "de", "fr", "ar", "ta", "tr", "nl", "hu", "fi", "ru", "el"];
    let (mut found, mut state) = (0, 5_usize);
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for round in 0..3_000 {
        let text: Vec<&str> = (0..12).map(|_| words[below(300)].as_str()).collect();
        let at = below(11);
        let query = match round % 3 {
            0 => format!("\"{} {}\"", text[at], text[at + 1]),
            1 => format!("+{} +{}", text[at], words[below(300)]),
            _ => format!("{} -{}", words[below(300)], text[at]),
        };
        // A pattern may be any word: then all are looked up.
        let (text, all) = (text.join(" "), format!("({query}) OR (+zzzzq* +zzzzx*)"));
        let tag = tags[below(tags.len())];
        assert_eq!(matches(&query, &text, tag), matches(&all, &text, tag), "{query} {text} {tag}");
        found += usize::from(matches(&query, &text, tag));
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (query, place, part) in [
        ("", 0..0, "no word"),
        ("...", 0..3, "no word"),
        ("-fox", 0..4, "must not be"),
        ("NOT fox", 0..7, "must not be"),
        ("quick AND (-fox)", 11..15, "must not be"),
        ("(quick fox", 0..1, "without a `)`"),
        ("quick) fox", 5..6, "without a `(`"),
        ("a \"b c", 2..3, "without another"),
        ("quick AND", 6..9, "AND stands"),
        ("AND quick", 0..3, "AND stands"),
        ("quick OR", 6..8, "OR stands"),
        ("(quick OR) fox", 7..9, "OR stands"),
        ("quick NOT", 6..9, "NOT stands"),
        ("quick +", 6..7, "missing"),
        ("title:fox", 5..6, "field"),
        ("[a TO b]", 0..1, "range"),
        ("/fox/", 0..1, "regular"),
        ("*", 0..1, "without a letter"),
        ("a-b*", 0..4, "one word"),
        ("quick^x", 5..6, "number"),
        ("quick~9", 0..7, "differ"),
        ("^2", 0..1, "behind a word"),
    ] {
        let error = parse(query, Dialect::Lucene).expect_err(query);
        assert_eq!(error.span, place, "{query}: {error}");
        assert!(error.message.contains(part), "{query}: {error}");
    }
}

#[test]
fn other_dialects_want_all_words_and_virtuoso_has_single_quotes() {
    for (query, dialect, same) in [
        ("quick fox", Dialect::AllWords, "quick AND fox"),
        ("quick OR fox dog", Dialect::AllWords, "quick OR (fox AND dog)"),
        ("'quick brown' AND 'fo*'", Dialect::Virtuoso, "\"quick brown\" AND fo*"),
        ("\"fo*\"", Dialect::Virtuoso, "fo*"),
    ] {
        let read = parse(query, dialect).expect(query);
        let again = parse(&read.to_string(), Dialect::Lucene).expect("what is written is read");
        let same = parse(same, Dialect::Lucene).expect(same);
        for text in
            ["quick brown fox", "quick fox", "brown quick", "fox dog", "quick brown dog", "fox", "quick"]
        {
            let holds = |query| {
                let prepared = Prepared::new(query);
                Matcher::new(&prepared).is_match(text, Language::NONE, |_| Some(()))
            };
            let expected = holds(same.clone());
            assert_eq!(
                (holds(read.clone()), holds(again.clone())),
                (expected, expected),
                "{query} in {text}"
            );
        }
    }
}

#[test]
fn more_and_rarer_in_its_text_is_better() {
    assert!(
        score("fox", "fox") > score("fox", "fox and many other words that make the text longer than it was")
    );
    assert!(score("fox", "fox fox dog") > score("fox", "fox dog dog"));
    assert!(score("fox dog", "fox dog") > score("fox dog", "fox cat"));
    assert!(score("fox^2 dog", "fox cat") > score("fox dog^2", "fox cat"));
    assert!(score("+fox dog", "fox dog") > score("+fox dog", "fox cat"));
    assert_eq!(score("fox -dog", "fox dog"), 0.0);
    assert_eq!(score("cat", "fox dog"), 0.0);
}

#[test]
fn snippets_are_parts_of_the_text_with_marks() {
    let query = Prepared::parse("fox \"lazy dog\"", Dialect::Lucene).expect("a query");
    let marks = Marks { start: "[", end: "]", chars: 40 };
    let snippet = |text: &str| marks.snippet(&query, text, Language::NONE, |_| Some(()), |_| Some(()));
    let short = "A fox, a lazy dog";
    assert_eq!(snippet(short).as_deref(), Some("A [fox], a [lazy] [dog]"));
    let late = "some other words, and then a fox";
    assert_eq!(snippet(late).as_deref(), Some("some other words, and then a [fox]"));
    let long = format!("{0} a fox and {0} the lazy dog and the fox {0}", "some words ".repeat(30));
    let found = snippet(&long).expect("a snippet");
    assert!(found.contains("[lazy] [dog] and the [fox]"), "{found}");
    assert!(found.starts_with('…') && found.ends_with('…') && found.chars().count() < 60, "{found}");
    assert_eq!(snippet("nothing").as_deref(), Some("nothing"));
    assert_eq!(snippet(""), Some(String::new()));
    assert!(marks.snippet(&query, short, Language::NONE, |_| None, |_| Some(())).is_none());
    assert!(marks.snippet(&query, short, Language::NONE, |_| Some(()), |_| None).is_none());
}

#[test]
fn hostile_queries_have_limits_and_can_be_called_off() {
    let many = |word: &str, times: usize| (0..times).map(|n| format!("{word}{n} ")).collect::<String>();
    assert!(parse(&many("w", 10_000), Dialect::Lucene).is_err());
    assert!(parse(&"fox ".repeat(10_000), Dialect::Lucene).is_err());
    assert!(parse(&"(".repeat(60_000), Dialect::Lucene).is_err());
    assert!(parse(&"(fox ".repeat(10_000), Dialect::Lucene).is_err());
    assert!(parse(&"-".repeat(60_000), Dialect::Lucene).is_err());
    assert!(parse(&format!("\"{}\"", many("w", 1000)), Dialect::Lucene).is_err());
    assert!(parse(&format!("{}fox{}", "(".repeat(64), ")".repeat(64)), Dialect::Lucene).is_ok());
    let word = "a".repeat(250);
    let text = format!("{word} ").repeat(100);
    for query in [format!("{}b", "*a".repeat(120)), many(&format!("{}~2 ", "ab".repeat(20)), 500)] {
        let Ok(prepared) = Prepared::parse(&query, Dialect::Lucene) else { continue };
        let spent = std::cell::Cell::new(0);
        let spend = |bytes| {
            spent.set(spent.get() + bytes);
            (spent.get() < 100_000).then_some(())
        };
        assert!(!Matcher::new(&prepared).is_match(&text, Language::NONE, spend).unwrap_or(false));
    }
}

/// All tokens of both, phrases by comparing slices: what the one pass has to come to.
fn naive(words_of_query: &[&str], text: &str) -> bool {
    let wanted: Vec<String> = words_of_query.iter().map(|word| folded(word)).collect();
    let found: Vec<String> = words(text).map(|(_, word)| folded(word)).collect();
    found.windows(wanted.len()).any(|window| window == wanted)
}

proptest! {
    #[test]
    fn phrases_are_runs_of_words(text in "([abAB]{1,2} ){0,30}", phrase in proptest::collection::vec("[ab]{1,2}", 1..6)) {
        let words: Vec<&str> = phrase.iter().map(String::as_str).collect();
        let query = format!("\"{}\"", phrase.join(" "));
        prop_assert_eq!(matches(&query, &text, ""), naive(&words, &text));
    }

    #[test]
    fn any_text_is_a_query_or_an_error_with_a_place(query in "\\PC{0,40}", text in "\\PC{0,60}") {
        for dialect in [Dialect::Lucene, Dialect::AllWords, Dialect::Virtuoso] {
            match parse(&query, dialect) {
                Ok(read) => {
                    let written = read.to_string();
                    let again = parse(&written, Dialect::Lucene);
                    prop_assert!(again.is_ok(), "{query:?} is {written:?}: {again:?}");
                    let prepared = [Prepared::new(read), Prepared::new(again.expect("checked"))];
                    let found = prepared.each_ref().map(|q| Matcher::new(q).score(&text, Language::NONE, |_| Some(())));
                    prop_assert_eq!(found[0].map(|s| s > 0.0), found[1].map(|s| s > 0.0), "{:?} is {:?}", query, written);
                }
                Err(error) => prop_assert!(query.get(error.span.clone()).is_some(), "{query:?}: {error:?}"),
            }
        }
    }

    #[test]
    fn words_of_any_script_have_stems_in_any_language(text in "\\PC{0,60}") {
        for tag in ["ar", "da", "nl", "en", "fi", "fr", "de", "el", "hu", "it", "no", "pt", "ro", "ru", "es", "sv", "ta", "tr"] {
            for (_, word) in words(&text) {
                // No panic, and each word is found by itself.
                let query = word.replace('\\', "\\\\").replace('"', "\\\"");
                prop_assert!(matches(&format!("\"{query}\""), &text, tag), "{word} {tag}");
            }
        }
    }

    #[test]
    fn early_ends_change_nothing(text in "([ab]{1,2} ){0,20}", query in "[+]?[ab]{1,2}( (AND )?[+]?[ab]{1,2}){0,4}") {
        prop_assert_eq!(matches(&query, &text, ""), score(&query, &text) > 0.0);
    }
}
