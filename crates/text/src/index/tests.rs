//! By an index in memory as by reading all texts.
use super::*;
use crate::{Dialect, Matcher, Part, Parts, Prepared};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::Range;

#[derive(Default)]
struct Memory {
    texts: u64,
    lists: Vec<(Vec<u8>, BTreeMap<u64, u64>)>,
}

impl Memory {
    fn of(texts: &[(String, &str)]) -> Self {
        let mut lists: BTreeMap<Vec<u8>, BTreeMap<u64, u64>> = BTreeMap::new();
        let mut keys = Keys::default();
        for (number, (text, tag)) in (0..).zip(texts) {
            let length = keys.each_word(text, Language::of_tag(tag), &mut |key| {
                *lists.entry(key.to_vec()).or_default().entry(number).or_default() += 1;
            });
            lists.entry(LENGTHS.to_vec()).or_default().insert(number, length);
        }
        let mut names: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for word in lists.keys() {
            each_name(word, &mut |name| names.push((name.to_vec(), word.clone())));
        }
        for (name, _) in &names {
            assert!(is_name(name));
            lists.entry(name.clone()).or_default();
        }
        let keys: Vec<Vec<u8>> = lists.keys().cloned().collect();
        let number = |key: &Vec<u8>| keys.binary_search(key).expect("a key") as u64;
        for (name, word) in &names {
            lists.get_mut(name).expect("a name").insert(number(word), 0);
        }
        Self { texts: texts.len() as u64, lists: lists.into_iter().collect() }
    }
}

impl WordIndex for Memory {
    type Error = Infallible;
    fn texts(&self) -> u64 {
        self.texts
    }
    fn keys(&self) -> u64 {
        self.lists.len() as u64
    }
    fn count(&self, numbers: Range<u64>) -> Result<u64, Infallible> {
        let lists = &self.lists[numbers.start as usize..numbers.end as usize];
        Ok(lists.iter().map(|list| list.1.len() as u64).sum())
    }
    fn find(&self, key: &[u8]) -> Result<Option<u64>, Infallible> {
        Ok(self.lists.iter().position(|(own, _)| own == key).map(|at| at as u64))
    }
    fn each_key(&self, start: &[u8], found: &mut dyn FnMut(&[u8], u64) -> bool) -> Result<(), Infallible> {
        for (number, (key, _)) in self.lists.iter().enumerate() {
            if key.starts_with(start) && !found(key, number as u64) {
                break;
            }
        }
        Ok(())
    }
    fn list(&self, numbers: Range<u64>, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), Infallible> {
        let lists = &self.lists[numbers.start as usize..numbers.end as usize];
        let list: Vec<u64> = lists.iter().flat_map(|list| list.1.keys().copied()).collect();
        list.chunks(3).all(found);
        Ok(())
    }
    fn counts(
        &self,
        numbers: Range<u64>,
        texts: Range<u64>,
        found: &mut dyn FnMut(&[u64], &[u64]) -> bool,
    ) -> Result<(), Infallible> {
        let lists = &self.lists[numbers.start as usize..numbers.end as usize];
        let (texts, counts): (Vec<u64>, Vec<u64>) =
            lists.iter().flat_map(|list| list.1.range(texts.clone())).unzip();
        texts.chunks(3).zip(counts.chunks(3)).all(|(texts, counts)| found(texts, counts));
        Ok(())
    }
    fn lengths(&self, texts: Range<u64>, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), Infallible> {
        let Some(lengths) = self.lists.iter().find(|list| list.0 == LENGTHS) else { return Ok(()) };
        let lengths: Vec<u64> = lengths.1.range(texts).map(|(_, length)| *length).collect();
        lengths.chunks(3).all(found);
        Ok(())
    }
}

