//! The matrices of pairs of geometries, as GEOS 3.14 has them (by shapely 2.2: `a.relate(b)`).

use super::wkt;
use crate::relate::{self, Relation};

/// Two geometries, and their matrix.
const MATRICES: [(&str, &str, &str); 44] = [
    ("POINT(1 1)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "0FFFFF212"),
    ("POINT(0 1)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "F0FFFF212"),
    ("POINT(9 9)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "FF0FFF212"),
    ("POINT(2 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1))", "FF0FFF212"),
    ("POINT(1 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1))", "F0FFFF212"),
    ("POINT(1 1)", "POINT(1 1)", "0FFFFFFF2"),
    ("POINT(1 1)", "POINT(1 2)", "FF0FFF0F2"),
    ("POINT(1 1)", "LINESTRING(0 0,2 2)", "0FFFFF102"),
    ("POINT(0 0)", "LINESTRING(0 0,2 2)", "F0FFFF102"),
    ("POINT(0 1)", "LINESTRING(0 0,2 2)", "FF0FFF102"),
    ("MULTIPOINT((1 1),(5 5))", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "0F0FFF212"),
    ("MULTIPOINT((1 1),(2 2))", "MULTIPOINT((2 2),(1 1))", "0FFFFFFF2"),
    ("MULTIPOINT((1 1),(2 2))", "MULTIPOINT((2 2),(3 3))", "0F0FFF0F2"),
    ("POINT(3 3)", "MULTIPOLYGON(((1 2,1 3,3 3,3 2,1 2)),((3 3,6 3,6 5,3 5,3 3)))", "F0FFFF212"),
    ("LINESTRING(0 0,2 2)", "LINESTRING(0 2,2 0)", "0F1FF0102"),
    ("LINESTRING(0 0,2 2)", "LINESTRING(2 2,4 0)", "FF1F00102"),
    ("LINESTRING(0 0,4 0)", "LINESTRING(1 0,6 0)", "1010F0102"),
    ("LINESTRING(0 0,4 0)", "LINESTRING(1 0,2 0)", "101FF0FF2"),
    ("LINESTRING(0 0,4 0)", "LINESTRING(4 0,0 0)", "1FFF0FFF2"),
    ("LINESTRING(0 0,4 0)", "LINESTRING(0 1,4 1)", "FF1FF0102"),
    ("LINESTRING(0 0,1 1,2 0)", "LINESTRING(1 1,1 3)", "F01FF0102"),
    ("LINESTRING(0 0,2 0,2 2,0 0)", "LINESTRING(0 0,-1 -1)", "F01FFF102"),
    ("LINESTRING(-1 2,5 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "101FF0212"),
    ("LINESTRING(1 1,3 3)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "1FF0FF212"),
    ("LINESTRING(0 0,4 0)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "F1FF0F212"),
    ("LINESTRING(0 1,3 3)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "1FF00F212"),
    ("LINESTRING(4 2,6 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "FF1F00212"),
    ("LINESTRING(6 6,7 7)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "FF1FF0212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "2FFF1FFF2"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((4 4,0 4,0 0,2 0,4 0,4 4))", "2FFF1FFF2"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((2 2,6 2,6 6,2 6,2 2))", "212101212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((4 0,8 0,8 4,4 4,4 0))", "FF2F11212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((4 4,8 4,8 8,4 8,4 4))", "FF2F01212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((5 5,8 5,8 8,5 8,5 5))", "FF2FF1212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((1 1,2 1,2 2,1 2,1 1))", "212FF1FF2"),
    ("POLYGON((1 1,2 1,2 2,1 2,1 1))", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "2FF1FF212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((0 0,2 0,2 2,0 2,0 0))", "212F11FF2"),
    ("POLYGON((0 0,2 0,2 2,0 2,0 0))", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "2FF11F212"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1))", "POLYGON((1 1,3 1,3 3,1 3,1 1))", "FF2F112F2"),
    (
        "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1))",
        "POLYGON((1.5 1.5,2 1.5,2 2,1.5 1.5))",
        "FF2FF1212",
    ),
    (
        "MULTIPOLYGON(((0 0,1 0,1 1,0 1,0 0)),((3 3,4 3,4 4,3 4,3 3)))",
        "POLYGON((0 0,4 0,4 4,0 4,0 0))",
        "2FF11F212",
    ),
    ("MULTILINESTRING((0 0,1 1),(2 2,3 3))", "LINESTRING(0 0,3 3)", "1FF00F1F2"),
    ("POINT EMPTY", "POINT(1 1)", "FFFFFF0F2"),
    ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "LINESTRING EMPTY", "FF2FF1FF2"),
];

/// All pairs, and the same the other way round.
fn both_ways() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    MATRICES.iter().flat_map(|(a, b, matrix)| {
        let turned = [0, 3, 6, 1, 4, 7, 2, 5, 8].iter().filter_map(|at| matrix.chars().nth(*at)).collect();
        [(*a, *b, (*matrix).to_owned()), (*b, *a, turned)]
    })
}

#[test]
fn matrices_are_those_of_geos() {
    for (a, b, matrix) in both_ways() {
        assert_eq!(relate::matches(&wkt(a), &wkt(b), &matrix), Ok(true), "{a} {b} {matrix}");
    }
}

/// Whether a matrix matches a pattern, straight from the standard.
fn matches(matrix: &str, pattern: &str) -> bool {
    matrix.chars().zip(pattern.chars()).all(|(m, p)| match p {
        '*' => true,
        'T' => m != 'F',
        other => m == other,
    })
}

/// The relations of simple features by their patterns (GeoSPARQL 1.1, table 3), which for some depend on dimensions.
fn simple_feature(name: &str, a: i64, b: i64) -> Vec<&'static str> {
    match name {
        "sfEquals" | "ehEquals" => vec!["T*F**FFF*"],
        "sfDisjoint" | "ehDisjoint" => vec!["FF*FF****"],
        "sfIntersects" => vec!["T********", "*T*******", "***T*****", "****T****"],
        "sfTouches" | "ehMeet" => vec!["FT*******", "F**T*****", "F***T****"],
        "sfWithin" => vec!["T*F**F***"],
        "sfContains" => vec!["T*****FF*"],
        "sfOverlaps" if a != b => vec![],
        "sfOverlaps" if a == 1 => vec!["1*T***T**"],
        "sfOverlaps" => vec!["T*T***T**"],
        "sfCrosses" if a == 1 && b == 1 => vec!["0********"],
        "sfCrosses" if a < b => vec!["T*T******"],
        "sfCrosses" if a > b => vec!["T*****T**"],
        "sfCrosses" => vec![],
        other => panic!("{other}"),
    }
}

#[test]
fn relations_are_the_patterns_of_the_standard() {
    for (a, b, matrix) in both_ways().filter(|(a, b, _)| !a.contains("EMPTY") && !b.contains("EMPTY")) {
        let (one, other) = (wkt(a), wkt(b));
        let dimensions = [&one, &other].map(crate::inspect::dimension);
        for (name, relation) in relate::RELATIONS {
            let patterns = match relation {
                Relation::Patterns(patterns) => patterns.to_vec(),
                _ => simple_feature(name, dimensions[0], dimensions[1]),
            };
            let expected = patterns.iter().any(|pattern| matches(&matrix, pattern));
            assert_eq!(relate::holds(relation, &one, &other), Ok(expected), "{name} {a} {b} {matrix}");
        }
    }
}

/// Areas beside each other, with a point in one of them.
const BESIDE: &str =
    "GEOMETRYCOLLECTION(POLYGON((0 0,1 0,1 1,0 1,0 0)),POLYGON((1 0,2 0,2 1,1 1,1 0)),POINT(.5 .5))";
/// An area, a line that leaves it, and a point.
const MIXED: &str = "GEOMETRYCOLLECTION(POLYGON((0 0,4 0,4 4,0 4,0 0)),LINESTRING(2 2,8 2),POINT(9 9))";
/// Areas that overlap.
const OVER: &str = "GEOMETRYCOLLECTION(POLYGON((0 0,2 0,2 2,0 2,0 0)),POLYGON((1 1,3 1,3 3,1 3,1 1)))";

/// A collection is the union of its parts: areas beside each other have no edge between them, and what of a line is in an area is its inside. As GEOS 3.14 has them, whose `RelateNG` is
/// the first to do so, but for the two that are marked, in which it is wrong.
#[test]
fn collections_are_the_union_of_their_parts() {
    for (a, b, matrix) in [
        (BESIDE, "POLYGON((0 0,2 0,2 1,0 1,0 0))", "2FFF1FFF2"),
        (BESIDE, "LINESTRING(1 0.2,1 0.8)", "102FF1FF2"),
        (MIXED, "POLYGON((4 0,8 0,8 4,4 4,4 0))", "1F2F11212"),
        (MIXED, "POINT(9 9)", "0F2FF1FF2"),
        (MIXED, "POINT(6 2)", "0F2FF1FF2"),
        (MIXED, "POINT(8 2)", "FF20F1FF2"),
        (MIXED, "POINT(4 2)", "FF20F1FF2"),
        (MIXED, "LINESTRING(2 2,8 2)", "102001FF2"),
        // GEOS: 2F1F10212, as if the area were not in the collection that has it.
        (MIXED, "POLYGON((0 0,4 0,4 4,0 4,0 0))", "2F1F10FF2"),
        (OVER, "LINESTRING(1 1,2 2)", "102FF1FF2"),
        (OVER, "POINT(1 2)", "FF20F1FF2"),
        (OVER, "POINT(1.5 1)", "0F2FF1FF2"),
        (OVER, OVER, "2FFF1FFF2"),
        // GEOS: 212F11212.
        (MIXED, OVER, "212F11FF2"),
        (
            "GEOMETRYCOLLECTION(LINESTRING(0 0,2 0),LINESTRING(2 0,2 2),LINESTRING(2 2,0 0))",
            "POINT(0 0)",
            "0F1FFFFF2",
        ),
        ("MULTILINESTRING((0 0,2 0),(2 0,2 2),(2 2,0 0))", "MULTIPOINT((2 0),(1 0))", "0F1FFFFF2"),
        ("MULTILINESTRING((4 0,5 3),(4 0,5 3))", "POINT(6 5)", "FF1FFF0F2"),
        // Lines that cross or retrace themselves; by exact arithmetic, and so GEOS.
        ("LINESTRING(1 2,0 0,0.5 0,0 1)", "POLYGON((2 0.5,2 2,0 2,0 0.5,2 0.5))", "101F0F212"),
        (
            "MULTILINESTRING((1 1.5,2 4,3 3.5,1 0.5,0.5 0.5,3 3))",
            "POLYGON((3 1,3 2,1 2,1 1,3 1))",
            "101F00212",
        ),
        ("LINESTRING(1 2,1 0,0 0,5 4,5 3)", "LINESTRING(0 5,4 4,1 5,5 4,0 0,4 1)", "1F1FF0102"),
        ("LINESTRING(2 0,1 2,0 3,0 4,0 0,3 4)", "POLYGON((0 0,1 1,4 0,3 4,0 0))", "111F00212"),
        ("GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,2 2))", "POINT(1 1)", "0F1FF0FF2"),
        ("GEOMETRYCOLLECTION(POINT(0 0),LINESTRING(0 0,2 2))", "POINT(0 0)", "FF10F0FF2"),
        ("GEOMETRYCOLLECTION(POINT(5 5),LINESTRING(0 0,2 2))", "LINESTRING(5 4,5 6)", "0F1FF0102"),
    ] {
        let turned: String =
            [0, 3, 6, 1, 4, 7, 2, 5, 8].iter().filter_map(|at| matrix.chars().nth(*at)).collect();
        for (a, b, matrix) in [(a, b, matrix), (b, a, turned.as_str())] {
            assert_eq!(relate::matches(&wkt(a), &wkt(b), matrix), Ok(true), "{a} {b} {matrix}");
        }
    }
}
