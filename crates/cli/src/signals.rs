//! What the system tells a server: to end, and to read its configuration again.

/// What asks for the configuration to be read again: from when this is made that does not end the process, so it is made before anybody can
/// know that the server is there.
pub struct HangUps(#[cfg(unix)] tokio::signal::unix::Signal);

impl HangUps {
    pub fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        return Ok(Self(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?));
        #[cfg(not(unix))]
        Ok(Self())
    }

    /// Waits for the next one; whether there can be any.
    pub async fn next(&mut self) -> bool {
        #[cfg(unix)]
        return self.0.recv().await.is_some();
        #[cfg(not(unix))]
        false
    }
}

/// What asks the process to end: from when this is made that is not the end at once.
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    pub fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ready at the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        // Without a handler the default action ends the process.
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await)
    }
}
