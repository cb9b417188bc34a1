//! Fragments as bytes. The layout is in `docs/design/050-plans-that-travel.md`. What is read is believed in nothing: it is bounded in its bytes, its
//! parts and its levels, every number is looked at, and the plan keeps the rules that plans of the planner keep.

pub(crate) mod bytes;
mod exprs;
mod nodes;
pub(crate) mod patterns;
mod terms;

use crate::claims;
use crate::error::FragmentError;
use crate::fragment::Fragment;
use crate::limits::{BYTES_MAX, RANGES_MAX, VARS_MAX};
use bytes::{Reader, What, Writer};
use lode_rdf::ValueId;
use lode_sparql::plan::Dataset;
use lode_sparql::{GraphScope, Plan, VarTable};
use lode_store::Snapshot;
use patterns::{In, Out};
use std::ops::Range;
use std::sync::Arc;
use terms::{TermsRead, TermsWritten};

/// The bytes of a fragment over `snapshot`.
///
/// # Errors
///
/// [`FragmentError::Stays`] where something of it cannot travel; where the store cannot be read.
pub fn write(fragment: &Fragment, snapshot: &Snapshot) -> Result<Vec<u8>, FragmentError> {
    let plan = &fragment.plan;
    if plan.vars.len() > VARS_MAX {
        return Err(FragmentError::Stays("its query has too many variables"));
    }
    let mut out = Out { to: Writer::default(), terms: TermsWritten::new(snapshot) };
    out.option(fragment.visible.as_ref(), Out::visible)?;
    out.node(&plan.root)?;
    let mut sealed = Writer::sealed(What::Fragment);
    sealed.wide(fragment.database);
    sealed.number(fragment.version);
    sealed.text(&fragment.now.to_string());
    sealed.text(plan.dataset.base_iri.as_deref().unwrap_or_default());
    sealed.count(plan.vars.len());
    out.terms.finish(&mut sealed);
    sealed.bytes.extend(out.to.bytes);
    let bytes = sealed.seal();
    if bytes.len() > BYTES_MAX {
        return Err(FragmentError::Stays("it takes too many bytes"));
    }
    // What who gets it would refuse stays.
    read(&bytes, snapshot).map(drop).map_err(|error| match error {
        FragmentError::TooLarge(reason) => FragmentError::Stays(reason),
        other => other,
    })?;
    Ok(bytes)
}

/// The fragment of bytes, over a snapshot of the same version.
///
/// # Errors
///
/// Where the bytes are of another program, no fragment, or one of a plan that cannot be run; where `snapshot` is of another version; where the store
/// cannot be read.
pub fn read(bytes: &[u8], snapshot: &Snapshot) -> Result<Fragment, FragmentError> {
    if bytes.len() > BYTES_MAX {
        return Err(FragmentError::TooLarge("it has too many bytes"));
    }
    let mut from = Reader::sealed(bytes, What::Fragment)?;
    let (database, version) = (from.wide()?, from.number()?);
    Fragment::check_version((database, version), snapshot)?;
    let now = from.text()?.parse().map_err(|_| FragmentError::Damaged("a time that is none"))?;
    let base_iri = Some(from.text()?).filter(|base| !base.is_empty()).map(str::to_owned);
    let vars = from.small()?;
    if vars as usize > VARS_MAX {
        return Err(FragmentError::TooLarge("it has too many variables"));
    }
    let terms = TermsRead::new(&mut from, snapshot)?;
    let mut read = In { from, terms, vars, inputs: 0 };
    let visible = read.option(In::visible)?;
    let root = read.node(0)?;
    read.from.end()?;
    let mut table = VarTable::default();
    for number in 0..vars {
        table.add(format!("v{number}"));
    }
    let (default, hidden) = (GraphScope::Merge(Arc::default()), Arc::default());
    let dataset = Dataset { default, named: None, base_iri, schema: None, hidden, relates_places: false };
    let plan = Plan::of_rows(root, table, Arc::new(dataset));
    claims::check(&plan).map_err(FragmentError::Invalid)?;
    let (inputs, terms) = Default::default();
    Ok(Fragment { database, version, now, visible, plan: Arc::new(plan), inputs, terms })
}

/// The bytes of ranges over which a fragment is to be run.
pub fn write_ranges(ranges: &[Range<ValueId>]) -> Vec<u8> {
    let mut to = Writer::sealed(What::Ranges);
    to.count(ranges.len());
    ranges.iter().for_each(|range| to.range(range));
    to.seal()
}

/// The ranges of bytes: one behind the other.
///
/// # Errors
///
/// Where the bytes are of another program, or no such ranges.
pub fn read_ranges(bytes: &[u8]) -> Result<Vec<Range<ValueId>>, FragmentError> {
    let mut from = Reader::sealed(bytes, What::Ranges)?;
    let ranges = from.list(Reader::range)?;
    from.end()?;
    let apart = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if !apart || ranges.len() > RANGES_MAX {
        return Err(FragmentError::Damaged("ranges that overlap, or too many"));
    }
    Ok(ranges)
}
