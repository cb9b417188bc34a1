//! Values: what terms mean, and what can be told and computed of them without a query around them.

pub mod arithmetic;
pub mod compare;
pub mod exact;
pub(crate) mod identity;
pub(crate) mod in_list;
pub mod truth;
pub mod value;