#[test]
fn short_keys_are_numbers() {
    let letters: Vec<u8> = (1..40).collect();
    for len in 0..40 {
        let key = letters.get(..len).unwrap();
        assert_eq!(WordKey::of(key).to_vec(), key);
        assert_eq!(matches!(WordKey::of(key), WordKey::Short(..)), len <= 16);
    }
    assert_eq!(
        WordKey::of(b"wAfox"),
        WordKey::Short(u128::from_le_bytes(*b"wAfox\0\0\0\0\0\0\0\0\0\0\0"), 5)
    );
    for byte in 0..128_u8 {
        let bytes =
            [byte, b'A', b'Z', byte, b'@', b'[', byte, 0, 0x7F, byte, b'a', b'z', byte, b'Q', b'_', byte];
        assert_eq!(
            lower_of(u128::from_le_bytes(bytes)).to_le_bytes(),
            bytes.map(|byte| byte.to_ascii_lowercase())
        );
    }
    // Of words of all lengths, with and without something behind them.
    for len in 1..40 {
        let word = "ABCdefGhij".repeat(4).get(..len).unwrap().to_owned();
        for text in [word.clone(), format!("{word} and more that is behind it")] {
            let mut first = None;
            Keys::default().each_word(&text, Language::NONE, &mut |key| {
                let own = WordKey::of(&key.to_vec()) == key;
                first.get_or_insert((key.to_vec(), own));
            });
            assert_eq!(first, Some((format!("wA{}", word.to_lowercase()).into_bytes(), true)));
        }
    }
}

#[test]
fn keys_of_words_are_in_lower_case_wherever_they_stand() {
    let text = "Fox\tÄrger,A.b.C \u{301}x _9_ ÉA Z";
    let mut found = Vec::new();
    let count = Keys::default().each_word(text, Language::of_tag("de"), &mut |key| {
        found.push(String::from_utf8(key.to_vec()).unwrap());
    });
    let expected = ["fox", "ärger", "a.b.c", "x", "_9_", "éa", "z"];
    assert_eq!(found, expected.map(|word| format!("wH{word}")));
    assert_eq!(count, 7);
    let long = "a".repeat(300);
    let mut found = Vec::new();
    Keys::default().each_word(&format!("{long} b"), Language::NONE, &mut |key| {
        found.push(key.to_vec());
    });
    assert_eq!(found, [WITHOUT_KEY.to_vec(), b"wAb".to_vec()]);
}

struct Purse {
    held: Cell<usize>,
    most: usize,
    work_left: Cell<usize>,
}

impl Purse {
    fn of(most: usize) -> Self {
        Self { held: Cell::new(0), most, work_left: Cell::new(usize::MAX) }
    }
}

impl Means for Purse {
    fn work(&self, bytes: usize) -> bool {
        let left = self.work_left.get().checked_sub(bytes);
        self.work_left.set(left.unwrap_or(0));
        left.is_some()
    }
    fn hold(&self, bytes: usize) -> bool {
        let fits = self.held.get() + bytes <= self.most;
        self.held.set(self.held.get() + if fits { bytes } else { 0 });
        fits
    }
    fn release(&self, bytes: usize) {
        assert!(bytes <= self.held.get(), "{bytes} of {}", self.held.get());
        self.held.set(self.held.get() - bytes);
    }
}

fn found(query: &Prepared, index: &Memory) -> (Vec<u64>, bool) {
    let purse = Purse::of(usize::MAX);
    let found = query.texts_in(index, &purse).expect("in memory").expect("enough");
    assert_eq!(purse.held.get(), found.set.bytes());
    assert_eq!(found.set.iter().count() as u64, found.set.len());
    (found.set.iter().collect(), found.is_exact)
}

#[test]
fn phrases_that_must_not_be_there_leave_texts_with_their_words() {
    let texts =
        [("fox red dog".to_owned(), "en"), ("fox dog red".to_owned(), "en"), ("fox".to_owned(), "en")];
    let index = Memory::of(&texts);
    for (query, all) in
        [("fox -\"red dog\"", vec![0, 1, 2]), ("fox -red", vec![2]), ("fox -\"red cat\"", vec![0, 1, 2])]
    {
        let prepared = Prepared::parse(query, Dialect::Lucene).expect("a query");
        assert_eq!(found(&prepared, &index).0, all, "{query}");
    }
}

const TEXT: &str = "((fox|foxes|dog|dogs|run|running|runs|Café|cafe|cafes|日本|日|häuser|Haus|hauser|don't|été|ete|étés)( |, |-)){0,7}";
const PART: &str = "[+-]?(fox|dogs|ran|run|running|cafe|CAFÉ|日本|haus|Häuser|don't|\"fox dog\"|\"run dogs\"~3|fo[*]|[*]s|d[?]g|caf[*]|h[*]r|runing~|fix~1|été|[(]fox -dog[)]|[(]run -\"fox dog\"[)]|[(][+]run cafe[)])(\\^(3|0[.]5))?";

