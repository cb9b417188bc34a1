//! The patterns around a place, as queries that tell what gives answers there.

use lode_syntax::{At, Node, Token, TokenKind};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

/// What is asked for.
const CANDIDATE: &str = "?lode_candidate";
/// So many triples are near a place.
const NEAR_MAX: usize = 8;
/// Where a sub-select must let it out.
const SELECTED: char = '\u{1}';

/// The patterns around a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patterns {
    /// With OPTIONAL and other groups around the place as patterns that must be there: so the place itself has an answer.
    joined: Template,
    /// As they stand in the text, where that is something else.
    whole: Option<Template>,
    /// The query with all that is made of its solutions, where that may leave none.
    full: Option<Template>,
    /// Those of the same group that share a variable with the place's own, where that is less: what has no answer here has none in the others.
    near: Option<Template>,
}

/// A query, as far as it is not the place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Template {
    head: String,
    dataset: String,
    before: String,
    after: String,
}

impl Template {
    fn ask(&self, written: &str) -> String {
        let Self { head, dataset, before, after } = self;
        format!("{head} ASK {dataset} {before} {written} {after}").replace(SELECTED, " ")
    }
}

impl Patterns {
    /// Queries that must have answers where `written` stands at the place.
    pub fn asks(&self, written: &str) -> Vec<String> {
        let more = self.whole.iter().chain(&self.full).map(|more| more.ask(written));
        std::iter::once(self.joined.ask(written)).chain(more).collect()
    }

    /// The query of the nearest of them, which is quick to answer and proves less.
    pub fn near_ask(&self, written: &str) -> Option<String> {
        Some(self.near.as_ref()?.ask(written))
    }

    /// Whether what stands in the text must have an answer besides.
    pub fn has_more(&self) -> bool {
        self.whole.is_some()
    }

    /// A query for what may stand there, within a filter: the first rows, of which several may be the same. All distinct ones would be asked for by a plan that may
    /// take long until the first of them is there.
    pub fn select(&self, filter: &str, rows: usize) -> String {
        self.joined.select(filter, rows)
    }

    /// The same of the nearest of them.
    pub fn near_select(&self, filter: &str, rows: usize) -> Option<String> {
        Some(self.near.as_ref()?.select(filter, rows))
    }

    /// The variable of [`Patterns::select`], for filters.
    pub fn variable() -> &'static str {
        CANDIDATE
    }
}

impl Template {
    fn select(&self, filter: &str, rows: usize) -> String {
        let Self { head, dataset, before, after } = self;
        let end = after.rfind('}').unwrap_or(after.len());
        let (after, close) = after.split_at_checked(end).unwrap_or((after, ""));
        let filter = if filter.is_empty() { String::new() } else { format!(" FILTER({filter}) ") };
        let text = format!(
            "{head} SELECT {CANDIDATE} {dataset} {before} {CANDIDATE} {after}{filter}{close} LIMIT {rows}"
        );
        text.replace(SELECTED, &format!(" {CANDIDATE} "))
    }
}

