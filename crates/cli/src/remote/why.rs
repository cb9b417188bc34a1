//! Explanations by a server.

use super::{Remote, Told, parameter, read_for, reasoning};
use crate::args::{WhyArgs, WhyFormat};
use crate::exit::{Done, wrong_usage};
use crate::screen::Screen;
use lode_engine::CancelToken;
use std::io::{self, Write};

/// Asks why, and shows what is told.
pub fn why(args: &WhyArgs, url: &str) -> anyhow::Result<Done> {
    super::refuse_own_options(&args.evaluation)?;
    if args.at.is_some() {
        return Err(wrong_usage("--at is for a folder"));
    }
    let format = match args.format {
        WhyFormat::Text => "text",
        WhyFormat::Json => "json",
    };
    let mut parameters = vec![
        parameter("triple", &args.triple),
        parameter("graph", &args.graph),
        parameter("format", format),
        parameter("proofs", &args.proofs.to_string()),
        parameter("depth", &args.depth.to_string()),
        parameter("facts", &args.facts.to_string()),
    ];
    parameters.extend(reasoning(&args.evaluation));
    if args.evaluation.asserted {
        parameters.push(parameter("infer", "false"));
    }
    let cancel = CancelToken::new(args.timeout);
    let server = Remote::new(url, &args.login)?;
    let response = server.get(&format!("/why?{}", parameters.join("&")), "*/*", &cancel)?;
    read_for(&cancel);
    let mut out = Screen::new(!args.no_pager);
    io::copy(&mut Told::new(response, &cancel), &mut out).map_err(|error| Told::failed(&cancel, error))?;
    out.flush()?;
    out.finish()?;
    Ok(Done::Ok)
}
