//! Connections to workers: one each, with the token, noticed within seconds where the other end is gone.

use crate::token::Token;
use async_trait::async_trait;
use datafusion::common::{DataFusionError, Result};
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{ChannelResolver, GetWorkerInfoRequest, WorkerChannel};
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request, Response};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tower::Service;
use url::{Host, Url};

/// Who has nothing to say is asked so often whether it is there,
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// and is given up when it does not answer for so long.
pub const KEEP_ALIVE_PATIENCE: Duration = Duration::from_secs(3);
/// Bytes that are under way on a stream.
pub const STREAM_BYTES: usize = 1 << 20;
/// The most that there is: streams have their own limits.
const CONNECTION_WINDOW: u32 = i32::MAX as u32;
const CONNECT_PATIENCE: Duration = Duration::from_millis(1500);

/// Connections that are there, or will be.
#[derive(Clone)]
pub struct Channels {
    token: Token,
    /// Whose certificates are believed, as PEM.
    authority: Option<Arc<[u8]>>,
    open: Arc<Mutex<HashMap<Url, Channel>>>,
}

impl Channels {
    pub fn new(token: Token, authority: Option<Arc<[u8]>>) -> Self {
        Self { token, authority, open: Arc::default() }
    }

    /// What version a worker is of.
    pub async fn version_of(&self, url: &Url) -> Result<String> {
        let mut client = self.get_worker_client_for_url(url).await?;
        let answer = tokio::time::timeout(CONNECT_PATIENCE, client.get_worker_info(GetWorkerInfoRequest {}));
        let late = || DataFusionError::Execution(format!("the worker {url} does not answer"));
        Ok(answer.await.map_err(|_| late())??.version)
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
        let mut endpoint = Endpoint::from_shared(url.to_string())
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
            endpoint = endpoint.tls_config(tls).map_err(wrong)?;
        }
        let channel = endpoint.connect_lazy();
        open.insert(url.clone(), channel.clone());
        Ok(channel)
    }
}

/// Whether nobody listens between here and there.
pub fn may_be_plain(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// The same of an address.
pub fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback()
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        let channel = WithToken { channel: self.channel(url)?, header: self.token.header() };
        Ok(create_worker_client(BoxCloneSyncChannel::new(channel)))
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
