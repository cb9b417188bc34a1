//! `lode user` and `lode token` on the command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use lode_server::Role;
use std::path::PathBuf;
use std::time::Duration;

/// Where users are.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The database folder, that of several, or a file of users, as lode serve --users has it
    #[arg(value_name = "DB|FILE")]
    pub place: PathBuf,
}

/// `lode user`.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a user; the password is asked for, or is the first line of standard input
    Add(UserAddArgs),
    /// List users and their roles
    List(PlaceArgs),
    /// Give a user a role in another database, or a greater one in all, or say for which graphs it is; anonymous is who does not log in
    Grant(UserAddArgs),
    /// Remove a user: the server lets nobody in by that name from then on; anonymous: what was said of who does not log in
    Remove(NamedArgs),
    /// Change a user's password; it is asked for, or is the first line of standard input
    Passwd(NamedArgs),
}

/// `lode user add`.
#[derive(Debug, Args)]
pub struct UserAddArgs {
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The name: 1 to 64 letters, digits, and - _ . @
    pub name: String,
    /// What the user may do: read (query and download), update (also change data), admin (also all below /admin)
    #[arg(long, value_name = "read|update|admin")]
    pub role: Role,
    /// Only in this database, of a server with several; repeatable
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub database: Vec<String>,
    /// Which graphs.
    #[command(flatten)]
    pub graphs: GraphArgs,
}

/// `lode group`.
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// Give a role or group of the provider (--oidc-roles-claim) a role in all databases, or in one, or say for which graphs it is
    Grant(GroupGrantArgs),
    /// List groups and their roles
    List(PlaceArgs),
    /// Remove a group: who has it gets nothing by it from then on
    Remove(NamedArgs),
}

/// `lode group grant`.
#[derive(Debug, Args)]
pub struct GroupGrantArgs {
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The group as tokens name it; *: everybody who has a token
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
    /// What its members may do: read (query and download), update (also change data), admin (also all below /admin)
    #[arg(long, value_name = "read|update|admin")]
    pub role: Role,
    /// Only in this database, of a server with several; repeatable
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub database: Vec<String>,
    /// Which graphs.
    #[command(flatten)]
    pub graphs: GraphArgs,
}

/// For which graphs a role is.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Only these graphs may be read, and there are no others: an IRI, the beginning of one with * at its end, or default; or all or none
    /// alone; repeatable, or several with blanks between them ('default http://example.org/*'). Unless said: all, and for somebody who is
    /// there those of before
    #[arg(long, value_name = "PATTERN", value_parser = NonEmptyStringValueParser::new())]
    pub graphs: Vec<String>,
    /// Only these graphs may be changed, with the role update; unless said, those that may be read. To a graph that may not be read, data can
    /// only be added
    #[arg(long, value_name = "PATTERN", value_parser = NonEmptyStringValueParser::new())]
    pub write_graphs: Vec<String>,
}

impl GraphArgs {
    /// The patterns for reading and for changing, one by one. No IRI has a blank.
    pub fn patterns(&self) -> [Vec<String>; 2] {
        let one_by_one = |all: &[String]| {
            all.iter().flat_map(|some| some.split_ascii_whitespace()).map(str::to_owned).collect()
        };
        [one_by_one(&self.graphs), one_by_one(&self.write_graphs)]
    }
}

/// Somebody who is there.
#[derive(Debug, Args)]
pub struct NamedArgs {
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The name
    pub name: String,
}

/// `lode token`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token for a program, and write it to standard output: nobody can tell it again
    Add(TokenAddArgs),
    /// List tokens, their roles, and when they expire
    List(PlaceArgs),
    /// Revoke a token: the server takes it no more
    Revoke(NamedArgs),
}

/// `lode token add`.
#[derive(Debug, Args)]
#[command(
    after_help = "Send it as Authorization: Bearer TOKEN, such as curl -H @FILE with that line in FILE."
)]
pub struct TokenAddArgs {
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// A name for it: 1 to 64 letters, digits, and - _ . @
    pub name: String,
    /// What it lets its holder do: read, update or admin
    #[arg(long, value_name = "read|update|admin", default_value = "read")]
    pub role: Role,
    /// Only in this database, of a server with several; repeatable
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub database: Vec<String>,
    /// Which graphs.
    #[command(flatten)]
    pub graphs: GraphArgs,
    /// After which time it is worth nothing: 12h, 90d, or never
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = parse_expiry)]
    pub expires: Expiry,
}

/// After which time a token expires, if it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry(pub Option<Duration>);

/// The longest time: beyond it nobody means a time.
const DAYS_MAX: u64 = 36_500;

/// A number with its unit, or `never`.
fn parse_expiry(text: &str) -> Result<Expiry, String> {
    if text == "never" {
        return Ok(Expiry(None));
    }
    let expected = || "expected a time such as 30m, 12h or 90d, or never".to_owned();
    let (unit, seconds) = match text.chars().last() {
        Some('s') => ('s', 1),
        Some('m') => ('m', 60),
        Some('h') => ('h', 3600),
        Some('d') => ('d', 86_400),
        _ => return Err(expected()),
    };
    let number: u64 = text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(expected)?;
    let seconds = number
        .checked_mul(seconds)
        .filter(|seconds| (1..=DAYS_MAX * 86_400).contains(seconds))
        .ok_or_else(expected)?;
    Ok(Expiry(Some(Duration::from_secs(seconds))))
}

#[cfg(test)]
mod tests {
    //! Times as they are written.
    use super::{Expiry, parse_expiry};
    use std::time::Duration;

    #[test]
    fn times_of_expiry() {
        for (text, seconds) in [("30s", 30), ("2m", 120), ("12h", 43_200), ("90d", 7_776_000)] {
            assert_eq!(parse_expiry(text), Ok(Expiry(Some(Duration::from_secs(seconds)))));
        }
        assert_eq!(parse_expiry("never"), Ok(Expiry(None)));
        for text in ["", "d", "1", "1w", "-1d", "99999999999999999999d", "99999999d", "1dd", "0d", "0s"] {
            assert!(parse_expiry(text).is_err(), "{text}");
        }
    }
}
