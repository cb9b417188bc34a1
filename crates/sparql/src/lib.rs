//! SPARQL: parsing, rewriting, planning. Pure: no I/O; the data is seen only through [`Statistics`].

pub mod expr;
pub mod plan;
pub mod planner;
pub mod statistics;

pub use expr::{Aggregate, AggregateFunction, Expr};
pub use plan::{GraphScope, JoinKind, Plan, PlanNode, PlanOp, QueryForm, ScanPattern, Slot, VarId, VarTable};
pub use planner::{PlanError, PlanOptions, plan_query, plan_sub};
pub use statistics::Statistics;
