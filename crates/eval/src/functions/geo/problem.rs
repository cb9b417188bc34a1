//! What is the matter with constants that functions of geometries are given: their calls have no value, without a word.

use lode_geo::read;
use lode_geo::vocabulary::DGGS_LITERAL;

/// What is the matter with a literal of this text and datatype, if its datatype says that it is a geometry.
pub fn geometry_problem(text: &str, datatype: &str) -> Option<String> {
    const ERROR: &str = "each call is an error: FILTER drops its rows, BIND leaves its variable unbound";
    if !read::is_geometry(datatype) && datatype != DGGS_LITERAL {
        return None;
    }
    let geometry = match read::literal(text, datatype) {
        Ok(geometry) => geometry,
        Err(error) => return Some(format!("is no geometry ({error}); {ERROR}")),
    };
    if let Some(code) = geometry.crs().unknown_code() {
        return Some(format!(
            "is in a reference system that is not known, or needs what is not here (EPSG:{code}); each call with geometries of others is an error"
        ));
    }
    geometry.check_valid().err().map(|error| {
        format!(
            "is {error}; relations and set operations with it, and distances to what is near it, are errors"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::geometry_problem;
    use lode_geo::vocabulary::{DGGS_LITERAL, GEOJSON_LITERAL, WKT_LITERAL};

    #[test]
    fn what_is_the_matter_is_told() {
        for (text, datatype, told) in [
            ("POINT(1", WKT_LITERAL, "is no geometry (WKT: "),
            ("{}", GEOJSON_LITERAL, "is no geometry ("),
            ("AUTO (CELL 1)", DGGS_LITERAL, "is no geometry ("),
            ("POLYGON((0 0,1 1,1 0,0 1,0 0))", WKT_LITERAL, "is not a valid geometry: "),
            (
                "<http://www.opengis.net/def/crs/EPSG/0/99> POINT(1 2)",
                WKT_LITERAL,
                "is in a reference system that is not known",
            ),
            (
                "<http://www.opengis.net/def/crs/EPSG/0/99999> POINT(1 2)",
                WKT_LITERAL,
                "is in a reference system that is not known, or needs what is not here (EPSG:99999)",
            ),
        ] {
            let problem = geometry_problem(text, datatype).unwrap_or_default();
            assert!(problem.starts_with(told), "{text}: {problem}");
        }
        assert_eq!(geometry_problem("POINT(1 2)", WKT_LITERAL), None);
        assert_eq!(geometry_problem("<http://e/plane> POINT(1 2)", WKT_LITERAL), None);
        assert_eq!(geometry_problem("POINT(1", "http://e/other"), None);
    }
}
