//! What a worker does, for Prometheus: one page over plain HTTP, on an address of its own.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

const HEAD_BYTES_MAX: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(5);
/// Who asks while so many do waits.
const AT_ONCE: usize = 8;
/// After a failure to take a connection, which passes when others are closed.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes the text.
pub type Page = Arc<dyn Fn() -> String + Send + Sync>;

/// Listens; answers once [`serve`] is run.
///
/// # Errors
/// Where the address is taken, or not of this machine.
pub async fn listen(at: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(at).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Answers until the runtime ends.
pub async fn serve(listener: TcpListener, page: Page) {
    let free = Arc::new(Semaphore::new(AT_ONCE));
    while let Ok(permit) = Arc::clone(&free).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let page = Arc::clone(&page);
        tokio::spawn(async move {
            // Who is slow, or goes away, gets no page.
            let _ = timeout(PATIENCE, answer(stream, &page)).await;
            drop(permit);
        });
    }
}

async fn answer(mut stream: TcpStream, page: &Page) -> io::Result<()> {
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut part).await?;
        if read == 0 || head.len() + read > HEAD_BYTES_MAX {
            return Ok(());
        }
        head.extend_from_slice(part.get(..read).unwrap_or_default());
    }
    let (status, text) = match head.split(|byte| *byte == b' ').take(2).collect::<Vec<_>>()[..] {
        [b"GET", b"/metrics"] => ("200 OK", page()),
        [b"GET", _] => ("404 Not Found", "there is only /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "there is only GET /metrics\n".to_owned()),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    //! What is answered to whom.
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn only_metrics_are_told() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let at = "127.0.0.1:0".parse().unwrap();
        let (listener, address) = runtime.block_on(listen(at)).unwrap();
        runtime.spawn(serve(listener, Arc::new(|| "lode_x 1\n# EOF\n".to_owned())));
        let ask = |text: &str| {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            answer
        };
        assert!(ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").ends_with("\r\n\r\nlode_x 1\n# EOF\n"));
        assert!(ask("GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(ask(&"x".repeat(HEAD_BYTES_MAX * 2)).is_empty());
        // Those who only connect keep nobody else out for long.
        let silent: Vec<_> =
            (0..AT_ONCE - 1).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
        assert!(ask("GET /metrics HTTP/1.0\r\n\r\n").contains("lode_x"));
        drop(silent);
    }
}
