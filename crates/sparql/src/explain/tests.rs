//! Tests of the small formats; plans as text are tested by the plan goldens.

use super::*;

#[test]
fn numbers_are_short() {
    let counts = [0.0, 0.3, 1.0, 42.0, 4_321.0, 123_456.0, 12_345_678.0, 1e13];
    let texts: Vec<String> = counts.iter().map(|c| short_count(*c)).collect();
    assert_eq!(texts, ["0", "0.3", "1.0", "42", "4321", "123k", "12M", "1.0e13"]);
    let times: Vec<String> = [5.0, 1_500.0, 2_500_000.0, 3e9].iter().map(|t| short_time(*t)).collect();
    assert_eq!(times, ["5 ns", "1.5 us", "2.5 ms", "3.0 s"]);
}
