//! KML 2.3.

use super::numbered::Numbered;
use crate::geometry::Geometry;
use geo::{LineString, Polygon};

pub fn write(geometry: &Geometry) -> String {
    let mut out = String::new();
    let mut writer = Writer { points: Numbered::new(geometry, false, false) };
    writer.shape(geometry.shape(), " xmlns=\"http://www.opengis.net/kml/2.2\"", &mut out);
    out
}

struct Writer<'a> {
    points: Numbered<'a>,
}

impl Writer<'_> {
    fn shape(&mut self, shape: &geo::Geometry, space: &str, out: &mut String) {
        use geo::Geometry as G;
        match shape {
            G::Point(point) => self.element("Point", space, &[point.0], out),
            G::Line(line) => self.element("LineString", space, &LineString::from(line).0, out),
            G::LineString(line) => self.element("LineString", space, &line.0, out),
            G::Polygon(polygon) => self.polygon(polygon, space, out),
            G::Rect(rect) => self.polygon(&rect.to_polygon(), space, out),
            G::Triangle(triangle) => self.polygon(&triangle.to_polygon(), space, out),
            G::MultiPoint(points) => {
                self.many(points.iter().map(|point| (*point).into()), space, out);
            }
            G::MultiLineString(lines) => self.many(lines.iter().map(|line| line.clone().into()), space, out),
            G::MultiPolygon(areas) => self.many(areas.iter().map(|area| area.clone().into()), space, out),
            G::GeometryCollection(members) => self.many(members.iter().cloned(), space, out),
        }
    }

    fn many(&mut self, members: impl Iterator<Item = geo::Geometry>, space: &str, out: &mut String) {
        out.push_str(&format!("<MultiGeometry{space}>"));
        members.for_each(|member| self.shape(&member, "", out));
        out.push_str("</MultiGeometry>");
    }

    fn element(&mut self, name: &str, space: &str, coords: &[geo::Coord], out: &mut String) {
        out.push_str(&format!("<{name}{space}><coordinates>"));
        self.points.points(coords, ',', " ", out);
        out.push_str(&format!("</coordinates></{name}>"));
    }

    fn polygon(&mut self, polygon: &Polygon, space: &str, out: &mut String) {
        out.push_str(&format!("<Polygon{space}>"));
        let rings = std::iter::once(("outerBoundaryIs", polygon.exterior()))
            .chain(polygon.interiors().iter().map(|ring| ("innerBoundaryIs", ring)));
        for (boundary, ring) in rings {
            out.push_str(&format!("<{boundary}>"));
            self.element("LinearRing", "", &ring.0, out);
            out.push_str(&format!("</{boundary}>"));
        }
        out.push_str("</Polygon>");
    }
}
