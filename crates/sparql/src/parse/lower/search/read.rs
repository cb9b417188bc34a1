//! What a search says, read from the tree.

use super::super::wanted::{Given, Highlight, Subjects, Wanted};
use super::super::{Lowering, Result, Wrong};
use crate::text_search::{self, Property, SearchOption};
use lode_rdf::NamedNode;
use lode_syntax::{At, Node};
use lode_text::{Dialect, QueryError};
use spargebra::term::TermPattern;

/// What `text:query` takes.
const TAKES: &str = "it takes (property... \"query\" limit \"lang:en\" \"highlight:s:<b>|e:</b>\"), all but the query as you like";
/// What stands before it.
const GIVES: &str =
    "before it stands one term, or (?subject ?score ?text ?graph ?property), or the first of these";

impl<'t> Lowering<'t> {
    /// What a property means that is of search; none where search is not understood, as in templates and in what is sent to others.
    pub(in crate::parse::lower) fn search_property(&self, iri: &NamedNode) -> Option<Property> {
        (self.block.is_some() && !self.in_service).then(|| Property::of(iri.as_str())).flatten()
    }

    /// The terms before a search.
    pub(in crate::parse::lower) fn search_subjects(&mut self, at: At<'t>) -> Result<Vec<TermPattern>> {
        let mut terms = Vec::new();
        for part in at.children() {
            let is_term = matches!(part.node(), Node::Variable | Node::Blank | Node::BlankProperties);
            let is_named = terms.is_empty() && matches!(part.node(), Node::Iri | Node::Name);
            if terms.len() == 5 || !(is_term || is_named) || part.first().is_some() {
                return Err(Wrong::at(part, "this does not stand in the list before text:query").help(GIVES));
            }
            terms.push(self.term(part)?);
        }
        Ok(terms)
    }

    /// What is said behind a property of search.
    pub(in crate::parse::lower) fn search_object(
        &mut self,
        property: Property,
        at: At<'t>,
    ) -> Result<Wanted> {
        Ok(match property {
            Property::Query => Wanted::Subjects(Box::new(self.query_arguments(at)?)),
            Property::Contains => {
                Wanted::Text { query: self.canonical(at, Dialect::Virtuoso)?, is_blazegraph: false }
            }
            Property::ContainsWord => {
                Wanted::Text { query: self.canonical(at, Dialect::AllWords)?, is_blazegraph: false }
            }
            Property::Search => {
                Wanted::Text { query: self.query_text(at, Dialect::Lucene)?, is_blazegraph: true }
            }
            Property::SearchOption(option) => Wanted::Option(option, self.given(option, at)?),
        })
    }

    /// A literal that is a query for words.
    fn query_text(&self, at: At<'t>, dialect: Dialect) -> Result<String> {
        if at.node() != Node::Literal {
            let help = "write the text itself, or FILTER (text:matches(?text, ?query)) with <urn:lodestore:text:matches>";
            return Err(Wrong::at(at, "a query for words is a text between quotes").help(help));
        }
        let query = self.literal(at)?.value().to_owned();
        match lode_text::parse(&query, dialect) {
            Ok(_) => Ok(query),
            Err(error) => Err(wrong_in(at, error)),
        }
    }

    /// The same as Lucene would have it written.
    fn canonical(&self, at: At<'t>, dialect: Dialect) -> Result<String> {
        let query = self.query_text(at, dialect)?;
        lode_text::parse(&query, dialect).map(|query| query.to_string()).map_err(|error| wrong_in(at, error))
    }

