//! Explanations as texts: a proof as a tree, what it takes below what follows.

use super::report::{Consistency, Explanation, Proof, RuleName, Statement, Step};
use lode_rdf::serialize::Prefixes;
use lode_rdf::{Literal, Term};
use std::collections::HashSet;
use std::io::{self, Write};

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

impl Explanation {
    /// Writes it for people, IRIs with these prefixes.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn write_text(&self, prefixes: &Prefixes, out: &mut dyn Write) -> io::Result<()> {
        match &self.triple {
            Some(_) if !self.holds => self.write_missing(prefixes, out)?,
            None if !self.holds => writeln!(out, "nothing is contradictory{}", self.by_rules())?,
            _ => {}
        }
        for (number, proof) in self.proofs.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            write_proof(proof, prefixes, out)?;
        }
        if self.holds && self.proofs.is_empty() {
            let triple = self.triple.as_ref().map(|triple| statement(triple, prefixes)).unwrap_or_default();
            writeln!(out, "{triple}\n  is there, and no proof of it was found{}", self.why_none())?;
        }
        if self.is_stale {
            writeln!(
                out,
                "the data have changed since rules were applied: lode materialise brings that up to date"
            )?;
        }
        Ok(())
    }

    fn why_none(&self) -> String {
        match (self.is_stale, self.is_complete) {
            (true, _) => ": it may have followed before the data changed".to_owned(),
            (false, false) => {
                format!(" among {} triples: allow more of them, more depth or more time", self.facts)
            }
            (false, true) => self.by_rules(),
        }
    }

    fn by_rules(&self) -> String {
        match self.rules.as_slice() {
            [] => ": there are no rules (lode materialise keeps some, and --reason rdfs reasons at run time)"
                .to_owned(),
            rules => format!(" by {}", rules.join(", ")),
        }
    }

    fn write_missing(&self, prefixes: &Prefixes, out: &mut dyn Write) -> io::Result<()> {
        let triple = self.triple.as_ref().map(|triple| statement(triple, prefixes)).unwrap_or_default();
        match self.asserted.as_slice() {
            [] if !self.proofs.is_empty() => {
                writeln!(out, "{triple}\n  is not there yet, and follows from what is:\n")?;
            }
            [] => writeln!(out, "{triple}\n  is not asserted, and does not follow{}", self.by_rules())?,
            graphs => writeln!(out, "{triple}\n  is not in what is asked, but {}", stated(graphs, prefixes))?,
        }
        for term in &self.unknown {
            writeln!(out, "  {} is nowhere in the data", shortened(term, prefixes))?;
        }
        for nearest in &self.nearest {
            let missing = nearest.missing.iter().map(|word| shortened(word, prefixes)).collect::<Vec<_>>();
            let (missing, rule) = (missing.join(" "), name(&nearest.rule));
            writeln!(out, "  would follow by {rule} if there were: {missing}")?;
        }
        Ok(())
    }
}

impl Consistency {
    /// Writes it for people, IRIs with these prefixes.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn write_text(&self, prefixes: &Prefixes, out: &mut dyn Write) -> io::Result<()> {
        for contradiction in &self.contradictions {
            writeln!(out, "contradiction by {}", name(&contradiction.rule))?;
            for triple in &contradiction.triples {
                writeln!(out, "  {}", statement(triple, prefixes))?;
            }
        }
        Ok(())
    }
}

/// A step that is to be written, and what stands before it.
struct Line {
    step: usize,
    /// What stands before the lines below it,
    below: String,
    /// and before it.
    before: String,
}

fn write_proof(proof: &Proof, prefixes: &Prefixes, out: &mut dyn Write) -> io::Result<()> {
    let (mut written, mut open) = (HashSet::new(), Vec::new());
    open.push(Line { step: 0, below: String::new(), before: String::new() });
    while let Some(Line { step: at, below, before }) = open.pop() {
        let Some(step) = proof.steps.get(at) else { continue };
        let what =
            step.triple.as_ref().map_or("contradiction".to_owned(), |triple| statement(triple, prefixes));
        let is_new = written.insert(at);
        let how = match &step.rule {
            Some(_) if !is_new => "as above".to_owned(),
            Some(rule) => format!("by {}", name(rule)),
            None => stated(&step.asserted, prefixes),
        };
        writeln!(out, "{before}{what}   {how}")?;
        if is_new {
            write_below(step, &below, prefixes, out, &mut open)?;
        }
    }
    Ok(())
}

fn write_below(
    step: &Step,
    below: &str,
    prefixes: &Prefixes,
    out: &mut dyn Write,
    open: &mut Vec<Line>,
) -> io::Result<()> {
    for condition in &step.conditions {
        let bar = if step.premises.is_empty() { " " } else { "│" };
        writeln!(out, "{below}{bar}  where {}", in_text(condition, prefixes))?;
    }
    let last = step.premises.len().saturating_sub(1);
    let lines = step.premises.iter().enumerate().map(|(number, premise)| {
        let (branch, bar) = if number == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        Line { step: *premise, before: format!("{below}{branch}"), below: format!("{below}{bar}") }
    });
    let mut lines: Vec<_> = lines.collect();
    lines.reverse();
    open.append(&mut lines);
    Ok(())
}

fn name(rule: &RuleName) -> String {
    format!("{} of {}", rule.name, rule.source)
}

/// Where it is stated.
fn stated(graphs: &[String], prefixes: &Prefixes) -> String {
    let names = graphs.iter().map(|graph| match graph.as_str() {
        "default" => "the default graph".to_owned(),
        name if name.starts_with("_:") => name.to_owned(),
        name => iri(name, prefixes),
    });
    match graphs {
        [only] if only == "default" => "asserted".to_owned(),
        _ => format!("asserted in {}", names.collect::<Vec<_>>().join(", ")),
    }
}

fn statement(Statement([subject, predicate, object]): &Statement, prefixes: &Prefixes) -> String {
    let verb = match predicate {
        Term::NamedNode(name) if name.as_str() == TYPE => "a".to_owned(),
        other => term(other, prefixes),
    };
    format!("{} {verb} {}", term(subject, prefixes), term(object, prefixes))
}

fn term(of: &Term, prefixes: &Prefixes) -> String {
    match of {
        Term::NamedNode(name) => iri(name.as_str(), prefixes),
        Term::Literal(literal) if literal.language().is_none() && literal.datatype().as_str() != STRING => {
            let text = Literal::new_simple_literal(literal.value());
            format!("{text}^^{}", iri(literal.datatype().as_str(), prefixes))
        }
        other => other.to_string(),
    }
}

fn iri(name: &str, prefixes: &Prefixes) -> String {
    prefixes.shorten(name).unwrap_or_else(|| format!("<{name}>"))
}

/// A term of a text.
fn shortened(word: &str, prefixes: &Prefixes) -> String {
    match word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
        Some(name) if name == TYPE => "a".to_owned(),
        Some(name) => iri(name, prefixes),
        None => word.to_owned(),
    }
}

/// A text in SPARQL, its IRIs with prefixes. What only looks like an IRI stays as it is.
fn in_text(text: &str, prefixes: &Prefixes) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let end = from.find('>').filter(|end| !from[..*end].contains([' ', '"', '{']));
        let (word, after) = from.split_at(end.map_or(1, |end| end + 1));
        out.push_str(&shortened(word, prefixes));
        rest = after;
    }
    out + rest
}
