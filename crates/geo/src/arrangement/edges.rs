//! The edges of two shapes, and where each is cut by others or runs along with them.

use crate::error::GeoError;
use crate::limits::PAIRS_MAX;
use crate::parts::{Parts, oriented};
use crate::tree::{Around, Placed, Tree};
use crate::watch::Watch;
use geo::kernels::{Kernel, Orientation, RobustKernel};
use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{Coord, Line, LineString, Point};

/// Two shapes.
pub type Shapes<'s> = [&'s Parts; 2];

/// A segment of a line, or of a ring of an area, which is then at its left.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub line: Line,
    /// Of which of the two shapes.
    pub of: usize,
    /// Of which area of the shape; none of a line.
    pub area: Option<usize>,
    /// On which path of both shapes it is, and which of its edges.
    path: usize,
    number: usize,
    /// How many edges the path has, if it ends where it begins.
    closed: Option<usize>,
}

impl Edge {
    /// Whether another begins where it ends, or the other way round, on the same path.
    fn is_beside(&self, other: &Self) -> bool {
        let around = self.closed.is_some_and(|edges| self.number.abs_diff(other.number) + 1 == edges);
        self.path == other.path && (self.number.abs_diff(other.number) == 1 || around)
    }

    /// Whether it goes on where another ends.
    pub fn follows(&self, before: &Self) -> bool {
        self.path == before.path && self.number == before.number + 1
    }

    /// How far along it a place on it is, from 0 to 1.
    fn part_of(&self, coord: Coord) -> f64 {
        if coord == self.line.start {
            return 0.0;
        }
        if coord == self.line.end {
            return 1.0;
        }
        let (delta, to) = (self.line.delta(), coord - self.line.start);
        let part = if delta.x.abs() > delta.y.abs() { to.x / delta.x } else { to.y / delta.y };
        part.clamp(0.0, 1.0)
    }
}

/// An edge with its number, in a tree.
#[derive(Debug, Clone, Copy)]
struct Numbered(usize, Line);

impl Placed<2> for Numbered {
    fn around(&self) -> Around<2> {
        self.1.around()
    }
}

/// Where an edge is cut.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub part: f64,
    pub at: Coord,
    /// By areas of which shape.
    pub by_area: [bool; 2],
}

/// A part of an edge along which another runs.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    from: f64,
    to: f64,
    /// The number of the other.
    pub other: usize,
    /// It goes the same way.
    pub same_way: bool,
}

impl Shared {
    /// Whether a place between two cuts is on it.
    pub fn has(&self, part: f64) -> bool {
        self.from <= part && part <= self.to
    }
}

/// All edges, with what cuts each of them.
#[derive(Debug, Default)]
pub struct Edges {
    pub all: Vec<Edge>,
    /// In the order along the edge, its ends first and last.
    pub cuts: Vec<Vec<Cut>>,
    pub shared: Vec<Vec<Shared>>,
}

impl Edges {
    /// Those of two shapes.
    ///
    /// # Errors
    ///
    /// Where too many are near each other, or time is up.
    pub fn of(shapes: Shapes<'_>, watch: &mut Watch) -> Result<Self, GeoError> {
        let mut edges = Self::default();
        let mut paths = 0;
        for (of, parts) in shapes.into_iter().enumerate() {
            for (area, polygon) in oriented(&parts.areas).iter().enumerate() {
                for ring in std::iter::once(polygon.exterior()).chain(polygon.interiors()) {
                    edges.add_path(ring, of, Some(area), &mut paths);
                }
            }
            parts.lines.iter().for_each(|line| edges.add_path(line, of, None, &mut paths));
        }
        edges.cut(shapes, watch)?;
        Ok(edges)
    }

    /// The edges of areas of the first or the second shape, each with the number of its area.
    pub fn of_areas(&self, of: usize) -> impl Iterator<Item = (Line, usize)> {
        self.all.iter().filter(move |edge| edge.of == of).filter_map(|edge| Some((edge.line, edge.area?)))
    }

