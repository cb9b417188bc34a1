//! What each role may take, on the command line of `lode serve`.

use clap::Args;
use lode_server::{LimitsOfRoles, RoleLimits};

/// Limits of roles.
#[derive(Debug, Clone, Copy, Args)]
pub struct LimitArgs {
    /// What requests without a name may take; each client of its own address: time=SECONDS, memory=BYTES of operators, rows=N and bytes=BYTES of an
    /// answer, requests=N at once, requests-a-minute=N, query-bytes=BYTES of the text, reads=N rows that a query would read, by its plan. In a
    /// file they are the table [limits.anonymous]
    #[arg(long, value_name = "LIMIT=VALUE,...")]
    pub limits_anonymous: Option<RoleLimits>,
    /// The same of users and tokens with the role read, each of its own: [limits.read]
    #[arg(long, value_name = "LIMIT=VALUE,...")]
    pub limits_read: Option<RoleLimits>,
    /// The same with the role update: [limits.update]
    #[arg(long, value_name = "LIMIT=VALUE,...")]
    pub limits_update: Option<RoleLimits>,
    /// The same with the role admin: [limits.admin]
    #[arg(long, value_name = "LIMIT=VALUE,...")]
    pub limits_admin: Option<RoleLimits>,
}

impl LimitArgs {
    pub fn roles(&self) -> LimitsOfRoles {
        LimitsOfRoles {
            anonymous: self.limits_anonymous.unwrap_or_default(),
            read: self.limits_read.unwrap_or_default(),
            update: self.limits_update.unwrap_or_default(),
            admin: self.limits_admin.unwrap_or_default(),
        }
    }
}
