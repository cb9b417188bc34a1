//! Prints the data and the query of a seed: `case SEED`.

use anyhow::{Context, Result};
use lode_conformance::generate::Case;
use lode_conformance::knobs::Knobs;
use std::io::Write;

fn main() -> Result<()> {
    let seed = std::env::args().nth(1).context("which seed?")?.parse()?;
    let case = Case::new(seed);
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {:?}, union default graph: {}", Knobs::new(seed), case.union_default_graph)?;
    writeln!(out, "{}\n{}", case.data_text(), case.query_text())?;
    Ok(())
}
