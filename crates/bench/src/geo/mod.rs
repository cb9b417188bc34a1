//! Places like those of a map: points, some of them shops, lines and small areas, dense in towns and thin elsewhere, and zones that are large. From a seed, so that
//! windows, what is nearest, and joins by places can be measured anywhere.

mod dialect;
#[cfg(test)]
mod tests;

pub use dialect::Dialect;

use crate::bsbm::Random;
use std::f64::consts::TAU;
use std::io::{self, Write};

/// What all names begin with.
const NAMES: &str = "http://lode.example/map/";
const WKT: &str = "http://www.opengis.net/ont/geosparql#wktLiteral";
/// Of so many places and so on all but a quarter are in one of the towns.
const TOWNS: u64 = 400;
const IN_TOWN_PERCENT: u64 = 75;
/// One in so many points is a shop.
const SHOPS: u64 = 10;
/// One in so many areas is a zone.
const ZONES: u64 = 100;

/// How much there is.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Points; a tenth of them are shops.
    pub points: u64,
    /// Lines of four to ten segments.
    pub lines: u64,
    /// Polygons; one in a hundred is a zone.
    pub polygons: u64,
}

/// Points that are no shops.
pub const POINT: &str = "http://lode.example/map/point";
/// Points that are.
pub const SHOP: &str = "http://lode.example/map/shop";
/// Small areas: some tens of metres.
pub const AREA: &str = "http://lode.example/map/area";
/// Large ones: some tens of kilometres.
pub const ZONE: &str = "http://lode.example/map/zone";
/// Lines.
pub const LINE: &str = "http://lode.example/map/line";

/// Writes the data as N-Triples, each triple once, and returns how many there are. The same seed gives the same bytes.
///
/// # Errors
///
/// Where `out` fails.
pub fn generate(sizes: Sizes, seed: u64, out: &mut dyn Write) -> io::Result<u64> {
    let mut places = Places::new(seed);
    for number in 0..sizes.points {
        let property = if number % SHOPS == 0 { SHOP } else { POINT };
        let at = places.place();
        write(out, ('p', number), property, &format!("POINT({})", text(at)))?;
    }
    for number in 0..sizes.lines {
        let shape = format!("LINESTRING({})", places.walk());
        write(out, ('l', number), LINE, &shape)?;
    }
    for number in 0..sizes.polygons {
        let is_zone = number % ZONES == 0;
        let shape = format!("POLYGON(({}))", places.ring(if is_zone { 0.2 } else { 0.000_4 }));
        write(out, ('a', number), if is_zone { ZONE } else { AREA }, &shape)?;
    }
    out.flush()?;
    Ok(sizes.points + sizes.lines + sizes.polygons)
}

fn write(out: &mut dyn Write, (kind, number): (char, u64), property: &str, shape: &str) -> io::Result<()> {
    writeln!(out, "<{NAMES}{kind}{number}> <{property}> \"{shape}\"^^<{WKT}> .")
}

fn text([x, y]: [f64; 2]) -> String {
    format!("{x:.6} {y:.6}")
}

/// Places drawn at random: towns are the same for a seed.
pub struct Places {
    random: Random,
    towns: Vec<[f64; 2]>,
}

impl Places {
    /// Those of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let towns = (0..TOWNS).map(|_| anywhere(&mut random)).collect();
        Self { random, towns }
    }

    /// A place.
    pub fn place(&mut self) -> [f64; 2] {
        let random = &mut self.random;
        if !random.percent(IN_TOWN_PERCENT) {
            return anywhere(random);
        }
        let town = usize::try_from(random.below(self.towns.len() as u64)).unwrap_or(0);
        let [x, y] = self.towns.get(town).copied().unwrap_or_default();
        // Dense in the middle.
        let (far, angle) = (fraction(random), fraction(random) * TAU);
        let far = 0.4 * far * far;
        [x + far * angle.cos(), y + far * angle.sin()]
    }

    fn walk(&mut self) -> String {
        let [mut x, mut y] = self.place();
        let mut walk = text([x, y]);
        for _ in 0..self.random.between(4, 10) {
            x += (fraction(&mut self.random) - 0.5) * 0.002;
            y += (fraction(&mut self.random) - 0.5) * 0.002;
            walk += &format!(",{}", text([x, y]));
        }
        walk
    }

    /// Corners around a place, so that the ring does not cross itself.
    fn ring(&mut self, size: f64) -> String {
        let [x, y] = self.place();
        let corners = self.random.between(4, 16);
        let mut ring = Vec::new();
        for corner in 0..corners {
            let angle = corner as f64 / corners as f64 * TAU;
            let far = size * (0.5 + fraction(&mut self.random) / 2.0);
            ring.push(text([x + far * angle.cos(), y + far * angle.sin()]));
        }
        ring.extend(ring.first().cloned());
        ring.join(",")
    }
}

/// Between 60 degrees south and 70 north, and not beside the antimeridian.
fn anywhere(random: &mut Random) -> [f64; 2] {
    [fraction(random) * 358.0 - 179.0, fraction(random) * 130.0 - 60.0]
}

fn fraction(random: &mut Random) -> f64 {
    random.below(1 << 30) as f64 / (1_u64 << 30) as f64
}

/// The prefixes of all queries.
const PROLOGUE: &str = "PREFIX geo: <http://www.opengis.net/ont/geosparql#>\nPREFIX geof: <http://www.opengis.net/def/function/geosparql/>\n";

/// The square around a place, as text.
fn area([x, y]: [f64; 2], size: f64) -> String {
    let (w, e, s, n) = (x - size / 2.0, x + size / 2.0, y - size / 2.0, y + size / 2.0);
    let ring = [[w, s], [e, s], [e, n], [w, n], [w, s]].map(text).join(",");
    format!("POLYGON(({ring}))")
}

/// Points within half so many degrees of a place.
pub fn window(place: [f64; 2], size: f64) -> String {
    let area = area(place, size);
    format!("{PROLOGUE}SELECT ?p {{ ?p <{POINT}> ?g FILTER(geof:sfWithin(?g, \"{area}\"^^geo:wktLiteral)) }}")
}

/// How far the ten points are away that are nearest to a place, in kilometres.
pub fn distances(place: [f64; 2]) -> String {
    let place = text(place);
    format!(
        "{PROLOGUE}PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>\nSELECT (geof:distance(?g, \"POINT({place})\"^^geo:wktLiteral, uom:kilometre) AS ?d) {{ ?p <{POINT}> ?g }} ORDER BY geof:distance(?g, \"POINT({place})\"^^geo:wktLiteral) LIMIT 10"
    )
}

/// The ten points that are nearest to a place.
pub fn nearest(place: [f64; 2]) -> String {
    let place = text(place);
    format!(
        "{PROLOGUE}SELECT ?p {{ ?p <{POINT}> ?g }} ORDER BY geof:distance(?g, \"POINT({place})\"^^geo:wktLiteral) LIMIT 10"
    )
}

/// How many pairs of a shop and a zone in which it is.
pub fn join() -> String {
    format!(
        "{PROLOGUE}SELECT (COUNT(*) AS ?n) {{ ?p <{SHOP}> ?a . ?z <{ZONE}> ?b FILTER(geof:sfWithin(?a, ?b)) }}"
    )
}
