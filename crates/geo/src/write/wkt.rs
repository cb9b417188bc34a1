//! Well-known text.

use super::numbered::{Numbered, between};
use crate::crs::Crs;
use crate::geometry::{Geometry, Kind};
use geo::{LineString, Polygon};

pub fn write(geometry: &Geometry) -> String {
    let crs = geometry.crs();
    let mut out = if *crs == Crs::Crs84 { String::new() } else { format!("<{}> ", crs.iri()) };
    let suffix = match (geometry.heights(), geometry.measures()) {
        (None, None) => "",
        (Some(_), None) => " Z",
        (None, Some(_)) => " M",
        (Some(_), Some(_)) => " ZM",
    };
    let mut writer = Writer { points: Numbered::new(geometry, crs.is_northing_first(), true), suffix };
    writer.shape(geometry.kind(), geometry.shape(), &mut out);
    out
}

struct Writer<'a> {
    points: Numbered<'a>,
    suffix: &'static str,
}

impl Writer<'_> {
    fn shape(&mut self, kind: Kind, shape: &geo::Geometry, out: &mut String) {
        use geo::Geometry as G;
        out.push_str(&kind.class().to_ascii_uppercase());
        out.push_str(self.suffix);
        out.push(' ');
        if geo::CoordsIter::coords_count(shape) == 0 {
            out.push_str("EMPTY");
            return;
        }
        match shape {
            G::Point(point) => {
                out.push('(');
                self.points.point(point.0, ' ', out);
                out.push(')');
            }
            G::MultiPoint(points) => {
                out.push('(');
                between(points.iter(), ", ", out, |point, out| {
                    out.push('(');
                    self.points.point(point.0, ' ', out);
                    out.push(')');
                });
                out.push(')');
            }
            G::Line(line) => self.line(&line.into(), out),
            G::LineString(line) => self.line(line, out),
            G::MultiLineString(lines) => {
                out.push('(');
                between(lines.iter(), ", ", out, |line, out| self.line(line, out));
                out.push(')');
            }
            G::Polygon(polygon) => self.polygon(polygon, out),
            G::Rect(rect) => self.polygon(&rect.to_polygon(), out),
            G::Triangle(triangle) => self.polygon(&triangle.to_polygon(), out),
            G::MultiPolygon(polygons) => {
                out.push('(');
                between(polygons.iter(), ", ", out, |polygon, out| self.polygon(polygon, out));
                out.push(')');
            }
            G::GeometryCollection(members) => {
                out.push('(');
                between(members.iter(), ", ", out, |member, out| self.shape(Kind::of(member), member, out));
                out.push(')');
            }
        }
    }

    fn line(&mut self, line: &LineString, out: &mut String) {
        out.push('(');
        self.points.points(&line.0, ' ', ", ", out);
        out.push(')');
    }

    fn polygon(&mut self, polygon: &Polygon, out: &mut String) {
        out.push('(');
        let rings = std::iter::once(polygon.exterior()).chain(polygon.interiors());
        between(rings, ", ", out, |ring, out| self.line(ring, out));
        out.push(')');
    }
}
