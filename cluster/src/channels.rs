//! Connections to workers: one each, with the token, noticed within seconds where the other end is gone.

use crate::address::{may_be_plain, place};
use crate::token::Token;
use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{
    ChannelResolver, CoordinatorToWorkerMsg, ExecuteTaskRequest, GetWorkerInfoRequest, GetWorkerInfoResponse,
    ProducerHead, SetPlanRequest, TaskMetrics, Worker as StageWorker, WorkerChannel, WorkerToCoordinatorMsg,
};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tower::Service;
use url::Url;

/// Who has nothing to say is asked so often whether it is there,
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// and is given up when it does not answer for so long.
pub const KEEP_ALIVE_PATIENCE: Duration = Duration::from_secs(3);
/// Bytes that are under way on a stream.
pub const STREAM_BYTES: usize = 1 << 20;
/// The most that there is: streams have their own limits.
const CONNECTION_WINDOW: u32 = i32::MAX as u32;
const CONNECT_PATIENCE: Duration = Duration::from_millis(1500);

/// So many connections are remembered.
const OPEN_MAX: usize = 4096;

/// Connections that are there, or will be.
#[derive(Clone)]
pub struct Channels {
    token: Token,
    /// Whose certificates are believed, as PEM.
    authority: Option<Arc<[u8]>>,
    open: Arc<Mutex<HashMap<Url, Channel>>>,
    on_task: Option<OnTask>,
    /// Where this is, for who runs tasks here, and who does.
    here: Option<(Url, Here)>,
}

/// Who runs the tasks of this process, as long as it is there.
pub type Here = Arc<Mutex<Option<StageWorker>>>;

/// Under this name a head tells a worker by which address it and others know it.
const ADDRESS: HeaderName = HeaderName::from_static("lode-address");

/// Hears where a task of which stage came to its end, and what it did.
pub type OnTask = Arc<dyn Fn(&Url, usize, &TaskMetrics) + Send + Sync>;

/// Why a worker did not answer.
#[derive(Debug)]
pub enum Unheard {
    /// It takes its time.
    Late,
    /// It cannot be reached, or does not want to.
    Refused(String),
}

impl Channels {
    pub fn new(token: Token, authority: Option<Arc<[u8]>>) -> Self {
        Self { token, authority, open: Arc::default(), on_task: None, here: None }
    }

    /// The same connections for a task that came with these headers: rows of other tasks of this process are taken without any.
    pub fn of_task(&self, headers: &HeaderMap, here: &Here) -> Self {
        let address = headers.get(ADDRESS).and_then(|address| Url::parse(address.to_str().ok()?).ok());
        Self { here: address.map(|address| (address, Arc::clone(here))), ..self.clone() }
    }

    /// The same connections, and who hears of tasks that came to their end.
    pub fn heard_by(&self, on_task: OnTask) -> Self {
        Self { on_task: Some(on_task), ..self.clone() }
    }

    /// Closes those to others than these, once nothing is on the way there.
    pub fn keep(&self, urls: &[Url]) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|url, _| urls.contains(url));
    }

    /// What version a worker is of.
    pub async fn version_of(&self, url: &Url) -> Result<String, Unheard> {
        let refused = |error: DataFusionError| Unheard::Refused(error.to_string());
        let mut client = self.get_worker_client_for_url(url).await.map_err(refused)?;
        let answer = tokio::time::timeout(CONNECT_PATIENCE, client.get_worker_info(GetWorkerInfoRequest {}));
        Ok(answer.await.map_err(|_| Unheard::Late)?.map_err(refused)?.version)
    }

    fn channel(&self, url: &Url) -> Result<Channel> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = open.get(url) {
            return Ok(channel.clone());
        }
        if !may_be_plain(url) && url.scheme() != "https" {
            let message =
                format!("the worker {url} is not on this machine: the token goes over https:// only");
            return Err(DataFusionError::Execution(message));
        }
        let wrong =
            |error: tonic::transport::Error| DataFusionError::Execution(format!("the worker {url}: {error}"));
        // What is behind a name has its certificate, and is found by its own address.
        let at = match place(url) {
            Some(IpAddr::V4(at)) => format!("https://{at}:{}", url.port_or_known_default().unwrap_or(443)),
            Some(IpAddr::V6(at)) => format!("https://[{at}]:{}", url.port_or_known_default().unwrap_or(443)),
            None => url.to_string(),
        };
        let mut endpoint = Endpoint::from_shared(at)
            .map_err(wrong)?
            .connect_timeout(CONNECT_PATIENCE)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE_PATIENCE)
            .keep_alive_while_idle(true)
            // What waits for one reader must not stop what goes to another one over the same connection.
            .initial_stream_window_size(STREAM_BYTES as u32)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .tcp_nodelay(true);
        if url.scheme() == "https" {
            let mut tls = ClientTlsConfig::new();
            if let Some(pem) = &self.authority {
                tls = tls.ca_certificate(Certificate::from_pem(pem));
            }
            if let (Some(_), Some(name)) = (place(url), url.host_str()) {
                tls = tls.domain_name(name);
            }
            endpoint = endpoint.tls_config(tls).map_err(wrong)?;
        }
        let channel = endpoint.connect_lazy();
        // A worker is never told who is gone.
        if open.len() >= OPEN_MAX {
            open.clear();
        }
        open.insert(url.clone(), channel.clone());
        Ok(channel)
    }
}

