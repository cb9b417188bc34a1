//! Two shapes of any kinds, cut where they meet: each piece of an edge and each node between pieces is inside, on the edge or outside of each of
//! both. What they have in common, and the matrix of intersections, can be read from these.
//!
//! A shape is the union of its parts, so areas go before lines, and lines before points: a line in an area is its inside, and so is an edge with
//! areas on both sides (as JTS's `RelateNG` has it). Nodes and the ends of pieces are known by what meets there, and not computed anew
//! from rounded places; the corners of shapes are where they are.

mod edges;

use crate::error::GeoError;
use crate::rays::Rays;
use crate::watch::Watch;
use edges::{Cut, Edges, Shapes};
use geo::{Coord, LineString, Point};
use std::collections::HashMap;

/// Where something is in a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    Inside,
    Edge,
    Outside,
}

/// What of a shape is at a piece of an edge.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    /// Areas at its left and right.
    left: bool,
    right: bool,
    /// It is on the edge of an area,
    on_area: bool,
    /// or a line.
    on_line: bool,
}

impl Around {
    fn position(self) -> Position {
        match self {
            Self { left: true, right: true, .. } => Position::Inside,
            Self { on_area: true, .. } => Position::Edge,
            Self { on_line: true, .. } => Position::Inside,
            _ => Position::Outside,
        }
    }
}

/// A part of an edge, between two nodes.
#[derive(Debug, Clone, Copy)]
struct Piece {
    edge: usize,
    start: Coord,
    end: Coord,
    around: [Around; 2],
    /// The same part of another edge comes before.
    again: bool,
}

/// What of a shape is at a node.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    on_edge: bool,
    inside: bool,
    on_line: bool,
    /// Lines end there, and how many.
    ends: usize,
    is_point: bool,
}

impl At {
    fn position(self) -> Position {
        match self {
            Self { on_edge: true, .. } => Position::Edge,
            Self { inside: true, .. } => Position::Inside,
            Self { on_line: true, ends, .. } if ends % 2 == 1 => Position::Edge,
            Self { on_line: true, .. } | Self { is_point: true, .. } => Position::Inside,
            _ => Position::Outside,
        }
    }
}

/// A place where pieces begin and end, or a point.
#[derive(Debug, Clone, Copy)]
struct Node {
    place: Coord,
    at: [At; 2],
    /// A piece that both have ends here.
    at_common: bool,
    has_pieces: bool,
}

/// Two shapes that were cut.
#[derive(Debug)]
pub struct Arrangement {
    edges: Edges,
    pieces: Vec<Piece>,
    nodes: HashMap<(u64, u64), Node>,
}

fn key(place: Coord) -> (u64, u64) {
    // There is one zero.
    ((place.x + 0.0).to_bits(), (place.y + 0.0).to_bits())
}

impl Arrangement {
    /// That of two shapes whose parts are valid.
    ///
    /// # Errors
    ///
    /// Where too many edges are near each other, or time is up.
    pub fn of(shapes: Shapes<'_>) -> Result<Self, GeoError> {
        let mut watch = Watch::new();
        let edges = Edges::of(shapes, &mut watch)?;
        let mut rays = |of| Rays::new(edges.of_areas(of), &mut watch);
        let mut rays = [rays(0)?, rays(1)?];
        let mut made = Self { edges, pieces: Vec::new(), nodes: HashMap::new() };
        made.add_pieces(&mut rays, &mut watch)?;
        made.add_ends_and_points(shapes, &mut rays, &mut watch)?;
        Ok(made)
    }

    fn add_pieces(&mut self, rays: &mut [Rays; 2], watch: &mut Watch) -> Result<(), GeoError> {
        let mut known: [Option<bool>; 2] = [None; 2];
        let mut before = None;
        for at in 0..self.edges.all.len() {
            let (Some(edge), Some(cuts)) = (self.edges.all.get(at), self.edges.cuts.get(at)) else {
                continue;
            };
            let goes_on = before.is_some_and(|before| edge.follows(before));
            if !goes_on {
                known = [None; 2];
            }
            before = Some(edge);
            for cut in cuts.windows(2) {
                let [from, to] = cut else { continue };
                watch.check()?;
                for (known, is_met) in known.iter_mut().zip(from.by_area) {
                    if is_met {
                        *known = None;
                    }
                }
                self.pieces.push(piece(&self.edges, (at, from, to), &mut known, rays, watch)?);
            }
        }
        for piece in &self.pieces {
            watch.check()?;
            let common = is_common(piece);
            for place in [piece.start, piece.end] {
                let node = node_at(&mut self.nodes, place);
                node.at_common |= common;
                node.has_pieces = true;
                for (at, around) in node.at.iter_mut().zip(&piece.around) {
                    let position = around.position();
                    at.on_edge |= around.on_area && position == Position::Edge;
                    at.inside |= around.left && around.right;
                    at.on_line |= around.on_line;
                }
            }
        }
        Ok(())
    }

