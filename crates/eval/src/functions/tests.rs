//! The list of functions is sound, and complete.

use super::{all, find};
use crate::expr::call::Kernel;
use lode_sparql::parse_query;
use std::collections::HashSet;

#[test]
fn names_are_different_and_found() {
    let names: HashSet<&str> = all().map(|function| function.name).collect();
    assert_eq!(names.len(), all().count());
    assert!(all().all(|function| find(function.name).is_some_and(|found| std::ptr::eq(found, function))));
    assert!(find("strlen").is_none() && find("http://example/f").is_none());
}

#[test]
fn kernels_take_what_functions_take() {
    for function in all() {
        let kernel = function.implementation.downcast_ref::<Kernel>();
        let fits = match kernel.unwrap_or_else(|| panic!("{function:?} has no kernel")) {
            Kernel::Zero(_) => (0..5).all(|n| function.takes(n) == (n == 0)),
            Kernel::One(_) => (0..5).all(|n| function.takes(n) == (n == 1)),
            Kernel::Two(_) => (0..5).all(|n| function.takes(n) == (n == 2)),
            Kernel::Many(_) => true,
        };
        assert!(fits, "{function:?}");
    }
}

/// Keywords that the parser takes for functions are in the list, and it takes all keywords in the list.
#[test]
fn the_parser_knows_the_keywords() {
    for function in all().filter(|function| !function.name.contains(':')) {
        let arguments = vec!["?x"; function.required.len()].join(", ");
        let query = format!("SELECT ({}({arguments}) AS ?y) {{ ?x ?p ?o }}", function.name);
        assert!(parse_query(&query, None).is_ok(), "{query}");
    }
}

#[test]
fn names_that_none_has_are_like_others() {
    let meant = |iri: &str| super::nearest(iri);
    assert_eq!(meant("urn:lodestore:text:mathces"), Some("urn:lodestore:text:matches"));
    assert_eq!(meant("urn:lodestor:text:matches"), Some("urn:lodestore:text:matches"));
    #[cfg(feature = "geo")]
    assert_eq!(
        meant("http://www.opengis.net/def/function/geosparql/within"),
        Some("http://www.opengis.net/def/function/geosparql/sfWithin")
    );
    for none in ["http://e/f", "STR", "urn:lodestore:text:", "#", "", "urn:lodestore:text:äö"] {
        assert_eq!(meant(none), None, "{none}");
    }
}
