//! Units, and that the command line is well-formed.

use super::{Cli, parse_bytes, parse_seconds};
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn bytes_with_units() {
    assert_eq!(parse_bytes("1024"), Ok(1024));
    assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
    assert_eq!(parse_bytes("2g"), Ok(2 << 30));
    assert_eq!(parse_bytes("1.5 GiB"), Ok(3 << 29));
    for bad in ["", "MiB", "-1", "0", "12XB", "1e400"] {
        assert!(parse_bytes(bad).is_err(), "{bad}");
    }
}

#[test]
fn seconds() {
    assert_eq!(parse_seconds("0.5").map(|d| d.as_millis()), Ok(500));
    assert!(parse_seconds("-1").is_err());
    assert!(parse_seconds("NaN").is_err());
}