    fn add_ends_and_points(
        &mut self,
        shapes: Shapes<'_>,
        rays: &mut [Rays; 2],
        watch: &mut Watch,
    ) -> Result<(), GeoError> {
        for (of, parts) in shapes.into_iter().enumerate() {
            for end in parts.lines.iter().flat_map(|line| [line.0.first(), line.0.last()]).flatten() {
                watch.check()?;
                let node = node_at(&mut self.nodes, *end);
                node.at[of].ends += 1;
            }
            for Point(place) in &parts.points {
                watch.check()?;
                let node = node_at(&mut self.nodes, *place);
                node.at[of].is_point = true;
                if !node.has_pieces {
                    for (at, rays) in node.at.iter_mut().zip(rays.iter_mut()) {
                        at.inside = rays.are_around(*place, &[], watch)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The dimensions of what their insides, edges and outsides have in common, as nine letters.
    pub fn matrix(&self) -> String {
        let mut cells = [[None::<u8>; 3]; 3];
        let mut mark = |[a, b]: [Position; 2], dimension: u8| {
            let cell = &mut cells[a as usize][b as usize];
            *cell = (*cell).max(Some(dimension));
        };
        mark([Position::Outside; 2], 2);
        let side = |is_area: bool| if is_area { Position::Inside } else { Position::Outside };
        for piece in &self.pieces {
            mark(piece.around.map(Around::position), 1);
            mark(piece.around.map(|around| side(around.left)), 2);
            mark(piece.around.map(|around| side(around.right)), 2);
        }
        self.nodes.values().for_each(|node| mark(node.at.map(At::position), 0));
        let letter = |cell: &Option<u8>| cell.map_or('F', |dimension| char::from(b'0' + dimension));
        cells.as_flattened().iter().map(letter).collect()
    }

    /// The lines that both have in common and that are not in an area that both have.
    pub fn common_lines(&self) -> Vec<LineString> {
        self.lines(|piece| {
            let [a, b] = piece.around;
            let in_common_area = (a.left && b.left) || (a.right && b.right);
            !in_common_area && is_common(piece)
        })
    }

    /// What of the lines and edges of the first is outside of the second, each part once.
    pub fn lines_outside(&self) -> Vec<LineString> {
        let is_of_first = |piece: &Piece| self.edges.all.get(piece.edge).is_some_and(|edge| edge.of == 0);
        self.lines(|piece| is_of_first(piece) && piece.around[1].position() == Position::Outside)
    }

    /// Pieces, each part once, put together where they go on.
    fn lines(&self, has: impl Fn(&Piece) -> bool) -> Vec<LineString> {
        let mut lines: Vec<LineString> = Vec::new();
        let mut before: Option<usize> = None;
        for piece in self.pieces.iter().filter(|piece| !piece.again && has(piece)) {
            let last = lines.last_mut().filter(|line| line.0.last() == Some(&piece.start));
            match last {
                Some(line) if before == Some(piece.edge) => {
                    line.0.pop();
                    line.0.push(piece.end);
                }
                Some(line) if before.is_some_and(|before| self.goes_on(before, piece.edge)) => {
                    line.0.push(piece.end);
                }
                _ => lines.push(LineString(vec![piece.start, piece.end])),
            }
            before = Some(piece.edge);
        }
        lines
    }

    /// The points that both have in common and that are not on a line or in an area that both have.
    pub fn common_points(&self) -> Vec<Point> {
        let is_one = |node: &&Node| {
            let both = node.at.iter().all(|at| at.position() != Position::Outside);
            both && !node.at_common && !node.at.iter().all(|at| at.inside)
        };
        self.nodes.values().filter(is_one).map(|node| Point(node.place)).collect()
    }

    fn goes_on(&self, before: usize, edge: usize) -> bool {
        let edges = (self.edges.all.get(before), self.edges.all.get(edge));
        matches!(edges, (Some(before), Some(edge)) if edge.follows(before))
    }
}

fn node_at(nodes: &mut HashMap<(u64, u64), Node>, place: Coord) -> &mut Node {
    let empty = Node { place, at: [At::default(); 2], at_common: false, has_pieces: false };
    nodes.entry(key(place)).or_insert(empty)
}

/// Shorter parts of an edge may be there by rounding alone.
const PART_MIN: f64 = 1e-9;

fn is_common(piece: &Piece) -> bool {
    piece.around.iter().all(|around| around.position() != Position::Outside)
}

/// A piece of an edge between two cuts. `known` is whether it is inside of an area of each shape, where no edge of such was met since.
fn piece(
    edges: &Edges,
    (number, from, to): (usize, &Cut, &Cut),
    known: &mut [Option<bool>; 2],
    rays: &mut [Rays; 2],
    watch: &mut Watch,
) -> Result<Piece, GeoError> {
    let middle = (from.part + to.part) / 2.0;
    let place = (from.at + to.at) / 2.0;
    let shared = edges.shared.get(number).into_iter().flatten().filter(|shared| shared.has(middle));
    let along: Vec<(usize, bool)> =
        std::iter::once((number, true)).chain(shared.map(|shared| (shared.other, shared.same_way))).collect();
    let mut around = [Around::default(); 2];
    let mut beside: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for (other, same_way) in &along {
        let Some(edge) = edges.all.get(*other) else { continue };
        let around = &mut around[edge.of];
        match edge.area {
            None => around.on_line = true,
            Some(area) => {
                around.on_area = true;
                beside[edge.of].push(area);
                *(if *same_way { &mut around.left } else { &mut around.right }) = true;
            }
        }
    }
    for of in 0..2 {
        let inside = match known[of] {
            Some(inside) => inside,
            None => rays[of].are_around(place, &beside[of], watch)?,
        };
        // Between two cuts that are one but for their rounding a place may be on the wrong side: that holds there only.
        known[of] = (to.part - from.part > PART_MIN).then_some(inside);
        around[of].left |= inside;
        around[of].right |= inside;
    }
    let again = along.iter().any(|(other, _)| *other < number);
    Ok(Piece { edge: number, start: from.at, end: to.at, around, again })
}
