//! The addresses of a server.

use super::{code, plain, table};
use lode_server::{Address, OF_DATABASE, OF_ONE_OF_SEVERAL, OF_SERVER, Role};

const HEAD: &str = "\
# Endpoints

The addresses of `lode serve`. HEAD goes where GET goes; OPTIONS tells the methods of each. The role is the least that a request takes where there are users
([A public endpoint](../public-endpoint.md)); an update takes `update` also where an address takes queries, too. Who runs a kept query, the query says itself.

## A database

Of a server with one database these are its addresses. Of a server with several (`--databases`) they are below `/NAME`, and what everybody may ask here takes `read` there.

";
const ONE: &str = "\
## One of several databases

Besides those above, a database of several has below `/NAME`:

";
const SERVER: &str = "\
## A server with several databases

Lists have what one may read.

";

pub fn page() -> String {
    let of = |prefix: &str, addresses: &[Address]| {
        // Of its own addresses a server with several asks for the role admin or none.
        let is_server = addresses == OF_SERVER;
        let rows = addresses.iter().map(|address| {
            let path = format!("{prefix}{}", address.path);
            vec![code(&path), roles(address, is_server), plain(address.what)]
        });
        table(&["Address", "Methods and roles", "What it is"], rows)
    };
    let text = [HEAD, &of("", OF_DATABASE), ONE, &of("/NAME", OF_ONE_OF_SEVERAL), SERVER, &of("", OF_SERVER)]
        .concat();
    text.trim_end().to_owned() + "\n"
}

/// The methods, by the role that they take.
fn roles(address: &Address, is_server: bool) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for method in address.methods.split(", ").filter(|method| !["HEAD", "OPTIONS"].contains(method)) {
        let role = address.role(method).filter(|role| !is_server || *role == Role::Admin);
        let role = role.map_or_else(|| "everybody".to_owned(), |role| code(&role.to_string()));
        match groups.iter_mut().find(|(known, _)| *known == role) {
            Some((_, methods)) => methods.push(method),
            None => groups.push((role, vec![method])),
        }
    }
    let told = groups.iter().map(|(role, methods)| format!("{}: {role}", methods.join(", ")));
    told.collect::<Vec<_>>().join("; ")
}
