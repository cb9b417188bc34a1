//! A provider: keys of all kinds, tokens signed with them, and an address where the list of keys is.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

pub fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A key of its own.
pub enum Key {
    Ed(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl Key {
    pub fn ed() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    fn ecdsa(algorithm: &'static signature::EcdsaSigningAlgorithm) -> EcdsaKeyPair {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap()
    }

    pub fn p256() -> Self {
        Self::P256(Self::ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING))
    }

    pub fn p384() -> Self {
        Self::P384(Self::ecdsa(&signature::ECDSA_P384_SHA384_FIXED_SIGNING))
    }

    /// The same each time: to make one takes long.
    pub fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(include_bytes!("rsa.pk8")).unwrap())
    }

    /// As a list has it.
    pub fn listed(&self, id: &str) -> Value {
        let mut listed = match self {
            Self::Ed(key) => json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(key.public_key()) }),
            Self::P256(key) | Self::P384(key) => {
                let point = &key.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                let curve = if point.len() == 64 { "P-256" } else { "P-384" };
                json!({ "kty": "EC", "crv": curve, "x": encoded(x), "y": encoded(y) })
            }
            Self::Rsa(key) => {
                let signature::RsaPublicKeyComponents { n, e } =
                    signature::RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "n": encoded(n), "e": encoded(e) })
            }
        };
        listed["kid"] = id.into();
        listed["use"] = "sig".into();
        listed
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Ed(key) => key.sign(message).as_ref().to_vec(),
            Self::P256(key) | Self::P384(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Rsa(key) => {
                let padding: &dyn signature::RsaEncoding = match algorithm {
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    _ => &signature::RSA_PKCS1_SHA256,
                };
                let mut signed = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, message, &mut signed).unwrap();
                signed
            }
        }
    }

    /// A token with any head.
    pub fn token(&self, head: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", encoded(head.to_string()), encoded(claims.to_string()));
        let signed = self.sign(head["alg"].as_str().unwrap(), text.as_bytes());
        format!("{text}.{}", encoded(signed))
    }
}

pub fn list(keys: &[Value]) -> Vec<u8> {
    json!({ "keys": keys }).to_string().into_bytes()
}

/// An address with whatever bytes, which counts who asks.
pub struct Place {
    pub url: String,
    pub body: Arc<Mutex<Vec<u8>>>,
    pub asked: Arc<AtomicUsize>,
}

impl Place {
    pub fn start(body: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (body, asked) = (Arc::new(Mutex::new(body)), Arc::new(AtomicUsize::new(0)));
        let (shown, counted) = (Arc::clone(&body), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut head) = (stream.unwrap(), Vec::new());
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                    head.push(byte[0]);
                }
                counted.fetch_add(1, Ordering::SeqCst);
                let body = shown.lock().unwrap().clone();
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            }
        });
        Self { url, body, asked }
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
