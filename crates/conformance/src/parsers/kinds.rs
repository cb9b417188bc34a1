//! Where the judge is wrong, and by which rule.

use super::algebra::{Made, judged, ours};
use lode_sparql::parse::vocabulary;
use lode_sparql::syntax::{At, Form, Node, Parsed, TokenKind};
use std::collections::BTreeSet;

/// The reasons for which ours may differ, each with the rule that says so. Sections are of SPARQL 1.1 Query unless another document is named.
pub const KINDS: &[&str] = &[
    LONGEST,
    ENDED,
    IRIS,
    NAMES,
    PLANES,
    BLANKS,
    LABELS,
    AFTER_EXISTS,
    AGGREGATES,
    SUBJECTS,
    DOTS,
    CASE,
    ALIAS,
    KEYS,
    FORMS,
    NEGATED,
    SPACES,
    TWICE,
    PROLOGUES,
    REUSED,
    SIGNS,
];

const LONGEST: &str =
    "19.8: the longest token is one, so words and numbers in a row need something between them";
const ENDED: &str = "SPARQL 1.1 Update 19.8 [29]: a semicolon stands behind an operation";
const IRIS: &str = "19.8 [139]: what is between < and > is an IRI, also where a comparison might stand";
const NAMES: &str = "19.8 [169]: a local name may have dots at several places";
const PLANES: &str = "19.8 [164]: names may have characters beyond U+FFFF";
const BLANKS: &str =
    "19.8 [161] [163]: between ( and ) of NIL, [ and ] of ANON stands white space, and no comment";
const LABELS: &str =
    "5.1.1, 10.1: BIND and VALUES end a basic graph pattern, and labels of blank nodes are of one";
const AFTER_EXISTS: &str =
    "5.1.1, 18.2.2.5: FILTER does not end a basic graph pattern, with EXISTS or without";
const AGGREGATES: &str = "18.2.4.1: aggregates stand in SELECT, HAVING and ORDER BY, and not in each other";
const SUBJECTS: &str =
    "SPARQL 1.2 19.8: the subject of a triple term of an expression is an IRI or a variable";
const DOTS: &str = "19.8 [52]: between triples of a template stands a dot";
const CASE: &str = "19.8 note 1: keywords may be in any case, true and false too";
const ALIAS: &str =
    "16.1.2: a value that is selected may be used by those behind it, also where there are groups";
const KEYS: &str = "19.8 [20]: a key of GROUP BY may give a variable another name";
const FORMS: &str = "19.8 [10] [11] [12]: CONSTRUCT, DESCRIBE and ASK may have groups and aggregates";
const NEGATED: &str = "19.8 [95]: !() is a negated property set";
const SPACES: &str = "19.8: white space may stand between two tokens, also behind the name of a function";
const TWICE: &str = "19.8 [11]: DESCRIBE may name a resource twice";
const PROLOGUES: &str = "SPARQL 1.1 Update 19.8 [29]: declarations may stand before each operation";
const REUSED: &str = "19.8 note 6: labels of blank nodes are of one operation, but for those of INSERT DATA";
const SIGNS: &str = "19.8 [149] [152]: a sign and the digits behind it are one token, and a number";

/// Why both differ on a text; none where there is no reason known.
pub(super) fn kind(text: &str, form: Form) -> Option<&'static str> {
    let parsed = lode_sparql::syntax::parse(text, form, vocabulary());
    if let Made::Nothing(error) = ours(text, form) {
        return refused(text, form, &parsed, &error);
    }
    repaired(text, form, &parsed).or_else(|| taken(text, form, &parsed))
}

