//! `lode why`.

use crate::args::{WhyArgs, WhyFormat};
use crate::exit::{Done, wrong_usage};
use crate::look;
use crate::memory::SharedMemory;
use crate::published;
use crate::remote;
use crate::screen::Screen;
use crate::shapes::set_graph;
use crate::talk::write_json;
use lode_assist::kept_prefixes;
use lode_engine::{CancelToken, Goal, WhyOptions};
use std::path::Path;

pub fn run(args: &WhyArgs) -> anyhow::Result<Done> {
    check_order(args)?;
    if let Some(url) = remote::url(&args.database) {
        return remote::why(args, url);
    }
    let memory = SharedMemory::new(&args.evaluation);
    let mut evaluation = memory.query_options(&args.evaluation)?;
    evaluation.cancel = CancelToken::new(args.timeout);
    set_graph(&mut evaluation, &args.graph, None)?;
    let (database, snapshot) =
        published::read(&args.database, args.at.as_deref(), &args.published, &memory.open_options())?;
    let prefixes = look::prefixes(&[], &kept_prefixes(&database));
    let goal = Goal::parse(&args.triple, &prefixes)?;
    let options = WhyOptions {
        evaluation,
        proofs_max: args.proofs.into(),
        depth_max: args.depth.into(),
        facts_max: usize::try_from(args.facts)?,
    };
    let explanation = database.why(snapshot, &goal, &options)?;
    match args.format {
        WhyFormat::Json => write_json(&serde_json::to_value(&explanation)?)?,
        WhyFormat::Text => {
            let mut out = Screen::new(!args.no_pager);
            explanation.write_text(&prefixes, &mut out)?;
            out.finish()?;
        }
    }
    Ok(Done::Ok)
}

/// Whether the triple stands where the database should, and the other way round.
fn check_order(args: &WhyArgs) -> anyhow::Result<()> {
    let place = Path::new(&args.triple);
    if !args.database.exists() && (place.is_dir() || remote::url(place).is_some()) {
        return Err(wrong_usage(format!(
            "the database comes first, then the triple: lode why {} '...'",
            args.triple
        )));
    }
    Ok(())
}
