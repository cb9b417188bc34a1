//! Proxies that are believed, and what they say of their clients.

use crate::listener::Peer;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// Addresses that are looked at: no chain of proxies is longer.
const HOPS_MAX: usize = 20;

/// Those that are believed: a network, one address, or whoever comes by the socket of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Addresses with the same beginning.
    Ip(IpNet),
    /// The socket of the file system.
    Unix,
}

impl Network {
    /// Reads `10.0.0.0/8`, `::1` or `unix`.
    ///
    /// # Errors
    /// Where it is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "unix" {
            return Ok(Self::Unix);
        }
        let network = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        network.map(Self::Ip).ok_or_else(|| {
            format!("{text}: expected an address, a network such as 10.0.0.0/8 or fd00::/8, or unix")
        })
    }

    fn has(&self, peer: Peer) -> bool {
        match (self, peer) {
            (Self::Ip(network), Peer::Tcp(address)) => network.contains(&address.ip().to_canonical()),
            (Self::Unix, Peer::Unix) => true,
            _ => false,
        }
    }
}

/// Whether a request came through a proxy that nobody believes: then nobody knows that its client is on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThroughStranger(pub(crate) bool);

/// What is known of a request's client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) peer: Peer,
    pub(crate) stranger: ThroughStranger,
}

/// Whether the client's connection to a proxy that is believed is encrypted: what others say of it is not in the head any more.
pub(crate) fn is_secure(headers: &HeaderMap) -> bool {
    headers.contains_key(PROTO)
}

/// An address, or the network that one client of IPv6 has all addresses of.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        v4 => v4,
    }
}

/// The client of a request. What proxies say is taken out of the head, unless they are believed. Where the proxy says which host the
/// client has asked for, that is the host.
pub(crate) fn client(peer: Peer, headers: &mut HeaderMap, trusted: &[Network]) -> Client {
    let is_trusted = |peer: Peer| trusted.iter().any(|network| network.has(peer));
    let (chain, has_unreadable) = chain(headers);
    let (proto, host) = (headers.remove(PROTO), headers.remove(HOST));
    let (noted, forwarded) = (headers.remove(FOR).is_some(), headers.remove(header::FORWARDED).is_some());
    let through = noted | forwarded | proto.is_some() | host.is_some();
    if !is_trusted(peer) {
        return Client { peer, stranger: ThroughStranger(through) };
    }
    // From the nearest one on: the first that is none of the proxies.
    let mut others =
        chain.into_iter().rev().take(HOPS_MAX).map(|address| Peer::Tcp(SocketAddr::new(address, 0)));
    let stranger = others.clone().find(|other| !is_trusted(*other));
    // Where it says of a client what cannot be read here, it is not known to be on this machine.
    let is_unknown = stranger.is_none() && (has_unreadable || forwarded && !noted);
    let client = stranger.or_else(|| others.next_back());
    if let Some(host) = host.filter(|host| !host.as_bytes().contains(&b',')) {
        headers.insert(header::HOST, host);
    }
    if let Some(proto) = proto.filter(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https")) {
        headers.insert(PROTO, proto);
    }
    Client { peer: client.unwrap_or(peer), stranger: ThroughStranger(is_unknown) }
}

/// The addresses that proxies have noted, the client's own words first. Behind one that cannot be read nothing is believed;
/// whether there was one.
fn chain(headers: &HeaderMap) -> (Vec<IpAddr>, bool) {
    let fields = headers.get_all(FOR).iter().map(|value| HeaderValue::to_str(value).unwrap_or("unreadable"));
    let (mut addresses, mut has_unreadable) = (Vec::new(), false);
    for text in fields.flat_map(|field| field.split(',')) {
        match address(text.trim()) {
            Some(address) => addresses.push(address.to_canonical()),
            None => {
                addresses.clear();
                has_unreadable = true;
            }
        }
    }
    (addresses, has_unreadable)
}

