//! What DataFusion needs to run a plan that is made already.

use crate::channels::Channels;
use crate::codec::Codec;
use crate::route::route;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result};
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::logical_expr::{EmptyRelation, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_distributed::{
    DistributedExt, RouteTasksEvent, RouteTasksEventResponse, SessionStateBuilderExt, WorkerResolver,
};
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// Bytes that a connection to the head holds for who reads slowly.
pub const CONNECTION_BYTES: usize = 4 << 20;
/// The same of connections of queries whose rows are exchanged, which are many.
pub const EXCHANGE_BYTES: usize = 1 << 20;

/// The plan that is made already.
#[derive(Debug)]
struct Given(Arc<dyn ExecutionPlan>);

#[async_trait]
impl QueryPlanner for Given {
    async fn create_physical_plan(&self, _: &LogicalPlan, _: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::clone(&self.0))
    }
}

struct Workers(Vec<Url>);

impl WorkerResolver for Workers {
    fn get_urls(&self) -> Result<Vec<Url>> {
        Ok(self.0.clone())
    }
}

/// Without functions, rules of optimizers, and formats of files: plans are made by hand, and have none of DataFusion's. There are hundreds, and each task has
/// a session of its own, which would register all of them anew.
pub fn bare(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    *builder.scalar_functions() = None;
    *builder.higher_order_functions() = None;
    *builder.aggregate_functions() = None;
    *builder.window_functions() = None;
    *builder.expr_planners() = None;
    *builder.file_formats() = None;
    let rules = builder.with_analyzer_rules(Vec::new()).with_optimizer_rules(Vec::new());
    rules.with_physical_optimizer_rules(Vec::new()).with_table_functions(HashMap::new())
}

/// Where the tasks of a query over a database are run.
#[derive(Debug, Clone)]
pub struct Places {
    pub database: u128,
    pub workers: Vec<Url>,
    /// Bytes that each connection holds for who reads slowly.
    pub connection_bytes: usize,
}

/// Sends the stages of a plan to workers. The rows come as they are asked for.
pub async fn start(
    plan: Arc<dyn ExecutionPlan>,
    places: Places,
    channels: Channels,
    runtime: Arc<RuntimeEnv>,
) -> Result<SendableRecordBatchStream> {
    let state = state(plan, places, channels, runtime)?;
    let schema = Arc::new(DFSchema::empty());
    let nothing = LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema });
    let plan = state.query_planner().create_physical_plan(&nothing, &state).await?;
    plan.execute(0, state.task_ctx())
}

fn state(
    plan: Arc<dyn ExecutionPlan>,
    places: Places,
    channels: Channels,
    runtime: Arc<RuntimeEnv>,
) -> Result<SessionState> {
    let Places { database, workers, connection_bytes } = places;
    // With one address the planner would run all of it at the head.
    let urls = workers.iter().cycle().take(workers.len().max(2)).cloned().collect();
    let route = move |event: RouteTasksEvent<'_>| {
        let urls = route(database, event.task_count, &workers);
        Some(Ok(RouteTasksEventResponse::new(urls)))
    };
    let builder = bare(SessionStateBuilder::new())
        .with_config(SessionConfig::new().with_target_partitions(1))
        .with_runtime_env(runtime)
        .with_query_planner(Arc::new(Given(plan)))
        .with_distributed_worker_resolver(Workers(urls))
        .with_distributed_channel_resolver(channels)
        .with_distributed_user_codec(Codec(None))
        .with_distributed_route_tasks_handler(route)
        .with_distributed_planner()
        .with_distributed_compression(None)?
        .with_distributed_metrics_collection(true)?
        .with_distributed_worker_connection_buffer_budget_bytes(connection_bytes)?;
    Ok(builder.build())
}
