//! Units of measure, by their IRIs.

use crate::vocabulary::UOM;
use std::f64::consts::PI;

/// A unit of length, of area or of angle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// So many metres.
    Length(f64),
    /// So many square metres.
    Area(f64),
    /// So many degrees.
    Angle(f64),
}

/// Names in QUDT's vocabulary of units.
const QUDT: [(&str, Unit); 22] = [
    ("M", Unit::Length(1.0)),
    ("KiloM", Unit::Length(1000.0)),
    ("CentiM", Unit::Length(0.01)),
    ("MilliM", Unit::Length(0.001)),
    ("DeciM", Unit::Length(0.1)),
    ("MI", Unit::Length(1609.344)),
    ("MI_N", Unit::Length(1852.0)),
    ("FT", Unit::Length(0.3048)),
    ("FT_US", Unit::Length(1200.0 / 3937.0)),
    ("YD", Unit::Length(0.9144)),
    ("IN", Unit::Length(0.0254)),
    ("M2", Unit::Area(1.0)),
    ("KiloM2", Unit::Area(1e6)),
    ("HA", Unit::Area(1e4)),
    ("ARE", Unit::Area(100.0)),
    ("AC", Unit::Area(4_046.856_422_4)),
    ("FT2", Unit::Area(0.3048 * 0.3048)),
    ("MI2", Unit::Area(1609.344 * 1609.344)),
    ("YD2", Unit::Area(0.9144 * 0.9144)),
    ("DEG", Unit::Angle(1.0)),
    ("RAD", Unit::Angle(180.0 / PI)),
    ("GRAD", Unit::Angle(0.9)),
];

/// Names in OGC's register.
const OGC: [(&str, Unit); 14] = [
    ("metre", Unit::Length(1.0)),
    ("meter", Unit::Length(1.0)),
    ("kilometre", Unit::Length(1000.0)),
    ("kilometer", Unit::Length(1000.0)),
    ("centimetre", Unit::Length(0.01)),
    ("millimetre", Unit::Length(0.001)),
    ("statuteMile", Unit::Length(1609.344)),
    ("mile", Unit::Length(1609.344)),
    ("nauticalMile", Unit::Length(1852.0)),
    ("foot", Unit::Length(0.3048)),
    ("surveyFootUS", Unit::Length(1200.0 / 3937.0)),
    ("yard", Unit::Length(0.9144)),
    ("degree", Unit::Angle(1.0)),
    ("radian", Unit::Angle(180.0 / PI)),
];

/// Codes in the EPSG register.
const EPSG: [(&str, Unit); 11] = [
    ("9001", Unit::Length(1.0)),
    ("9002", Unit::Length(0.3048)),
    ("9003", Unit::Length(1200.0 / 3937.0)),
    ("9030", Unit::Length(1852.0)),
    ("9035", Unit::Length(1_609.347_218_694_4)),
    ("9036", Unit::Length(1000.0)),
    ("9093", Unit::Length(1609.344)),
    ("9096", Unit::Length(0.9144)),
    ("9101", Unit::Angle(180.0 / PI)),
    ("9102", Unit::Angle(1.0)),
    ("9122", Unit::Angle(1.0)),
];

impl Unit {
    /// One metre.
    pub const METRE: Self = Self::Length(1.0);

    /// The names in OGC's register.
    pub fn names_of_ogc() -> impl Iterator<Item = &'static str> {
        OGC.iter().map(|(name, _)| *name)
    }

    /// The names in QUDT's vocabulary.
    pub fn names_of_qudt() -> impl Iterator<Item = &'static str> {
        QUDT.iter().map(|(name, _)| *name)
    }

    /// The unit with this IRI: of OGC's register, of QUDT, or of the EPSG register.
    pub fn from_iri(iri: &str) -> Option<Self> {
        let find = |list: &[(&str, Self)], name: &str| {
            list.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
        };
        if let Some(name) = iri.strip_prefix(UOM).or_else(|| iri.strip_prefix("urn:ogc:def:uom:OGC:1.0:")) {
            return find(&OGC, name);
        }
        if let Some(name) = iri
            .strip_prefix("http://qudt.org/vocab/unit/")
            .or_else(|| iri.strip_prefix("http://qudt.org/vocab/unit#"))
        {
            return find(&QUDT, name);
        }
        let code = iri
            .strip_prefix("http://www.opengis.net/def/uom/EPSG/")
            .or_else(|| iri.strip_prefix("urn:ogc:def:uom:EPSG:"))?;
        find(&EPSG, code.rsplit(['/', ':']).next()?)
    }
}
