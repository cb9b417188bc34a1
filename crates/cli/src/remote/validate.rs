//! Validation by a server.

use super::change::warnings;
use super::{Asked, Remote, Told, parameter, read_for};
use crate::args::ValidateArgs;
use crate::exit::{Done, wrong_usage};
use crate::screen::Screen;
use crate::shapes::read_shapes;
use crate::talk::say;
use lode_engine::CancelToken;
use std::io::{self, Write};

/// Sends the shapes, and shows the report.
pub fn validate(args: &ValidateArgs, url: &str) -> anyhow::Result<Done> {
    super::refuse_own_options(&args.evaluation)?;
    let own = [
        (args.shapes_graph.is_some(), "--shapes-graph"),
        (args.at.is_some(), "--at"),
        (args.explain, "--explain"),
        (args.evaluation.reason.is_some(), "--reason"),
    ];
    if let Some((_, name)) = own.iter().find(|(is_given, _)| *is_given) {
        return Err(wrong_usage(format!("{name} is for a folder")));
    }
    // Files of all kinds become one document.
    let text: String =
        read_shapes(&args.shapes, None)?.triples().map(|triple| format!("{triple} .\n")).collect();
    let parameters = [
        parameter("graph", &args.graph),
        parameter("limit", &args.limit.to_string()),
        parameter("format", &args.format),
    ];
    let asked = Asked {
        media_type: "application/n-triples",
        text: &text,
        accept: "*/*",
        parameters: parameters.join("&"),
    };
    let cancel = CancelToken::new(args.timeout);
    let server = Remote::new(url, &args.login)?;
    let response = server.ask_at("/shacl", &asked, &cancel)?;
    warnings(&response).iter().for_each(|warning| say!("warning: {warning}"));
    let conforms = response.headers().get("lode-conforms").is_some_and(|value| value == "true");
    read_for(&cancel);
    let mut out = Screen::new(!args.output.no_pager);
    io::copy(&mut Told::new(response, &cancel), &mut out).map_err(|error| Told::failed(&cancel, error))?;
    out.flush()?;
    out.finish()?;
    if !args.quiet {
        say!("the data {} to the shapes", if conforms { "conform" } else { "do not conform" });
    }
    Ok(if conforms { Done::Ok } else { Done::Violated })
}
