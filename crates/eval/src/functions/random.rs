//! RAND, UUID, STRUUID.

use crate::expr::call::Kernel;
use crate::expr::column::Column;
use crate::expr::texts::Texts;
use crate::values::value::Value;
use lode_sparql::Function;
use lode_sparql::function::{ValueType, Volatility};
use std::hash::{BuildHasher, Hasher};

/// The entries.
pub(super) static FUNCTIONS: [Function; 3] = [
    Function::new(
        "RAND",
        &[],
        ValueType::Floating,
        &Kernel::Zero(|rows| Ok(Column::Values(doubles(rows.rows()), Texts::default()))),
    )
    .volatility(Volatility::Call),
    Function::new(
        "UUID",
        &[],
        ValueType::Iri,
        &Kernel::Zero(|rows| Ok(Column::Values(uuids(rows.rows(), true), Texts::default()))),
    )
    .volatility(Volatility::Call),
    Function::new(
        "STRUUID",
        &[],
        ValueType::String,
        &Kernel::Zero(|rows| Ok(Column::Values(uuids(rows.rows(), false), Texts::default()))),
    )
    .volatility(Volatility::Call),
];

/// Doubles in [0, 1), from a generator that is seeded for each call.
pub(crate) fn doubles(rows: usize) -> Vec<Option<Value>> {
    let mut generator = Generator::seeded();
    (0..rows).map(|_| Some(Value::Double(generator.unit()))).collect()
}

/// SplitMix64: passes the usual tests, and needs no warming up.
struct Generator(u64);

impl Generator {
    fn seeded() -> Self {
        let mut seed = [0; 8];
        fill(&mut seed);
        Self(u64::from_le_bytes(seed))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// 53 random bits as a fraction.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Random (version 4) UUIDs, as IRIs or as strings.
pub(crate) fn uuids(rows: usize, as_iris: bool) -> Vec<Option<Value>> {
    let mut bytes = vec![0; rows * 16];
    fill(&mut bytes);
    let (chunks, _) = bytes.as_chunks::<16>();
    let uuid = |chunk: &[u8; 16]| {
        let bits =
            u128::from_be_bytes(*chunk) & !(0xF000 << 64) & !(0xC000 << 48) | (0x4000 << 64) | (0x8000 << 48);
        let text = format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            bits >> 96,
            (bits >> 80) & 0xFFFF,
            (bits >> 64) & 0xFFFF,
            (bits >> 48) & 0xFFFF,
            bits & 0xFFFF_FFFF_FFFF
        );
        Some(if as_iris { Value::Iri(format!("urn:uuid:{text}").into()) } else { Value::string(text) })
    };
    chunks.iter().map(uuid).collect()
}

/// Bytes from the system's generator; where that fails, from the hash seeds that every process draws.
fn fill(bytes: &mut [u8]) {
    if getrandom::fill(bytes).is_ok() {
        return;
    }
    let state = std::hash::RandomState::new();
    for (at, chunk) in bytes.chunks_mut(8).enumerate() {
        let mut hasher = state.build_hasher();
        hasher.write_usize(at);
        for (byte, random) in chunk.iter_mut().zip(hasher.finish().to_le_bytes()) {
            *byte = random;
        }
    }
}
