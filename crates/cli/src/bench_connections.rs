//! `lode bench connections`: what many connections that do next to nothing do to a server, and to light queries meanwhile.

use crate::args::BenchConnectionsArgs;
use crate::bench_clients::{Light, most_resident_bytes, write_times};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use std::io;
use std::io::{Write as _, stdout};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// The light queries begin when all others had so long to connect.
const START: Duration = Duration::from_secs(5);
/// Between two steps of a slow one, each of so many bytes: enough not to be taken for dead.
const STEP: Duration = Duration::from_millis(250);
const STEP_BYTES: usize = 64;
/// What is on its way to a slow reader is to be in the server, and not in the buffers of the system.
const BUFFER_BYTES: u32 = 4096;
/// The update that a slow writer promises.
const UPDATE_BYTES: usize = 1 << 20;
/// Until one that was refused comes again.
const PAUSE: Duration = Duration::from_millis(500);

/// What became of the connections of a kind.
#[derive(Debug, Default)]
struct Counts {
    connected: AtomicU64,
    open: AtomicU64,
    ended: AtomicU64,
    refused: AtomicU64,
}

/// What a connection does.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Open,
    Reader,
    Writer,
    Half,
}

/// Whom to ask, and what.
#[derive(Debug)]
struct Plan {
    address: SocketAddr,
    host: String,
    path: String,
    query: String,
}

pub fn run(args: &BenchConnectionsArgs) -> anyhow::Result<Done> {
    let plan = Arc::new(plan(args)?);
    let kinds = [
        (Kind::Open, "open", args.open),
        (Kind::Reader, "slow readers", args.readers),
        (Kind::Writer, "slow writers", args.writers),
        (Kind::Half, "half requests", args.halves),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut counts = Vec::new();
    for (kind, name, number) in kinds {
        let of_kind = Arc::new(Counts::default());
        for _ in 0..number {
            runtime.spawn(again_and_again(kind, Arc::clone(&plan), Arc::clone(&of_kind)));
        }
        counts.push((name, of_kind));
    }
    std::thread::sleep(START.min(args.seconds));
    say!("all had {} s to connect; light queries for {} s", START.as_secs(), args.seconds.as_secs());
    let until = Instant::now() + args.seconds;
    let light = Light { url: &args.url, queries: &args.light, pause: args.pause };
    let light = light.times(|| Instant::now() >= until)?;
    let mut out = stdout().lock();
    write_times(&light, &mut out)?;
    writeln!(out, "{:<14} {:>9} {:>9} {:>9} {:>9}", "connections", "open now", "made", "ended", "refused")?;
    for (name, counts) in counts {
        let [open, made, ended, refused] = [&counts.open, &counts.connected, &counts.ended, &counts.refused]
            .map(|count| count.load(Ordering::Relaxed));
        writeln!(out, "{name:<14} {open:>9} {made:>9} {ended:>9} {refused:>9}")?;
    }
    if let Some(bytes) = args.server_pid.map(most_resident_bytes).transpose()? {
        writeln!(out, "most memory so far {:>10.1} MiB", bytes as f64 / f64::from(1 << 20))?;
    }
    runtime.shutdown_background();
    Ok(Done::Ok)
}

fn plan(args: &BenchConnectionsArgs) -> anyhow::Result<Plan> {
    let Some(rest) = args.url.strip_prefix("http://") else {
        bail!("{}: expected an address that begins with http://", args.url)
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, "sparql"));
    let port = if host.contains(':') { "" } else { ":80" };
    let mut addresses = format!("{host}{port}").to_socket_addrs().with_context(|| host.to_owned())?;
    let address = addresses.next().with_context(|| format!("{host} has no address"))?;
    Ok(Plan { address, host: host.to_owned(), path: format!("/{path}"), query: args.query.clone() })
}

/// Never ends.
async fn again_and_again(kind: Kind, plan: Arc<Plan>, counts: Arc<Counts>) {
    loop {
        match connect(&plan).await {
            Ok(stream) => {
                counts.connected.fetch_add(1, Ordering::Relaxed);
                counts.open.fetch_add(1, Ordering::Relaxed);
                // However it ends: it is the server that ended it.
                let _ = once(kind, &plan, stream).await;
                counts.open.fetch_sub(1, Ordering::Relaxed);
                counts.ended.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => {
                counts.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn connect(plan: &Plan) -> io::Result<TcpStream> {
    let socket = if plan.address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_recv_buffer_size(BUFFER_BYTES)?;
    socket.connect(plan.address).await
}

/// Until the server ends it.
async fn once(kind: Kind, plan: &Plan, mut stream: TcpStream) -> io::Result<()> {
    let Plan { host, path, query, .. } = plan;
    let head = |media_type: &str, length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/{media_type}\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let mut bytes = [0; STEP_BYTES];
    match kind {
        Kind::Open => {}
        Kind::Reader => {
            stream.write_all(head("sparql-query", query.len()).as_bytes()).await?;
            stream.write_all(query.as_bytes()).await?;
            while stream.read(&mut bytes).await? > 0 {
                tokio::time::sleep(STEP).await;
            }
            return Ok(());
        }
        Kind::Writer => {
            stream.write_all(head("sparql-update", UPDATE_BYTES).as_bytes()).await?;
            for _ in 0..UPDATE_BYTES / STEP_BYTES {
                stream.write_all(&[b' '; STEP_BYTES]).await?;
                tokio::time::sleep(STEP).await;
            }
        }
        Kind::Half => {
            stream
                .write_all(format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Ty").as_bytes())
                .await?;
        }
    }
    while stream.read(&mut bytes).await? > 0 {}
    Ok(())
}
