//! Things in space, in a tree by their boxes: which of them meet a box, and which two of two trees are nearest to each other.
//!
//! It is made, and asked, in steps between which one looks whether somebody still waits: geometries have up to hundreds of thousands of segments, and a
//! tree of `rstar` is made in one call. Halves are cut at the middle of the widest side, so a tree is no deeper than the logarithm of what is in it.

use crate::error::GeoError;
use crate::watch::Watch;
use geo::{Distance, Euclidean, Line};
use std::ops::Range;

/// Things that are not cut into halves.
const LEAF: usize = 8;

/// A box: its least and its greatest corner, which belong to it.
#[derive(Debug, Clone, Copy)]
pub struct Around<const N: usize> {
    pub least: [f64; N],
    pub greatest: [f64; N],
}

impl<const N: usize> Around<N> {
    /// The one around two places.
    pub fn both(a: [f64; N], b: [f64; N]) -> Self {
        let corner =
            |pick: fn(f64, f64) -> f64| std::array::from_fn::<f64, N, _>(|axis| pick(a[axis], b[axis]));
        Self { least: corner(f64::min), greatest: corner(f64::max) }
    }

    /// The one around both.
    fn with(self, other: Self) -> Self {
        Self {
            least: std::array::from_fn(|axis| self.least[axis].min(other.least[axis])),
            greatest: std::array::from_fn(|axis| self.greatest[axis].max(other.greatest[axis])),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..N)
            .all(|axis| self.least[axis] <= other.greatest[axis] && other.least[axis] <= self.greatest[axis])
    }

    /// The square of the way from one to the other: nothing in them is nearer to each other.
    fn apart(&self, other: &Self) -> f64 {
        let gap = |axis: usize| {
            (self.least[axis] - other.greatest[axis]).max(other.least[axis] - self.greatest[axis]).max(0.0)
        };
        (0..N).map(|axis| gap(axis) * gap(axis)).fold(0.0, std::ops::Add::add)
    }

    fn widest(&self) -> usize {
        let side = |axis: usize| self.greatest[axis] - self.least[axis];
        (0..N).max_by(|a, b| side(*a).total_cmp(&side(*b))).unwrap_or(0)
    }

    fn size(&self) -> f64 {
        let axis = self.widest();
        self.greatest[axis] - self.least[axis]
    }
}

/// What can be in a tree.
pub trait Placed<const N: usize>: Copy {
    /// The box around it.
    fn around(&self) -> Around<N>;
}

/// What has a distance.
pub trait Near<const N: usize>: Placed<N> {
    /// How far another is away, as a way straight through space.
    fn distance(&self, other: &Self) -> f64;
}

impl Placed<2> for Line {
    fn around(&self) -> Around<2> {
        Around::both([self.start.x, self.start.y], [self.end.x, self.end.y])
    }
}

impl Near<2> for Line {
    fn distance(&self, other: &Self) -> f64 {
        Euclidean.distance(self, other)
    }
}

/// A part of a tree: the things of a range, and where the second of its halves is. The first comes next.
#[derive(Debug, Clone, Copy)]
struct Node<const N: usize> {
    around: Around<N>,
    from: usize,
    to: usize,
    second: Option<usize>,
}

/// The tree.
#[derive(Debug)]
pub struct Tree<T, const N: usize> {
    things: Vec<T>,
    nodes: Vec<Node<N>>,
}

impl<const N: usize, T: Placed<N>> Tree<T, N> {
    /// One of these.
    ///
    /// # Errors
    ///
    /// Where nobody waits for it any more.
    pub fn new(things: Vec<T>, watch: &mut Watch) -> Result<Self, GeoError> {
        let mut tree = Self { things, nodes: Vec::new() };
        tree.nodes.reserve(2 * tree.things.len() / LEAF + 1);
        let all = 0..tree.things.len();
        if !all.is_empty() {
            tree.add(all, watch)?;
        }
        Ok(tree)
    }

