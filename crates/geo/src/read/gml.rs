//! GML 3.2 and 2: an element of a geometry of straight lines. `srsName` says the reference system, of which the axes come in the register's
//! order.

use super::coordinates::{Coordinates, Dimensions};
use super::element::Element;
use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::{Geometry, Kind, collection};
use crate::limits::DEPTH_MAX;
use geo::{Coord, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};

const FORMAT: &str = "GML";

/// The geometry of a text. An empty one is an empty geometry.
pub fn read(text: &str) -> Result<Geometry, GeoError> {
    let element = Element::read(FORMAT, text)?;
    let crs = element.as_ref().and_then(|element| element.attribute("srsName"));
    let mut reader = Reader { coordinates: Coordinates::new(FORMAT, crs.map_or(Crs::Crs84, Crs::from_iri)) };
    let (kind, shape) = match element {
        None => (Kind::GeometryCollection, collection(Vec::new())),
        Some(element) => reader.geometry(&element, 2, 0)?,
    };
    Ok(reader.coordinates.finish(kind, shape))
}

struct Reader {
    coordinates: Coordinates,
}

type Read<T> = Result<T, GeoError>;

/// Elements that have the points, lines, surfaces and geometries of others, one each or all together.
const POINT_MEMBERS: [&str; 2] = ["pointMember", "pointMembers"];
const LINE_MEMBERS: [&str; 3] = ["lineStringMember", "curveMember", "curveMembers"];
const SURFACE_MEMBERS: [&str; 3] = ["polygonMember", "surfaceMember", "surfaceMembers"];
const GEOMETRY_MEMBERS: [&str; 2] = ["geometryMember", "geometryMembers"];

