//! GeoJSON (RFC 7946).

use super::numbered::{Numbered, between};
use crate::geometry::{Geometry, Kind};
use geo::{Coord, LineString, Polygon};

pub fn write(geometry: &Geometry) -> String {
    let mut out = String::new();
    Writer { points: Numbered::new(geometry, false, false) }.shape(
        geometry.kind(),
        geometry.shape(),
        &mut out,
    );
    out
}

struct Writer<'a> {
    points: Numbered<'a>,
}

impl Writer<'_> {
    fn shape(&mut self, kind: Kind, shape: &geo::Geometry, out: &mut String) {
        use geo::Geometry as G;
        let (class, member) = match kind {
            Kind::Triangle => ("Polygon", "coordinates"),
            Kind::Tin | Kind::PolyhedralSurface => ("MultiPolygon", "coordinates"),
            Kind::GeometryCollection => ("GeometryCollection", "geometries"),
            kind => (kind.class(), "coordinates"),
        };
        out.push_str(&format!("{{\"type\":\"{class}\",\"{member}\":"));
        match shape {
            G::Point(point) => self.point(point.0, out),
            G::MultiPoint(points) => {
                out.push('[');
                between(points.iter(), ",", out, |point, out| self.point(point.0, out));
                out.push(']');
            }
            G::Line(line) => self.line(&line.into(), out),
            G::LineString(line) => self.line(line, out),
            G::MultiLineString(lines) => {
                out.push('[');
                between(lines.iter(), ",", out, |line, out| self.line(line, out));
                out.push(']');
            }
            G::Polygon(polygon) => self.polygon(polygon, out),
            G::Rect(rect) => self.polygon(&rect.to_polygon(), out),
            G::Triangle(triangle) => self.polygon(&triangle.to_polygon(), out),
            G::MultiPolygon(polygons) => {
                out.push('[');
                between(polygons.iter(), ",", out, |polygon, out| self.polygon(polygon, out));
                out.push(']');
            }
            G::GeometryCollection(members) => {
                out.push('[');
                between(members.iter(), ",", out, |member, out| self.shape(Kind::of(member), member, out));
                out.push(']');
            }
        }
        out.push('}');
    }

    fn point(&mut self, coord: Coord, out: &mut String) {
        out.push('[');
        self.points.point(coord, ',', out);
        out.push(']');
    }

    fn line(&mut self, line: &LineString, out: &mut String) {
        out.push('[');
        between(line.0.iter(), ",", out, |coord, out| self.point(*coord, out));
        out.push(']');
    }

    fn polygon(&mut self, polygon: &Polygon, out: &mut String) {
        out.push('[');
        let rings = std::iter::once(polygon.exterior()).chain(polygon.interiors());
        let rings = rings.filter(|ring| !ring.0.is_empty());
        between(rings, ",", out, |ring, out| self.line(ring, out));
        out.push(']');
    }
}
