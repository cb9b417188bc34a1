//! Where the server listens: an address of the network, or a socket of the file system; and who has come from there.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bind {
    /// An address of the network; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A socket of the file system, which is made, and removed at the end.
    Unix(PathBuf),
}

impl Bind {
    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl From<SocketAddr> for Bind {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    /// Somebody on this machine whom the socket's permissions let in.
    Unix,
}

impl Peer {
    /// Whether it is on this machine.
    pub(crate) fn is_local(self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix => true,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix => f.write_str("unix"),
        }
    }
}

/// What listens.
pub(crate) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
}

impl Listener {
    pub(crate) async fn bind(bind: &Bind) -> io::Result<Self> {
        match bind {
            Bind::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            #[cfg(unix)]
            Bind::Unix(path) => {
                let (listener, file) = unix(path)?;
                Ok(Self::Unix(listener, file))
            }
            #[cfg(not(unix))]
            Bind::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The address, with its port.
    pub(crate) fn bound(&self) -> io::Result<Bind> {
        match self {
            Self::Tcp(listener) => Ok(Bind::Tcp(listener.local_addr()?)),
            #[cfg(unix)]
            Self::Unix(_, file) => Ok(Bind::Unix(file.0.clone())),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Header and body are small packets: without this, Nagle's algorithm and delayed ACKs cost 40 ms an answer.
                // A socket that refuses the option still works.
                let _ = stream.set_nodelay(true);
                Ok((Stream::Tcp(stream), Peer::Tcp(peer)))
            }
            #[cfg(unix)]
            Self::Unix(listener, _) => Ok((Stream::Unix(listener.accept().await?.0), Peer::Unix)),
        }
    }
}

/// The file of a socket, removed when dropped.
#[cfg(unix)]
pub(crate) struct SocketFile(PathBuf);

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A socket of the file system. One that nobody listens to any more, as a killed server leaves it, is replaced.
#[cfg(unix)]
fn unix(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket {
        let refused = std::os::unix::net::UnixStream::connect(path).err();
        if refused.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            std::fs::remove_file(path)?;
        }
    }
    let listener = UnixListener::bind(path)?;
    let file = SocketFile(path.to_owned());
    // The owner and the group: who else may connect is for the folder's permissions to say.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
    Ok((listener, file))
}

/// A connection.
pub(crate) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
