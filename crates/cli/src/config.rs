//! `lode config`: a file with all options, and what each is and why.

use crate::args::ConfigCommand;
use crate::config_file::{self, is_repeatable, is_settable, table_of};
use crate::exit::Done;
use crate::serve_config::{SECRETS, serve_command, settings};
use clap::{Arg, Command};
use std::fmt::Write as _;
use std::io::Write as _;

/// Lines of comments are no longer than this.
const WIDTH: usize = 110;
const HEAD: &str = "\
# Options of `lode serve --config FILE`, each with what it is unless told otherwise. The command line goes before the environment
# (LODE_SOME_NAME for some-name), and that before this file. `lode serve --config FILE --check-config` looks whether all is right,
# `lode config show --config FILE` shows what comes out. `kill -HUP` has a server read its file again.
";
/// Limits of a role, to be chosen from.
const LIMITS: &str = "\
# time = 10
# memory = \"256MiB\"
# rows = 100000
# bytes = \"100MiB\"
# requests = 4
# requests-a-minute = 120
# query-bytes = \"16KiB\"
# reads = \"100M\"
";

pub fn run(command: &ConfigCommand) -> anyhow::Result<Done> {
    let text = match command {
        ConfigCommand::Example => example(&serve_command()),
        ConfigCommand::Show(_) => shown(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Done::Ok)
}

/// All options; those without a value that is always the same are commented out.
fn example(command: &Command) -> String {
    let mut text = HEAD.to_owned();
    let all = || command.get_arguments().filter(|arg| is_settable(arg));
    // What follows a table in TOML is of that table.
    let tables = all().filter(|arg| table_of(arg).is_some());
    for arg in all().filter(|arg| table_of(arg).is_none()).chain(tables) {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        text.push('\n');
        wrapped(&help, &mut text);
        if let Some(role) = table_of(arg) {
            let _ = writeln!(text, "# [limits.{role}]");
            text.push_str(if role == "anonymous" { LIMITS } else { "# ...\n" });
            continue;
        }
        let name = config_file::name(arg);
        let defaults: Vec<String> =
            arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        let _ = match defaults.first() {
            Some(default) => writeln!(text, "{name} = {}", written(default)),
            None if is_repeatable(arg) => writeln!(text, "# {name} = [\"{}\"]", value_name(arg)),
            None => writeln!(text, "# {name} = \"{}\"", value_name(arg)),
        };
    }
    text
}

fn value_name(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| "VALUE".to_owned(), ToString::to_string)
}

fn wrapped(help: &str, text: &mut String) {
    let mut line = "#".to_owned();
    for word in help.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

/// A value as TOML has it: JSON's strings are also TOML's.
fn written(value: &str) -> String {
    let is_bare = ["true", "false"].contains(&value) || value.parse::<u64>().is_ok();
    if is_bare { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

/// What `lode serve` would have, in the form of a file.
fn shown() -> String {
    let mut text = String::new();
    for setting in settings() {
        let name = &setting.name;
        let is_secret = SECRETS.contains(&name.as_str());
        let values: Vec<String> = setting
            .values
            .iter()
            .map(|value| if is_secret { "\"(hidden)\"".to_owned() } else { written(value) })
            .collect();
        let _ = match &values[..] {
            [] => writeln!(text, "# {name} is not set"),
            [value] if !setting.is_repeatable => writeln!(text, "{name} = {value}  # {}", setting.source),
            values => writeln!(text, "{name} = [{}]  # {}", values.join(", "), setting.source),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    //! The file that is in the documentation.
    use super::example;
    use crate::config_file::{ConfigFile, is_settable, name, table_of};
    use crate::serve_config::serve_command;
    use std::path::Path;

    const FILE: &str = "docs/operations/lode.toml";

    fn read() -> String {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE)).unwrap()
    }

    #[test]
    fn the_documented_file_is_that_of_the_command() {
        assert_eq!(read(), example(&serve_command()), "lode config example > {FILE}");
    }

    #[test]
    fn the_documented_file_says_what_is_so_without_it() {
        let (text, command) = (read(), serve_command());
        let file = ConfigFile::parse(Path::new(FILE), &text, &command).unwrap();
        for arg in command.get_arguments().filter(|arg| is_settable(arg)) {
            let defaults: Vec<String> =
                arg.get_default_values().iter().map(|value| value.to_str().unwrap().to_owned()).collect();
            let said = file.entries.get(name(arg)).map(|entry| entry.values.clone()).unwrap_or_default();
            assert_eq!(said, defaults, "{}", name(arg));
            let stands = table_of(arg)
                .map_or_else(|| format!("{} = ", name(arg)), |role| format!("# [limits.{role}]"));
            assert!(text.contains(&stands), "{}", name(arg));
        }
    }

    #[test]
    fn the_documented_limits_are_some() {
        let text = format!("[limits.anonymous]\n{}", super::LIMITS.replace("# ", ""));
        let file = ConfigFile::parse(Path::new(FILE), &text, &serve_command()).unwrap();
        let values = &file.entries["limits-anonymous"].values;
        assert_eq!((values.len(), values[0].split(',').count()), (1, 8), "{values:?}");
    }
}