    /// A node of this range, and all below it.
    fn add(&mut self, range: Range<usize>, watch: &mut Watch) -> Result<(), GeoError> {
        watch.check_after(range.len())?;
        let things = &mut self.things[range.clone()];
        let Some(around) = things.iter().map(Placed::around).reduce(Around::with) else { return Ok(()) };
        let at = self.nodes.len();
        self.nodes.push(Node { around, from: range.start, to: range.end, second: None });
        if range.len() <= LEAF {
            return Ok(());
        }
        let axis = around.widest();
        let middle = |thing: &T| {
            let around = thing.around();
            around.least[axis] / 2.0 + around.greatest[axis] / 2.0
        };
        let half = range.len() / 2;
        things.select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)));
        self.add(range.start..range.start + half, watch)?;
        self.nodes[at].second = Some(self.nodes.len());
        self.add(range.start + half..range.end, watch)
    }

    /// Calls `f` with all whose boxes meet this one.
    ///
    /// # Errors
    ///
    /// Those of `f`.
    pub fn each_meeting(
        &self,
        window: &Around<N>,
        mut f: impl FnMut(&T) -> Result<(), GeoError>,
    ) -> Result<(), GeoError> {
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get(at).filter(|node| node.around.meets(window)) else { continue };
            match node.second {
                Some(second) => open.extend([second, at + 1]),
                None => {
                    let meeting = self.of(node).iter().filter(|thing| thing.around().meets(window));
                    meeting.into_iter().try_for_each(&mut f)?;
                }
            }
        }
        Ok(())
    }

    fn of(&self, node: &Node<N>) -> &[T] {
        &self.things[node.from..node.to]
    }
}

/// The two that are nearest to each other, one of each tree, and how far apart they are, if that is no further than `most`.
///
/// The halves of the larger of two parts are looked at, the nearer one first, as long as their boxes are nearer to each other than the nearest two that are known.
///
/// # Errors
///
/// Where nobody waits for it any more.
pub fn nearest<const N: usize, T: Near<N>>(
    a: &Tree<T, N>,
    b: &Tree<T, N>,
    most: f64,
    watch: &mut Watch,
) -> Result<Option<(f64, T, T)>, GeoError> {
    let mut found: Option<(f64, T, T)> = None;
    let mut open = vec![(0.0, 0, 0)];
    while let Some((apart, at_a, at_b)) = open.pop() {
        watch.check()?;
        let is_too_far = match &found {
            Some((known, _, _)) => apart >= known * known,
            None => apart > most * most,
        };
        let (Some(one), Some(other)) = (a.nodes.get(at_a), b.nodes.get(at_b)) else { continue };
        if is_too_far {
            continue;
        }
        let halves = match (one.second, other.second) {
            (None, None) => {
                watch.check_after(LEAF * LEAF)?;
                for (x, y) in a.of(one).iter().flat_map(|x| b.of(other).iter().map(move |y| (x, y))) {
                    let distance = x.distance(y);
                    if found.as_ref().map_or(distance <= most, |(known, _, _)| distance < *known) {
                        found = Some((distance, *x, *y));
                    }
                }
                continue;
            }
            (Some(second), of_b) if of_b.is_none() || one.around.size() >= other.around.size() => {
                [(at_a + 1, at_b), (second, at_b)]
            }
            (_, Some(second)) => [(at_a, at_b + 1), (at_a, second)],
            (Some(second), None) => [(at_a + 1, at_b), (second, at_b)],
        };
        let apart = |(at_a, at_b): (usize, usize)| match (a.nodes.get(at_a), b.nodes.get(at_b)) {
            (Some(one), Some(other)) => one.around.apart(&other.around),
            _ => f64::INFINITY,
        };
        let mut halves = halves.map(|half| (apart(half), half.0, half.1));
        halves.sort_by(|x, y| y.0.total_cmp(&x.0));
        open.extend(halves);
    }
    Ok(found)
}