impl Reader {
    fn wrong<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(self.coordinates.wrong(0, message))
    }

    /// The geometry of an element; `numbers` of a point, where it does not say how many.
    fn geometry(&mut self, element: &Element, numbers: usize, depth: usize) -> Read<(Kind, geo::Geometry)> {
        if depth > DEPTH_MAX {
            return Err(GeoError::TooLarge { what: "levels", limit: DEPTH_MAX });
        }
        let numbers = numbers_of(element, numbers);
        Ok(match element.name.as_str() {
            "Point" => (Kind::Point, Coordinates::point_shape(self.point(element, numbers)?)),
            "LineString" | "LinearRing" | "Curve" => (Kind::LineString, self.line(element, numbers)?.into()),
            "Polygon" | "PolygonPatch" => (Kind::Polygon, self.polygon(element, numbers)?.into()),
            "Triangle" => (Kind::Triangle, self.polygon(element, numbers)?.into()),
            "MultiPoint" => {
                let points = self.members(element, &POINT_MEMBERS, |reader, member| {
                    reader.point(member, numbers_of(member, numbers))
                })?;
                (Kind::MultiPoint, MultiPoint(points.into_iter().flatten().map(Point).collect()).into())
            }
            "MultiLineString" | "MultiCurve" => {
                let lines = self.members(element, &LINE_MEMBERS, |reader, member| {
                    reader.line(member, numbers_of(member, numbers))
                })?;
                (Kind::MultiLineString, MultiLineString(lines).into())
            }
            "MultiPolygon" | "MultiSurface" => {
                let polygons = self.members(element, &SURFACE_MEMBERS, |reader, member| {
                    reader.polygon(member, numbers_of(member, numbers))
                })?;
                (Kind::MultiPolygon, MultiPolygon(polygons).into())
            }
            "Surface" | "PolyhedralSurface" | "TriangulatedSurface" | "Tin" => {
                let kind = if element.name.starts_with('T') { Kind::Tin } else { Kind::PolyhedralSurface };
                let patches = ["patches", "polygonPatches", "trianglePatches"];
                let polygons = self.members(element, &patches, |reader, member| {
                    reader.polygon(member, numbers_of(member, numbers))
                })?;
                (kind, MultiPolygon(polygons).into())
            }
            "MultiGeometry" => {
                let members = self.members(element, &GEOMETRY_MEMBERS, |reader, member| {
                    Ok(reader.geometry(member, numbers, depth + 1)?.1)
                })?;
                (Kind::GeometryCollection, collection(members))
            }
            name => return self.wrong(format!("{name} is no geometry of GML that is read")),
        })
    }

    /// What is in the elements of these names.
    fn members<T>(
        &mut self,
        element: &Element,
        names: &[&str],
        mut read: impl FnMut(&mut Self, &Element) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut members = Vec::new();
        for holder in element.named(names) {
            for member in &holder.children {
                members.push(read(self, member)?);
            }
        }
        Ok(members)
    }

    fn point(&mut self, element: &Element, numbers: usize) -> Read<Option<Coord>> {
        let coords = self.coords(element, numbers)?;
        if coords.len() > 1 || element.name != "Point" {
            return self.wrong("a Point with one position is expected");
        }
        Ok(coords.first().copied())
    }

    fn line(&mut self, element: &Element, numbers: usize) -> Read<LineString> {
        let mut coords = self.coords(element, numbers)?;
        for segments in element.named(&["segments"]) {
            for segment in &segments.children {
                if segment.name != "LineStringSegment" {
                    return self
                        .wrong(format!("{} is no segment that is read: LineStringSegment is", segment.name));
                }
                let more = self.coords(segment, numbers)?;
                // Segments begin where those before them end.
                let skip = usize::from(!coords.is_empty() && coords.last() == more.first());
                if skip == 1
                    && self.coordinates.dimensions().is_some_and(|dimensions| dimensions.numbers() > 2)
                {
                    return self.wrong("a Curve of several segments with heights is not read");
                }
                coords.extend(more.into_iter().skip(skip));
            }
        }
        if !matches!(element.name.as_str(), "LineString" | "LinearRing" | "Curve") {
            return self.wrong(format!("{} is no line that is read", element.name));
        }
        self.coordinates.line(coords, 0)
    }

    fn polygon(&mut self, element: &Element, numbers: usize) -> Read<Polygon> {
        if !matches!(element.name.as_str(), "Polygon" | "PolygonPatch" | "Triangle") {
            return self.wrong(format!("{} is no surface that is read: Polygon is", element.name));
        }
        let mut rings = Vec::new();
        for names in [["exterior", "outerBoundaryIs"], ["interior", "innerBoundaryIs"]] {
            for boundary in element.named(&names) {
                for ring in boundary.named(&["LinearRing"]) {
                    let coords = self.coords(ring, numbers_of(ring, numbers))?;
                    rings.push(self.coordinates.ring(coords, 0)?);
                }
            }
        }
        self.coordinates.polygon(rings, 0)
    }

    fn coords(&mut self, element: &Element, numbers: usize) -> Read<Vec<Coord>> {
        let mut coords = Vec::new();
        for list in element.named(&["pos", "posList", "coordinates"]) {
            if list.name == "coordinates" {
                for tuple in list.text.split_ascii_whitespace() {
                    let values = self.numbers(tuple.split(','))?;
                    self.push(&values, &mut coords)?;
                }
                continue;
            }
            let values = self.numbers(list.text.split_ascii_whitespace())?;
            let numbers = match list.name.as_str() {
                "pos" => values.len().max(2),
                _ => numbers_of(list, numbers).clamp(2, 3),
            };
            for values in values.chunks(numbers) {
                self.push(values, &mut coords)?;
            }
        }
        Ok(coords)
    }

    fn push(&mut self, values: &[f64], coords: &mut Vec<Coord>) -> Read<()> {
        if values.len() > 3 {
            return self.wrong("a position has two or three numbers");
        }
        self.coordinates.declare(Dimensions { has_height: values.len() == 3, has_measure: false }, 0)?;
        coords.push(self.coordinates.point(values, 0)?);
        Ok(())
    }

    fn numbers<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Read<Vec<f64>> {
        let number = |text: &str| {
            text.parse().map_err(|_| self.coordinates.wrong(0, format!("{text:.40} is no number")))
        };
        texts.map(number).collect()
    }
}

/// How many numbers a position has after an element.
fn numbers_of(element: &Element, otherwise: usize) -> usize {
    element.attribute("srsDimension").and_then(|numbers| numbers.parse().ok()).unwrap_or(otherwise)
}
