//! The commands of the shell, which begin with a dot.

use super::describe::{describe, term};
use super::names::COMMANDS;
use super::session::{Next, Session};
use super::statement::without_semicolon;
use super::target::Target;
use super::words::{one_name, words};
use crate::args::{Cli, Command};
use crate::exit::{unknown_format, wrong_usage};
use crate::interrupt::Interruptible;
use crate::load;
use crate::query::format_named;
use crate::remote;
use crate::talk::say;
use anyhow::Context;
use clap::Parser as _;
use lode_assist::{Form, Prefix, form_of};
use lode_engine::{CancelToken, OutputFormat, SchemaRules};
use lode_rdf::{Literal, NamedNode, RdfFormat};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is said below the commands.
const HELP: &str = "
Enter runs a query or an update that is whole; one that is not goes on in the next line.
; at the end of a line runs what is whole without it; two empty lines run what there is.
Alt-Enter makes a new line. Tab completes. Ctrl-C cancels what runs, or what is typed.
Prefixes that are usual or kept need not be declared; those that a query declares are kept.";

const GRAPHS: &str = "SELECT ?graph (COUNT(*) AS ?quads) { GRAPH ?graph { ?s ?p ?o } } GROUP BY ?graph ORDER BY DESC(?quads) ?graph";
const CLASSES: &str =
    "SELECT ?class (COUNT(*) AS ?things) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?things) ?class";

/// Runs a command.
pub fn run(session: &mut Session<'_>, line: &str) -> anyhow::Result<Next> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let statement = without_semicolon(rest).unwrap_or(rest);
    match name {
        ".quit" | ".exit" | "quit" | "exit" => return Ok(Next::Quit),
        ".help" | "help" => help(session)?,
        ".graphs" => drop(session.query(GRAPHS)?),
        ".classes" | ".tables" => drop(session.query(CLASSES)?),
        ".predicates" => predicates(session, rest)?,
        ".describe" => describe(session, rest)?,
        ".search" => search(session, rest)?,
        ".prefix" => prefix(session, rest)?,
        ".mode" => mode(session, rest)?,
        ".timer" => session.timer = switch(name, rest, session.timer)?,
        ".reason" => reason(session, rest)?,
        ".explain" if matches!(rest, "" | "on" | "off") => {
            session.explains = switch(name, rest, session.explains)?;
        }
        ".explain" if form_of(statement) == Form::Query => session.explain(statement)?,
        ".explain" => return Err(wrong_usage("updates have no plan that could be shown")),
        ".output" => output(session, rest)?,
        ".load" => load_files(session, rest)?,
        ".read" if rest.is_empty() => return Err(wrong_usage(".read takes the name of a file")),
        ".read" => return Ok(Next::Read(PathBuf::from(one_name(rest)?))),
        _ => return Err(wrong_usage(unknown(name))),
    }
    Ok(Next::GoOn)
}

fn unknown(name: &str) -> String {
    let alike = |other: &str| strsim::jaro_winkler(other, name);
    let nearest = COMMANDS.iter().map(|(name, ..)| *name).max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match nearest.filter(|nearest| alike(nearest) > 0.85) {
        Some(nearest) => format!("there is no command {name}; did you mean {nearest}?"),
        None => format!("there is no command {name}; .help shows them"),
    }
}

fn help(session: &mut Session<'_>) -> anyhow::Result<()> {
    session.write(|_, out| {
        for (name, takes, does) in COMMANDS {
            writeln!(out, "{:<32} {does}", format!("{name} {takes}"))?;
        }
        Ok(writeln!(out, "{HELP}")?)
    })
}

/// Something that was switched on or off; asked without a word, it is told.
fn switch(name: &str, word: &str, is_on: bool) -> anyhow::Result<bool> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        "" => {
            say!("{name} is {}", if is_on { "on" } else { "off" });
            Ok(is_on)
        }
        _ => Err(wrong_usage(format!("{name} takes on or off"))),
    }
}

/// What queries find beside what was stated; asked without a word, it is told.
fn reason(session: &mut Session<'_>, word: &str) -> anyhow::Result<()> {
    match word {
        "" => match (session.evaluation.reason, &session.target) {
            (Some(rules), _) if !rules.is_empty() => say!("queries reason by {rules}"),
            (None, Target::Server(_)) => {
                say!("the server says whether queries reason; .reason RULES or .reason off does")
            }
            _ => say!(
                "queries find what was stated; .reason hierarchies, rdfs or rdfs-plus finds what follows, too"
            ),
        },
        "off" => session.evaluation.reason = Some(SchemaRules::default()),
        rules => session.evaluation.reason = Some(rules.parse().map_err(|error: String| wrong_usage(error))?),
    }
    Ok(())
}

