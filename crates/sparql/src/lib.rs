//! SPARQL: parsing, rewriting, planning. Pure: no I/O; the data is seen only through [`Statistics`].

pub mod aggregate;
mod cached;
mod cardinality;
mod error;
mod expected;
pub mod explain;
pub mod expr;
mod expr_vars;
pub mod function;
pub mod id_set;
mod joins;
mod known_names;
mod logical;
mod logical_tree;
mod operands;
mod options;
pub mod parse;
mod parts;
mod pattern;
mod physical;
mod place_search;
pub mod plan;
mod plan_depth;
mod plan_tree;
pub mod planner;
mod reads;
mod reuse;
mod rewrite;
pub mod rules;
pub mod schema;
mod service_call;
pub mod stack;
pub mod statistics;
mod steps;
pub mod template;
mod text_condition;
pub mod text_search;
mod translate;
pub mod typing;
pub mod update;
pub mod validate;
mod var_set;
mod variable;
pub mod warnings;

pub use aggregate::AggregateFunction;
pub use lode_syntax as syntax;

pub use explain::{Explained, explain};
pub use expr::{Aggregate, Expr};
pub use function::{Callee, Function};
pub use id_set::{Held, IdList, IdSet};
pub use known_names::near_known_name;
pub use parse::{ParseError, line_and_column, parse_query, parse_update};
pub use physical::SUMMED_DIGITS_MAX;
pub use place_search::{GEOMETRY_TEXTS, PlaceJoin, PlaceSearch, place_relation};
pub use plan::{GraphScope, JoinKind, Plan, PlanNode, PlanOp, QueryForm, ScanPattern, Slot, VarId, VarTable};
pub use planner::{
    PlanError, PlanOptions, plan_dependent, plan_lateral, plan_query, plan_query_without, plan_sub,
    plan_with_terms, with_stack_for,
};
pub use reads::reads;
pub use rewrite::rule_names;
pub use service_call::ServiceCall;
pub use statistics::{RowsOf, Statistics, TextHits, TextScope};
pub use steps::PlanStep;
pub use text_condition::TextTest;
pub use translate::{bind, variables};
pub use update::Update;
pub use warnings::PlanWarning;