proptest! {
    #[test]
    fn an_index_finds_what_reading_finds(
        texts in proptest::collection::vec((TEXT, proptest::sample::select(vec!["", "en", "de", "fr", "zh"])), 0..90),
        parts in proptest::collection::vec((PART, proptest::sample::select(vec![" ", " AND ", " OR "])), 1..5),
    ) {
        let query: String = parts.iter().enumerate().map(|(at, (part, join))| format!("{}{part}", if at > 0 { join } else { "" })).collect();
        let Ok(prepared) = Prepared::parse(&query, Dialect::Lucene) else { return Ok(()) };
        let index = Memory::of(&texts);
        let (all, is_exact) = found(&prepared, &index);
        let mut matcher = Matcher::new(&prepared);
        let mut score = |number: u64| {
            let (text, tag) = &texts[number as usize];
            let language = Language::of_tag(tag);
            let is_match = matcher.is_match(text, language, |_| Some(())).expect("not cancelled");
            is_match.then(|| matcher.score(text, language, |_| Some(())).expect("not cancelled"))
        };
        let expected: Vec<u64> = (0..texts.len() as u64).filter(|text| score(*text).is_some()).collect();
        if is_exact {
            prop_assert_eq!(&all, &expected, "{}", query);
        } else {
            prop_assert!(expected.iter().all(|text| all.contains(text)), "{query}: {all:?} {expected:?}");
        }
        let purse = Purse::of(usize::MAX);
        let mut ranked = Vec::new();
        let is_whole = prepared.ranked_in(&index, &purse, &mut |text| ranked.push(text)).expect("in memory");
        prop_assert!(is_whole || texts.is_empty());
        prop_assert_eq!(purse.held.get(), 0);
        if is_whole {
            prop_assert_eq!(ranked.iter().map(|ranked| ranked.text).collect::<Vec<u64>>(), all);
        }
        for text in ranked {
            let real = score(text.text);
            if text.is_exact {
                prop_assert_eq!(Some(text.score), real, "{}", query);
            } else {
                prop_assert!(real.is_none_or(|real| real <= text.score), "{query}: {real:?} {text:?}");
            }
        }
    }

    #[test]
    fn sets_are_sets(
        texts in 1_u64..2000,
        lists in proptest::collection::vec((proptest::collection::btree_set(0_u64..2000, 0..300), 0..3_u8), 1..6),
    ) {
        let mut all = TextSet::none(texts);
        let mut expected: BTreeSet<u64> = BTreeSet::new();
        for (list, op) in lists {
            let list: BTreeSet<u64> = list.into_iter().filter(|text| *text < texts).collect();
            let flat: Vec<u64> = list.iter().copied().collect();
            let mut union = set::Union::new(texts);
            flat.chunks(7).for_each(|part| union.add(part));
            flat.chunks(11).rev().for_each(|part| union.add(part));
            let made = union.finish();
            prop_assert_eq!(made.iter().collect::<Vec<u64>>(), flat);
            (all, expected) = match op {
                0 => (all.and(&made), expected.intersection(&list).copied().collect()),
                1 => (all.without(&made), expected.difference(&list).copied().collect()),
                _ => {
                    let mut union = set::Union::new(texts);
                    union.add_set(&all);
                    union.add_set(&made);
                    (union.finish(), expected.union(&list).copied().collect())
                }
            };
            prop_assert_eq!(all.iter().collect::<BTreeSet<u64>>(), expected.clone());
            prop_assert_eq!(all.len(), expected.len() as u64);
            prop_assert!((0..texts).all(|text| all.has(text) == expected.contains(&text)));
            prop_assert!(all.bytes() <= (texts / 8 + 16) as usize);
        }
    }
}

/// Letters with several forms, signs within words, scripts without spaces: a text and a string in it.
const LETTERS: &str = "(fox|F|ox|s|ſ|S|k|\u{212a}|K|ß|ẞ|Å|å|\u{212b}|e\u{301}|İ|i|I|ı|Σ|σ|ς|ΟΔΟΣ|µ|μ|ǅ|東|京|한국|ы|Ы|'|[.]|:|_|-|3|7| |  |,|\n|ﬁ|\u{200d}|\u{ad}){0,14}";

