//! The endpoint: the SPARQL 1.1 Protocol and the Graph Store HTTP Protocol. The only async code of the project: it receives, hands
//! the work to a blocking thread, and streams what that thread reads and writes.

mod access;
mod addresses;
mod admin;
mod admission;
mod api;
mod app;
mod asker;
mod body;
mod body_memory;
mod catalog;
mod coding;
mod compress;
mod connections;
mod data;
mod database_routes;
mod deadline;
mod described;
mod error;
mod figures;
mod guard;
mod health;
mod in_place;
mod kept;
mod kept_routes;
mod lane;
mod limits;
mod link;
mod listener;
mod long_query;
mod min_version;
mod negotiate;
mod network;
mod observe;
mod open_transactions;
mod origin;
mod page;
mod page_files;
mod problem;
mod progress;
mod protocol;
mod query;
mod rdf4j;
mod request;
mod running;
mod seat;
mod server_error;
mod shacl;
mod slow_client;
mod state;
mod stream;
#[cfg(feature = "tls")]
mod tls;
mod unread;
mod update;
mod validator;
mod warnings;
mod why;
mod worded;
mod written;

pub use written::is_offered;

pub use access::{Anonymous, Graphs, Rights, Role, UserError, Users};
#[cfg(feature = "tls")]
pub use access::{KeyPlace, Oidc};
pub use addresses::{Address, OF_DATABASE, OF_ONE_OF_SEVERAL, OF_SERVER};
pub use app::{Control, Requests, Server};
pub use catalog::{Databases, Opener, Wish};
pub use limits::{Limits, LimitsOfRoles, RoleLimits};
pub use link::{Link, LinkRole, LinkVersion};
pub use listener::Bind;
pub use network::Network;
pub use observe::{LogFile, LogFormat, Logs, SlowMin, Traces};
pub use origin::CorsOrigin;
pub use server_error::ServerError;
pub use state::{Served, ServerOptions};
#[cfg(feature = "tls")]
pub use tls::Tls;
