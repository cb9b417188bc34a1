//! Signatures of tokens, checked by ring: what encrypts connections is in already, so there is no second library of cryptography.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{Error as Wrong, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{self as known, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};

/// What jsonwebtoken asks for. It has no other, and would end the program without one.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(none()),
    verifier_factory: |algorithm, key| Ok(Box::new(Check { algorithm: *algorithm, key: key.clone() })),
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| Err(none()),
        rsa_pub_components_from_public_key: |_| Err(none()),
        ec_pub_components_from_private_key: |_, _| Err(none()),
        ed_pub_components_from_private_key: |_, _| Err(none()),
        compute_digest: |_, _| Err(none()),
    },
};

/// Makes it the one of this process; once is enough.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

/// Nothing is signed here.
fn none() -> Error {
    ErrorKind::UnsupportedAlgorithm.into()
}

/// A key and what it is used with.
struct Check {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Wrong> {
        let checked = match (self.key.kind(), self.algorithm) {
            (DecodingKeyKind::RsaModulusExponent { n, e }, algorithm) => {
                let parameters = rsa(algorithm).ok_or_else(Wrong::new)?;
                // Some write a byte of sign before it, which ring takes for none.
                let n = &n[n.iter().take_while(|byte| **byte == 0).count()..];
                RsaPublicKeyComponents { n, e: e.as_slice() }.verify(parameters, message, signature)
            }
            (DecodingKeyKind::SecretOrDer(key), Algorithm::ES256) => {
                UnparsedPublicKey::new(&known::ECDSA_P256_SHA256_FIXED, key).verify(message, signature)
            }
            (DecodingKeyKind::SecretOrDer(key), Algorithm::ES384) => {
                UnparsedPublicKey::new(&known::ECDSA_P384_SHA384_FIXED, key).verify(message, signature)
            }
            (DecodingKeyKind::SecretOrDer(key), Algorithm::EdDSA) => {
                UnparsedPublicKey::new(&known::ED25519, key).verify(message, signature)
            }
            _ => return Err(Wrong::new()),
        };
        checked.map_err(|_| Wrong::new())
    }
}

/// Keys of less than 2,048 bits are none of them.
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &known::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &known::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &known::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &known::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &known::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &known::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}
