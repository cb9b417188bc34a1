//! The configuration file: TOML whose keys are the options of `lode serve`, each with its place, so that errors can tell it.

use clap::{Arg, ArgAction, Command};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Longer files are none of ours.
const BYTES_MAX: u64 = 1 << 20;
/// Names that are as alike as this are likely meant.
const ALIKE: f64 = 0.7;
/// Options that no file may set.
const NOT_HERE: [&str; 3] = ["config", "check-config", "help"];

/// What the program says that most people have where it is asked for workers.
pub const WITHOUT_WORKERS: &str = "this program was built without workers: cargo build --release --manifest-path cluster/Cargo.toml makes lode with \
    lode worker and --workers (the guide's page \"When one machine is not enough\")";

/// Whether an option is one of those that only the program with workers has: of them it is said which program that is.
pub fn is_of_workers(name: &str) -> bool {
    !cfg!(feature = "cluster") && (name == "workers" || name.starts_with("workers-"))
}

/// Where something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// A key and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub place: Place,
    /// As they would stand on the command line.
    pub values: Vec<String>,
}

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    /// By the name of the option.
    pub entries: BTreeMap<String, Entry>,
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read, is no TOML, or has keys or values that `command` has not; with line and column.
    pub fn read(path: &Path, command: &Command) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let length = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
        if length > BYTES_MAX {
            return Err(failed(&"too long for a configuration file"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        Self::parse(path, &text, command)
    }

    /// Reads a text.
    pub fn parse(path: &Path, text: &str, command: &Command) -> Result<Self, String> {
        let at = |place: Place, message: &str| {
            format!("{}:{}:{}: {message}", path.display(), place.line, place.column)
        };
        let table = DeTable::parse(text)
            .map_err(|error| at(place(text, error.span().unwrap_or_default()), error.message()))?;
        let mut entries = BTreeMap::new();
        for (key, value) in table.get_ref() {
            let of_key = place(text, key.span());
            if let (LIMITS, DeValue::Table(roles)) = (&**key.get_ref(), value.get_ref()) {
                for (role, limits) in roles {
                    let (name, entry) = of_role(command, text, role, limits)
                        .map_err(|(span, message)| at(place(text, span), &message))?;
                    if entries.insert(name, entry).is_some() {
                        return Err(at(place(text, role.span()), "the limits of this role are there twice"));
                    }
                }
                continue;
            }
            let arg = option(command, key.get_ref()).map_err(|message| at(of_key, &message))?;
            let of_value = place(text, value.span());
            let values = values(key.get_ref(), value, arg).map_err(|message| at(of_value, &message))?;
            check(arg, key.get_ref(), &values).map_err(|message| at(of_value, &message))?;
            let entry = Entry { place: of_key, values };
            if entries.insert(key.get_ref().to_string(), entry).is_some() {
                return Err(at(of_key, "the limits of this role are there twice"));
            }
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    /// The command with what the file says as what its options are unless told otherwise.
    pub fn put_into(&self, command: Command) -> Command {
        command.mut_args(|arg| match self.entries.get(name(&arg)) {
            Some(entry) => arg.default_values(entry.values.clone()).required(false),
            None => arg,
        })
    }
}

/// The table of tables that each are one option: its values are `LIMIT=VALUE,...`.
const LIMITS: &str = "limits";

/// Whether an option is a table in files.
pub fn table_of(arg: &Arg) -> Option<&str> {
    name(arg).strip_prefix(LIMITS)?.strip_prefix('-')
}

/// The limits of a role, as the option that has them all.
fn of_role(
    command: &Command,
    text: &str,
    role: &Spanned<DeString<'_>>,
    limits: &Spanned<DeValue<'_>>,
) -> Result<(String, Entry), (Range<usize>, String)> {
    let name = format!("{LIMITS}-{}", role.get_ref());
    let arg = option(command, &name).map_err(|message| (role.span(), message))?;
    let DeValue::Table(table) = limits.get_ref() else {
        let message = format!("{LIMITS}.{}: expected a table of limits", role.get_ref().escape_debug());
        return Err((limits.span(), message));
    };
    let mut all = Vec::new();
    for (key, value) in table {
        let shown = format!("{LIMITS}.{}", role.get_ref());
        let one = single(key.get_ref(), value).map(|value| format!("{}={value}", key.get_ref()));
        let one = one.and_then(|one| check(arg, &shown, std::slice::from_ref(&one)).map(|()| one));
        all.push(one.map_err(|message| (key.span(), message))?);
    }
    Ok((name, Entry { place: place(text, role.span()), values: vec![all.join(",")] }))
}

/// How an argument is called in files.
pub fn name(arg: &Arg) -> &str {
    arg.get_long().unwrap_or_else(|| arg.get_id().as_str())
}

/// Whether a file may set it.
pub fn is_settable(arg: &Arg) -> bool {
    !NOT_HERE.contains(&name(arg))
}

/// Whether it may stand several times.
pub fn is_repeatable(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

fn option<'a>(command: &'a Command, key: &str) -> Result<&'a Arg, String> {
    let settable = || command.get_arguments().filter(|arg| is_settable(arg));
    if let Some(arg) = settable().find(|arg| name(arg) == key) {
        return Ok(arg);
    }
    if is_of_workers(key) {
        return Err(format!("{key}: {WITHOUT_WORKERS}"));
    }
    let alike = settable().map(|arg| (strsim::jaro_winkler(name(arg), &key.replace('_', "-")), name(arg)));
    let nearest = alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|(a, _), (b, _)| a.total_cmp(b));
    let hint = nearest.map(|(_, name)| format!(": {name} is likely meant")).unwrap_or_default();
    Err(format!("unknown key {}{hint} (lode config example writes a file with all keys)", key.escape_debug()))
}

/// The values, as they would stand on the command line.
fn values(key: &str, value: &Spanned<DeValue<'_>>, arg: &Arg) -> Result<Vec<String>, String> {
    if let DeValue::Array(all) = value.get_ref() {
        if !is_repeatable(arg) {
            return Err(format!("{key} has one value, not a list"));
        }
        return all.iter().map(|value| single(key, value)).collect();
    }
    Ok(vec![single(key, value)?])
}

fn single(key: &str, value: &Spanned<DeValue<'_>>) -> Result<String, String> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(value) => Ok(value.to_string()),
        _ => Err(format!("{key}: expected a text, a number, true or false")),
    }
}

/// Whether the option takes these.
fn check(arg: &Arg, key: &str, values: &[String]) -> Result<(), String> {
    let long = arg.get_long().map_or_else(|| arg.clone().long("value"), |_| arg.clone());
    let long = long.required(false).index(None);
    let command = Command::new("lode").no_binary_name(true).arg(long);
    let option = arg.get_long().unwrap_or("value");
    let args = values.iter().map(|value| format!("--{option}={value}"));
    let Err(error) = command.try_get_matches_from(args) else { return Ok(()) };
    // Of several lines the first says what is wrong; those up to an empty one, what there is.
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let reason = line.split_once("': ").map_or(line, |(_, reason)| reason);
    let rest = text.lines().skip(1).take_while(|line| !line.trim().is_empty());
    let hint = |line: &str| match line.trim() {
        values if values.starts_with("[possible") => format!(" {values}"),
        _ => format!("\n{line}"),
    };
    let hints: String = rest.map(hint).collect();
    let value = values.first().map_or("", String::as_str);
    Err(format!("{key} = {}: {reason}{hints}", value.escape_debug()))
}

/// Line and column of the beginning, both from 1.
fn place(text: &str, span: Range<usize>) -> Place {
    let before = text.get(..span.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}
