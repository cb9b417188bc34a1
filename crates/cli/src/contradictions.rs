//! What rules say must not be, and is: looked for alone, or after rules were applied.

use crate::args::MaterialiseArgs;
use crate::exit::Done;
use crate::look;
use crate::memory::SharedMemory;
use crate::talk::{say, write_json};
use lode_assist::kept_prefixes;
use lode_engine::store::OpenFiles;
use lode_engine::{CancelToken, Consistency, Database, QueryOptions, WhyOptions};
use std::io::Write;

/// So many are told where nobody says how many.
pub const TOLD: u16 = 10;

/// Tells what is contradictory, and changes nothing.
pub fn check(args: &MaterialiseArgs) -> anyhow::Result<Done> {
    let memory = SharedMemory::of(args.memory, None);
    let database = Database::open_for_reading(&args.database, &memory.open_options(), OpenFiles::Now)?;
    let mut evaluation = memory.options();
    evaluation.cancel = CancelToken::new(args.timeout);
    let proofs_max = args.contradictions.into();
    let checking = WhyOptions { evaluation, proofs_max, ..WhyOptions::default() };
    let consistency = database.consistency(database.snapshot(), &checking)?;
    if args.json {
        write_json(&serde_json::to_value(&consistency)?)?;
    } else {
        let mut out = Vec::new();
        consistency.write_text(&look::prefixes(&[], &kept_prefixes(&database)), &mut out)?;
        std::io::stdout().write_all(&out)?;
    }
    if !args.quiet {
        let state = match (consistency.rules, consistency.contradictions.len()) {
            (0, _) => "the rules that the database keeps, if any, say of nothing that it is contradictory"
                .to_owned(),
            (_, 0) => "nothing is contradictory".to_owned(),
            _ => told(&consistency),
        };
        say!("{state}");
        if consistency.is_stale {
            say!("the data have changed since rules were applied: lode materialise brings that up to date");
        }
    }
    Ok(if consistency.contradictions.is_empty() { Done::Ok } else { Done::Violated })
}

/// Warns of what is contradictory once rules were applied; none where that could not be found out, which is told: what was to be done is done.
pub fn warn(
    database: &Database,
    evaluation: QueryOptions,
    proofs_max: u16,
    quiet: bool,
) -> Option<Consistency> {
    let checking = WhyOptions { evaluation, proofs_max: proofs_max.into(), ..WhyOptions::default() };
    let consistency = match database.consistency(database.snapshot(), &checking) {
        Ok(consistency) => consistency,
        Err(error) => {
            say!("warning: whether the data are contradictory was not found out: {error}");
            return None;
        }
    };
    let mut text = Vec::new();
    let prefixes = look::prefixes(&[], &kept_prefixes(database));
    if !quiet && consistency.write_text(&prefixes, &mut text).is_ok() && !text.is_empty() {
        say!("warning: {}", told(&consistency));
        say!("{}", String::from_utf8_lossy(&text).trim_end());
    }
    Some(consistency)
}

fn told(consistency: &Consistency) -> String {
    consistency.told().unwrap_or_default() + " (lode why DB false tells why)"
}
