//! The formats that are read and written.

use super::{code, table};
use lode_engine::OutputFormat;
use lode_rdf::RdfFormat;

const HEAD: &str = "\
# Formats

## RDF

For `lode load`, uploads, `LOAD`, `lode dump`, downloads, and answers that are graphs (CONSTRUCT, DESCRIBE). The name is that for `--format` and `format=`, and the usual extension of files,
also with one of a compression behind (`.gz`, `.bz2`, `.zst`, `.xz`). The first of the media types is the one that is sent; all are understood.

";
const RESULTS: &str = "\
## Results

For rows and for yes or no (SELECT, ASK).

";

pub fn page() -> String {
    let all = |names: &[&str]| names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
    let rdf = RdfFormat::ALL.into_iter().map(|format| {
        let graphs = if format.supports_datasets() { "yes" } else { "" };
        vec![format.to_string(), code(format.extension()), all(format.media_types()), graphs.to_owned()]
    });
    let rdf = table(&["Format", "Name", "Media types", "Named graphs"], rdf);
    let of_rows = |name: &&str| RdfFormat::from_extension(name).is_none() || ["json", "xml"].contains(name);
    let results = OutputFormat::NAMES.split(", ").filter(of_rows).filter_map(|name| {
        let format = OutputFormat::from_name(name)?;
        let media_type = if format == OutputFormat::Table {
            "(command line)".to_owned()
        } else {
            code(format.media_type())
        };
        Some(vec![code(name), media_type])
    });
    let results = table(&["Name", "Media type"], results);
    [HEAD, &rdf, RESULTS, &results].concat().trim_end().to_owned() + "\n"
}
