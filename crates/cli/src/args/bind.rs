//! Where to listen, on the command line.

use lode_server::Bind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

const EXPECTED: &str = "expected an address and a port, such as 127.0.0.1:7878, [::1]:7878 or 0.0.0.0:7878 (all addresses of this machine), \
                        or a port alone, such as 7878 or localhost:7878 (127.0.0.1)";
const UNIX: &str = "unix:";

/// An address of the network, or a socket of the file system after `unix:`.
pub fn parse_bind(text: &str) -> Result<Bind, String> {
    match text.strip_prefix(UNIX) {
        Some("") => Err("expected the path of a socket, such as unix:/run/lode.sock".to_owned()),
        Some(path) => Ok(Bind::Unix(PathBuf::from(path))),
        None => parse_address(text).map(Bind::Tcp),
    }
}

/// An address with a port; a port alone, or one of `localhost`, is this machine's.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    // A port after a colon alone means all addresses elsewhere: it is not guessed at.
    let port = match text.split_once(':') {
        None => text,
        Some((host, port)) if host.eq_ignore_ascii_case("localhost") => port,
        Some(_) => return Err(EXPECTED.to_owned()),
    };
    port.parse::<u16>().map(|port| (Ipv4Addr::LOCALHOST, port).into()).map_err(|_| EXPECTED.to_owned())
}

#[cfg(test)]
mod tests {
    //! Addresses as they are written.
    use super::parse_bind;

    #[test]
    fn addresses_and_ports() {
        for (text, address) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("[::1]:80", "[::1]:80"),
            ("0.0.0.0:0", "0.0.0.0:0"),
            ("8211", "127.0.0.1:8211"),
            ("localhost:8212", "127.0.0.1:8212"),
            ("LocalHost:0", "127.0.0.1:0"),
            ("unix:/run/lode.sock", "unix:/run/lode.sock"),
        ] {
            assert_eq!(parse_bind(text).unwrap().to_string(), address);
        }
        for text in [
            "",
            "unix",
            ":80",
            "127.0.0.1",
            "localhost",
            "localhost:",
            "70000",
            "example.org:80",
            "http://localhost:80",
        ] {
            assert!(parse_bind(text).unwrap_err().contains("such as 127.0.0.1:7878"), "{text}");
        }
    }
}
