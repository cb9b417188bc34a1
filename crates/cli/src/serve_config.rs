//! Where the options of `lode serve` come from: the command line, else the environment, else the file of `--config`, else what they are
//! unless told otherwise.

use crate::args::{Cli, examples};
use crate::config_file::{self, ConfigFile};
use crate::exit::wrong_usage;
use crate::slips;
use anyhow::anyhow;
use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use lode_engine::SchemaRules;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;

/// The arguments whose values nobody shows.
pub const SECRETS: [&str; 1] = ["admin-token"];
/// The command with these options, and where else they are.
const SERVE: &str = "serve";
const CONFIG: (&str, &str) = ("config", "show");

/// What an option is, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub name: String,
    pub values: Vec<String>,
    pub source: String,
    pub is_repeatable: bool,
}

/// The settings of the command line that was read last: `lode config show` shows them, and a server that reads them again compares.
static SETTINGS: Mutex<Vec<Setting>> = Mutex::new(Vec::new());

/// The settings that were read last.
pub fn settings() -> Vec<Setting> {
    SETTINGS.lock().map(|settings| settings.clone()).unwrap_or_default()
}

/// The command line, in which `lode serve` knows the environment, and flags may be switched off.
pub fn command() -> Command {
    let serve = |command: Command| command.mut_args(of_environment);
    examples::command()
        .mut_subcommand(SERVE, serve)
        .mut_subcommand(CONFIG.0, |config| config.mut_subcommand(CONFIG.1, serve))
}

/// The options of `lode serve`.
pub fn serve_command() -> Command {
    let command = command();
    command.find_subcommand(SERVE).cloned().unwrap_or_default()
}

fn of_environment(arg: Arg) -> Arg {
    let name = config_file::name(&arg).to_owned();
    if name == "help" {
        return arg;
    }
    let arg = if matches!(arg.get_action(), ArgAction::SetTrue) {
        let parser = BoolishValueParser::new();
        let arg = arg.action(ArgAction::Set).num_args(0..=1).require_equals(true).value_parser(parser);
        arg.default_value("false")
            .default_missing_value("true")
            .hide_default_value(true)
            .hide_possible_values(true)
    } else {
        arg
    };
    if name == "check-config" {
        return arg;
    }
    arg.env(format!("{PREFIX}{}", name.replace('-', "_").to_uppercase())).hide_env(true)
}

/// Variables of the environment that are options of the program with workers, where this is the one without.
pub fn of_workers() -> Vec<String> {
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    set.filter(|name| {
        let own = name.strip_prefix(PREFIX).map(|own| own.replace('_', "-").to_lowercase());
        own.is_some_and(|own| config_file::is_of_workers(&own))
    })
    .collect()
}

/// Variables of the environment that are none of `lode serve` but look like one: each with the one that is likely meant.
pub fn misspelt() -> Vec<(String, String)> {
    let command = serve_command();
    let known: Vec<String> = command
        .get_arguments()
        .filter_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned()))
        .chain(["LODE_TOKEN", "LODE_PASSWORD"].map(str::to_owned))
        .collect();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    set.filter_map(|name| Some((nearest(&name, &known)?, name))).map(|(meant, name)| (name, meant)).collect()
}

/// The one of `known` that is likely meant by a name that is none of them.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let own = name.strip_prefix(PREFIX).filter(|_| !known.iter().any(|known| known == name))?;
    let alike = |known: &String| strsim::jaro_winkler(known.strip_prefix(PREFIX).unwrap_or(known), own);
    let nearest = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(nearest) >= ALIKE).then(|| nearest.clone())
}

/// What the variables begin with.
const PREFIX: &str = "LODE_";
/// Names that are as alike as this are likely meant: others may be of other programs.
const ALIKE: f64 = 0.88;

/// Reads the command line; ends the process where only help was asked for, or it is wrong.
pub fn parse(args: &[OsString]) -> anyhow::Result<Cli> {
    match read(args)? {
        Ok(cli) => Ok(cli),
        Err(error) if lacks_rules(&error) => {
            // clap says of a value that is missing no more than that.
            let there_are = SchemaRules::from_str("").err().unwrap_or_default();
            Err(wrong_usage(format!("--reason: {there_are}")))
        }
        Err(error) if names_a_port(&error) => Err(wrong_usage(
            "the option is --bind: it takes a port of 127.0.0.1 alone, or an address and a port (--bind 0.0.0.0:8080)",
        )),
        #[cfg(not(feature = "cluster"))]
        Err(error) if names_workers(&error) => Err(wrong_usage(config_file::WITHOUT_WORKERS)),
        Err(error) => match slips::meant(&error, args) {
            Some(meant) => Err(wrong_usage(meant)),
            None => error.exit(),
        },
    }
}