/// Ours refuses.
fn refused(text: &str, form: Form, parsed: &Parsed<'_>, error: &str) -> Option<&'static str> {
    let has = |part: &str| error.contains(part);
    match () {
        () if has("is used in two patterns") => Some(LABELS),
        () if has("an aggregate in") => Some(AGGREGATES),
        () if has("where a subject should") => Some(SUBJECTS),
        () if has("a dot is missing after this triple") && form == Form::Update => Some(DOTS),
        () if has("a space behind a sign") => Some(SIGNS),
        () if has("is used in two INSERT DATA") => Some(REUSED),
        () if has("`;` begins no update") => Some(ENDED),
        () if is_empty_with_comment(parsed) => Some(BLANKS),
        () if has_joined_words(text, form, parsed) => Some(LONGEST),
        // The judge has no tokens: with spaces between them it agrees.
        () if matches!(judged(&spaced(parsed), form), Made::Nothing(_)) => Some(LONGEST),
        () if has_comparison_as_iri(parsed) => Some(IRIS),
        () if has_sign_behind_path(text, parsed) => Some(SIGNS),
        () => None,
    }
}

/// Tokens with spaces between them; a sign and its number stay together.
fn spaced(parsed: &Parsed<'_>) -> String {
    let mut text = String::new();
    for (place, token) in parsed.tree.tokens().iter().enumerate() {
        let before = place.checked_sub(1).map_or("", |before| parsed.tree.token_text(before));
        if !(token.kind() == TokenKind::Number && matches!(before, "+" | "-")) {
            text.push('\n');
        }
        text.push_str(parsed.tree.token_text(place));
    }
    text
}

/// Keywords that something may stand behind.
const WORDS: [&str; 52] = [
    "SELECT",
    "DISTINCT",
    "REDUCED",
    "WHERE",
    "GROUP",
    "ORDER",
    "BY",
    "NOT",
    "EXISTS",
    "IN",
    "FROM",
    "NAMED",
    "SERVICE",
    "SILENT",
    "CLEAR",
    "DROP",
    "CREATE",
    "ALL",
    "DEFAULT",
    "GRAPH",
    "INSERT",
    "DELETE",
    "DATA",
    "INTO",
    "LOAD",
    "ADD",
    "MOVE",
    "COPY",
    "TO",
    "AS",
    "USING",
    "WITH",
    "DESC",
    "ASC",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "UNION",
    "OPTIONAL",
    "MINUS",
    "FILTER",
    "BIND",
    "VALUES",
    "UNDEF",
    "ASK",
    "CONSTRUCT",
    "DESCRIBE",
    "BASE",
    "PREFIX",
    "VERSION",
    "SEPARATOR",
    "a",
];

/// A keyword and something else in one word or name, which the judge reads as two: with a space between them both agree.
fn has_joined_words(text: &str, form: Form, parsed: &Parsed<'_>) -> bool {
    let is_word = |part: &str| WORDS.iter().any(|word| word.eq_ignore_ascii_case(part));
    let mut mended = String::new();
    let mut done = 0;
    for token in parsed.tree.tokens() {
        let word = text.get(token.span()).unwrap_or("");
        if !matches!(token.kind(), TokenKind::Word | TokenKind::Name) || is_word(word) {
            continue;
        }
        let mut halves = (1..word.len()).rev().filter_map(|at| word.split_at_checked(at));
        if let Some((first, second)) = halves.find(|(first, _)| is_word(first)) {
            mended.push_str(text.get(done..token.start()).unwrap_or(""));
            mended.push_str(&format!("{first} {second}"));
            done = token.end();
        }
    }
    mended.push_str(text.get(done..).unwrap_or(""));
    done > 0
        && matches!((ours(&mended, form), judged(text, form)), (Made::Algebra(a), Made::Algebra(b)) if a == b)
}

fn is_empty_with_comment(parsed: &Parsed<'_>) -> bool {
    let tree = &parsed.tree;
    tree.tokens().windows(2).enumerate().any(|(place, pair)| {
        let [open, close] = pair else { return false };
        let brackets = (tree.token_text(place), tree.token_text(place + 1));
        let between = tree.text().get(open.end()..close.start()).unwrap_or("");
        matches!(brackets, ("(", ")") | ("[", "]")) && between.contains('#')
    })
}

/// An IRI in brackets of which an operand and an operator may be made.
fn has_comparison_as_iri(parsed: &Parsed<'_>) -> bool {
    let tokens = parsed.tree.tokens().iter().enumerate();
    tokens.filter(|(_, token)| token.kind() == TokenKind::Iri).any(|(place, _)| {
        let iri = parsed.tree.token_text(place);
        iri.contains(['?', '$', ',', '=', '&', '(', ')', '+', '-', '*', '/', ':', '>'])
    })
}

/// A number with a sign, behind what the sign may repeat in a path.
fn has_sign_behind_path(text: &str, parsed: &Parsed<'_>) -> bool {
    let tokens = parsed.tree.tokens();
    tokens.windows(3).any(|three| {
        let [before, sign, number] = three else { return false };
        let is_step =
            matches!(before.kind(), TokenKind::Iri | TokenKind::Name | TokenKind::Word | TokenKind::Mark);
        is_step && number.kind() == TokenKind::Number && text.get(sign.span()) == Some("+")
    })
}

/// What makes the judge agree where it stumbles over the text alone.
fn repaired(text: &str, form: Form, parsed: &Parsed<'_>) -> Option<&'static str> {
    type Repair = fn(&str, &Parsed<'_>, usize) -> Option<String>;
    let repairs: [(&str, Repair); 5] = [
        (CASE, lower),
        (NAMES, without_dots),
        (PLANES, in_first_plane),
        (SPACES, closed_up),
        (KEYS, coalesced),
    ];
    let mut all = rewritten(parsed, &|place| {
        let mut token = parsed.tree.token_text(place).to_owned();
        for (_, repair) in repairs {
            if let Some(changed) = repair(&token, parsed, place) {
                token = changed;
            }
        }
        token
    });
    let agrees = |changed: &str| {
        changed != text
            && matches!((judged(changed, form), ours(changed, form)), (Made::Algebra(a), Made::Algebra(b)) if a == b)
    };
    for (kind, repair) in repairs {
        let changed = rewritten(parsed, &|place| {
            let token = parsed.tree.token_text(place);
            repair(token, parsed, place).unwrap_or_else(|| token.to_owned())
        });
        let differs = (0..parsed.tree.tokens().len())
            .any(|place| repair(parsed.tree.token_text(place), parsed, place).is_some());
        if differs && agrees(&changed) {
            return Some(kind);
        }
    }
    all.push('\n');
    agrees(&all).then_some(()).and_then(|()| {
        let (kind, _) = repairs.into_iter().find(|(_, repair)| {
            (0..parsed.tree.tokens().len())
                .any(|place| repair(parsed.tree.token_text(place), parsed, place).is_some())
        })?;
        KINDS.iter().find(|known| **known == kind).copied()
    })
}

fn rewritten(parsed: &Parsed<'_>, token: &dyn Fn(usize) -> String) -> String {
    let (mut text, mut done) = (String::new(), 0);
    let whole = parsed.tree.text();
    for (place, at) in parsed.tree.tokens().iter().enumerate() {
        let new = token(place);
        if new == "\u{8}" {
            // Takes the space before it away.
            text.push_str(whole.get(at.span()).unwrap_or(""));
        } else {
            text.push_str(whole.get(done..at.start()).unwrap_or(""));
            text.push_str(&new);
        }
        done = at.end();
    }
    text.push_str(whole.get(done..).unwrap_or(""));
    text
}

fn lower(token: &str, _: &Parsed<'_>, _: usize) -> Option<String> {
    let is_boolean = token.eq_ignore_ascii_case("true") || token.eq_ignore_ascii_case("false");
    (is_boolean && token.bytes().any(|byte| byte.is_ascii_uppercase())).then(|| token.to_ascii_lowercase())
}

fn without_dots(token: &str, parsed: &Parsed<'_>, place: usize) -> Option<String> {
    let kind = parsed.tree.tokens().get(place)?.kind();
    let (prefix, local) = token.split_once(':')?;
    (kind == TokenKind::Name && local.matches('.').count() > 1)
        .then(|| format!("{prefix}:{}", local.replace('.', "_")))
}

fn in_first_plane(token: &str, parsed: &Parsed<'_>, place: usize) -> Option<String> {
    let kind = parsed.tree.tokens().get(place)?.kind();
    let is_name = matches!(kind, TokenKind::Name | TokenKind::Variable | TokenKind::Blank);
    let beyond = |c: char| u32::from(c) > 0xffff;
    (is_name && token.contains(beyond)).then(|| token.replace(beyond, "\u{e9}"))
}

/// The parenthesis behind CONCAT, COALESCE and BNODE.
fn closed_up(token: &str, parsed: &Parsed<'_>, place: usize) -> Option<String> {
    let before = parsed.tree.token_text(place.checked_sub(1)?);
    let is_one = ["CONCAT", "COALESCE", "BNODE"].iter().any(|name| before.eq_ignore_ascii_case(name));
    let gap = parsed.tree.tokens().get(place)?.start() > parsed.tree.tokens().get(place - 1)?.end();
    (token == "(" && is_one && gap).then(|| "\u{8}".to_owned())
}

/// `(?x AS ?y)` of GROUP BY as `(COALESCE(?x) AS ?y)`.
fn coalesced(token: &str, parsed: &Parsed<'_>, place: usize) -> Option<String> {
    fn is_key(at: At<'_>, place: usize) -> bool {
        at.children().any(|child| {
            let is_one = at.node() == Node::GroupBy
                && child.node() == Node::As
                && child
                    .first()
                    .is_some_and(|key| key.node() == Node::Variable && key.tokens().start == place);
            is_one || is_key(child, place)
        })
    }
    (token.starts_with(['?', '$']) && is_key(parsed.tree.root(), place)).then(|| format!("COALESCE({token})"))
}

/// Ours takes what the judge refuses, or makes other algebra of it.
fn taken(text: &str, form: Form, parsed: &Parsed<'_>) -> Option<&'static str> {
    let Made::Nothing(error) = judged(text, form) else {
        return match () {
            () if has_sign_behind_path(text, parsed) => Some(SIGNS),
            () if has_key(parsed.tree.root()) => Some(KEYS),
            () if has_comparison_as_iri(parsed) => Some(IRIS),
            () => None,
        };
    };
    let root = parsed.tree.root();
    let operations: Vec<Node> = root.children().map(At::node).collect();
    let is_declaration = |node: &Node| matches!(node, Node::Base | Node::Prefix | Node::Version);
    let late = operations.iter().skip_while(|node| is_declaration(node)).any(is_declaration);
    let form_of = operations.iter().find(|node| !is_declaration(node));
    let is_select = form_of == Some(&Node::Select);
    match () {
        () if form == Form::Update && (late || operations.iter().all(is_declaration)) => Some(PROLOGUES),
        () if form == Form::Query && !is_select && has_group(root) => Some(FORMS),
        () if error.contains("unbound") => Some(ALIAS),
        () if error.contains("Duplicated variable") && form_of == Some(&Node::Describe) => Some(TWICE),
        () if error.contains("Already used blank node") && holds(root, Node::Exists) => Some(AFTER_EXISTS),
        () if error.contains("cannot be shared") => Some(REUSED),
        () if has_empty_negation(root) => Some(NEGATED),
        () if has_sign_behind_path(text, parsed) => Some(SIGNS),
        () if has_key(root) => Some(KEYS),
        // Of several reasons to refuse, the judge tells that of the furthest place.
        () if root.children().any(describes_twice) => Some(TWICE),
        () if uses_selected(root) => Some(ALIAS),
        () => None,
    }
}

fn describes_twice(at: At<'_>) -> bool {
    let names = at.children().filter(|child| child.node() == Node::Variable).map(At::text);
    let mut seen = BTreeSet::new();
    at.node() == Node::Describe && names.into_iter().any(|name| !seen.insert(name))
}

/// A value that is selected of one that is selected before it.
fn uses_selected(at: At<'_>) -> bool {
    at.children().any(|child| {
        let is_one = child.node() == Node::Selection && {
            let mut named = BTreeSet::new();
            child.children().filter(|part| part.node() == Node::As).any(|part| {
                let uses = part.first().is_some_and(|value| mentions(value, &named));
                named.extend(part.children().nth(1).map(At::text));
                uses
            })
        };
        is_one || uses_selected(child)
    })
}

fn mentions(at: At<'_>, names: &BTreeSet<&str>) -> bool {
    at.node() == Node::Variable && names.contains(at.text())
        || at.children().any(|child| mentions(child, names))
}

fn holds(at: At<'_>, node: Node) -> bool {
    at.children().any(|child| child.node() == node || holds(child, node))
}

fn has_group(root: At<'_>) -> bool {
    let form = root.children().last();
    form.is_some_and(|form| {
        form.children().any(|part| match part.node() {
            Node::GroupBy => true,
            Node::Having | Node::OrderBy => holds(part, Node::Aggregate),
            _ => false,
        })
    })
}

fn has_empty_negation(at: At<'_>) -> bool {
    at.children()
        .any(|child| child.node() == Node::Negated && child.first().is_none() || has_empty_negation(child))
}

fn has_key(at: At<'_>) -> bool {
    at.children().any(|child| {
        let renames = |key: At<'_>| {
            key.node() == Node::As
                && key.first().is_some_and(|key| matches!(key.node(), Node::Variable | Node::Parentheses))
        };
        child.node() == Node::GroupBy && child.children().any(renames) || has_key(child)
    })
}