    fn add_path(&mut self, line: &LineString, of: usize, area: Option<usize>, paths: &mut usize) {
        let mut coords = line.0.clone();
        coords.dedup();
        let count = coords.len().saturating_sub(1);
        let closed = (coords.first() == coords.last()).then_some(count);
        for (number, pair) in coords.windows(2).enumerate() {
            if let [start, end] = *pair {
                let line = Line { start, end };
                self.all.push(Edge { line, of, area, path: *paths, number, closed });
            }
        }
        *paths += 1;
    }

    fn cut(&mut self, shapes: Shapes<'_>, watch: &mut Watch) -> Result<(), GeoError> {
        let ends = |edge: &Edge| {
            let end = |part, at| Cut { part, at, by_area: [false; 2] };
            vec![end(0.0, edge.line.start), end(1.0, edge.line.end)]
        };
        self.cuts = self.all.iter().map(ends).collect();
        self.shared = vec![Vec::new(); self.all.len()];
        let numbered: Vec<Numbered> =
            self.all.iter().enumerate().map(|(at, edge)| Numbered(at, edge.line)).collect();
        let tree = Tree::new(numbered.clone(), watch)?;
        let mut left = PAIRS_MAX + 8 * numbered.len();
        for one in &numbered {
            tree.each_meeting(&one.around(), |other| {
                watch.check()?;
                left = left.checked_sub(1).ok_or_else(too_many)?;
                if one.0 < other.0 {
                    self.meet(one.0, other.0);
                }
                Ok(())
            })?;
        }
        for point in shapes.into_iter().flat_map(|parts| &parts.points) {
            watch.check()?;
            let place = [point.x(), point.y()];
            tree.each_meeting(&Around::both(place, place), |edge| {
                watch.check()?;
                left = left.checked_sub(1).ok_or_else(too_many)?;
                self.meet_point(edge.0, *point);
                Ok(())
            })?;
        }
        for cuts in &mut self.cuts {
            watch.check()?;
            cuts.sort_by(|a, b| a.part.total_cmp(&b.part));
            cuts.dedup_by(|again, kept| {
                let is_same = again.at == kept.at;
                if is_same {
                    kept.by_area = std::array::from_fn(|of| kept.by_area[of] || again.by_area[of]);
                }
                is_same
            });
        }
        Ok(())
    }

    fn meet(&mut self, one: usize, other: usize) {
        let (Some(a), Some(b)) = (self.all.get(one).copied(), self.all.get(other).copied()) else { return };
        match line_intersection(a.line, b.line) {
            Some(LineIntersection::SinglePoint { intersection, .. }) if !a.is_beside(&b) => {
                self.add_cut(one, &b, intersection);
                self.add_cut(other, &a, intersection);
            }
            None | Some(LineIntersection::SinglePoint { .. }) => {}
            Some(LineIntersection::Collinear { intersection: common }) => {
                let same_way =
                    a.line.delta().x * b.line.delta().x + a.line.delta().y * b.line.delta().y > 0.0;
                for (mine, edge, number, their) in [(one, &a, other, &b), (other, &b, one, &a)] {
                    self.add_cut(mine, their, common.start);
                    self.add_cut(mine, their, common.end);
                    let (from, to) = (edge.part_of(common.start), edge.part_of(common.end));
                    let shared = Shared { from: from.min(to), to: from.max(to), other: number, same_way };
                    self.shared.get_mut(mine).into_iter().for_each(|all| all.push(shared));
                }
            }
        }
    }

    fn add_cut(&mut self, at: usize, by: &Edge, place: Coord) {
        let (Some(edge), Some(cuts)) = (self.all.get(at), self.cuts.get_mut(at)) else { return };
        let by_area = std::array::from_fn(|of| by.area.is_some() && by.of == of);
        cuts.push(Cut { part: edge.part_of(place), at: place, by_area });
    }

    fn meet_point(&mut self, at: usize, point: Point) {
        let (Some(edge), Some(cuts)) = (self.all.get(at), self.cuts.get_mut(at)) else { return };
        let Line { start, end } = edge.line;
        if RobustKernel::orient2d(start, end, point.0) == Orientation::Collinear {
            cuts.push(Cut { part: edge.part_of(point.0), at: point.0, by_area: [false; 2] });
        }
    }
}

fn too_many() -> GeoError {
    GeoError::TooLarge { what: "pairs of segments that are near each other", limit: PAIRS_MAX }
}
