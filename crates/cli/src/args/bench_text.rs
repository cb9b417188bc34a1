//! `lode bench text` on the command line.

use super::QuerySetArgs;
use clap::Args;

/// `lode bench text`.
#[derive(Debug, Args)]
#[command(
    after_help = "A --rival is asked the same questions, each after ours, as its name says it has to be asked: jena (also fuseki, lodestore) by \
text:query, virtuoso by bif:contains, any other by SPARQL's own functions, so that it is not asked for the best texts. Its line tells whether its answer is ours \
('same', 'differs'; '-' where a limit leaves a choice). Words are told apart by each store's own rules, so a rival's failure or \
other answer is no failure of the run.\n\n\
Each query is asked once to check its answer, then --warmup times, then --runs times; checksums, --compare and --server-pid are as in lode bench analytic.\n\n\
Exit codes: 0 all queries were answered; 1 some failed or took too long, or an answer differs from --compare's (each is told)."
)]
pub struct BenchTextArgs {
    /// What runs of query sets have in common.
    #[command(flatten)]
    pub set: QuerySetArgs,
    /// Also measure this store's endpoint; repeatable
    #[arg(long = "rival", value_name = "NAME=URL", value_parser = rival)]
    pub rivals: Vec<RivalArg>,
}

/// A store to be asked beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RivalArg {
    /// What it is called.
    pub name: String,
    /// Where it answers queries.
    pub url: String,
}

fn rival(text: &str) -> Result<RivalArg, String> {
    let parts = text.split_once('=').filter(|(name, url)| !name.is_empty() && url.starts_with("http"));
    let (name, url) =
        parts.ok_or("expected a name and an address, such as jena=http://127.0.0.1:3030/ds/sparql")?;
    Ok(RivalArg { name: name.to_owned(), url: url.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::rival;

    #[test]
    fn an_address_may_have_signs_of_equality() {
        let read = rival("virtuoso=http://h/sparql?default-graph-uri=http://g/").unwrap();
        assert_eq!(
            (read.name.as_str(), read.url.as_str()),
            ("virtuoso", "http://h/sparql?default-graph-uri=http://g/")
        );
        for wrong in ["http://h/sparql", "=http://h", "jena=", "jena=h", ""] {
            assert!(rival(wrong).is_err(), "{wrong}");
        }
    }
}
