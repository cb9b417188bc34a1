//! Sub-plans that several threads run, morsel by morsel.
//!
//! A sub-plan can be cut where its rows come from scans along one chain of operators: each morsel is the same sub-plan with
//! those scans confined to a range of values of their first free column. Where several scans of the chain are joined by that
//! very variable, all are confined to the same range, so merge joins and streaming aggregation stay what they are inside a morsel.
//! A UNION is cut into the morsels of its branches. Where all rows come from one scan, a thread that has nothing left to do gets
//! half of what another still has to read: which values have much to be done for them, nobody knows before.

mod confined;
mod gather;
mod pipeline;
mod source;
mod split;
mod sub_plan;
#[cfg(test)]
mod tests;

pub(crate) use confined::confined_to;
pub use confined::{has_groups_in_parts, key_ranges, may_be_confined};
pub(crate) use source::{Source, operator};
pub(crate) use sub_plan::{Prepared, SubPlan};
