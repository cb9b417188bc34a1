//! `lode completions` and `lode man`: what shells and `man` know of the command line, made of the command line itself.

use crate::args::{CompletionsArgs, ManArgs, examples};
use crate::exit::Done;
use anyhow::Context;
use std::io::Write as _;

const NAME: &str = "lode";

/// Writes the completions of a shell to standard output.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Done> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut examples::command(), NAME, &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(Done::Ok)
}

/// Writes a page for the program and one for each command into a folder.
pub fn pages(args: &ManArgs) -> anyhow::Result<Done> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    clap_mangen::generate_to(examples::command(), folder)
        .with_context(|| format!("writing into {}", folder.display()))?;
    Ok(Done::Ok)
}
