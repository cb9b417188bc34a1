//! How answers are shown, on the command line.

use clap::Args;

/// How answers are shown.
#[derive(Debug, Clone, Default, Args)]
pub struct OutputArgs {
    /// Write the cells of tables whole, and IRIs without prefixes, also on a terminal (files and pipes always have them so)
    #[arg(long)]
    pub full: bool,
    /// Draw tables for so many columns, as on a terminal: with prefixes, cells cut, bars beside counts (default: the terminal's width)
    #[arg(long, value_name = "COLUMNS", conflicts_with = "full", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    /// Write to a terminal at once, and not through a pager (PAGER, or less -FRX)
    #[arg(long)]
    pub no_pager: bool,
}
