//! Tells the service manager how the server does: datagrams to the socket of `NOTIFY_SOCKET`, as systemd's `Type=notify` has them
//! (sd_notify(3)). Nothing happens where nobody has asked for them.

use std::time::Duration;

/// Who wants to be told, as the environment says.
pub struct Notifier {
    #[cfg(target_os = "linux")]
    socket: Option<(std::os::unix::net::UnixDatagram, std::os::unix::net::SocketAddr)>,
    /// The longest that may be between two signs of life.
    silence_max: Option<Duration>,
}

impl Notifier {
    /// Reads the environment. A socket that is not there, or of another kind, is told of as an error and then passed over: a server
    /// serves whoever has started it.
    pub fn of_environment() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name: &str| variable(name)?.to_str()?.parse::<u64>().ok();
        let is_mine = number("WATCHDOG_PID").is_none_or(|id| id == u64::from(std::process::id()));
        let silence_max = number("WATCHDOG_USEC").filter(|micros| is_mine && *micros > 0);
        Self {
            #[cfg(target_os = "linux")]
            socket: variable("NOTIFY_SOCKET").and_then(|path| match linux::socket(&path) {
                Ok(socket) => Some(socket),
                Err(error) => {
                    tracing::error!("NOTIFY_SOCKET={}: {error}", path.display());
                    None
                }
            }),
            silence_max: silence_max.map(Duration::from_micros),
        }
    }

    /// It answers now.
    pub fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}\nMAINPID={}\n", std::process::id()));
    }

    /// It will end.
    pub fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=stopping\n");
    }

    /// Gives signs of life, twice as often as is asked for, as long as the runtime gets round to it. Never ends.
    pub async fn live(&self) {
        let Some(silence_max) = self.silence_max else { return std::future::pending().await };
        let mut times = tokio::time::interval(silence_max / 2);
        loop {
            times.tick().await;
            self.tell("WATCHDOG=1\n");
        }
    }

    fn tell(&self, message: &str) {
        #[cfg(target_os = "linux")]
        if let Some((socket, address)) = &self.socket
            && let Err(error) = socket.send_to_addr(message.as_bytes(), address)
        {
            tracing::error!("the service manager cannot be told: {error}");
        }
        #[cfg(not(target_os = "linux"))]
        let _ = message;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! Its socket: a path, or a name behind `@` that is in no file system.

    use std::ffi::OsStr;
    use std::io;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    /// A socket to send from, and the address to send to.
    pub fn socket(path: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
        let address = match path.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            [b'/', ..] => SocketAddr::from_pathname(path)?,
            _ => return Err(io::Error::new(io::ErrorKind::Unsupported, "expected a path, or @ and a name")),
        };
        let socket = UnixDatagram::unbound()?;
        // Whoever does not take messages must not halt the server.
        socket.set_nonblocking(true)?;
        Ok((socket, address))
    }
}