/// Whether nobody listens between here and there.
pub fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback()
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        if let Some((_, here)) = self.here.as_ref().filter(|(address, _)| address == url)
            && let Some(worker) = here.lock().unwrap_or_else(PoisonError::into_inner).clone()
        {
            return Ok(Box::new(InProcess(worker)));
        }
        let channel = WithToken { channel: self.channel(url)?, header: self.token.header() };
        let client = create_worker_client(BoxCloneSyncChannel::new(channel));
        Ok(Box::new(OverWire { client, url: url.clone(), on_task: self.on_task.clone() }))
    }
}

/// A task without what datafusion-distributed would put above it: rows are spread by who makes them.
fn as_it_is(request: ExecuteTaskRequest) -> ExecuteTaskRequest {
    ExecuteTaskRequest { producer_head: ProducerHead::None, ..request }
}

/// A connection, over which somebody may hear of tasks.
struct OverWire {
    client: Box<dyn WorkerChannel>,
    url: Url,
    on_task: Option<OnTask>,
}

#[async_trait]
impl WorkerChannel for OverWire {
    async fn coordinator_channel(
        &mut self,
        mut headers: HeaderMap,
        mut plan: SetPlanRequest,
        to: BoxStream<'static, CoordinatorToWorkerMsg>,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg>>> {
        let (url, stage, on_task) = (self.url.clone(), plan.task_key.stage_id, self.on_task.clone());
        if let Ok(address) = HeaderValue::from_str(url.as_str()) {
            headers.insert(ADDRESS, address);
        }
        // A worker that found its own address here would go past `Channels`.
        plan.target_worker_url.set_fragment(Some("lode"));
        let from = self.client.coordinator_channel(headers, plan, to, metrics, context).await?;
        let hear = move |message: &Result<WorkerToCoordinatorMsg>| {
            if let (Ok(WorkerToCoordinatorMsg::TaskMetrics(done)), Some(on_task)) = (message, &on_task) {
                on_task(&url, stage, done);
            }
        };
        Ok(from.inspect(hear).boxed())
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        context: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        self.client.execute_task(headers, as_it_is(request), metrics, context).await
    }

    async fn get_worker_info(&mut self, request: GetWorkerInfoRequest) -> Result<GetWorkerInfoResponse> {
        self.client.get_worker_info(request).await
    }
}

/// Tasks of this process.
struct InProcess(StageWorker);

#[async_trait]
impl WorkerChannel for InProcess {
    async fn coordinator_channel(
        &mut self,
        headers: HeaderMap,
        plan: SetPlanRequest,
        to: BoxStream<'static, CoordinatorToWorkerMsg>,
        _: ExecutionPlanMetricsSet,
        _: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg>>> {
        self.0.coordinator_channel(headers, plan, to.map(Ok).boxed()).await
    }

    async fn execute_task(
        &mut self,
        _: HeaderMap,
        request: ExecuteTaskRequest,
        _: ExecutionPlanMetricsSet,
        _: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        let (partitions, _) = self.0.execute_task(as_it_is(request)).await?;
        Ok(partitions.into_iter().map(StreamExt::boxed).collect())
    }

    async fn get_worker_info(&mut self, _: GetWorkerInfoRequest) -> Result<GetWorkerInfoResponse> {
        Ok(GetWorkerInfoResponse { version: self.0.version().to_string() })
    }
}

/// Puts the token into each request.
#[derive(Clone)]
struct WithToken {
    channel: Channel,
    header: HeaderValue,
}

impl Service<Request<Body>> for WithToken {
    type Response = Response<Body>;
    type Error = tonic::transport::Error;
    type Future = <Channel as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.channel.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.headers_mut().insert(AUTHORIZATION, self.header.clone());
        self.channel.call(request)
    }
}
