//! KML 2.3: an element of a geometry, in longitude, latitude and height on WGS 84.

use super::coordinates::Coordinates;
use super::element::Element;
use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::{Geometry, Kind, collection};
use crate::limits::DEPTH_MAX;
use geo::{Coord, LineString, Polygon};

const FORMAT: &str = "KML";

/// The geometry of a text. An empty one is an empty geometry.
pub fn read(text: &str) -> Result<Geometry, GeoError> {
    let mut reader = Reader { coordinates: Coordinates::new(FORMAT, Crs::Crs84) };
    let (kind, shape) = match Element::read(FORMAT, text)? {
        None => (Kind::GeometryCollection, collection(Vec::new())),
        Some(element) => reader.geometry(&element, 0)?,
    };
    Ok(reader.coordinates.finish(kind, shape))
}

struct Reader {
    coordinates: Coordinates,
}

type Read<T> = Result<T, GeoError>;

impl Reader {
    fn geometry(&mut self, element: &Element, depth: usize) -> Read<(Kind, geo::Geometry)> {
        if depth > DEPTH_MAX {
            return Err(GeoError::TooLarge { what: "levels", limit: DEPTH_MAX });
        }
        Ok(match element.name.as_str() {
            "Point" => {
                let coords = self.coords(element)?;
                if coords.len() > 1 {
                    return Err(self.coordinates.wrong(0, "a Point has one tuple of coordinates"));
                }
                (Kind::Point, Coordinates::point_shape(coords.first().copied()))
            }
            "LineString" | "LinearRing" => {
                let coords = self.coords(element)?;
                (Kind::LineString, self.coordinates.line(coords, 0)?.into())
            }
            "Polygon" => (Kind::Polygon, self.polygon(element)?.into()),
            "MultiGeometry" => {
                let members = element.children.iter().map(|member| Ok(self.geometry(member, depth + 1)?.1));
                let members: Vec<geo::Geometry> = members.collect::<Read<_>>()?;
                (Kind::GeometryCollection, collection(members))
            }
            name => {
                return Err(self.coordinates.wrong(0, format!("{name} is no geometry of KML that is read")));
            }
        })
    }

    fn polygon(&mut self, element: &Element) -> Read<Polygon> {
        let mut rings: Vec<LineString> = Vec::new();
        for names in [&["outerBoundaryIs"], &["innerBoundaryIs"]] {
            for boundary in element.named(names) {
                for ring in boundary.named(&["LinearRing"]) {
                    let coords = self.coords(ring)?;
                    rings.push(self.coordinates.ring(coords, 0)?);
                }
            }
        }
        self.coordinates.polygon(rings, 0)
    }

    fn coords(&mut self, element: &Element) -> Read<Vec<Coord>> {
        let mut coords = Vec::new();
        for list in element.named(&["coordinates"]) {
            for tuple in list.text.split_ascii_whitespace() {
                let numbers: Result<Vec<f64>, _> = tuple.split(',').map(str::parse).collect();
                let numbers =
                    numbers.map_err(|_| self.coordinates.wrong(0, format!("{tuple:.40} is no tuple")))?;
                if numbers.len() > 3 {
                    return Err(self.coordinates.wrong(0, "a tuple has up to three numbers"));
                }
                coords.push(self.coordinates.point(&numbers, 0)?);
            }
        }
        Ok(coords)
    }
}
