//! What a match may cost, and that the matcher finds what the linear one finds.

use super::MatchLimit;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::tests::support::context;
use crate::functions::regex::{Pattern, compiled};
use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::memory_budget::MemoryBudget;
use std::sync::Arc;
use std::time::Duration;

/// Expressions that go back exponentially, or with a power of the text's length.
const HOSTILE: [&str; 7] = [
    r"^(a|aa)+()\2$",
    r"(a*)*()\2b",
    r"((a+)+)+\1b",
    r"(.*)(.*)(.*)(.*)x\1\2\3\4y",
    r"(.*)x?\1y",
    r"(a+?)(a+?)(a+?)\1\2\3b",
    r"^((a?){30}){30}()\3b",
];

fn pattern(text: &str, flags: &str) -> Arc<Pattern> {
    compiled(text, flags).unwrap()
}

#[test]
fn hostile_expressions_end_with_an_error() {
    let cx = EvalContext { budget: MemoryBudget::new(64 << 20), ..context() };
    let text = "a".repeat(20_000);
    for hostile in HOSTILE {
        let limit = MatchLimit::new(&cx);
        let found = pattern(hostile, "").is_match(&(text.clone() + "!"), &limit);
        assert_eq!(found, None, "{hostile}");
        // The next texts are not tried.
        assert_eq!(pattern(hostile, "").is_match("aa", &limit), None);
        match limit.check() {
            Err(ExecError::PatternTooComplex { pattern, text_bytes }) => {
                assert_eq!((pattern.as_str(), text_bytes), (hostile, 20_001));
            }
            Err(ExecError::OutOfMemory(_)) => {}
            other => panic!("{hostile}: {other:?}"),
        }
        assert_eq!(cx.budget.used(), 0);
    }
}

#[test]
fn a_long_match_hears_that_it_is_cancelled() {
    let cancel = CancelToken::new(Some(Duration::ZERO));
    let cx = EvalContext { cancel, ..context() };
    let text = "a".repeat(1 << 20);
    for hostile in HOSTILE {
        let limit = MatchLimit::new(&cx);
        assert_eq!(pattern(hostile, "i").is_match(&text, &limit), None);
        assert!(matches!(limit.check(), Err(ExecError::Cancelled(Cancelled::Timeout))), "{hostile}");
    }
}

#[test]
fn the_stack_is_reserved() {
    let cx = EvalContext { budget: MemoryBudget::new(1 << 20), ..context() };
    let text = "ab".repeat(100_000);
    let limit = MatchLimit::new(&cx);
    assert_eq!(pattern(r"^(?:(a)|(b))*\2$", "").is_match(&text, &limit), None);
    assert!(matches!(limit.check(), Err(ExecError::OutOfMemory(_))));
    assert!(cx.budget.used() == 0 && cx.budget.peak() > 128 << 10);
    // Characters of one class take no stack.
    let limit = MatchLimit::new(&cx);
    assert_eq!(pattern(r"^(.)(.)[ab]*\1\2$", "").is_match(&text, &limit), Some(true));
    limit.check().unwrap();
}

#[test]
fn long_texts_are_no_problem_by_themselves() {
    let cx = context();
    let limit = MatchLimit::new(&cx);
    let text = "abcdefghij ".repeat(200_000);
    assert_eq!(pattern(r"(.)\1", "").is_match(&text, &limit), Some(false));
    assert_eq!(pattern(r"(\w)\1", "i").is_match(&(text + "zZ"), &limit), Some(true));
    limit.check().unwrap();
}

/// `()\1` changes nothing but who decides.
#[test]
fn finds_what_the_linear_engine_finds() {
    let limit = MatchLimit::new(&context());
    let parts = [
        "a",
        "b",
        "(a|b)",
        "[^a]",
        ".",
        "a*",
        "(?:ab)*?",
        "(b|ab){1,2}",
        "(a?b?)*",
        "b+?",
        "a{2}",
        "^",
        "$",
        "(?:a|)",
    ];
    let texts = ["", "a", "b", "ab", "ba", "aab", "abab", "bbaa", "a\nb", "éab", "abcab", "\n"];
    let bounds = |pattern: &Pattern, text: &str| {
        let mut found = Vec::new();
        let mut groups = 0;
        pattern.each_match(text, &limit, |all| {
            groups = pattern.groups();
            found.push((0..=groups).map(|group| all.get(group)).collect::<Vec<_>>());
            // An empty match would be found again.
            all.get(0).filter(|whole| !whole.is_empty()).map(|_| ())
        });
        found
    };
    let mut compared = 0;
    for first in parts {
        for second in parts {
            for third in parts {
                let linear = format!("({first}{second}|{third}){third}{first}");
                let groups = linear.matches('(').count() - linear.matches("(?").count() + 1;
                let backtracking = format!("{linear}()\\{groups}");
                for flags in ["", "s", "m", "i"] {
                    let (a, b) = (pattern(&linear, flags), pattern(&backtracking, flags));
                    for text in texts {
                        let wanted = bounds(&a, text);
                        let mut found = bounds(&b, text);
                        for groups in &mut found {
                            groups.pop();
                        }
                        assert_eq!(found, wanted, "{linear} {flags} {text:?}");
                        compared += wanted.len();
                    }
                }
            }
        }
    }
    limit.check().unwrap();
    assert!(compared > 10_000, "{compared}");
}