/// Whether workers are asked for, which another build has.
#[cfg(not(feature = "cluster"))]
fn names_workers(error: &clap::Error) -> bool {
    let is = |kind, fits: &dyn Fn(&str) -> bool| matches!(error.get(kind), Some(ContextValue::String(text)) if fits(text));
    match error.kind() {
        ErrorKind::UnknownArgument => {
            is(ContextKind::InvalidArg, &|arg| arg.strip_prefix("--").is_some_and(config_file::is_of_workers))
        }
        ErrorKind::InvalidSubcommand => is(ContextKind::InvalidSubcommand, &|name| name == "worker"),
        _ => false,
    }
}

/// Whether `--port` is asked for, as other servers have it.
fn names_a_port(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::UnknownArgument
        && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(arg)) if matches!(arg.as_str(), "--port" | "-p" | "--listen" | "--host"))
}

/// Whether `--reason` has no value.
fn lacks_rules(error: &clap::Error) -> bool {
    let is = |kind, fits: &dyn Fn(&str) -> bool| matches!(error.get(kind), Some(ContextValue::String(text)) if fits(text));
    error.kind() == ErrorKind::InvalidValue
        && is(ContextKind::InvalidArg, &|arg| arg.starts_with("--reason "))
        && is(ContextKind::InvalidValue, &str::is_empty)
}

/// Reads it anew, with the file as it is now.
///
/// # Errors
/// Where anything of it is wrong.
pub fn parse_again() -> anyhow::Result<Cli> {
    read(&std::env::args_os().collect::<Vec<_>>())?
        .map_err(|error| anyhow!("{}", error.to_string().trim_end()))
}

fn read(args: &[OsString]) -> anyhow::Result<Result<Cli, clap::Error>> {
    // What is in the file is known only then.
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return Ok(Err(error)),
    };
    let Some(of_serve) = of_serve(&matches) else { return Ok(Cli::from_arg_matches(&matches)) };
    let file = match of_serve.get_one::<PathBuf>("config") {
        Some(path) => {
            let mut file = ConfigFile::read(path, &serve_command()).map_err(wrong_usage)?;
            // One of them goes before the other, too.
            if PLACES.iter().any(|place| of_serve.contains_id(place)) {
                file.entries.retain(|name, _| !PLACES.contains(&name.as_str()));
            }
            Some(file)
        }
        None => None,
    };
    let command = for_serve(command(), |serve| match &file {
        Some(file) => file.put_into(serve),
        None => serve,
    });
    Ok(command.try_get_matches_from(args).and_then(|matches| {
        if let (Some(of_serve), Ok(mut settings)) = (self::of_serve(&matches), SETTINGS.lock()) {
            *settings = settings_of(of_serve, file.as_ref());
        }
        let cli = Cli::from_arg_matches(&matches)?;
        Ok(cli)
    }))
}

/// What is served: one of these.
const PLACES: [&str; 2] = ["database", "databases"];

fn for_serve(command: Command, change: impl Fn(Command) -> Command) -> Command {
    command
        .mut_subcommand(SERVE, &change)
        .mut_subcommand(CONFIG.0, |config| config.mut_subcommand(CONFIG.1, &change))
}

fn of_serve(matches: &ArgMatches) -> Option<&ArgMatches> {
    match matches.subcommand()? {
        (SERVE, of_serve) => Some(of_serve),
        (name, config) if name == CONFIG.0 => config.subcommand_matches(CONFIG.1),
        _ => None,
    }
}

fn settings_of(matches: &ArgMatches, file: Option<&ConfigFile>) -> Vec<Setting> {
    let command = serve_command();
    let known = command.get_arguments().filter(|arg| config_file::is_settable(arg));
    let setting = |arg: &Arg| {
        let (id, name) = (arg.get_id().as_str(), config_file::name(arg).to_owned());
        let source = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => "command line".to_owned(),
            Some(ValueSource::EnvVariable) => {
                format!("environment, {}", arg.get_env().unwrap_or_default().to_string_lossy())
            }
            _ => file.and_then(|file| file.entries.get(&name).map(|entry| (file, entry))).map_or_else(
                || "default".to_owned(),
                |(file, entry)| format!("{}:{}", file.path.display(), entry.place.line),
            ),
        };
        let raw = matches.get_raw(id).into_iter().flatten();
        let values = raw.map(|value| value.to_string_lossy().into_owned()).collect();
        Setting { name, values, source, is_repeatable: config_file::is_repeatable(arg) }
    };
    known.map(setting).collect()
}

/// The options whose values are not the same any more.
pub fn changed(before: &[Setting], now: &[Setting]) -> Vec<String> {
    let before: BTreeMap<&str, &[String]> =
        before.iter().map(|setting| (setting.name.as_str(), setting.values.as_slice())).collect();
    let is_other = |setting: &&Setting| before.get(setting.name.as_str()) != Some(&setting.values.as_slice());
    now.iter().filter(is_other).map(|setting| setting.name.clone()).collect()
}

#[cfg(test)]
mod tests;
