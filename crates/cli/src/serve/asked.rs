//! What the options of a server say, once they were looked at together: what is served, and how.

use super::checks::{
    backup_folder, check_address, check_folder, check_kind, check_links, check_logs, check_place,
    check_together, told,
};
use crate::args::{Place, ServeArgs};
use crate::exit::wrong_usage;
use crate::link_thread::LinkThread;
use crate::memory::SharedMemory;
use crate::opening::Opening;
use crate::published;
use crate::server_client::secret;
use anyhow::{Context, bail};
use lode_engine::LoadAllow;
use lode_rdf::parse::StatementLimit;
use lode_remote::Address;
use lode_server::{Databases, Logs, Served, ServerOptions, Users};
use std::path::PathBuf;

/// What is served.
pub enum Content {
    One(Served),
    Several(Databases),
}

/// What is asked for.
pub struct Asked<'a> {
    args: &'a ServeArgs,
    place: Place<'a>,
    /// That of a published database.
    address: Option<Address>,
    publish_to: Option<Address>,
    load: LoadAllow,
    backup_folder: Option<PathBuf>,
    admin_token: Option<String>,
}

impl<'a> Asked<'a> {
    /// What the options say; refuses what cannot be.
    pub fn of(args: &'a ServeArgs) -> anyhow::Result<Self> {
        let load = LoadAllow::new(&args.allow_load)
            .map_err(anyhow::Error::msg)
            .with_context(|| told("allow-load"))?;
        let nothing = || {
            wrong_usage("what is to be served? Name the folder of a database (lode serve my.db), or that of several (lode serve --databases DIR)".to_owned())
        };
        let place = args.place().ok_or_else(nothing)?;
        let address = match place {
            Place::One(path) => published::address(path)?,
            Place::Several(_) => None,
        };
        if address.is_none() {
            check_kind(&place)?;
        }
        let publish_to = check_links(args, address.as_ref())?;
        if !args.check_config {
            check_address(place.path(), &args.bind)?;
        }
        if let Place::Several(folder) = place {
            check_folder(folder, !args.must_exist && !args.read_only && !args.check_config)?;
        }
        let backup_folder = args.backup_dir.as_deref().map(|folder| backup_folder(folder, place.path()));
        let backup_folder = backup_folder.transpose()?;
        if let Some(users) = args.users.as_deref().filter(|users| !users.exists()) {
            bail!("{}: there is no file {} (lode user add makes it)", told("users"), users.display());
        }
        check_together(args)?;
        let admin_token = match (&args.admin_token, &args.admin_token_file) {
            (Some(token), _) => Some(token.clone()),
            (None, Some(path)) => Some(secret(path).with_context(|| told("admin-token-file"))?),
            (None, None) => None,
        };
        Ok(Self { args, place, address, publish_to, load, backup_folder, admin_token })
    }

    /// Where users are. Of a database: once it is there.
    fn users_file(&self) -> PathBuf {
        self.args.users.clone().unwrap_or_else(|| Users::file_of(self.place.path()))
    }

    /// Refuses what would be refused later.
    pub fn check_all(&self) -> anyhow::Result<()> {
        let args = self.args;
        if self.address.is_none() {
            check_place(&self.place, args)?;
        }
        Users::read_or_empty(&self.users_file()).with_context(|| told("users"))?;
        #[cfg(feature = "tls")]
        if let Some(tls) = tls(args) {
            tls.check().with_context(|| told("tls-cert"))?;
        }
        check_logs(args)?;
        SharedMemory::new(&args.evaluation).query_options(&args.evaluation)?;
        Ok(())
    }

    /// Opens what is served.
    pub fn open(&self, memory: &SharedMemory) -> anyhow::Result<(Content, Option<LinkThread>)> {
        let args = self.args;
        let opening = Opening::new(args, memory)?;
        Ok(match (&self.place, &self.address) {
            (Place::One(_), Some(address)) => {
                let (served, link) = opening.published(address, &args.object_cache, args.follow)?;
                (Content::One(served), link)
            }
            (Place::One(path), None) => {
                let (mut served, mut link) = (opening.one(path)?, None);
                if let Some(publish) = &self.publish_to {
                    let (told, thread) = LinkThread::publish(&served.database, publish, args.publish_every)?;
                    (served.link, link) = (Some(told), Some(thread));
                }
                (Content::One(served), link)
            }
            (Place::Several(folder), _) => (Content::Several(opening.all(folder)), None),
        })
    }

    /// How it is served.
    pub fn options(&self, memory: &SharedMemory, logs: Logs) -> anyhow::Result<ServerOptions> {
        let args = self.args;
        let update_bytes_max = args.update_bytes_max.unwrap_or_else(|| memory.update_bytes_max());
        let bodies_bytes_max = args.bodies_bytes_max.unwrap_or_else(|| memory.bodies_bytes_max());
        let query = memory.query_options(&args.evaluation)?;
        #[cfg(feature = "cluster")]
        let query =
            lode_engine::QueryOptions { elsewhere: crate::cluster::elsewhere(&args.workers)?, ..query };
        Ok(ServerOptions {
            query,
            timeout: args.timeout,
            update_timeout: args.update_timeout,
            transaction_idle_max: args.transaction_idle,
            transaction_age_max: args.transaction_age,
            decoded_bytes_max: args.decoded_bytes_max as u64,
            update_bytes_max,
            bodies_bytes_max: bodies_bytes_max.max(update_bytes_max),
            download_timeout: args.download_timeout,
            statement_limit: StatementLimit::new(
                args.statement_bytes_max.unwrap_or_else(|| memory.statement_bytes_max()),
            ),
            transaction_quads_max: args.transaction_quads_max,
            load: self.load.clone(),
            connections_max: args.connections_max,
            // Who waits holds a connection: others must find one.
            waiting_max: (args.connections_max / 2).max(1),
            short_running_max: memory.short_running_max(),
            hosts: args.host.clone(),
            #[cfg(feature = "tls")]
            tls: tls(args),
            logs,
            roles: args.limits.roles(),
            trusted_proxies: args.trusted_proxy.clone(),
            compression: !args.no_compression,
            cors: args.cors.clone(),
            // A published database has no folder for them.
            users: (args.users.is_some() || self.address.is_none()).then(|| self.users_file()),
            anonymous: args.anonymous,
            admin_token: self.admin_token.clone(),
            #[cfg(feature = "tls")]
            oidc: args.oidc.provider().map_err(wrong_usage)?,
            backup_folder: self.backup_folder.clone(),
            ..ServerOptions::default()
        })
    }
}

/// Where the certificate comes from.
#[cfg(feature = "tls")]
fn tls(args: &ServeArgs) -> Option<lode_server::Tls> {
    match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(lode_server::Tls::Files { certificate: certificate.clone(), key: key.clone() })
        }
        _ => args.tls_self_signed.then_some(lode_server::Tls::SelfSigned),
    }
}
