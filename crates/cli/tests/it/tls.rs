//! TLS: certificates from files, those that change, and those that are made.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer than any machine needs.
const LONG: Duration = Duration::from_secs(60);

/// Believes everybody: these tests look at the certificate themselves.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

type Connection = StreamOwned<ClientConnection, TcpStream>;

/// A connection behind its handshake, with a client that speaks these protocols.
fn connect(endpoint: &Endpoint, protocols: &[&str]) -> Connection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config =
        config.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let client = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let stream = TcpStream::connect(endpoint.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut connection = StreamOwned::new(client, stream);
    while connection.conn.is_handshaking() {
        connection.conn.complete_io(&mut connection.sock).unwrap();
    }
    connection
}

fn certificate(connection: &Connection) -> Vec<u8> {
    connection.conn.peer_certificates().unwrap()[0].to_vec()
}

/// One request on a connection that stays.
fn get(connection: &mut Connection, path: &str) -> String {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/n-triples, text/csv\r\n\r\n");
    connection.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let read = connection.read(&mut buffer).unwrap();
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if read == 0 || body.len() >= length.parse().unwrap() {
            return text;
        }
    }
}

/// Writes a certificate and its key; the certificate's bytes.
fn write_new(lode: &Lode) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    lode.write("key.pem", made.signing_key.serialize_pem());
    lode.write("cert.pem", made.cert.pem());
    made.cert.der().to_vec()
}

const FILES: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

#[test]
fn a_new_certificate_is_taken_while_connections_go_on() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    let first = write_new(&lode);
    let endpoint = Endpoint::start(&lode, &FILES);
    assert!(endpoint.base.starts_with("https://"), "{}", endpoint.base);
    let mut stays = connect(&endpoint, &["http/1.1"]);
    assert_eq!(certificate(&stays), first);
    assert!(get(&mut stays, "/sparql?query=SELECT*{?s?p?o}").contains("http://e/a"));
    assert!(get(&mut stays, "/sparql").contains("<https://localhost/sparql>"));
    let second = write_new(&lode);
    let started = Instant::now();
    while certificate(&connect(&endpoint, &[])) != second {
        assert!(started.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(100));
    }
    // A file that is no certificate changes nothing.
    lode.write("cert.pem", "nonsense");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(certificate(&connect(&endpoint, &[])), second);
    assert!(get(&mut stays, "/sparql?query=ASK{}").contains("200 OK"));
    let said = endpoint.stop();
    assert!(said.contains("a new certificate") && said.contains("cert.pem: "), "{said}");
}

#[test]
fn the_client_chooses_the_protocol() {
    let lode = Lode::with_turtle("");
    let endpoint = Endpoint::start(&lode, &["--tls-self-signed"]);
    for (spoken, chosen) in
        [(&["h2", "http/1.1"][..], Some("h2")), (&["http/1.1"][..], Some("http/1.1")), (&[][..], None)]
    {
        let connection = connect(&endpoint, spoken);
        assert_eq!(connection.conn.alpn_protocol(), chosen.map(str::as_bytes));
    }
    let mut connection = connect(&endpoint, &[]);
    assert!(get(&mut connection, "/sparql?query=ASK{}").contains("200 OK"));
}

#[test]
fn who_fails_at_the_handshake_keeps_nobody_waiting() {
    let lode = Lode::with_turtle("");
    let endpoint = Endpoint::start(&lode, &["--tls-self-signed"]);
    // Nothing, half a greeting, and plain text.
    let mut others: Vec<TcpStream> =
        (0..150).map(|_| TcpStream::connect(endpoint.address()).unwrap()).collect();
    for (number, stream) in others.iter_mut().enumerate() {
        match number % 3 {
            0 => {}
            1 => stream.write_all(&[0x16, 3, 1, 2]).unwrap(),
            _ => stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap(),
        }
    }
    let started = Instant::now();
    assert!(get(&mut connect(&endpoint, &[]), "/sparql?query=ASK{}").contains("200 OK"));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_cannot_be_used_is_told_at_the_start() {
    let lode = Lode::with_turtle("");
    let serve = |extra: &[&str]| lode.run(&[&["serve", "db", "--bind", "127.0.0.1:0"], extra].concat());
    let missing = serve(&FILES).fails(1);
    assert!(missing.contains("TLS: cert.pem: "), "{missing}");
    write_new(&lode);
    std::fs::rename(lode.path("key.pem"), lode.path("old.pem")).unwrap();
    write_new(&lode);
    let other = serve(&["--tls-cert", "cert.pem", "--tls-key", "old.pem"]).fails(1);
    assert!(other.contains("old.pem") && other.contains("not the key of the certificate"), "{other}");
    lode.write("empty.pem", "");
    let empty = serve(&["--tls-cert", "empty.pem", "--tls-key", "key.pem"]).fails(1);
    assert!(empty.contains("no certificate in it"), "{empty}");
    serve(&["--tls-cert", "cert.pem"]).fails(2);
    serve(&["--tls-self-signed", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]).fails(2);
}

#[cfg(unix)]
#[test]
fn a_socket_is_named_on_the_command_line_and_removed_at_the_end() {
    use std::os::unix::net::UnixStream;
    let lode = Lode::with_turtle("");
    let endpoint = Endpoint::at(&lode, "db", "unix:lode.sock", &[]);
    let mut stream = UnixStream::connect(lode.path("lode.sock")).unwrap();
    stream
        .write_all(b"GET /sparql?query=ASK{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("200 OK") && text.contains("true"), "{text}");
    assert!(endpoint.greeting.contains("unix:lode.sock"), "{}", endpoint.greeting);
    endpoint.stop();
    assert!(!lode.path("lode.sock").exists());
}
