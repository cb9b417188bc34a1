//! The page at the root of several databases: which there are for who asks, how much is in them, and where each is.

use super::Entry;
use crate::access::Identity;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use std::fmt::Write as _;

/// The page has a style and a picture of its own, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// As the page of a database looks (page/style.css), as far as it is needed here.
const STYLE: &str = "\
:root{color-scheme:light dark;--line:light-dark(#dde2e4,#2c343a);--muted:light-dark(#56636b,#98a5ad);--accent:light-dark(#0f6b7a,#58bccb);--surface:light-dark(#fff,#1a1f23)}\
body{margin:0;font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;background:light-dark(#f7f8f8,#14181b);color:light-dark(#1b2328,#dfe5e8)}\
header{display:flex;align-items:center;gap:8px;padding:0 16px;min-height:48px;background:var(--surface);border-bottom:1px solid var(--line);font-weight:650;font-size:16px}\
header svg{width:22px;height:22px;fill:var(--accent);stroke:var(--surface);stroke-width:1.3}\
main{max-width:1000px;margin:0 auto;padding:20px 16px 48px}\
h1{font-size:20px;line-height:1.3;font-weight:650;margin:0 0 4px}\
.card{background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:4px 16px;margin:16px 0;overflow-x:auto}\
a{color:var(--accent);text-decoration:none}a:hover,a:focus-visible{text-decoration:underline}\
td>a:first-child{font-weight:600;font-size:15px}td.to a:first-child{font-weight:400;font-size:14px}\
table{border-collapse:collapse;width:100%}\
th{color:var(--muted);font-size:12px;font-weight:600}\
th,td{text-align:left;padding:8px 24px 8px 0;border-bottom:1px solid var(--line);vertical-align:baseline}\
th:last-child,td:last-child{padding-right:0}tr:last-child td{border-bottom:0}\
.n{text-align:right;font-variant-numeric:tabular-nums}\
.muted{color:var(--muted);font-size:13px}code{font:12px ui-monospace,monospace}";
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='%230f6b7a' stroke='%23fff' stroke-width='1.3'%3E\
                    %3Cpath d='M10 1.5l7.4 4.25v8.5L10 18.5l-7.4-4.25v-8.5z'/%3E%3Cpath d='M10 1.5v8.5M10 10l7.4 4.25M10 10l-7.4 4.25'/%3E%3C/svg%3E";
const LOGO: &str = "<svg viewBox=\"0 0 20 20\" aria-hidden=\"true\"><path d=\"M10 1.5l7.4 4.25v8.5L10 18.5l-7.4-4.25v-8.5z\"/>\
                    <path d=\"M10 1.5v8.5M10 10l7.4 4.25M10 10l-7.4 4.25\"/></svg>";

/// A database, as it is listed.
pub(super) struct Listed {
    name: String,
    /// Its quads; none where it is closed, or who asks may not know how many there are.
    quads: Option<u64>,
    is_open: bool,
}

impl Listed {
    /// A database for who asks.
    pub(super) fn new(name: String, entry: &Entry, identity: &Identity) -> Self {
        let sees_all = identity.graph_rules().reads_all();
        match entry {
            Entry::Open(mounted) => {
                let quads = sees_all.then(|| mounted.state.database.snapshot().quad_count());
                Self { name, quads, is_open: true }
            }
            Entry::Closed(_) => Self { name, quads: None, is_open: false },
        }
    }
}

/// The page.
pub(super) fn page(databases: &[Listed]) -> Response {
    let fields = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let mut response = (fields, text(databases)).into_response();
    let opener = HeaderName::from_static("cross-origin-opener-policy");
    response.headers_mut().insert(opener, HeaderValue::from_static("same-origin"));
    response
}

fn text(databases: &[Listed]) -> String {
    let mut rows = String::new();
    for database in databases {
        row(database, &mut rows);
    }
    let list = match databases.is_empty() {
        true => "<p>There are none yet.</p>\n".to_owned(),
        false => format!(
            "<p class=\"muted\">{}</p>\n<div class=\"card\"><table>\n<thead><tr><th scope=\"col\">Database</th><th scope=\"col\" class=\"n\">Quads</th>\
             <th scope=\"col\">Page</th><th scope=\"col\">Endpoint</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
            sum(databases)
        ),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Databases · Lodestore</title>\n<link rel=\"icon\" href=\"{ICON}\">\n<style>{STYLE}</style>\n</head>\n<body>\n<header>{LOGO}Lodestore</header>\n\
         <main>\n<h1>Databases</h1>\n{list}\
         <p class=\"muted\">Administrators make one with <code>POST /admin/databases?name=NAME</code>; <a href=\"/health/ready\">health</a> of all.</p>\n\
         </main>\n</body>\n</html>\n"
    )
}

/// How many there are, and their quads together, where all of them are known.
fn sum(databases: &[Listed]) -> String {
    let count = databases.len();
    let databases_text = format!("{count} database{}", if count == 1 { "" } else { "s" });
    match databases.iter().map(|database| database.quads).sum::<Option<u64>>() {
        Some(quads) => format!("{databases_text}, {} quads", grouped(quads)),
        None => databases_text,
    }
}

/// Names have nothing that HTML would take for something else.
fn row(Listed { name, quads, is_open }: &Listed, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match is_open {
        true => writeln!(
            out,
            "<tr><td><a href=\"/{name}/\">{name}</a></td><td class=\"n\">{}</td><td class=\"to\"><a href=\"/{name}/\">Query</a> · <a href=\"/{name}/#browse\">Browse</a> · \
             <a href=\"/{name}/#data\">Data</a></td><td><code>/{name}/sparql</code></td></tr>",
            quads.map(grouped).unwrap_or_default()
        ),
        false => writeln!(
            out,
            "<tr><td><a href=\"/{name}/\">{name}</a></td><td></td><td class=\"muted\" colspan=\"2\">closed: its administrator can see why, and open it</td></tr>"
        ),
    };
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<String> =
        digits.as_bytes().rchunks(3).rev().map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    //! What the page has.
    use super::{Listed, text};

    #[test]
    fn databases_with_their_counts_and_links() {
        let listed = |name: &str, quads, is_open| Listed { name: name.to_owned(), quads, is_open };
        let page = text(&[
            listed("a", Some(1_234_567), true),
            listed("hidden", None, true),
            listed("shut", None, false),
        ]);
        for part in [
            "<a href=\"/a/\">a</a></td><td class=\"n\">1,234,567</td>",
            "<code>/a/sparql</code>",
            "<a href=\"/hidden/\">hidden</a></td><td class=\"n\"></td>",
            "<a href=\"/shut/\">shut</a></td><td></td><td class=\"muted\" colspan=\"2\">closed",
            "<p class=\"muted\">3 databases</p>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("/shut/sparql") && !page.contains("<script"));
        assert!(text(&[]).contains("none yet"));
        assert!(text(&[listed("a", Some(1000), true)]).contains("1 database, 1,000 quads"));
    }
}