    /// Refuses calls of functions of search with a constant that is no query.
    pub(in crate::parse::lower) fn check_query(&self, function: &NamedNode, at: At<'t>) -> Result<()> {
        let is_search =
            [text_search::MATCHES, text_search::SCORE, text_search::SNIPPET].contains(&function.as_str());
        match at.children().nth(2) {
            Some(query) if is_search && query.node() == Node::Literal => {
                self.query_text(query, Dialect::Lucene).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn query_arguments(&mut self, at: At<'t>) -> Result<Subjects> {
        let mut said = Subjects::default();
        if at.node() != Node::Collection {
            said.query = self.query_text(at, Dialect::Lucene)?;
            return Ok(said);
        }
        let mut parts = at.children().peekable();
        while let Some(part) =
            parts.next_if(|part| matches!(part.node(), Node::Iri | Node::Name | Node::Type))
        {
            said.properties.push(self.iri(part)?);
        }
        let query = parts.next().ok_or_else(|| Wrong::at(at, "text:query without a query").help(TAKES))?;
        said.query = self.query_text(query, Dialect::Lucene)?;
        if let Some(limit) = parts.next_if(|part| part.node() == Node::Number) {
            let number = limit.text().parse::<i64>();
            let number = number.map_err(|_| Wrong::at(limit, "a limit is a whole number").help(TAKES))?;
            // Jena: a negative one is none.
            said.limit = usize::try_from(number).ok();
        }
        for part in parts {
            let text = if part.node() == Node::Literal {
                self.literal(part)?.value().to_owned()
            } else {
                String::new()
            };
            if let Some(tag) = text.strip_prefix("lang:") {
                said.language = Some(if tag == "none" { String::new() } else { tag.to_owned() });
            } else if let Some(options) = text.strip_prefix("highlight:") {
                said.highlight = Some(highlight(part, options)?);
            } else {
                return Err(Wrong::at(part, "text:query does not take this here").help(TAKES));
            }
        }
        Ok(said)
    }

    /// The value of something that is said of a search of Blazegraph.
    fn given(&mut self, option: SearchOption, at: At<'t>) -> Result<Given> {
        let is_literal = matches!(at.node(), Node::Literal | Node::Number | Node::Boolean);
        let text = if is_literal { self.literal(at)?.value().to_owned() } else { String::new() };
        match option {
            SearchOption::MatchAllTerms | SearchOption::MatchExact => match text.as_str() {
                "true" | "1" => Ok(Given::Switch(true)),
                "false" | "0" => Ok(Given::Switch(false)),
                _ => Err(Wrong::at(at, "this takes \"true\" or \"false\"")),
            },
            SearchOption::MaxRank => {
                let number = text.parse::<usize>();
                Ok(Given::Number(number.map_err(|_| Wrong::at(at, "a rank is a whole number"))?))
            }
            SearchOption::Relevance if at.node() == Node::Variable => Ok(Given::Variable(Self::variable(at))),
            SearchOption::Relevance => Err(Wrong::at(at, "the relevance is given to a variable")),
            SearchOption::Unknown => {
                let help = "search knows bds:search, matchAllTerms, matchExact, maxRank and relevance: use FILTER, ORDER BY and LIMIT for others";
                Err(Wrong::at(at, "this is not known of a search").help(help))
            }
        }
    }
}

/// Jena's options: `s:` before a word, `e:` behind it, `z:` characters; those for several fragments change nothing, since there is one.
fn highlight(at: At<'_>, options: &str) -> Result<Highlight> {
    let mut highlight = Highlight { start: "↦".to_owned(), end: "↤".to_owned(), chars: 128 };
    for option in options.split('|').map(str::trim_start).filter(|option| !option.is_empty()) {
        match option.split_once(':') {
            Some(("s", start)) => start.clone_into(&mut highlight.start),
            Some(("e", end)) => end.clone_into(&mut highlight.end),
            Some(("z", chars)) => {
                let number =
                    chars.trim().parse::<usize>().ok().filter(|chars| (1..=1_000_000).contains(chars));
                highlight.chars =
                    number.ok_or_else(|| Wrong::at(at, format!("`z:{chars}` is no number of characters")))?;
            }
            Some(("m" | "f" | "jh" | "jf", _)) => {}
            _ => {
                let message = format!("`{option}` is no option of highlight");
                return Err(Wrong::at(at, message)
                    .help("s: stands before a word, e: behind it, z: is a number of characters"));
            }
        }
    }
    Ok(highlight)
}

/// What is wrong with a query, at its place in the text around it; at all of it where characters are escaped.
fn wrong_in(at: At<'_>, error: QueryError) -> Box<Wrong> {
    let written = at.token(0);
    let quotes = if written.starts_with("\"\"\"") || written.starts_with("'''") { 3 } else { 1 };
    let start = at.span().start + quotes;
    let is_plain = !written.contains('\\') && written.len() > 2 * quotes;
    let span = if is_plain { start + error.span.start..start + error.span.end } else { at.span() };
    Box::new(Wrong {
        span,
        message: format!("in the query for words: {}", error.message),
        help: error.help.to_owned(),
    })
}
