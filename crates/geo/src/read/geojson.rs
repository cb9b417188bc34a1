//! GeoJSON (RFC 7946): a geometry object, in longitude and latitude on WGS 84. The text is read by `serde_json`, which bounds its depth.

use super::coordinates::Coordinates;
use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::{Geometry, Kind, collection};
use crate::limits::DEPTH_MAX;
use geo::{Coord, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};
use serde_json::Value;

const FORMAT: &str = "GeoJSON";

/// The geometry of a text. An empty one is an empty geometry.
pub fn read(text: &str) -> Result<Geometry, GeoError> {
    let mut reader = Reader { coordinates: Coordinates::new(FORMAT, Crs::Crs84) };
    if text.trim().is_empty() {
        let empty = collection(Vec::new());
        return Ok(reader.coordinates.finish(Kind::GeometryCollection, empty));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| GeoError::syntax(FORMAT, error.column(), error.to_string()))?;
    let (kind, shape) = reader.geometry(&value, 0)?;
    Ok(reader.coordinates.finish(kind, shape))
}

struct Reader {
    coordinates: Coordinates,
}

type Read<T> = Result<T, GeoError>;

impl Reader {
    fn wrong<T>(&self, message: &str) -> Read<T> {
        Err(self.coordinates.wrong(0, message))
    }

    fn geometry(&mut self, value: &Value, depth: usize) -> Read<(Kind, geo::Geometry)> {
        if depth > DEPTH_MAX {
            return Err(GeoError::TooLarge { what: "levels", limit: DEPTH_MAX });
        }
        let Some(name) = value.get("type").and_then(Value::as_str) else {
            return self.wrong("a geometry object with a \"type\" is expected");
        };
        let member = if name == "GeometryCollection" { "geometries" } else { "coordinates" };
        let Some(list) = value.get(member).and_then(Value::as_array) else {
            return self.wrong(&format!("\"{member}\" must be an array"));
        };
        Ok(match name {
            "Point" => {
                let coord = if list.is_empty() { None } else { Some(self.coord(list)?) };
                (Kind::Point, Coordinates::point_shape(coord))
            }
            "LineString" => (Kind::LineString, self.line(list)?.into()),
            "Polygon" => (Kind::Polygon, self.polygon(list)?.into()),
            "MultiPoint" => {
                let points = self.coords(list)?.into_iter().map(Point).collect();
                (Kind::MultiPoint, MultiPoint(points).into())
            }
            "MultiLineString" => {
                (Kind::MultiLineString, MultiLineString(self.arrays(list, Self::line)?).into())
            }
            "MultiPolygon" => (Kind::MultiPolygon, MultiPolygon(self.arrays(list, Self::polygon)?).into()),
            "GeometryCollection" => {
                let members = list.iter().map(|member| Ok(self.geometry(member, depth + 1)?.1));
                let members: Vec<geo::Geometry> = members.collect::<Read<_>>()?;
                (Kind::GeometryCollection, collection(members))
            }
            _ => return self.wrong(&format!("{name} is no geometry")),
        })
    }

    fn arrays<T>(&mut self, list: &[Value], read: impl Fn(&mut Self, &[Value]) -> Read<T>) -> Read<Vec<T>> {
        let mut members = Vec::with_capacity(list.len());
        for member in list {
            let Some(member) = member.as_array() else { return self.wrong("an array is expected") };
            members.push(read(self, member)?);
        }
        Ok(members)
    }

    fn coord(&mut self, list: &[Value]) -> Read<Coord> {
        let mut numbers = Vec::with_capacity(3);
        // What is behind the height means nothing (RFC 7946, section 3.1.1).
        for number in list.iter().take(3) {
            let Some(number) = number.as_f64() else { return self.wrong("a coordinate must be a number") };
            numbers.push(number);
        }
        self.coordinates.point(&numbers, 0)
    }

    fn coords(&mut self, list: &[Value]) -> Read<Vec<Coord>> {
        self.arrays(list, Self::coord)
    }

    fn line(&mut self, list: &[Value]) -> Read<LineString> {
        let coords = self.coords(list)?;
        self.coordinates.line(coords, 0)
    }

    fn ring(&mut self, list: &[Value]) -> Read<LineString> {
        let coords = self.coords(list)?;
        self.coordinates.ring(coords, 0)
    }

    fn polygon(&mut self, list: &[Value]) -> Read<Polygon> {
        let rings = self.arrays(list, Self::ring)?;
        self.coordinates.polygon(rings, 0)
    }
}
