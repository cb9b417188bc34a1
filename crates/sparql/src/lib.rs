//! SPARQL: parsing, rewriting, planning. Pure: no I/O; the data is seen only through [`Statistics`].

mod cached;
pub mod explain;
pub mod expr;
mod expr_vars;
mod joins;
mod logical;
mod operands;
pub mod parse;
mod physical;
pub mod plan;
mod plan_depth;
pub mod planner;
mod rewrite;
mod service_call;
pub mod stack;
pub mod statistics;
pub mod template;
mod translate;
pub mod update;
pub mod validate;
mod var_set;
pub mod warnings;

pub use explain::{Explained, explain};
pub use expr::{Aggregate, AggregateFunction, Expr};
pub use parse::{ParseError, parse_query, parse_update};
pub use plan::{GraphScope, JoinKind, Plan, PlanNode, PlanOp, QueryForm, ScanPattern, Slot, VarId, VarTable};
pub use planner::{PlanError, PlanOptions, plan_dependent, plan_query, plan_sub};
pub use service_call::ServiceCall;
pub use statistics::Statistics;
pub use update::Update;
pub use warnings::PlanWarning;
