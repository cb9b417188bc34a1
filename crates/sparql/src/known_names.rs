//! Names that were meant, of the vocabularies that mean something here whatever the data has: those of geometries and of search.

use crate::place_search::near_place_name;
use crate::text_search::near_property;

/// The property, or the class, that is most likely meant by an IRI that no triple has in such a place.
pub fn near_known_name(iri: &str, is_class: bool) -> Option<String> {
    let of_search = || near_property(iri).filter(|_| !is_class).map(str::to_owned);
    near_place_name(iri, is_class).or_else(of_search)
}

#[cfg(test)]
mod tests {
    use super::near_known_name;

    const GEO: &str = "http://www.opengis.net/ont/geosparql#";

    #[test]
    fn names_that_are_nearly_right() {
        let of = |iri: &str, is_class: bool| {
            near_known_name(&iri.replace("geo:", GEO), is_class).unwrap_or_default()
        };
        for (iri, is_class, meant) in [
            ("geo:asWTK", false, "geo:asWKT"),
            ("geo:hasGeomtry", false, "geo:hasGeometry"),
            ("geo:sfWithn", false, "geo:sfWithin"),
            ("geo:ehInsde", false, "geo:ehInside"),
            ("geo:Featrue", true, "geo:Feature"),
            ("urn:lodestore:text:qery", false, "urn:lodestore:text:query"),
            ("http://jena.apache.org/text#search", false, "http://jena.apache.org/text#query"),
            ("bif:contans", false, "bif:contains"),
        ] {
            assert_eq!(of(iri, is_class), meant.replace("geo:", GEO), "{iri}");
        }
        for (iri, is_class) in [
            ("geo:asWKT", false),
            ("geo:Feature", true),
            ("geo:population", false),
            ("urn:lodestore:text:query", false),
            ("urn:lodestore:text:qery", true),
            ("http://e/asWTK", false),
        ] {
            assert_eq!(of(iri, is_class), "", "{iri}");
        }
    }
}
