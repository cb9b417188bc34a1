//! Well-known text, with the IRI of its coordinate reference system before it (GeoSPARQL 1.1, section 8.6.1).
//!
//! Our own reader, since the grammar is small and the field's crate `wkt` has no limit of depth: `GEOMETRYCOLLECTION(` a hundred thousand
//! times would be the end of the process.

use super::coordinates::{Coordinates, Dimensions};
use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::{Geometry, Kind, collection};
use crate::limits::DEPTH_MAX;
use geo::{Coord, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};

const FORMAT: &str = "WKT";
/// Names of shapes of curves, which are not read.
const CURVES: [&str; 12] = [
    "CIRCULARSTRING",
    "COMPOUNDCURVE",
    "CURVEPOLYGON",
    "COMPOUNDSURFACE",
    "MULTICURVE",
    "MULTISURFACE",
    "CURVE",
    "SURFACE",
    "CIRCLE",
    "GEODESICSTRING",
    "ELLIPTICALCURVE",
    "CLOTHOID",
];

/// The geometry of a text. An empty one is an empty geometry.
pub fn read(text: &str) -> Result<Geometry, GeoError> {
    let (crs, start) = reference_system(text)?;
    let coordinates = Coordinates::new(FORMAT, crs);
    let mut reader = Reader { text, at: start, coordinates };
    reader.blank();
    if reader.rest().is_empty() {
        let empty = collection(Vec::new());
        return Ok(reader.coordinates.finish(Kind::GeometryCollection, empty));
    }
    let (kind, shape) = reader.geometry(0)?;
    reader.blank();
    if !reader.rest().is_empty() {
        return Err(reader.wrong("nothing more is expected"));
    }
    Ok(reader.coordinates.finish(kind, shape))
}

/// The system that the text begins with, and where the geometry begins.
fn reference_system(text: &str) -> Result<(Crs, usize), GeoError> {
    let trimmed = text.trim_start();
    let before = text.len() - trimmed.len();
    let Some(inside) = trimmed.strip_prefix('<') else { return Ok((Crs::Crs84, before)) };
    let Some((iri, _)) = inside.split_once('>') else {
        return Err(GeoError::syntax(FORMAT, before, "the IRI of a reference system ends with >"));
    };
    Ok((Crs::from_iri(iri.trim()), before + iri.len() + 2))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    coordinates: Coordinates,
}

