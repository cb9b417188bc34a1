//! `lode warm` on the command line.

use super::folder::folder;
use clap::{Args, ValueEnum};
use lode_engine::Order;
use std::path::PathBuf;

/// A part of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WarmPart {
    Spog,
    Sopg,
    Psog,
    Posg,
    Ospg,
    Opsg,
    Gspo,
    /// The dictionary
    Terms,
    /// All orders and the dictionary
    All,
}

impl WarmPart {
    /// The order of quads, if it is one.
    pub fn order(self) -> Option<Order> {
        let name = self.to_possible_value()?;
        Order::ALL.into_iter().find(|order| order.name() == name.get_name())
    }
}

/// `lode warm`.
#[derive(Debug, Args)]
#[command(
    after_help = "What lode serve has in memory it notes each minute and when it ends (hot-blocks in the database folder), and the next lode serve reads that by itself. lode warm \
reads it, or the parts that --orders names, into the memory of the system, from the first block of each file to the last, so that any command that \
comes after finds it there. Blocks are verified; nothing is written."
)]
pub struct WarmArgs {
    /// The database folder
    #[arg(value_parser = folder())]
    pub database: PathBuf,
    /// Read these orders of quads wholly instead, and with terms the dictionary, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ORDERS")]
    pub orders: Vec<WarmPart>,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
}
