//! Conditions on where something is: calls of functions of a geometry and a constant one, or of two geometries, and comparisons of what they give with a
//! number. What they mean is known to who has an index of geometries.

use crate::expr::Expr;
use crate::variable::VarId;
use lode_rdf::Term;

/// How names of functions of geometries begin.
const OF_GEOMETRIES: [&str; 3] = [
    "http://www.opengis.net/def/function/geosparql/",
    "bif:st_",
    "http://www.openlinksw.com/schemas/bif#st_",
];

/// A condition on the geometries that a variable is.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceSearch<'e> {
    /// The function.
    pub function: &'e str,
    /// Its arguments; none for the variable.
    pub arguments: Vec<Option<&'e Term>>,
    /// The number that what it gives must not exceed; none where it must be true.
    pub most: Option<&'e Term>,
}

impl<'e> PlaceSearch<'e> {
    /// The variable and what is asked of it, if a condition is one.
    pub(crate) fn of(filter: &'e Expr) -> Option<(VarId, Self)> {
        match filter {
            Expr::Less(call, most) | Expr::LessOrEqual(call, most) => compared(call, most),
            Expr::Greater(most, call) | Expr::GreaterOrEqual(most, call) => compared(call, most),
            call => of_call(call, None),
        }
    }

    /// The variable and what is asked of it, if an expression measures something.
    pub(crate) fn measured(call: &'e Expr) -> Option<(VarId, Self)> {
        of_call(call, None)
    }
}

fn compared<'e>(call: &'e Expr, most: &'e Expr) -> Option<(VarId, PlaceSearch<'e>)> {
    match most {
        Expr::Const(most) => of_call(call, Some(most)),
        _ => None,
    }
}

fn of_call<'e>(call: &'e Expr, most: Option<&'e Term>) -> Option<(VarId, PlaceSearch<'e>)> {
    let Expr::Call(callee, arguments) = call else { return None };
    if !OF_GEOMETRIES.iter().any(|start| callee.name().starts_with(start)) {
        return None;
    }
    let mut var = None;
    let arguments = arguments.iter().map(|argument| match argument {
        Expr::Const(term) => Some(Some(term)),
        Expr::Var(name) if var.is_none() => {
            var = Some(*name);
            Some(None)
        }
        _ => None,
    });
    let arguments: Vec<_> = arguments.collect::<Option<_>>()?;
    if arguments.len() < 2 {
        return None;
    }
    Some((var?, PlaceSearch { function: callee.name(), arguments, most }))
}

/// How names of GeoSPARQL's functions begin.
const GEOF: &str = "http://www.opengis.net/def/function/geosparql/";
/// The vocabulary of GeoSPARQL.
const GEO: &str = "http://www.opengis.net/ont/geosparql#";
/// The properties of geometries that have them as text.
pub const GEOMETRY_TEXTS: [&str; 4] = [
    "http://www.opengis.net/ont/geosparql#asWKT",
    "http://www.opengis.net/ont/geosparql#asGeoJSON",
    "http://www.opengis.net/ont/geosparql#asGML",
    "http://www.opengis.net/ont/geosparql#asKML",
];

/// Other properties of that vocabulary, and its classes (GeoSPARQL 1.1, clauses 6 and 8).
const PROPERTIES: [&str; 29] = [
    "asWKT",
    "asGeoJSON",
    "asGML",
    "asKML",
    "asDGGS",
    "hasGeometry",
    "hasDefaultGeometry",
    "defaultGeometry",
    "hasSerialization",
    "hasBoundingBox",
    "hasCentroid",
    "hasLength",
    "hasMetricLength",
    "hasPerimeterLength",
    "hasMetricPerimeterLength",
    "hasArea",
    "hasMetricArea",
    "hasVolume",
    "hasMetricVolume",
    "hasSize",
    "hasMetricSize",
    "hasSpatialResolution",
    "hasMetricSpatialResolution",
    "hasSpatialAccuracy",
    "hasMetricSpatialAccuracy",
    "dimension",
    "coordinateDimension",
    "spatialDimension",
    "isEmpty",
];
const CLASSES: [&str; 6] = [
    "Feature",
    "Geometry",
    "SpatialObject",
    "FeatureCollection",
    "GeometryCollection",
    "SpatialObjectCollection",
];

/// The name in GeoSPARQL's vocabulary that is most like the one of an IRI of it, if one is.
pub(crate) fn near_place_name(iri: &str, is_class: bool) -> Option<String> {
    let name = iri.strip_prefix(GEO)?;
    let all = || PROPERTIES.into_iter().chain(["isSimple", "is3D"]).map(str::to_owned);
    let relations =
        RELATIONS.iter().flat_map(|(family, ends)| ends.iter().map(move |end| format!("{family}{end}")));
    let names: Vec<String> =
        if is_class { CLASSES.map(str::to_owned).into() } else { all().chain(relations).collect() };
    let near = lode_syntax::nearest(name, names.iter().map(String::as_str))?;
    (near != name).then(|| format!("{GEO}{near}"))
}

