//! Examples of each command, at the top of what its `--help` says after the options: in one place, so that they are of one style, and all are tried by a
//! test.

use super::Cli;
use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

/// What the paragraph begins with.
pub const HEADING: &str = "Examples:\n";

/// Commands, by their names from the first on, and examples of each.
const EXAMPLES: &[(&[&str], &[&str])] = &[
    (
        &["load"],
        &[
            "lode load my.db people.ttl more.nq.gz dump/",
            "lode load my.db people.ttl --graph http://example.org/people",
            "lode load my.db dirty.nt --quarantine wrong.txt",
            "lode load --dry-run people.ttl",
        ],
    ),
    (
        &["load-worker"],
        &["lode load-worker /shared/my.db.load --tasks 4", "lode load-worker file:///shared/published"],
    ),
    (
        &["query"],
        &[
            "lode query my.db 'SELECT * { ?s ?p ?o } LIMIT 10'",
            "lode query my.db -f query.rq --format csv",
            "lode query http://127.0.0.1:7878 'ASK { ?s a ?class }'",
            "lode query my.db -f query.rq --explain",
        ],
    ),
    (&["shell"], &["lode shell my.db", "lode shell http://127.0.0.1:7878"]),
    (
        &["update"],
        &[
            "lode update my.db 'DELETE WHERE { ?s <http://example.org/old> ?o }'",
            "lode update my.db -f changes.ru",
        ],
    ),
    (&["validate"], &["lode validate my.db shapes.ttl"]),
    (
        &["dump"],
        &["lode dump my.db --format nq", "lode dump my.db --graph http://example.org/people --format ttl"],
    ),
    (&["stats"], &["lode stats my.db", "lode stats http://127.0.0.1:7878"]),
    (&["check"], &["lode check my.db", "lode check file:///srv/published"]),
    (&["io-probe"], &["lode io-probe my.db", "lode io-probe /disk1 --dry-run --json"]),
    (&["warm"], &["lode warm my.db", "lode warm my.db --orders psog,posg,terms"]),
    (&["stripe"], &["lode stripe my.db /disk1/lode /disk2/lode", "lode stripe my.db"]),
    (&["compact"], &["lode compact my.db"]),
    (&["materialise"], &["lode materialise my.db --rules rdfs", "lode materialise my.db --drop"]),
    (
        &["text"],
        &["lode text my.db", "lode text my.db --predicates http://www.w3.org/2000/01/rdf-schema#label"],
    ),
    (&["geo"], &["lode geo my.db"]),
    (&["why"], &["lode why my.db ':tom a :Cat'", "lode why my.db false"]),
    (&["backup"], &["lode backup my.db /backups/my"]),
    (&["restore"], &["lode restore /backups/my new.db"]),
    (&["publish"], &["lode publish my.db file:///srv/published"]),
    (
        &["snapshot", "create"],
        &["lode snapshot create my.db before", "lode query my.db --at before 'ASK { ?s ?p ?o }'"],
    ),
    (&["serve"], &["lode serve my.db", "lode serve my.db --bind 0.0.0.0:8080"]),
    (&["status"], &["lode status", "lode status --wait 10 http://127.0.0.1:7878"]),
    (&["top"], &["lode top", "lode top http://127.0.0.1:7878 --interval 5", "lode top --once --json"]),
    (&["cancel"], &["lode cancel 17"]),
    (&["config"], &["lode config example", "lode config show --config lode.toml"]),
    (&["lsp"], &["lode lsp my.db", "lode lsp http://127.0.0.1:7878"]),
    (&["user", "add"], &["lode user add my.db ann --role admin"]),
    (&["group"], &["lode group grant my.db curators --role update", "lode group list my.db"]),
    (&["group", "grant"], &["lode group grant my.db curators --role update"]),
    (&["token"], &["lode token add my.db harvester --role read", "lode token list my.db"]),
    (&["token", "add"], &["lode token add my.db harvester --role read --expires 30d"]),
    (&["demo"], &["lode demo", "lode demo --once --database demo.db"]),
];

/// The command line, with the examples.
pub fn command() -> Command {
    EXAMPLES.iter().fold(Cli::command(), |command, (path, examples)| add(command, path, examples))
}

/// Adds them to the command of this name; nothing where this build has not that.
fn add(command: Command, path: &[&str], examples: &[&str]) -> Command {
    let Some((name, below)) = path.split_first() else {
        let lines: Vec<String> = examples.iter().map(|example| format!("  {example}")).collect();
        let mut text = StyledStr::from(format!("{HEADING}{}", lines.join("\n")));
        if let Some(more) = command.get_after_help() {
            text = format!("{text}\n\n{more}").into();
        }
        return command.after_help(text);
    };
    if command.find_subcommand(name).is_none() {
        return command;
    }
    command.mut_subcommand(*name, |command| add(command, below, examples))
}

#[cfg(test)]
mod tests {
    //! Each is a command line that this program takes, and has room in a narrow window.
    use super::*;

    /// As a shell does, as far as examples need it.
    fn words(line: &str) -> Vec<String> {
        let pieces = line.split('\'').enumerate();
        let quoted_or_not = |(number, piece): (usize, &str)| match number % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        };
        pieces.flat_map(quoted_or_not).collect()
    }

    #[test]
    fn examples_are_taken_and_are_short() {
        for (path, examples) in EXAMPLES {
            for example in *examples {
                assert!(example.len() <= 78, "{example}");
                let name = example.split_whitespace().nth(1);
                if command().find_subcommand(name.unwrap()).is_some() {
                    let found = command().try_get_matches_from(words(example));
                    assert!(found.is_ok(), "{example}: {}", found.unwrap_err());
                }
            }
            assert!(examples.iter().any(|example| example.contains(&path.join(" "))), "{path:?}");
        }
    }

    #[test]
    fn what_was_said_before_follows() {
        let command = command();
        let said = command.find_subcommand("load").unwrap().get_after_help().unwrap().to_string();
        assert!(
            said.starts_with("Examples:\n  lode load ") && said.contains("\n\nSyntax by --format"),
            "{said}"
        );
    }
}
