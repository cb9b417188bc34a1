//! GML 3.2: elements of straight lines, in the order of the axes of their reference system.

use super::numbered::Numbered;
use crate::geometry::Geometry;
use geo::{LineString, Polygon};

pub fn write(geometry: &Geometry) -> String {
    let crs = geometry.crs();
    let mut iri = String::new();
    for character in crs.iri().chars() {
        match character {
            '&' => iri.push_str("&amp;"),
            '<' => iri.push_str("&lt;"),
            '"' => iri.push_str("&quot;"),
            other => iri.push(other),
        }
    }
    let mut head = format!(" xmlns:gml=\"http://www.opengis.net/gml/3.2\" srsName=\"{iri}\"");
    if geometry.heights().is_some() {
        head.push_str(" srsDimension=\"3\"");
    }
    let mut out = String::new();
    let mut writer = Writer { points: Numbered::new(geometry, crs.is_northing_first(), false) };
    writer.shape(geometry.shape(), &head, &mut out);
    out
}

struct Writer<'a> {
    points: Numbered<'a>,
}

impl Writer<'_> {
    fn shape(&mut self, shape: &geo::Geometry, head: &str, out: &mut String) {
        use geo::Geometry as G;
        match shape {
            G::Point(point) => self.element("Point", "pos", head, &[point.0], out),
            G::Line(line) => self.element("LineString", "posList", head, &LineString::from(line).0, out),
            G::LineString(line) => self.element("LineString", "posList", head, &line.0, out),
            G::Polygon(polygon) => self.polygon(polygon, head, out),
            G::Rect(rect) => self.polygon(&rect.to_polygon(), head, out),
            G::Triangle(triangle) => self.polygon(&triangle.to_polygon(), head, out),
            // The empty point is no MultiPoint, but has no position either.
            G::MultiPoint(points) => {
                self.many("MultiPoint", "pointMember", points.iter().map(|point| (*point).into()), head, out);
            }
            G::MultiLineString(lines) => {
                let lines = lines.iter().map(|line| line.clone().into());
                self.many("MultiCurve", "curveMember", lines, head, out);
            }
            G::MultiPolygon(areas) => {
                let areas = areas.iter().map(|area| area.clone().into());
                self.many("MultiSurface", "surfaceMember", areas, head, out);
            }
            G::GeometryCollection(members) => {
                self.many("MultiGeometry", "geometryMember", members.iter().cloned(), head, out);
            }
        }
    }

    fn many(
        &mut self,
        name: &str,
        member: &str,
        members: impl Iterator<Item = geo::Geometry>,
        head: &str,
        out: &mut String,
    ) {
        out.push_str(&format!("<gml:{name}{head}>"));
        for shape in members {
            out.push_str(&format!("<gml:{member}>"));
            self.shape(&shape, "", out);
            out.push_str(&format!("</gml:{member}>"));
        }
        out.push_str(&format!("</gml:{name}>"));
    }

    fn element(&mut self, name: &str, list: &str, head: &str, coords: &[geo::Coord], out: &mut String) {
        out.push_str(&format!("<gml:{name}{head}><gml:{list}>"));
        self.points.points(coords, ' ', " ", out);
        out.push_str(&format!("</gml:{list}></gml:{name}>"));
    }

    fn polygon(&mut self, polygon: &Polygon, head: &str, out: &mut String) {
        out.push_str(&format!("<gml:Polygon{head}>"));
        let rings = std::iter::once(("exterior", polygon.exterior()))
            .chain(polygon.interiors().iter().map(|ring| ("interior", ring)));
        for (boundary, ring) in rings {
            out.push_str(&format!("<gml:{boundary}>"));
            self.element("LinearRing", "posList", "", &ring.0, out);
            out.push_str(&format!("</gml:{boundary}>"));
        }
        out.push_str("</gml:Polygon>");
    }
}