type Read<T> = Result<T, GeoError>;

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, message: &str) -> GeoError {
        self.coordinates.wrong(self.at, message)
    }

    fn blank(&mut self) {
        self.at += self.rest().bytes().take_while(u8::is_ascii_whitespace).count();
    }

    /// Whether this character comes next, and then goes behind it.
    fn takes(&mut self, byte: u8) -> bool {
        self.blank();
        let is_next = self.rest().as_bytes().first() == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.takes(byte) {
            Ok(())
        } else {
            Err(self.wrong(&format!("{:?} is expected", char::from(byte))))
        }
    }

    /// The word that comes next, in capitals.
    fn word(&mut self) -> String {
        self.blank();
        let length = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = self.rest().get(..length).unwrap_or_default().to_ascii_uppercase();
        self.at += length;
        word
    }

    /// Whether EMPTY comes next.
    fn empty(&mut self) -> bool {
        let start = self.at;
        if self.word() == "EMPTY" {
            return true;
        }
        self.at = start;
        false
    }

    fn geometry(&mut self, depth: usize) -> Read<(Kind, geo::Geometry)> {
        if depth > DEPTH_MAX {
            return Err(GeoError::TooLarge { what: "levels", limit: DEPTH_MAX });
        }
        let start = self.at;
        let word = self.word();
        let (name, suffix) =
            match ["ZM", "Z", "M"].iter().find_map(|s| Some((kind(word.strip_suffix(s)?)?, *s))) {
                Some((kind, suffix)) => (Some(kind), Some(suffix.to_owned())),
                None => (kind(&word), self.dimensions_word()),
            };
        let Some(kind) = name else {
            self.at = start;
            let expected = match CURVES.iter().any(|curve| word.starts_with(curve)) {
                true => {
                    "curves are not read; POINT, LINESTRING, POLYGON, TRIANGLE, MULTIPOINT, MULTILINESTRING, MULTIPOLYGON, \
                     GEOMETRYCOLLECTION, TIN and POLYHEDRALSURFACE are: write the curve as a line of short segments"
                }
                false => "the name of a geometry is expected, like POINT or POLYGON",
            };
            return Err(self.wrong(expected));
        };
        if let Some(suffix) = suffix {
            let dimensions =
                Dimensions { has_height: suffix.contains('Z'), has_measure: suffix.contains('M') };
            self.coordinates.declare(dimensions, start)?;
        }
        Ok((kind, self.shape(kind, depth)?))
    }

    /// Z, M or ZM behind a name.
    fn dimensions_word(&mut self) -> Option<String> {
        let start = self.at;
        let word = self.word();
        if matches!(word.as_str(), "Z" | "M" | "ZM") {
            return Some(word);
        }
        self.at = start;
        None
    }

    fn shape(&mut self, kind: Kind, depth: usize) -> Read<geo::Geometry> {
        let is_empty = self.empty();
        let shape = match kind {
            Kind::Point if is_empty => Coordinates::point_shape(None),
            Kind::Point => Coordinates::point_shape(Some(self.point()?)),
            Kind::LineString => {
                self.unless(is_empty, Self::line)?.unwrap_or_else(|| LineString(Vec::new())).into()
            }
            Kind::Polygon | Kind::Triangle => {
                let polygon = self.unless(is_empty, Self::polygon)?;
                polygon.unwrap_or_else(|| Polygon::new(LineString(Vec::new()), Vec::new())).into()
            }
            Kind::MultiPoint => {
                MultiPoint(self.members(is_empty, Self::member_point)?.into_iter().flatten().collect()).into()
            }
            Kind::MultiLineString => MultiLineString(self.members(is_empty, Self::line)?).into(),
            Kind::MultiPolygon | Kind::Tin | Kind::PolyhedralSurface => {
                MultiPolygon(self.members(is_empty, Self::polygon)?).into()
            }
            Kind::GeometryCollection => {
                let members = self.members(is_empty, |reader| Ok(reader.geometry(depth + 1)?.1))?;
                collection(members)
            }
        };
        Ok(shape)
    }

    fn unless<T>(&mut self, is_empty: bool, read: impl Fn(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if is_empty { Ok(None) } else { read(self).map(Some) }
    }

    /// Members in brackets, between commas.
    fn members<T>(&mut self, is_empty: bool, read: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut members = Vec::new();
        if is_empty {
            return Ok(members);
        }
        self.expect(b'(')?;
        loop {
            members.push(read(self)?);
            if !self.takes(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(members)
    }

    fn point(&mut self) -> Read<Coord> {
        self.expect(b'(')?;
        let coord = self.coord()?;
        self.expect(b')')?;
        Ok(coord)
    }

    /// A point of a MULTIPOINT: with brackets, or as people also write it without.
    fn member_point(&mut self) -> Read<Option<Point>> {
        if self.empty() {
            return Ok(None);
        }
        self.blank();
        let coord = if self.rest().starts_with('(') { self.point()? } else { self.coord()? };
        Ok(Some(Point(coord)))
    }

    fn line(&mut self) -> Read<LineString> {
        let start = self.at;
        let is_empty = self.empty();
        let coords = self.members(is_empty, Self::coord)?;
        self.coordinates.line(coords, start)
    }

    fn ring(&mut self) -> Read<LineString> {
        let start = self.at;
        let coords = self.members(false, Self::coord)?;
        self.coordinates.ring(coords, start)
    }

    fn polygon(&mut self) -> Read<Polygon> {
        let start = self.at;
        let is_empty = self.empty();
        let rings = self.members(is_empty, Self::ring)?;
        self.coordinates.polygon(rings, start)
    }

    fn coord(&mut self) -> Read<Coord> {
        let start = self.at;
        let mut numbers = [0.0; 5];
        let mut count = 0;
        while let Some(number) = self.number()? {
            let Some(slot) = numbers.get_mut(count) else { return Err(self.wrong("too many coordinates")) };
            *slot = number;
            count += 1;
        }
        self.coordinates.point(numbers.get(..count).unwrap_or_default(), start)
    }

    fn number(&mut self) -> Read<Option<f64>> {
        self.blank();
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        let length = self.rest().bytes().take_while(|byte| is_part(byte)).count();
        if length == 0 {
            return Ok(None);
        }
        let number = self.rest().get(..length).and_then(|digits| digits.parse().ok());
        let number = number.ok_or_else(|| self.wrong("a number is expected"))?;
        self.at += length;
        Ok(Some(number))
    }
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "POINT" => Kind::Point,
        "LINESTRING" | "LINEARRING" => Kind::LineString,
        "POLYGON" => Kind::Polygon,
        "TRIANGLE" => Kind::Triangle,
        "MULTIPOINT" => Kind::MultiPoint,
        "MULTILINESTRING" => Kind::MultiLineString,
        "MULTIPOLYGON" => Kind::MultiPolygon,
        "GEOMETRYCOLLECTION" => Kind::GeometryCollection,
        "TIN" => Kind::Tin,
        "POLYHEDRALSURFACE" => Kind::PolyhedralSurface,
        _ => return None,
    })
}
