//! Reading past errors: nothing of a bad statement is given out, and what is does not depend on how a document is cut.

use super::differential::number;
use super::generate::{Generator, Random, damage};
use super::{Cuts, format, options, ours, same};
use crate::parse::kept::ParseNotes;
use crate::parse::{BadText, BlankLabels, PieceCutter};
use crate::raw::RawQuad;
use oxrdf::Quad;
use std::ops::ControlFlow;

/// Quads, and the texts that are bad with the lines of their errors.
fn past_errors(
    text: &[u8],
    with_graphs: bool,
    with_base: bool,
    cuts: Cuts,
) -> (Vec<Quad>, Vec<(u64, String)>) {
    let mut cutter = PieceCutter::new(format(with_graphs), &options(with_base), BlankLabels::Valid).unwrap();
    let (mut quads, mut bad) = (Vec::new(), Vec::new());
    let (mut start, mut known) = (0, 0);
    loop {
        known = (known + cuts.step).min(text.len());
        while let Some((piece, length)) = cutter.cut(&text[start..known], cuts.wanted, known == text.len()) {
            let mut sink = |quad: RawQuad<'_>| {
                quads.push(quad.as_ref().unwrap().into_owned());
                ControlFlow::Continue(())
            };
            let mut on_bad = |found: BadText<'_>| {
                bad.push((found.error.line, String::from_utf8_lossy(found.text).into_owned()));
                ControlFlow::Continue(())
            };
            let notes = &mut ParseNotes::default();
            let flow = piece.parse_past_errors(&text[start..start + length], notes, &mut sink, &mut on_bad);
            assert!(flow.is_continue());
            if piece.is_last() {
                return (quads, bad);
            }
            start += length;
        }
    }
}

const WHOLE: Cuts = Cuts { wanted: usize::MAX, step: usize::MAX };

#[track_caller]
fn check(text: &str, with_graphs: bool, quads: usize, bad: &[(u64, &str)]) {
    let (found, texts) = past_errors(text.as_bytes(), with_graphs, true, Cuts { step: text.len(), ..WHOLE });
    let bad: Vec<(u64, String)> = bad.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
    assert_eq!(texts, bad);
    assert_eq!(found.len(), quads, "{found:#?}");
}

#[test]
fn reading_goes_on_where_the_next_statement_begins() {
    check("<a> <b> 1, 2, x:c .\n<a> <b> 3 .", false, 1, &[(1, "<a> <b> 1, 2, x:c .")]);
    check("<a> <b> (1 2 x:c) . <a> <b> [ <c> 1 ] .", false, 2, &[(1, "<a> <b> (1 2 x:c) .")]);
    check("<a> <b> \"c\nd\" .\n<a> <b> 3 .", false, 1, &[(1, "<a> <b> \"c\n"), (2, "d\" .\n")]);
    check(
        "@prefix x <y> .\n<a> <b> 3 .\nx:a <b> 1 .",
        false,
        1,
        &[(1, "@prefix x <y> ."), (3, "x:a <b> 1 .")],
    );
    // What a bad directive was to replace is not known any more.
    let (bases, prefixes) =
        ("@base <a b> .\n<a> <b> 1 .", "@prefix x: <y> . @prefix x: <a b> .\nx:a x:b 1 .");
    check(bases, false, 0, &[(1, "@base <a b> ."), (2, "<a> <b> 1 .")]);
    check(prefixes, false, 0, &[(1, "@prefix x: <a b> ."), (2, "x:a x:b 1 .")]);
    check("<a> <b> 3 .\n<a> <b> \"\"\"c .", false, 1, &[(2, "<a> <b> \"\"\"c .")]);
}

#[test]
fn statements_of_no_known_graph_are_left_out() {
    check("<g> { <a> <b> x:c . <a> <b> 1 }", true, 1, &[(1, "<a> <b> x:c .")]);
    check("<g> { <a> <b> 1 . <a> <b> x:c } <a> <b> 2 .", true, 2, &[(1, "<a> <b> x:c ")]);
    check("x:g { <a> <b> 1 . <a> <b> 2 }\n<a> <b> 3 .", true, 1, &[(1, "x:g { <a> <b> 1 . <a> <b> 2 }")]);
    check("<g> { <a> <b> 1 .\n<h> { <a> <b> 2 . }\n<a> <b> 3 .", true, 2, &[(2, "<h> { <a> <b> 2 . }")]);
    check("<g> { <a> <b> 1 .", true, 1, &[(1, "")]);
    check("<a> <b> 1 . } <a> <b> 2 .", true, 2, &[(1, "}")]);
}

#[test]
fn bytes_that_are_no_text_cost_one_statement() {
    let text = b"<a> <b> \"\xFF\" . @prefix x: <y> . # \xFF\nx:a x:b 1 . <a> <b> \"\xFE\" . x:a x:b 2 .";
    let (quads, bad) = past_errors(text, false, true, Cuts { step: text.len(), ..WHOLE });
    assert_eq!((quads.len(), bad.len()), (2, 2), "{bad:?}");
}

#[test]
fn what_is_given_out_does_not_depend_on_the_pieces() {
    for seed in 0..number("LODE_TURTLE_CASES", 4000) {
        let mut random = Random::new(seed);
        let with_graphs = random.one_in(2);
        let mut text = Generator::new(seed, with_graphs).document().into_bytes();
        if !random.one_in(8) {
            damage(&mut text, &mut random);
        }
        let cuts = Cuts { wanted: 1 + random.below(80), step: 1 + random.below(200) };
        let (whole, bad) = past_errors(&text, with_graphs, true, Cuts { step: text.len(), ..WHOLE });
        let (pieces, bad_pieces) = past_errors(&text, with_graphs, true, cuts);
        let shown = String::from_utf8_lossy(&text).into_owned();
        assert!(
            same(&whole, &pieces),
            "seed {seed}, {cuts:?}:\n{shown}\n{bad:#?}\n{bad_pieces:#?}\n{whole:#?}\n{pieces:#?}"
        );
        match ours(&text, with_graphs, true) {
            Ok(quads) => assert!(bad.is_empty() && same(&quads, &whole), "seed {seed}:\n{shown}\n{bad:#?}"),
            Err(_) => assert!(!bad.is_empty(), "seed {seed}:\n{shown}"),
        }
    }
}
