//! `lode config` on the command line.

use super::serve::ServeArgs;
use clap::Subcommand;

/// `lode config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write a configuration file with all options, what each means, and what it is unless told otherwise
    Example,
    /// Show each option that lode serve would have with these arguments, this environment and this file (--config), and where it comes
    /// from; secrets are hidden
    Show(Box<ServeArgs>),
}
