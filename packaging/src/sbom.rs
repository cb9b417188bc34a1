//! The bill of materials: CycloneDX 1.5 in JSON, of what the program is made of.

use crate::archive::hex;
use crate::metadata::{Metadata, Package};
use crate::spdx;
use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The bill of the program `lode`, with the hashes of `Cargo.lock`.
///
/// # Errors
/// Where the lock file is none.
pub fn bill(metadata: &Metadata, lock: &str, time: u64) -> anyhow::Result<String> {
    let lock: Lock = toml::from_str(lock).context("Cargo.lock")?;
    let hashes: BTreeMap<(&str, &str), &str> = lock
        .package
        .iter()
        .filter_map(|package| Some(((&*package.name, &*package.version), package.checksum.as_deref()?)))
        .collect();
    let parts = metadata.parts("lode")?;
    let program = metadata.own("lode")?;
    let components: Vec<Value> = parts
        .iter()
        .filter(|(part, _)| part.id != program.id)
        .map(|(part, _)| component(part, hashes.get(&(&*part.name, &*part.version)).copied()))
        .collect();
    let dependencies: Vec<Value> = parts
        .iter()
        .map(|(part, needs)| {
            let needs: Vec<String> = needs.iter().map(|needed| reference(needed)).collect();
            json!({"ref": reference(part), "dependsOn": needs})
        })
        .collect();
    let made = OffsetDateTime::from_unix_timestamp(i64::try_from(time)?)?.format(&Rfc3339)?;
    let mut of_program = component(program, None);
    of_program["type"] = "application".into();
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": made, "component": of_program},
        "components": components,
        "dependencies": dependencies,
    });
    // The same bill has the same number.
    let digest = hex(&Sha256::digest(bill.to_string().as_bytes()));
    let number = format!(
        "{}-{}-5{}-8{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &digest[17..20],
        &digest[20..32]
    );
    bill["serialNumber"] = format!("urn:uuid:{number}").into();
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

fn reference(part: &Package) -> String {
    format!("pkg:cargo/{}@{}", part.name, part.version)
}

fn component(part: &Package, hash: Option<&str>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(part),
        "name": part.name,
        "version": part.version,
        "scope": "required",
    });
    if part.source.is_some() {
        component["purl"] = reference(part).into();
    }
    if let Some(text) = &part.description {
        component["description"] = text.split_whitespace().collect::<Vec<_>>().join(" ").into();
    }
    if let Some(licence) = &part.license {
        component["licenses"] = json!([{"expression": spdx::written(licence)}]);
    }
    if let Some(hash) = hash {
        component["hashes"] = json!([{"alg": "SHA-256", "content": hash}]);
    }
    if let Some(url) = &part.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": url}]);
    }
    component
}
