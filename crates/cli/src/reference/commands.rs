//! Commands and their options, as `--help` has them.

use super::{code, plain, table};
use crate::args::examples;
use clap::{Arg, ArgAction, Command};

pub fn page() -> String {
    let mut text = String::from(
        "# Commands\n\nAs `lode COMMAND --help` tells them. Data goes to standard output, everything else to standard error.\n\n",
    );
    let mut all = examples::command();
    all.build();
    text.push_str(&table(
        &["Command", "What it does"],
        leaves(&all).into_iter().map(|(name, command)| {
            let link = format!("[`{name}`](#{})", name.replace(' ', "-"));
            vec![link, about(command)]
        }),
    ));
    text.push_str("## Exit codes\n\n");
    let codes = all.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in codes.lines().filter(|line| line.starts_with("Exit codes:")) {
        text.push_str(&format!("{}\n\n", plain(line.trim_start_matches("Exit codes: "))));
    }
    for (name, command) in leaves(&all) {
        one(&name, command, &mut text);
    }
    text.trim_end().to_owned() + "\n"
}

/// The commands that have none below them, with their names.
fn leaves(command: &Command) -> Vec<(String, &Command)> {
    let below: Vec<&Command> = command
        .get_subcommands()
        .filter(|below| below.get_name() != "help" && !below.is_hide_set())
        .collect();
    if below.is_empty() {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        return vec![(name.to_owned(), command)];
    }
    below.into_iter().flat_map(leaves).collect()
}

fn about(command: &Command) -> String {
    command.get_about().map(|about| plain(&about.to_string())).unwrap_or_default()
}

/// A command, as a section.
pub fn one(name: &str, command: &Command, text: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    text.push_str(&format!("## {name}\n\n{}.\n\n```text\n{usage}\n```\n\n", about(command)));
    text.push_str(&arguments(command));
    let more = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for paragraph in more.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        match paragraph.strip_prefix(examples::HEADING) {
            Some(lines) => {
                let lines: Vec<&str> = lines.lines().map(str::trim).collect();
                text.push_str(&format!("```text\n{}\n```\n\n", lines.join("\n")));
            }
            None => text.push_str(&format!("{}\n\n", plain(paragraph))),
        }
    }
}

/// The arguments of a command, if it has any.
pub fn arguments(command: &Command) -> String {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    if shown.is_empty() {
        return String::new();
    }
    table(&["Argument", "What it is"], shown.iter().map(|arg| vec![code(&written(arg)), meaning(arg)]))
}

/// An argument as it is written.
fn written(arg: &Arg) -> String {
    let values =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>();
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values = if takes { values.join(" ") } else { String::new() };
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => return values,
    };
    let optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    match (values.is_empty(), optional) {
        (true, _) => name,
        (false, true) => format!("{name}[={values}]"),
        (false, false) => format!("{name} {values}"),
    }
}

/// What it is, with what it may be and what it is unless told otherwise.
pub fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = help.map(|help| plain(&help.to_string())).unwrap_or_default();
    let named = arg.get_value_names().unwrap_or_default().iter().any(|name| name.contains('|'));
    let possible: Vec<String> =
        arg.get_possible_values().iter().filter(|_| !named).map(|value| code(value.get_name())).collect();
    if !possible.is_empty() && matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        text.push_str(&format!(": {}", possible.join(", ")));
    }
    let default = default(arg);
    if !default.is_empty() && matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        text.push_str(&format!(" (default: {})", code(&default)));
    }
    text
}

/// What it is unless told otherwise.
pub fn default(arg: &Arg) -> String {
    let values = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    values.collect::<Vec<_>>().join(",")
}