fn predicates(session: &mut Session<'_>, class: &str) -> anyhow::Result<()> {
    let of_class = match class {
        "" => String::new(),
        class => {
            let class =
                term(class).ok_or_else(|| wrong_usage(".predicates takes an IRI or a name with a prefix"))?;
            format!("?s a {class} . ")
        }
    };
    let query = format!(
        "SELECT ?predicate (COUNT(*) AS ?uses) {{ {of_class}?s ?predicate ?o }} GROUP BY ?predicate ORDER BY DESC(?uses) ?predicate"
    );
    session.query(&query).map(drop)
}

/// Things that a search shows.
const FOUND_MAX: usize = 20;

fn search(session: &mut Session<'_>, words: &str) -> anyhow::Result<()> {
    if words.is_empty() {
        return Err(wrong_usage(".search takes words: .search old sea, .search \"old man\" sea*"));
    }
    let words = Literal::new_simple_literal(words);
    let query = format!(
        "SELECT ?thing ?property ?text {{ (?thing ?score ?text _:graph ?property) <urn:lodestore:text:query> ({words} {FOUND_MAX} \"highlight:s:[|e:]\") }} ORDER BY DESC(?score) ?thing ?property"
    );
    session.query(&query).map(drop)
}

fn prefix(session: &mut Session<'_>, rest: &str) -> anyhow::Result<()> {
    if rest.is_empty() {
        let all = session.prefixes.known();
        return session.write(|_, out| {
            for Prefix { name, iri } in &all {
                writeln!(out, "PREFIX {name}: <{iri}>")?;
            }
            Ok(())
        });
    }
    if let Some(name) = rest.strip_prefix('-') {
        if !session.prefixes.remove(name.trim_end_matches(':'))? {
            say!("no prefix {name} is kept");
        }
        return Ok(());
    }
    let usage =
        || wrong_usage(".prefix takes a name and what it stands for: .prefix ex: http://example.org/");
    let (name, iri) = rest.split_once(char::is_whitespace).ok_or_else(usage)?;
    let (name, iri) =
        (name.trim_end_matches(':').to_owned(), iri.trim().trim_start_matches('<').trim_end_matches('>'));
    let declared = lode_assist::declared_prefixes(&format!("PREFIX {name}: <{iri}> ASK {{}}"));
    let kept = declared.into_iter().next().filter(|kept| kept.name == name && kept.iri == iri);
    session.prefixes.add(kept.filter(|kept| NamedNode::new(&kept.iri).is_ok()).ok_or_else(usage)?)
}

fn mode(session: &mut Session<'_>, name: &str) -> anyhow::Result<()> {
    match name {
        "" => {
            say!("table, json, xml, csv and tsv are for rows; ttl, trig, nt, nq, rdf and jsonld for graphs")
        }
        // Graphs are Turtle then.
        "table" => session.format = None,
        name => session.format = Some(format_named(name)?),
    }
    if let Some(OutputFormat::Rdf(_)) = session.format {
        say!("for graphs; rows need .mode table, json, xml, csv or tsv");
    }
    Ok(())
}

fn output(session: &mut Session<'_>, name: &str) -> anyhow::Result<()> {
    session.output = match name {
        "" => None,
        name => {
            let path = PathBuf::from(one_name(name)?);
            let file = File::create(&path).with_context(|| format!("writing {}", path.display()))?;
            Some((path, file))
        }
    };
    Ok(())
}

fn load_files(session: &mut Session<'_>, names: &str) -> anyhow::Result<()> {
    session.may_write()?;
    if names.is_empty() {
        return Err(wrong_usage(".load takes names of files"));
    }
    let files = words(names)?;
    match &mut session.target {
        Target::Folder(folder) => {
            let path = folder.path.clone();
            let before = ["lode", "load"].map(PathBuf::from).into_iter().chain([path, PathBuf::from("--")]);
            let line: Vec<PathBuf> = before.chain(files.iter().map(PathBuf::from)).collect();
            let Command::Load(args) = Cli::try_parse_from(line)?.command else { return Ok(()) };
            load::run(&args)?;
        }
        Target::Server(server) => {
            let cancel = CancelToken::default();
            let _interruptible = session.is_interactive.then(|| Interruptible::new(&cancel));
            for name in &files {
                let coding =
                    [(".gz", "gzip"), (".zst", "zstd")].into_iter().find(|(end, _)| name.ends_with(end));
                let format = RdfFormat::from_file_name(name).ok_or_else(|| unknown_format(name))?;
                let file = File::open(Path::new(name)).with_context(|| format!("reading {name}"))?;
                // Triples without the name of a graph would make a graph of their own.
                let place = if format.supports_datasets() { "" } else { "?default" };
                let start = Instant::now();
                let coding = coding.map(|(_, coding)| coding);
                let response = server.send_file(place, format.media_type(), coding, file, &cancel)?;
                say!("{name}: {}", remote::changed(response, start, &cancel)?.summary);
            }
        }
    }
    session.has_changed();
    session.asks_prefixes = true;
    Ok(())
}
