//! What is said when a server begins: where it is, and who may what.

use crate::number;
use crate::serve_log::Teller;
use lode_server::{Bind, Role, Served, Server};

/// Says where the server is, and who may what.
pub fn greet(server: &Server, bound: &Bind, served: Option<&Served>, teller: &Teller) {
    if let Some(fingerprint) = server.fingerprint() {
        teller.tell(&format!("Certificate      SHA-256 {fingerprint}"));
    }
    if matches!(bound, Bind::Unix(_)) {
        teller.tell(&format!("Socket           {bound}"));
    }
    addresses(server, &base(server, bound), served).iter().for_each(|line| teller.tell(line));
    if let Some(line) = of_users(bound, server.users(), server.issuer().is_some()) {
        teller.tell(&line);
    }
    if let Some(issuer) = server.issuer() {
        teller.tell(&format!("Tokens           those of {issuer}, too"));
    }
    teller.tell("Ctrl+C stops.");
}

/// What all addresses begin with.
pub fn base(server: &Server, bound: &Bind) -> String {
    let scheme = if server.fingerprint().is_some() { "https" } else { "http" };
    match bound {
        Bind::Tcp(address) => format!("{scheme}://{address}"),
        Bind::Unix(_) => format!("{scheme}://localhost"),
    }
}

/// Where is what.
fn addresses(server: &Server, base: &str, served: Option<&Served>) -> Vec<String> {
    if let Some((open, closed)) = server.databases() {
        let those_closed = if closed == 0 { String::new() } else { format!(", {closed} of them closed") };
        return vec![
            format!("Databases        {}{those_closed}, listed at {base}/", open + closed),
            format!("Each of them     {base}/NAME, with /sparql, /data and a page below"),
        ];
    }
    let mut lines = vec![format!("SPARQL endpoint  {base}/sparql")];
    if served.is_some_and(|served| served.database.store().is_writable()) {
        lines.push(format!("Graphs           {base}/data"));
    }
    lines.push(format!("Query page       {base}/"));
    lines
}

/// Who may what, unless that is what it always was.
fn of_users(
    bound: &Bind,
    (users, tokens, anonymous): (usize, usize, Option<Role>),
    has_issuer: bool,
) -> Option<String> {
    let role = match anonymous {
        None => "nothing".to_owned(),
        Some(role) => format!("the role {role}"),
    };
    if has_issuer || users + tokens > 0 {
        let tokens = number::of(tokens as u64, "token");
        return Some(format!("Users            {users}, and {tokens}; without a name: {role}"));
    }
    (!bound.is_local()).then(|| {
        format!("Users            none: everybody who can reach this address has {role} (lode user add, --anonymous)")
    })
}
