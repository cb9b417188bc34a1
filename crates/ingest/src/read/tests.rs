//! Sources read into sinks that keep the quads as text, by any number of threads.

use super::*;
use crate::quad_sink::QuadSink;
use lode_base::mem_vfs::MemVfs;

/// Keeps what it takes; fails at a quad with this predicate.
#[derive(Debug, Default)]
struct Lines {
    lines: Vec<String>,
    refused: Option<&'static str>,
}

impl QuadSink for Lines {
    type Output = Vec<String>;
    type Error = IngestError;

    fn set_source(&mut self, _: usize) -> Result<(), IngestError> {
        Ok(())
    }

    fn add(&mut self, quad: &RawQuad<'_>) -> Result<(), IngestError> {
        if self.refused == Some(quad.predicate) {
            return Err(IngestError::temporary(Path::new("sink"), std::io::Error::other("refused")));
        }
        self.lines.push(quad.predicate.to_owned());
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.lines.len()
    }

    fn finish(self) -> Result<Vec<String>, IngestError> {
        Ok(self.lines)
    }
}

struct Options {
    threads: usize,
    one_graph: bool,
    refused: Option<&'static str>,
    quarantine: bool,
}

const PLAIN: Options = Options { threads: 1, one_graph: false, refused: None, quarantine: false };

fn read(sources: Vec<Source>, options: &Options) -> Result<(Vec<String>, u64), IngestError> {
    let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
    vfs.create_dir_all(Path::new("spill")).unwrap();
    let context = ReadContext {
        vfs: &vfs,
        spill: Path::new("spill"),
        threads: options.threads,
        memory_bytes: 8 << 20,
        format: None,
        one_graph: options.one_graph,
        parse: &ParseOptions::default(),
        quarantine: options.quarantine.then(|| Quarantine::new(Box::new(std::io::sink()))),
        cancel: &CancelToken::default(),
        progress: &Arc::default(),
    };
    let sink = |_, _| Lines { refused: options.refused, ..Lines::default() };
    let read = read_sources(sources, &context, &sink)?;
    assert_eq!(read.sources.iter().map(|source| source.quads).sum::<u64>(), context.progress.sample().quads);
    let mut lines: Vec<String> = read.outputs.into_iter().flatten().collect();
    lines.sort();
    Ok((lines, read.quarantined))
}

fn sources() -> Vec<Source> {
    let lines: String =
        (0..5000).map(|i| format!("<http://e/s> <http://e/p{}> \"{i}\" .\n", i % 7)).collect();
    vec![
        Source::bytes("a.nt", lines),
        Source::bytes("b.ttl", "@prefix : <http://e/> . :s :q 1, 2 ; :r [] ."),
        Source::bytes(
            "c.rdf",
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://e/'>\
             <rdf:Description rdf:about='http://e/s'><z>1</z></rdf:Description></rdf:RDF>",
        ),
    ]
}

#[test]
fn any_number_of_threads_reads_the_same() {
    let (all, _) = read(sources(), &PLAIN).unwrap();
    assert_eq!(all.len(), 5004);
    for threads in [2, 3, 8] {
        assert_eq!(read(sources(), &Options { threads, ..PLAIN }).unwrap().0, all, "{threads} threads");
    }
}

#[test]
fn a_sink_that_fails_ends_the_reading() {
    for refused in ["http://e/p3", "http://e/r", "http://e/z"] {
        let failed = read(sources(), &Options { threads: 2, refused: Some(refused), ..PLAIN });
        assert!(matches!(failed, Err(IngestError::Io { .. })), "{refused}: {failed:?}");
    }
}

#[test]
fn a_graph_is_refused_where_all_is_for_one() {
    let one = Options { one_graph: true, ..PLAIN };
    let quads = || vec![Source::bytes("x.nq", "<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n")];
    let error = read(quads(), &one).unwrap_err();
    assert!(matches!(&error, IngestError::NamesGraph { source_name } if source_name == "x.nq"), "{error}");
    assert_eq!(read(quads(), &PLAIN).unwrap().0.len(), 1);
}

#[test]
fn what_is_wrong_goes_to_the_quarantine_or_ends_the_reading() {
    let mut all = sources();
    all.push(Source::bytes(
        "bad.nt",
        "<http://e/s> <http://e/p> .\n<http://e/s> <http://e/ok> <http://e/o> .\n",
    ));
    let (lines, quarantined) = read(all, &Options { quarantine: true, ..PLAIN }).unwrap();
    assert_eq!((lines.len(), quarantined), (5005, 1));
    let bad = vec![Source::bytes("bad.nt", "<http://e/s> <http://e/p> .\n")];
    assert!(matches!(read(bad, &PLAIN), Err(IngestError::Syntax { line: 1, .. })));
}
