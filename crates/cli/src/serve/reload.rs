//! What of a server's configuration is read again when somebody asks for it (SIGHUP).

use crate::args::Command;
#[cfg(feature = "tls")]
use crate::args::ServeArgs;
use crate::memory::SharedMemory;
use crate::serve_config::{self, Setting};
use crate::signals::HangUps;
use lode_server::{Control, Limits};

/// What is read again when somebody asks for it.
#[derive(Default)]
pub struct Reload {
    /// As they were when they were read last.
    pub settings: Vec<Setting>,
    pub memory: Option<SharedMemory>,
}

/// Options that change while the server runs.
const RELOADED: [&str; 16] = [
    "timeout",
    "update-timeout",
    "download-timeout",
    "update-bytes-max",
    "transaction-quads-max",
    "slow-query",
    "limits-anonymous",
    "limits-read",
    "limits-update",
    "limits-admin",
    "oidc-issuer",
    "oidc-audience",
    "oidc-jwks",
    "oidc-name-claim",
    "oidc-roles-claim",
    "oidc-role",
];

impl Reload {
    /// Never ends.
    pub async fn whenever_asked(mut self, mut hang_ups: HangUps, control: Control) {
        while hang_ups.next().await {
            let at = control.clone();
            let done = tokio::task::spawn_blocking(move || {
                self.once(&at);
                self
            });
            match done.await {
                Ok(reload) => self = reload,
                Err(_) => break,
            }
        }
        std::future::pending().await
    }

    /// Reads the configuration, users, and the certificate, and opens logs anew; tells what came of it.
    fn once(&mut self, control: &Control) {
        for (name, error) in control.logs().reopen() {
            tracing::error!("log {name}: {error}; the one of before is written to");
        }
        control.read_files();
        let Some(memory) = &self.memory else { return };
        let args = match serve_config::parse_again() {
            Ok(cli) => match cli.command {
                Command::Serve(args) => args,
                _ => return,
            },
            Err(error) => return tracing::error!("{error:#}; the configuration of before stays"),
        };
        control.set_limits(Limits {
            timeout: args.timeout,
            update_timeout: args.update_timeout,
            download_timeout: args.download_timeout,
            update_bytes_max: args.update_bytes_max.unwrap_or_else(|| memory.update_bytes_max()),
            transaction_quads_max: args.transaction_quads_max,
            roles: args.limits.roles(),
        });
        #[cfg(feature = "tls")]
        if let Err(error) = believe(&args, control) {
            tracing::error!("{error}; the tokens of before are believed");
        }
        control.logs().slow_min.set(args.slow_query);
        let now = serve_config::settings();
        let (at_once, later): (Vec<String>, Vec<String>) = serve_config::changed(&self.settings, &now)
            .into_iter()
            .partition(|name| RELOADED.contains(&name.as_str()));
        let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        tracing::info!("read again: logs, users, certificate, configuration; changed: {}", list(&at_once));
        if !later.is_empty() {
            tracing::warn!("changed, but only from the next start on: {}", list(&later));
        }
        // What waits for the next start is told each time.
        let is_later = |setting: &Setting| later.contains(&setting.name);
        let kept = self.settings.iter().filter(|setting| is_later(setting)).cloned();
        self.settings = kept.chain(now.iter().filter(|setting| !is_later(setting)).cloned()).collect();
    }
}

/// Believes tokens of the provider that the options name.
#[cfg(feature = "tls")]
fn believe(args: &ServeArgs, control: &Control) -> Result<(), String> {
    control.set_oidc(args.oidc.provider()?).map_err(|error| error.to_string())
}