/// Those around the last node of a path, which has these bytes of the text.
pub(crate) fn patterns(path: &[At<'_>], place: Range<usize>) -> Option<Patterns> {
    let root = path.first()?;
    let outermost = path.iter().position(|at| at.node() == Node::Group)?;
    // Data and templates have no patterns.
    if path.iter().any(|at| matches!(at.node(), Node::Service | Node::Template | Node::Quads)) {
        return None;
    }
    let head = head(*root);
    let dataset = dataset(path.get(outermost.checked_sub(1)?)?);
    let mut writer = Writer { text: String::new(), at: None, place: place.clone(), is_verbatim: true };
    writer.text.push_str("{ ");
    writer.group(path.get(outermost..)?);
    writer.text.push_str(" }");
    let (before, after) = writer.text.split_at_checked(writer.at?)?;
    let template = |before: &str, after: &str| Template {
        head: head.clone(),
        dataset: dataset.clone(),
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let joined = template(before, after);
    let group = path.get(outermost)?;
    let (span, text) = (group.span(), group.tree().text());
    let whole = || Some(template(text.get(span.start..place.start)?, text.get(place.end..span.end)?));
    let whole = if writer.is_verbatim { None } else { whole() };
    let near = near(path, &place).map(|(before, after)| template(&before, &after));
    let full = full(path.get(outermost.checked_sub(1)?)?, *group, &place);
    let full = full.map(|(before, after)| Template { dataset: dataset.clone(), ..template(&before, &after) });
    Some(Patterns { joined, whole, full, near })
}

/// The query before and behind the place, as a group, where what is behind WHERE may leave nothing of its solutions: HAVING, OFFSET, and DESCRIBE of what is
/// no resource.
fn full(form: &At<'_>, group: At<'_>, place: &Range<usize>) -> Option<(String, String)> {
    let (tree, of_group) = (form.tree(), group.span());
    let text = |range: Range<usize>| tree.text().get(range);
    match form.node() {
        Node::Select => {
            let may_drop = [Node::Having, Node::Offset].into_iter().any(|node| form.child(node).is_some());
            // A sub-select has no dataset of its own, which would have to be left out of its text.
            let is_plain = form.child(Node::From).is_none();
            let span = form.span();
            let whole = may_drop && is_plain;
            whole.then(|| {
                Some((
                    format!("{{ {}", text(span.start..place.start)?),
                    format!("{} }}", text(place.end..span.end)?),
                ))
            })?
        }
        Node::Describe => {
            let named = |child: &At<'_>| matches!(child.node(), Node::Iri | Node::Name);
            if form.children().any(|child| named(&child)) {
                return None;
            }
            let variables = form.children().filter(|child| child.node() == Node::Variable);
            let tests: Vec<String> = variables
                .map(|variable| {
                    let name = variable.text();
                    format!("(ISIRI({name}) || ISBLANK({name})) && EXISTS {{ {name} ?lode_p ?lode_o }}")
                })
                .collect();
            let filter = format!(" FILTER({}) }}", tests.join(" || "));
            let before = format!("{{ {}", text(of_group.start..place.start)?);
            let after = format!("{}{filter}", text(place.end..of_group.end)?);
            (!tests.is_empty()).then_some((before, after))
        }
        _ => None,
    }
}

/// The triples of a place with those of their group that share a variable with them, before and behind the place; none where that is all of the text.
fn near(path: &[At<'_>], place: &Range<usize>) -> Option<(String, String)> {
    let is_holder = |pair: &[At<'_>]| matches!(pair, [group, triples] if group.node() == Node::Group && triples.node() == Node::Triples);
    let at = path.windows(2).rposition(is_holder)?;
    let (group, own) = (path.get(at)?, path.get(at + 1)?);
    let names = joining(*own);
    let (mut before, mut others, mut count) = ("{ ".to_owned(), 0, 0);
    let graph = path.get(..at)?.iter().rev().find(|node| node.node() == Node::Graph);
    let graph = graph.map(|graph| graph.first().map_or("", |name| name.text()));
    graph.into_iter().for_each(|graph| before += &format!("GRAPH {graph} {{ "));
    for child in group.children().filter(|child| child.index() != own.index()) {
        others += 1;
        let is_near = child.node() == Node::Triples && !joining(child).is_disjoint(&names);
        if is_near && count < NEAR_MAX {
            count += 1;
            before += &format!("{} . ", child.text());
        }
    }
    let is_less = count < others || path.iter().filter(|node| node.node() == Node::Group).count() > 1;
    let (span, text) = (own.span(), own.tree().text());
    before += text.get(span.start..place.start)?;
    let end = if graph.is_some() { " } }" } else { " }" };
    is_less.then_some((before, format!("{}{end}", text.get(place.end..span.end)?)))
}

/// The variables and labels of blank nodes by which triples are joined with others.
fn joining<'t>(triples: At<'t>) -> BTreeSet<&'t str> {
    let tree = triples.tree();
    let tokens = tree.tokens().get(triples.tokens()).unwrap_or(&[]);
    let joins = |token: &&Token| matches!(token.kind(), TokenKind::Variable | TokenKind::Blank);
    tokens.iter().filter(joins).filter_map(|token| tree.text().get(token.span())).collect()
}

/// The declarations of a text.
fn head(root: At<'_>) -> String {
    let declarations = root.children().filter(|at| matches!(at.node(), Node::Prefix | Node::Base));
    declarations.map(|at| format!("{} ", at.text())).collect()
}

/// The graphs that a query, or the WHERE of an update, asks.
fn dataset(around: &At<'_>) -> String {
    let mut text = String::new();
    for child in around.children() {
        let iri = || child.first().map_or("", |iri| iri.text());
        match child.node() {
            Node::From => {
                let named = if child.has_word(1, "NAMED") { "NAMED " } else { "" };
                let _ = write!(text, "FROM {named}{} ", iri());
            }
            Node::With => {
                let _ = write!(text, "FROM {} ", iri());
            }
            _ => {}
        }
    }
    text
}

/// Writes patterns, and notes where the place is in them.
struct Writer {
    text: String,
    at: Option<usize>,
    place: Range<usize>,
    /// They mean what they do in the text.
    is_verbatim: bool,
}

impl Writer {
    /// What is in a group, the first of `path`.
    fn group(&mut self, path: &[At<'_>]) {
        let Some((group, below)) = path.split_first() else { return };
        let on_path = below.first().map(|at| at.index());
        for child in group.children() {
            if Some(child.index()) == on_path {
                self.on_path(below);
            } else if child.node() != Node::Service {
                self.text.push_str(child.text());
                self.separate(child);
            }
        }
    }

    /// What the place is in, the first of `path`.
    fn on_path(&mut self, path: &[At<'_>]) {
        let Some(child) = path.first() else { return };
        let inner = path.iter().position(|at| at.node() == Node::Group && at.index() != child.index());
        let inner = inner.and_then(|inner| path.get(inner..));
        match (child.node(), inner) {
            (Node::Optional | Node::Minus | Node::Filter | Node::Bind, Some(inner)) => {
                self.is_verbatim = false;
                // A sub-select has braces of its own.
                if inner.get(1).is_some_and(|at| at.node() == Node::Select) {
                    self.braces("", inner);
                } else {
                    self.group(inner);
                }
                self.text.push(' ');
            }
            (Node::Union | Node::Group | Node::Lateral, Some(inner)) => {
                self.is_verbatim &= child.children().count() == 1;
                let keyword = if child.node() == Node::Lateral { "LATERAL" } else { "" };
                self.braces(keyword, inner);
            }
            (Node::Graph, Some(inner)) => {
                let graph = child.first().map_or("", |graph| graph.text());
                self.braces(&format!("GRAPH {graph}"), inner);
            }
            (Node::Select, Some(inner)) => self.select(*child, inner),
            _ => self.with_place(*child),
        }
    }

    fn braces(&mut self, before: &str, inner: &[At<'_>]) {
        let _ = write!(self.text, "{before} {{ ");
        self.group(inner);
        self.text.push_str(" } ");
    }

    /// A sub-select: what it lets out, without what it computes.
    fn select(&mut self, select: At<'_>, inner: &[At<'_>]) {
        self.is_verbatim = false;
        let variables: Vec<&str> = select.child(Node::Selection).map_or(Vec::new(), |selection| {
            let variables = selection.children().filter(|at| at.node() == Node::Variable);
            variables.map(|at| at.text()).collect()
        });
        // The grammar has one sub-select in a group, without braces of its own.
        let is_all = variables.is_empty();
        let selected = if is_all { "*".to_owned() } else { format!("{}{SELECTED}", variables.join(" ")) };
        let _ = write!(self.text, "SELECT {selected} {{ ");
        self.group(inner);
        self.text.push_str(" } ");
    }

    /// A pattern with the place in it.
    fn with_place(&mut self, child: At<'_>) {
        let (span, text) = (child.span(), child.tree().text());
        self.text.push_str(text.get(span.start..self.place.start).unwrap_or(""));
        self.at = Some(self.text.len());
        self.text.push_str(text.get(self.place.end..span.end).unwrap_or(""));
        self.separate(child);
    }

    fn separate(&mut self, child: At<'_>) {
        self.text.push_str(if child.node() == Node::Triples { " . " } else { " " });
    }
}

#[cfg(test)]
mod tests {
    use crate::names::Names;
    use crate::place::typed;
    use crate::repair::found;
    use lode_syntax::Form;

    /// What is near the mark `|`, with `<x:y>` there.
    fn near(marked: &str) -> Option<String> {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let parsed = lode_syntax::parse(&text, Form::Query, lode_sparql::parse::vocabulary());
        let tokens = parsed.tree.tokens();
        let typed = typed(&text, tokens, at)?;
        let found = found(&text, tokens, &typed, &Names::of(&text, tokens))?;
        let ask = found.patterns?.near_ask("<x:y>")?;
        Some(ask.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// What must have an answer with `<x:y>` at the mark besides the pattern.
    fn asked(marked: &str) -> Vec<String> {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let parsed = lode_syntax::parse(&text, Form::Query, lode_sparql::parse::vocabulary());
        let tokens = parsed.tree.tokens();
        let typed = typed(&text, tokens, at).unwrap();
        let found = found(&text, tokens, &typed, &Names::of(&text, tokens)).unwrap();
        let asks = found.patterns.unwrap().asks("<x:y>");
        asks.iter().skip(1).map(|ask| ask.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn what_is_made_of_solutions_must_leave_some() {
        let select = "SELECT ?s (COUNT(*) AS ?n) { ?s | ?o } GROUP BY ?s HAVING(COUNT(*) > 1)";
        assert_eq!(asked(select), [format!("ASK {{ {} }}", select.replace('|', "<x:y>"))]);
        let offset = asked("SELECT * { ?s | ?o } OFFSET 3");
        assert_eq!(offset, ["ASK { SELECT * { ?s <x:y> ?o } OFFSET 3 }"]);
        assert_eq!(
            asked("DESCRIBE ?o { ?s | ?o }"),
            ["ASK { { ?s <x:y> ?o } FILTER((ISIRI(?o) || ISBLANK(?o)) && EXISTS { ?o ?lode_p ?lode_o }) }"]
        );
        for text in ["SELECT * { ?s | ?o } LIMIT 3", "ASK { ?s | ?o }", "DESCRIBE ?o <x:z> { ?s | ?o }"] {
            assert!(asked(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn triples_that_share_a_variable_are_near() {
        for (text, expected) in [
            (
                "SELECT * { ?s | ?o . ?o a ?c ; ?q ?r . ?x a ?y FILTER(?o > 1) }",
                Some("ASK { ?o a ?c ; ?q ?r . ?s <x:y> ?o }"),
            ),
            (
                "SELECT * { GRAPH ?g { ?s | ?o . ?s a ?c } ?s ?p ?q }",
                Some("ASK { GRAPH ?g { ?s a ?c . ?s <x:y> ?o } }"),
            ),
            ("SELECT * { ?s a ?c { SELECT ?x { ?s ?p ?q . ?x a | } } }", Some("ASK { ?x a <x:y> }")),
            (
                "SELECT * { _:b | ?o . ?s ?p _:b OPTIONAL { ?o ?q ?r } }",
                Some("ASK { ?s ?p _:b . _:b <x:y> ?o }"),
            ),
            // Nothing is left out.
            ("SELECT * { ?s | ?o . ?o a ?c }", None),
            ("SELECT * { GRAPH | { ?s ?p ?o } }", None),
        ] {
            assert_eq!(near(text).as_deref(), expected, "{text}");
        }
    }
}
