//! Property paths over BSBM data of any scale.
//!
//! The tree of product types is small and six levels deep; reviews connect nearly all reviewers and products; producers, vendors and
//! reviewers share ten countries. Where a path gives a row for each way and stores differ in how many they tell, pairs are counted once.

use crate::NamedQuery;
use crate::named_query::query_set;

/// The queries, by shape.
pub const QUERIES: [NamedQuery; 22] = query_set![
    "tree-down",
    "tree-up",
    "tree-ends",
    "tree-closure",
    "tree-closure-typed",
    "tree-siblings",
    "tree-undirected",
    "tree-even",
    "instances-of-type",
    "instances-by-type",
    "sequence-large",
    "sequence-inverse",
    "alternative-large",
    "optional-step",
    "optional-step-large",
    "negated-one",
    "negated-large",
    "co-reviewers",
    "co-reviewed-twice",
    "reach-all",
    "reach-one",
    "reach-countries",
];