proptest! {
    #[test]
    fn strings_of_texts_are_found(
        texts in proptest::collection::vec((LETTERS, proptest::sample::select(vec!["", "en", "de", "zh"])), 1..40),
        of in 0_usize..40,
        cut in (0_usize..14, 0_usize..14),
        case in 0..4_u8,
    ) {
        let mut texts = texts;
        texts.push((format!("{} fox", "long".repeat(80)), ""));
        let index = Memory::of(&texts);
        let letters: Vec<char> = texts[of % texts.len()].0.chars().take(40).collect();
        let start = cut.0.min(letters.len());
        let end = letters.len().saturating_sub(cut.1).max(start);
        let part: String = letters[start..end].iter().collect();
        let (at_start, at_end) = (start == 0 && case > 1, end == letters.len() && case > 1);
        let part = if case == 1 { part.to_lowercase() } else { part };
        let has = |text: &str| match (at_start, at_end) {
            (true, true) => text == part,
            (true, false) => text.starts_with(&part),
            (false, true) => text.ends_with(&part),
            (false, false) => text.contains(&part),
        };
        let any_case = regex_like(&part);
        let expected: Vec<u64> = (0..).zip(&texts).filter(|(_, (text, _))| match case {
            1 => has(&text.to_lowercase()),
            3 => regex_like(text).contains(&any_case),
            _ => has(text),
        }).map(|(number, _)| number).collect();
        let (at_start, at_end) = (at_start && case != 3, at_end && case != 3);
        let parts = Parts::All(vec![Parts::Part(Part { text: part.clone(), at_start, at_end, any_case: case == 3 })]);
        let purse = Purse::of(usize::MAX);
        // As if there were more: else it is never better to look.
        let found = parts.texts_in(&index, 10_000, &purse).expect("in memory");
        prop_assert_eq!(purse.held.get(), found.as_ref().map_or(0, TextSet::bytes));
        if let Some(found) = found {
            prop_assert!(expected.iter().all(|text| found.has(*text)), "{part:?} {expected:?} {found:?}");
        }
    }
}

/// A text in which letters that an expression without case takes for each other are the same.
fn regex_like(text: &str) -> String {
    let simple = |c: char| match c {
        'ſ' => 's',
        'µ' => 'μ',
        'ς' => 'σ',
        c => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(lower), None) => lower,
                _ => c,
            }
        }
    };
    text.chars().map(simple).collect()
}

#[test]
fn what_is_rare_is_found_and_what_is_not_is_none() {
    let texts: Vec<(String, &str)> = (0..20_000).map(|n| (format!("Text n{n}x, of foxes"), "en")).collect();
    let index = Memory::of(&texts);
    let found = |text: &str, at_start, at_end| {
        let part = Part { text: text.to_owned(), at_start, at_end, any_case: false };
        let purse = Purse::of(usize::MAX);
        let set = Parts::Part(part).texts_in(&index, 20_000, &purse).expect("in memory");
        set.map(|set| set.iter().collect::<Vec<u64>>())
    };
    assert_eq!(found("123x, o", false, false).map(|all| all.len()), Some(20));
    assert_eq!(found("t n123x, o", false, false), Some(vec![123]));
    assert_eq!(found("ext n123x", true, false), Some(vec![123]));
    assert_eq!(found("Text n123x", true, false), Some(vec![123]));
    assert_eq!(found("xylophone", false, false), Some(vec![]));
    for none in ["e", "ext", "", "!", "foxes", "n"] {
        assert_eq!(found(none, false, false), None, "{none}");
    }
}

#[test]
fn what_may_not_be_held_is_not() {
    let texts: Vec<(String, &str)> = (0..5000).map(|n| (format!("red fox{}", n % 50), "en")).collect();
    let index = Memory::of(&texts);
    let prepared = Prepared::parse("red f*", Dialect::Lucene).expect("a query");
    for most in [0, 1, 100, 1000, 10_000, 200_000] {
        let purse = Purse::of(most);
        let found = prepared.texts_in(&index, &purse).expect("in memory");
        assert_eq!(found.is_some(), most >= 10_000, "{most}");
        let ranked = prepared.ranked_in(&index, &Purse::of(most), &mut |_| {}).expect("in memory");
        assert_eq!(ranked, most >= 200_000, "{most}");
    }
    for work in [0, 8, 100, 1000, 10_000] {
        let purse = Purse::of(usize::MAX);
        purse.work_left.set(work);
        assert!(prepared.texts_in(&index, &purse).expect("in memory").is_none(), "{work}");
    }
}
