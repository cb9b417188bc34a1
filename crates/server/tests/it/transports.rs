//! Sockets of the file system, and HTTP/2.

use crate::client::{ask_on, serve_data};
use crate::{LONG, serve_on, wait_for};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lode_engine::Database;
use lode_server::{Bind, ServerOptions};
use std::net::SocketAddr;
use std::time::Duration;

#[cfg(unix)]
#[test]
fn a_socket_of_the_file_system() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lode.sock");
    // What a killed server left there is no obstacle.
    drop(UnixListener::bind(&path).unwrap());
    let bind = Bind::Unix(path.clone());
    assert_eq!(
        serve_on(Database::in_memory().unwrap(), bind.clone(), ServerOptions::default()).unwrap(),
        bind
    );
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
    let connect = || UnixStream::connect(&path).unwrap();
    assert_eq!(ask_on(connect(), "GET", "/sparql?query=ASK{}", &[], b"").is(200).status, 200);
    ask_on(connect(), "GET", "/admin/stats", &[], b"").is(200);
    // A page cannot come through it, but its rules are those of this machine.
    ask_on(connect(), "GET", "/sparql?query=ASK{}", &[("Origin", "http://page")], b"").is(403);
    let taken = serve_on(Database::in_memory().unwrap(), bind, ServerOptions::default());
    assert!(taken.unwrap_err().to_string().contains("lode.sock"));
    // What is no socket is left alone.
    let file = folder.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    serve_on(Database::in_memory().unwrap(), Bind::Unix(file.clone()), ServerOptions::default()).unwrap_err();
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}

type Sender = hyper::client::conn::http2::SendRequest<Empty<Bytes>>;

/// A connection that begins with HTTP/2.
async fn connect(address: SocketAddr, window: u32) -> Sender {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    // Before it has heard how many requests the server takes at once, it sends one.
    builder.initial_stream_window_size(window).initial_max_send_streams(1);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn request(path: &str) -> hyper::Request<Empty<Bytes>> {
    hyper::Request::get(format!("http://localhost{path}"))
        .header("Accept", "text/csv")
        .body(Empty::new())
        .unwrap()
}

fn data(quads: usize) -> String {
    let triples: String = (0..quads).map(|i| format!("<http://e/s{i}> <http://e/p> {i} . ")).collect();
    format!("INSERT DATA {{ {triples} }}")
}

#[test]
fn many_requests_on_one_connection() {
    let address = serve_data(&data(20_000), ServerOptions::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let sender = connect(address, 1 << 20).await;
        let requests = (0..100).map(|number| {
            let mut sender = sender.clone();
            let query = if number % 2 == 0 { "SELECT*{?s?p?o}" } else { "SELECT(COUNT(*)AS?n){?s?p?o}" };
            tokio::spawn(async move {
                sender.ready().await.unwrap();
                let answer = sender.send_request(request(&format!("/sparql?query={query}"))).await.unwrap();
                assert_eq!((answer.status().as_u16(), answer.version()), (200, hyper::Version::HTTP_2));
                let text = answer.into_body().collect().await.unwrap().to_bytes();
                assert_eq!(
                    text.iter().filter(|byte| **byte == b'\n').count(),
                    if number % 2 == 0 { 20_001 } else { 2 }
                );
            })
        });
        for request in requests.collect::<Vec<_>>() {
            tokio::time::timeout(LONG, request).await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_client_that_takes_nothing_of_one_answer_is_cut_off() {
    let options = ServerOptions {
        stall_max: Duration::from_millis(500),
        timeout: LONG * 10,
        ..ServerOptions::default()
    };
    let address = serve_data(&data(50_000), options);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let _inside = runtime.enter();
    // The window of one stream is never opened again, while the connection answers to pings.
    let (answer, sender) = runtime.block_on(async {
        let mut sender = connect(address, 1 << 10).await;
        let answer = sender.send_request(request("/sparql?query=SELECT*{?s?p?o.?a?b?c}")).await.unwrap();
        (answer, sender)
    });
    let runs = || !crate::requests(address, "running").is_empty();
    assert!(runs());
    wait_for("its query has ended", || !runs());
    drop((answer, sender));
}
