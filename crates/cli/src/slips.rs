//! Command lines that people try who know other programs, or have left something out: what they most likely mean, where clap can only say that there is
//! no such thing.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// Names of commands elsewhere, and what they are here.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["explain", "plan"], "`lode query DB QUERY --explain` shows the plan of a query"),
    (&["info", "describe"], "`lode stats DB` shows what is in a database"),
    (&["import", "tdbloader", "insert", "add"], "`lode load DB FILES` loads files into a database"),
    (&["export"], "`lode dump DB` writes a database as RDF"),
    (&["select", "ask", "construct", "sparql"], "`lode query DB QUERY` runs a query"),
    (&["delete", "clear", "drop"], "`lode update DB 'DELETE WHERE { ... }'` deletes; a database is a folder"),
    (&["create", "init", "new"], "`lode load DB FILES` makes a database, and so does `lode serve DB`"),
    (&["server", "start", "run"], "`lode serve DB` starts a server"),
    (&["verify", "fsck"], "`lode check DB` verifies a database"),
    (&["reason", "infer"], "`lode materialise DB --rules rdfs` adds what follows by rules"),
];

/// What is most likely meant by a command line that clap refuses; none where that is not known.
pub fn meant(error: &clap::Error, args: &[OsString]) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        // Not those below others, such as `lode user create`.
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name)))
            if args.get(1).is_some_and(|arg| arg == name.as_str()) =>
        {
            let (_, meant) = COMMANDS.iter().find(|(names, _)| names.contains(&name.as_str()))?;
            Some(format!("there is no `lode {name}`: {meant}"))
        }
        (ErrorKind::ValueValidation, _) if args.get(1).is_some_and(|arg| arg == "load") => of_workers(error),
        (ErrorKind::MissingRequiredArgument, _) => {
            // `lode load FILE`.
            let [_, command, file] = args else { return None };
            let is_file = command == "load" && Path::new(file).is_file();
            let file = Path::new(file).display();
            is_file.then(|| {
                format!("{file} is a file, not a database; lode load DB {file} makes a database DB of it")
            })
        }
        _ => None,
    }
}

/// What `lode load --workers` takes, for who gives it anything but a number: `lode query --workers` takes addresses.
fn of_workers(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    text(ContextKind::InvalidArg).filter(|arg| arg.starts_with("--workers "))?;
    let given = text(ContextKind::InvalidValue).filter(|given| given.parse::<i64>().is_err())?;
    Some(format!(
        "--workers of lode load takes how many processes of this machine load, such as --workers 4, and not {given}; other machines take part once it runs: \
         lode load-worker FOLDER|URL there, with the work folder of the load, or the address that it goes to"
    ))
}

/// Asks for the version in the ways of other programs: `lode -v`, `lode version`.
pub fn asks_for_version(args: &[OsString]) -> bool {
    matches!(args, [_, one] if one == "-v" || one == "version")
}

#[cfg(test)]
mod tests {
    //! What is said, and that nothing is said of what is there.
    use super::*;
    use crate::args::examples;

    #[test]
    fn names_of_other_programs_are_known_and_are_not_ours() {
        let said = |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            meant(&examples::command().try_get_matches_from(&args).unwrap_err(), &args)
        };
        for (names, meant) in COMMANDS {
            for name in *names {
                assert!(examples::command().find_subcommand(name).is_none(), "{name}");
                assert_eq!(said(&["lode", name, "x"]), Some(format!("there is no `lode {name}`: {meant}")));
            }
        }
        assert_eq!(said(&["lode", "nonsense"]), None);
        assert_eq!(said(&["lode", "user", "create", "x"]), None);
        assert_eq!(said(&["lode", "load", "/nonexistent"]), None);
        let found = said(&["lode", "load", "db", "a.nt", "--workers", "host:7879,other:7879"]).unwrap();
        assert!(
            found.contains("not host:7879,other:7879;") && found.contains("lode load-worker FOLDER|URL"),
            "{found}"
        );
        for number in ["0", "300", "-1", "99999999999"] {
            assert_eq!(
                said(&["lode", "load", "db", "a.nt", &format!("--workers={number}")]),
                None,
                "{number}"
            );
        }
        assert_eq!(said(&["lode", "load", "db", "a.nt", "--parts", "x", "--workers", "2"]), None);
        let file = std::env::current_exe().unwrap();
        let found = said(&["lode", "load", file.to_str().unwrap()]).unwrap();
        assert!(found.contains("is a file, not a database; lode load DB "), "{found}");
    }
}