/// An address, perhaps with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.split(']').next()).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    //! Who is believed.
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer::Tcp(text.parse().unwrap())
    }

    fn head(fields: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_what_trusted_proxies_have_added_counts() {
        let trusted = [Network::parse("10.0.0.0/8").unwrap(), Network::parse("::1").unwrap()];
        for (from, noted, client_is) in [
            ("10.1.2.3:9", "203.0.113.7", "203.0.113.7:0"),
            ("10.1.2.3:9", "1.1.1.1, 203.0.113.7, 10.9.9.9", "203.0.113.7:0"),
            ("[::1]:9", "[2001:db8::1]:443", "[2001:db8::1]:0"),
            ("10.1.2.3:9", "127.0.0.1, 203.0.113.7:55", "203.0.113.7:0"),
            ("10.1.2.3:9", "10.0.0.1, 10.0.0.2", "10.0.0.1:0"),
            ("10.1.2.3:9", "rubbish", "10.1.2.3:9"),
            ("10.1.2.3:9", "9.9.9.9, rubbish, 8.8.8.8", "8.8.8.8:0"),
            ("10.1.2.3:9", "", "10.1.2.3:9"),
            // Nobody believes these.
            ("127.0.0.1:9", "203.0.113.7", "127.0.0.1:9"),
            ("11.1.2.3:9", "127.0.0.1", "11.1.2.3:9"),
        ] {
            let mut headers = head(&[("x-forwarded-for", noted)]);
            let client = client(peer(from), &mut headers, &trusted);
            assert_eq!(client.peer, peer(client_is), "{from} {noted}");
            assert!(headers.is_empty(), "what was said is gone");
            let is_unknown = ["rubbish", ""].contains(&noted);
            let is_stranger = from.starts_with("127") || from.starts_with("11.");
            assert_eq!(client.stranger.0, is_stranger || is_unknown, "{from} {noted}");
        }
        assert!(!client(peer("127.0.0.1:9"), &mut HeaderMap::new(), &trusted).stranger.0);
    }

    #[test]
    fn whom_a_proxy_does_not_name_is_not_on_this_machine() {
        let trusted = [Network::parse("127.0.0.1").unwrap()];
        let unknown =
            |fields: &[(&str, &str)]| client(peer("127.0.0.1:9"), &mut head(fields), &trusted).stranger.0;
        for noted in [
            "unknown",
            "_hidden",
            "\"6.6.6.6\"",
            "6.6.6.6,,",
            "6.6.6.6;x",
            "010.0.0.1",
            "",
            "unknown, 127.0.0.1",
        ] {
            assert!(unknown(&[("x-forwarded-for", noted)]), "{noted}");
        }
        assert!(unknown(&[("forwarded", "for=6.6.6.6")]));
        assert!(!unknown(&[("x-forwarded-for", "127.0.0.1")]) && !unknown(&[]));
        let named = client(peer("127.0.0.1:9"), &mut head(&[("x-forwarded-for", "x, 6.6.6.6")]), &trusted);
        assert!(named.peer == peer("6.6.6.6:0") && !named.stranger.0);
    }

    #[test]
    fn host_and_scheme_are_those_of_the_client() {
        let trusted = [Network::Unix];
        let fields = [("host", "a"), ("x-forwarded-host", "example.org"), ("x-forwarded-proto", "https")];
        let mut headers = head(&fields);
        let believed = client(Peer::Unix, &mut headers, &trusted);
        assert!(is_secure(&headers) && headers["host"] == "example.org" && headers.len() == 2);
        assert_eq!(believed.peer, Peer::Unix);
        let mut headers = head(&fields);
        let stranger = client(Peer::Unix, &mut headers, &[]);
        assert!(!is_secure(&headers) && stranger.stranger.0 && headers["host"] == "a" && headers.len() == 1);
    }

    #[test]
    fn networks_as_they_are_written() {
        for good in ["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8", "unix"] {
            assert!(Network::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "10.0.0.0/33", "example.org", "10.0.0.0/8,::1", "*"] {
            assert!(Network::parse(bad).is_err(), "{bad}");
        }
    }
}
