//! The IRIs of the instances, in full and as prefixed names.

use super::vocabulary::{COUNTRIES_NAMESPACE, Country, INSTANCES};

/// An instance of the data set. Numbers count from 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Resource {
    Institution(u64),
    ProductType(u64),
    Feature(u64),
    Producer(u64),
    Product { number: u64, producer: u64 },
    Vendor(u64),
    Offer { number: u64, vendor: u64 },
    RatingSite(u64),
    Reviewer { number: u64, site: u64 },
    Review { number: u64, site: u64 },
    Country(&'static Country),
}

/// Who publishes a document; instances live in the namespace of their document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Document {
    Producer(u64),
    Vendor(u64),
    RatingSite(u64),
    /// Product types are published by the first institution and features by the second.
    Institution(u64),
}

/// Writes a decimal number.
pub(super) fn put_number(to: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    to.extend_from_slice(&digits[at..]);
}

/// Writes two digits.
pub(super) fn put_two_digits(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&[b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]);
}

impl Document {
    const fn label(self) -> (&'static str, u64) {
        match self {
            Self::Producer(n) => ("dataFromProducer", n),
            Self::Vendor(n) => ("dataFromVendor", n),
            Self::RatingSite(n) => ("dataFromRatingSite", n),
            Self::Institution(n) => ("StandardizationInstitution", n),
        }
    }

    /// The publisher.
    pub(super) const fn publisher(self) -> Resource {
        match self {
            Self::Producer(n) => Resource::Producer(n),
            Self::Vendor(n) => Resource::Vendor(n),
            Self::RatingSite(n) => Resource::RatingSite(n),
            Self::Institution(n) => Resource::Institution(n),
        }
    }

    /// Writes the prefix label.
    pub(super) fn put_prefix(self, to: &mut Vec<u8>) {
        let (label, number) = self.label();
        to.extend_from_slice(label.as_bytes());
        put_number(to, number);
    }

    /// Writes the namespace IRI, without brackets.
    pub(super) fn put_namespace(self, to: &mut Vec<u8>) {
        to.extend_from_slice(INSTANCES.as_bytes());
        self.put_prefix(to);
        to.push(b'/');
    }
}

/// The parts of an instance's name: its document if it lives in one, the class and the number.
type Parts = (Option<Document>, &'static str, u64);

impl Resource {
    /// Everything but countries.
    const fn parts(self) -> Option<Parts> {
        Some(match self {
            Self::Institution(n) => (None, "StandardizationInstitution", n),
            Self::ProductType(n) => (None, "ProductType", n),
            Self::Feature(n) => (None, "ProductFeature", n),
            Self::Producer(n) => (Some(Document::Producer(n)), "Producer", n),
            Self::Product { number, producer } => (Some(Document::Producer(producer)), "Product", number),
            Self::Vendor(n) => (Some(Document::Vendor(n)), "Vendor", n),
            Self::Offer { number, vendor } => (Some(Document::Vendor(vendor)), "Offer", number),
            Self::RatingSite(n) => (Some(Document::RatingSite(n)), "RatingSite", n),
            Self::Reviewer { number, site } => (Some(Document::RatingSite(site)), "Reviewer", number),
            Self::Review { number, site } => (Some(Document::RatingSite(site)), "Review", number),
            Self::Country(_) => return None,
        })
    }

    /// Writes `<IRI>`.
    pub(super) fn put_full(self, to: &mut Vec<u8>) {
        to.push(b'<');
        match (self, self.parts()) {
            (_, Some((document, class, number))) => {
                match document {
                    Some(document) => document.put_namespace(to),
                    None => to.extend_from_slice(INSTANCES.as_bytes()),
                }
                to.extend_from_slice(class.as_bytes());
                put_number(to, number);
            }
            (Self::Country(country), None) => {
                to.extend_from_slice(COUNTRIES_NAMESPACE.as_bytes());
                to.extend_from_slice(country.code.as_bytes());
            }
            (_, None) => {}
        }
        to.push(b'>');
    }

    /// Writes the prefixed name.
    pub(super) fn put_short(self, to: &mut Vec<u8>) {
        match (self, self.parts()) {
            (_, Some((document, class, number))) => {
                match document {
                    Some(document) => document.put_prefix(to),
                    None => to.extend_from_slice(b"bsbm-inst"),
                }
                to.push(b':');
                to.extend_from_slice(class.as_bytes());
                put_number(to, number);
            }
            (Self::Country(country), None) => {
                to.extend_from_slice(b"country:");
                to.extend_from_slice(country.code.as_bytes());
            }
            (_, None) => {}
        }
    }

    /// `<IRI>` as text, for queries.
    pub(super) fn text(self) -> String {
        let mut bytes = Vec::with_capacity(96);
        self.put_full(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
