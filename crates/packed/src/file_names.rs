//! The names of a segment's files.

use crate::order::Order;

/// Name of the dictionary's file.
pub const DICTIONARY_FILE: &str = "dict.lode";
/// Name of the file of the characteristic sets.
pub const STARS_FILE: &str = "stars.lode";

/// Name of a permutation's file.
pub const fn permutation_file_name(order: Order) -> &'static str {
    match order {
        Order::Spog => "spog.perm",
        Order::Sopg => "sopg.perm",
        Order::Psog => "psog.perm",
        Order::Posg => "posg.perm",
        Order::Ospg => "ospg.perm",
        Order::Opsg => "opsg.perm",
        Order::Gspo => "gspo.perm",
    }
}