/// Whether literals of a datatype are geometries, also such that are not read.
pub(crate) fn is_geometry(datatype: &str) -> bool {
    let names = ["wktLiteral", "geoJSONLiteral", "gmlLiteral", "kmlLiteral", "dggsLiteral"];
    datatype == "http://www.openlinksw.com/schemas/virtrdf#Geometry"
        || datatype.strip_prefix(GEO).is_some_and(|name| names.contains(&name))
}

/// The name of the function that tells whether what a property relates is so related; none of properties that are no relations of places.
pub fn place_relation(property: &str) -> Option<String> {
    let name = property.strip_prefix(GEO)?;
    is_relation(name).then(|| format!("{GEOF}{name}"))
}

/// Whether a property, and the function of the same name, is a relation of places.
fn is_relation(name: &str) -> bool {
    let is_of = |(family, relations): &(&str, [&str; 8])| {
        name.strip_prefix(family).is_some_and(|relation| relations.contains(&relation))
    };
    RELATIONS.iter().any(is_of)
}

/// How names of relations begin, and how they end (GeoSPARQL 1.1, clauses 7.3 to 7.5).
const RELATIONS: [(&str, [&str; 8]); 3] = [
    ("sf", ["Equals", "Disjoint", "Intersects", "Touches", "Crosses", "Within", "Contains", "Overlaps"]),
    ("eh", ["Equals", "Disjoint", "Meet", "Overlap", "Covers", "CoveredBy", "Inside", "Contains"]),
    ("rcc8", ["eq", "dc", "ec", "po", "tppi", "tpp", "ntpp", "ntppi"]),
];

/// A condition on two geometries that are variables, which only those can pass that have a point in common, or are near each other: so pairs of them can be
/// found by their boxes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceJoin<'e> {
    /// The local name of the function.
    pub function: &'e str,
    /// The geometries.
    pub geometries: [VarId; 2],
    /// The third argument, if there is one.
    pub third: Option<&'e Term>,
    /// The number that what it gives must not exceed, and whether it must be less; none where it must be true.
    pub most: Option<(&'e Term, bool)>,
}

impl<'e> PlaceJoin<'e> {
    /// What is asked, if a condition is one.
    pub fn of(filter: &'e Expr) -> Option<Self> {
        let (call, most) = match filter {
            Expr::Less(call, most) | Expr::Greater(most, call) => (&**call, Some((&**most, true))),
            Expr::LessOrEqual(call, most) | Expr::GreaterOrEqual(most, call) => {
                (&**call, Some((&**most, false)))
            }
            call => (call, None),
        };
        let Expr::Call(callee, arguments) = call else { return None };
        let function = callee.name().strip_prefix(GEOF)?;
        let (geometries, third) = match arguments.as_slice() {
            [Expr::Var(a), Expr::Var(b)] => ([*a, *b], None),
            [Expr::Var(a), Expr::Var(b), Expr::Const(third)] => ([*a, *b], Some(third)),
            _ => return None,
        };
        let most = match most {
            Some((Expr::Const(most), is_below)) => Some((most, is_below)),
            Some(_) => return None,
            None => None,
        };
        let is_join = match (function, most, third) {
            ("distance", Some(_), _) | ("metricDistance", Some(_), None) => true,
            ("relate", None, Some(pattern)) => has_common(pattern),
            ("sfDisjoint" | "ehDisjoint" | "rcc8dc", _, _) => false,
            (name, None, None) => is_relation(name),
            _ => false,
        };
        (is_join && geometries[0] != geometries[1]).then_some(Self { function, geometries, third, most })
    }

    /// The first of some conditions that relates a variable of each of two sides that have none in common: which of them.
    pub fn between(filters: &'e [Expr], left: &[VarId], right: &[VarId]) -> Option<(usize, Self)> {
        let is_between = |[a, b]: [VarId; 2]| {
            let is = |one, other| left.contains(one) && right.contains(other);
            is(&a, &b) || is(&b, &a)
        };
        filters.iter().enumerate().find_map(|(at, filter)| {
            let join = Self::of(filter).filter(|join| is_between(join.geometries))?;
            Some((at, join))
        })
    }
}

/// Whether a pattern of a matrix asks for something that both have.
fn has_common(pattern: &Term) -> bool {
    let Term::Literal(pattern) = pattern else { return false };
    let letters = pattern.value().as_bytes();
    [0, 1, 3, 4].into_iter().any(|at| matches!(letters.get(at), Some(b'T' | b'0'..=b'2')))
}
