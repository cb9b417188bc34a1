//! The data is the same for a seed, and as much as is asked for.

use super::*;

#[test]
fn data_is_made_from_a_seed() {
    let make = |seed| {
        let mut bytes = Vec::new();
        let sizes = Sizes { points: 200, lines: 30, polygons: 250 };
        let count = generate(sizes, seed, &mut bytes).unwrap();
        (count, String::from_utf8(bytes).unwrap())
    };
    let (count, text) = make(1);
    assert_eq!(count, 480);
    assert_eq!(text.lines().count(), 480);
    assert_eq!(make(1).1, text);
    assert_ne!(make(2).1, text);
    let with = |property: &str| text.lines().filter(|line| line.contains(&format!("<{property}>"))).count();
    assert_eq!([POINT, SHOP, LINE, AREA, ZONE].map(with), [180, 20, 30, 247, 3]);
}
