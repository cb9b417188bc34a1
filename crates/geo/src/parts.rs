//! The points, lines and areas that a shape is made of.

use geo::orient::{Direction, Orient};
use geo::{Coord, Line, LineString, Polygon};

/// The parts of a shape by their dimensions.
#[derive(Debug, Default, Clone)]
pub struct Parts {
    pub points: Vec<geo::Point>,
    pub lines: Vec<geo::LineString>,
    pub areas: Vec<geo::Polygon>,
}

impl Parts {
    pub fn of(shape: &geo::Geometry) -> Self {
        let mut parts = Self::default();
        parts.add(shape);
        parts
    }

    fn add(&mut self, shape: &geo::Geometry) {
        use geo::Geometry as G;
        match shape {
            G::Point(point) => self.points.push(*point),
            G::MultiPoint(points) => self.points.extend(points.iter().copied()),
            G::Line(line) => self.lines.push(line.into()),
            G::LineString(line) => self.lines.extend((!line.0.is_empty()).then(|| line.clone())),
            G::MultiLineString(lines) => self.lines.extend(lines.iter().cloned()),
            G::Polygon(area) => self.areas.extend((!area.exterior().0.is_empty()).then(|| area.clone())),
            G::MultiPolygon(areas) => self.areas.extend(areas.iter().cloned()),
            G::Rect(rect) => self.areas.push(rect.to_polygon()),
            G::Triangle(triangle) => self.areas.push(triangle.to_polygon()),
            G::GeometryCollection(members) => members.iter().for_each(|member| self.add(member)),
        }
    }

    /// The edges of all lines and areas, and the points as edges from and to themselves.
    pub fn edges(&self) -> impl Iterator<Item = Line> {
        let points = self.points.iter().map(|point| Line { start: point.0, end: point.0 });
        points
            .chain(self.lines.iter().flat_map(LineString::lines))
            .chain(self.area_edges().map(|(line, _)| line))
    }

    /// The edges of areas, each with the number of its area.
    pub fn area_edges(&self) -> impl Iterator<Item = (Line, usize)> {
        let edges = |(number, area): (usize, &Polygon)| {
            let rings = std::iter::once(area.exterior()).chain(area.interiors());
            rings.flat_map(LineString::lines).map(move |line| (line, number)).collect::<Vec<_>>()
        };
        self.areas.iter().enumerate().flat_map(edges)
    }

    /// How many kinds of them there are.
    pub fn count(&self) -> usize {
        [self.points.is_empty(), self.lines.is_empty(), self.areas.is_empty()]
            .into_iter()
            .filter(|is_empty| !is_empty)
            .count()
    }
}

/// Outer rings counter-clockwise, as the library's union of many counts on.
pub fn oriented<'a>(areas: impl IntoIterator<Item = &'a Polygon>) -> Vec<Polygon> {
    areas.into_iter().map(|area| area.orient(Direction::Default)).collect()
}

/// The places in which an odd number of lines end: the edge of the lines together.
pub fn ends(lines: &[LineString]) -> Vec<Coord> {
    let ends = lines.iter().flat_map(|line| [line.0.first(), line.0.last()]).flatten();
    let mut ends: Vec<Coord> = ends.copied().collect();
    ends.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let odd = ends.chunk_by(|a, b| a == b).filter(|same| same.len() % 2 == 1);
    odd.filter_map(|same| same.first()).copied().collect()
}
