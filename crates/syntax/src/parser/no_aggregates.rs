//! Where no aggregate may stand.

/// Where no aggregate may stand.
#[derive(Debug)]
pub(super) struct NoAggregates {
    pub message: &'static str,
    pub help: &'static str,
}

pub(super) const IN_AGGREGATE: NoAggregates = NoAggregates {
    message: "an aggregate inside of an aggregate",
    help: "aggregate in a sub-query first: { SELECT (COUNT(?x) AS ?n) ... }",
};
pub(super) const IN_FILTER: NoAggregates = NoAggregates {
    message: "an aggregate in FILTER",
    help: "conditions on groups stand behind GROUP BY: HAVING (COUNT(?x) > 1)",
};
pub(super) const IN_BIND: NoAggregates = NoAggregates {
    message: "an aggregate in BIND",
    help: "name it where it is selected: SELECT (COUNT(?x) AS ?n)",
};
pub(super) const IN_GROUP_BY: NoAggregates = NoAggregates {
    message: "an aggregate in GROUP BY",
    help: "groups are there before anything is aggregated: aggregate in a sub-query first",
};
