//! The keys of a provider: a JSON Web Key Set (RFC 7517).

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};

/// Providers have a few: more are none of theirs.
const KEYS_MAX: usize = 64;

/// The keys that can check signatures.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<Key>);

/// One of them.
#[derive(Debug)]
pub(super) struct Key {
    id: Option<String>,
    /// What it may be used with: one, or those that its kind is for.
    algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

impl Keys {
    /// Reads a set. Keys of kinds that are not used here, or for other uses, are left out.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let set: serde_json::Value =
            serde_json::from_slice(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let listed = set.get("keys").and_then(serde_json::Value::as_array);
        let listed = listed.ok_or("it has no list \"keys\": a JSON Web Key Set is wanted")?;
        if listed.len() > KEYS_MAX {
            return Err(format!("it has {} keys, and {KEYS_MAX} are the most", listed.len()));
        }
        let keys: Vec<Key> = listed.iter().filter_map(Key::of).collect();
        if keys.is_empty() {
            return Err("it has no key for signatures by RSA, ECDSA (P-256, P-384) or EdDSA".to_owned());
        }
        Ok(Self(keys))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those that a token may be signed with which names this one, or none.
    pub(super) fn of(&self, id: Option<&str>, algorithm: Algorithm) -> impl Iterator<Item = &Key> {
        let is_named = move |key: &&Key| id.is_none_or(|id| key.id.as_deref() == Some(id));
        self.0.iter().filter(is_named).filter(move |key| key.algorithms.contains(&algorithm))
    }

    /// Whether there is one of this name.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id.as_deref() == Some(id))
    }
}

impl Key {
    fn of(listed: &serde_json::Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(listed.clone()).ok()?;
        let common = &jwk.common;
        let is_for_signatures =
            common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature)
                && common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify));
        let mut algorithms = of_kind(&jwk.algorithm).to_vec();
        if let Some(told) = listed.get("alg") {
            let told = told.as_str()?.parse::<Algorithm>().ok()?;
            algorithms.retain(|algorithm| *algorithm == told);
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        let is_one = is_for_signatures && !algorithms.is_empty();
        is_one.then(|| Self { id: common.key_id.clone(), algorithms, key })
    }
}

/// What a kind of key is used with. Shared secrets (HMAC) are not believed: who checks with one could sign as well.
fn of_kind(parameters: &AlgorithmParameters) -> &'static [Algorithm] {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match parameters {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(of) if of.curve == EllipticCurve::P256 => &[ES256],
        AlgorithmParameters::EllipticCurve(of) if of.curve == EllipticCurve::P384 => &[ES384],
        AlgorithmParameters::OctetKeyPair(of) if of.curve == EllipticCurve::Ed25519 => &[EdDSA],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    //! Which keys are taken from a list.
    use super::Keys;
    use jsonwebtoken::Algorithm;

    const ED: &str = r#""kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#;

    #[test]
    fn keys_are_for_what_they_say() {
        let text = format!(
            r#"{{"keys": [{{"kid": "a", {ED}}}, {{"kid": "b", "use": "enc", {ED}}}, {{"kid": "c", "alg": "RS256", {ED}}},
                {{"kid": "d", "kty": "oct", "k": "c2VjcmV0"}}, {{"kid": "e", "kty": "AKP", "pub": "x"}}, {{"kid": "f", "alg": "EdDSA", "use": "sig", {ED}}},
                {{"kid": "g", "key_ops": ["sign"], {ED}}}, 7]}}"#
        );
        let keys = Keys::parse(text.as_bytes()).unwrap();
        assert_eq!(
            ["a", "b", "c", "d", "e", "f", "g"].map(|id| keys.has(id)),
            [true, false, false, false, false, true, false]
        );
        assert_eq!(keys.of(Some("a"), Algorithm::EdDSA).count(), 1);
        assert_eq!(
            (keys.of(Some("a"), Algorithm::HS256).count(), keys.of(Some("a"), Algorithm::RS256).count()),
            (0, 0)
        );
        assert_eq!(keys.of(None, Algorithm::EdDSA).count(), 2);
    }

    #[test]
    fn lists_that_are_none() {
        let many = format!(r#"{{"keys": [{}]}}"#, vec!["{}"; 65].join(","));
        for text in [
            "",
            "[]",
            "{}",
            r#"{"keys": {}}"#,
            r#"{"keys": []}"#,
            r#"{"keys": [{"kty": "oct", "k": "YQ"}]}"#,
            &many,
        ] {
            assert!(Keys::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
