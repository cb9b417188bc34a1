//! ORDER BY's order (15.1): unbound, blank nodes, IRIs, literals, triple terms.
//!
//! Literals that `<` orders come in that order, and values that are equal tie, so that the next sort key decides. What
//! `<` leaves open is ordered by type, then by text, so that the order is total whatever it meets: numbers compare by
//! their exact values (promotion to double is not transitive), NaN after all others; a time without zone counts as UTC.

use super::decode;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::merge_sort::sort_in_steps;
use crate::values::exact::{Exact, mantissa_and_shift, units};
use crate::values::value::{LangString, Value};
use lode_rdf::value_id::Section;
use lode_rdf::{BaseDirection, Kind, Triple, ValueId};
use lode_scheduler::DeferredDrop;
use lode_scheduler::steps::collect;
use lode_store::Snapshot;
use std::cmp::Ordering;
use std::sync::Arc;

/// SPARQL's ORDER BY over terms; [`Ordering::Equal`] for equal values, too.
///
/// # Errors
///
/// Where the store or a temporary file cannot be read.
pub fn compare(cx: &EvalContext, a: ValueId, b: ValueId) -> Result<Ordering, ExecError> {
    if a == b {
        return Ok(Ordering::Equal);
    }
    if let Some(ordering) = compare_ids(a, b, &cx.snapshot) {
        return Ok(ordering);
    }
    let mut values = decode::values(cx, &[a, b])?.into_iter();
    let (a, b) = (values.next().flatten(), values.next().flatten());
    Ok(OrderKey::new(a.as_ref()).cmp(&OrderKey::new(b.as_ref())))
}

/// The order of terms whose sort keys are equal.
///
/// # Errors
///
/// Where the store or a temporary file cannot be read.
pub fn break_tie(cx: &EvalContext, a: ValueId, b: ValueId) -> Result<Ordering, ExecError> {
    if a == b || a.is_undef() || b.is_undef() {
        return Ok(a.cmp(&b));
    }
    Ok(cx.term(a)?.to_string().cmp(&cx.term(b)?.to_string()))
}

/// What can be told without a dictionary.
#[inline]
pub fn compare_ids(a: ValueId, b: ValueId, snapshot: &Snapshot) -> Option<Ordering> {
    let (kind_a, kind_b) = (a.kind()?, b.kind()?);
    let ranks = rank(kind_a)?.cmp(&rank(kind_b)?);
    if ranks != Ordering::Equal {
        return Some(ranks);
    }
    if let (Some(class_a), Some(class_b)) = (class(kind_a), class(kind_b))
        && class_a != class_b
    {
        return Some(class_a.cmp(&class_b));
    }
    if kind_a == kind_b {
        match kind_a {
            Kind::Special | Kind::Blank | Kind::Boolean => return Some(a.cmp(&b)),
            // Their keys begin with the text.
            Kind::Iri | Kind::String | Kind::LangString if snapshot.are_ordered(a, b) => {
                return Some(a.cmp(&b));
            }
            _ if kind_a.is_integer() => return Some(a.cmp(&b)),
            _ => {}
        }
    }
    let (a, b) = (Value::from_inline(a)?, Value::from_inline(b)?);
    Some(OrderKey::new(Some(&a)).cmp(&OrderKey::new(Some(&b))))
}

/// The place of a kind among the kinds of terms; `None` where the kind does not tell.
fn rank(kind: Kind) -> Option<u8> {
    Some(match kind {
        Kind::Special => 0,
        Kind::Blank => 1,
        Kind::Iri => 2,
        Kind::TripleTerm => 4,
        Kind::Local => return None,
        _ => 3,
    })
}

/// The place of a kind among the kinds of literals, as [`Key::rank`] gives it; `None` where the kind does not tell.
fn class(kind: Kind) -> Option<u8> {
    Some(match kind {
        Kind::Boolean => 4,
        Kind::DateTime | Kind::Date => 5,
        Kind::String => 7,
        Kind::LangString => 8,
        Kind::Decimal | Kind::Double | Kind::Float => 3,
        _ if kind.is_integer() => 3,
        _ => return None,
    })
}

/// The sort keys of many ids at once: comparing them needs no dictionary any more.
///
/// # Errors
///
/// Where the query was cancelled, has no memory for what is computed, or the store cannot be read.
pub fn order_keys(cx: &EvalContext, ids: &[ValueId]) -> Result<Vec<OrderKey>, ExecError> {
    let values = decode::values(cx, ids)?;
    Ok(values.iter().map(|value| OrderKey::new(value.as_ref())).collect())
}

/// Bytes of a sort key and its text, to begin with.
const KEY_BYTES_GUESS: usize = size_of::<OrderKey>() + 32;

/// Bytes of a key while keys are sorted: a reference with its number, twice, and the rank.
const SORTED_BYTES: usize = 40;

/// Keys that are compared between two looks at the cancel token.
const KEYS_UNCHECKED: usize = 1 << 12;

/// The ranks of ids in ORDER BY's order.
pub enum Ranks {
    /// One for each id; ties have one rank.
    Of(Vec<u64>),
    /// Ids compare well enough as they are.
    Needless,
    /// The sort keys would take more memory than there is: then take fewer ids, or sort by [`compare`].
    TooMuch,
}

/// The rank of each of some distinct ids.
///
/// # Errors
///
/// Where the query was cancelled, or the store cannot be read.
pub fn ranks(cx: &EvalContext, distinct: &[ValueId]) -> Result<Ranks, ExecError> {
    let mut firsts: [Option<ValueId>; Section::COUNT] = [None; Section::COUNT];
    let mut needs_text = |id: &ValueId| match id.kind() {
        Some(Kind::Local | Kind::TypedLiteral | Kind::TripleTerm) | None => true,
        Some(kind) => kind.section().is_some_and(|section| {
            let first = *firsts[section as usize].get_or_insert(*id);
            !cx.snapshot.are_ordered(first, *id)
        }),
    };
    if !distinct.iter().any(&mut needs_text) {
        return Ok(Ranks::Needless);
    }
    let Some(keys) = keys_of(cx, distinct)? else { return Ok(Ranks::TooMuch) };
    let mut sorted = collect(keys.len(), &cx.cancel, |at| (&keys[at], at))?;
    sort_in_steps(&mut sorted, Ord::cmp, || cx.cancel.check())?;
    let mut ranks = vec![0; distinct.len()];
    let mut rank = 0;
    let mut last: Option<&OrderKey> = None;
    for (number, (key, at)) in sorted.into_iter().enumerate() {
        if number % KEYS_UNCHECKED == 0 {
            cx.cancel.check()?;
        }
        rank += u64::from(last.is_some_and(|last| last != key));
        last = Some(key);
        if let Some(slot) = ranks.get_mut(at) {
            *slot = rank;
        }
    }
    Ok(Ranks::Of(ranks))
}

/// The sort keys of ids, with memory for them and for sorting them; none where there is too little.
fn keys_of(cx: &EvalContext, ids: &[ValueId]) -> Result<Option<DeferredDrop<OrderKey>>, ExecError> {
    let guess = ids.len().saturating_mul(KEY_BYTES_GUESS + SORTED_BYTES);
    let Ok(reservation) = cx.budget.reserve(guess) else { return Ok(None) };
    let mut keys = DeferredDrop::new(Vec::with_capacity(ids.len()), reservation);
    let mut bytes = ids.len() * SORTED_BYTES;
    for chunk in ids.chunks(cx.batch_rows.max(1)) {
        cx.cancel.check()?;
        let more = match order_keys(cx, chunk) {
            Err(ExecError::OutOfMemory(_)) => return Ok(None),
            more => more?,
        };
        bytes += more.iter().map(|key| size_of::<OrderKey>() + key.heap_bytes()).sum::<usize>();
        keys.extend(more);
        if bytes > guess && keys.resize(bytes).is_err() {
            return Ok(None);
        }
    }
    Ok(Some(keys))
}

/// The sort key of one id.
///
/// # Errors
///
/// Where the store or a temporary file cannot be read.
pub fn order_key(cx: &EvalContext, id: ValueId) -> Result<OrderKey, ExecError> {
    Ok(OrderKey::new(decode::value(cx, id)?.as_ref()))
}

/// A term's place in ORDER BY's order. Equal keys are ties, not always the same term.
#[derive(Debug, Clone)]
pub struct OrderKey(Key);

/// Variants in the order of their terms; literals of different types in this order, too.
#[derive(Debug, Clone)]
enum Key {
    Unbound,
    Blank(Arc<str>),
    Iri(Arc<str>),
    Number(Number),
    Boolean(bool),
    Calendar(Calendar),
    Duration(DurationKey),
    String(Arc<str>),
    LangString(LangString),
    Other(Arc<str>, Arc<str>),
    Triple(Box<(Key, Key, Key)>),
}

/// An exact number.
#[derive(Debug, Clone)]
enum Number {
    /// Times 10^18.
    Decimal(i128),
    Exact(Arc<Exact>),
    Double(f64),
}

/// A date or time: its type, its place on the time line (in seconds times 10^18), whether it has a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Calendar {
    class: u8,
    units: i128,
    has_zone: bool,
}

#[derive(Debug, Clone, Copy)]
struct DurationKey {
    /// In seconds, with months of average length.
    about: f64,
    months: i64,
    /// Times 10^18.
    seconds: i128,
}

/// Seconds of an average month of the Gregorian calendar.
const MONTH_SECONDS: f64 = 2_629_746.0;
const DECIMAL_SCALE: i128 = 1_000_000_000_000_000_000;

impl OrderKey {
    pub fn new(value: Option<&Value>) -> Self {
        Self(value.map_or(Key::Unbound, Key::new))
    }

    /// Bytes held beyond the key's own size, about.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl Key {
    fn new(value: &Value) -> Self {
        match value {
            Value::Iri(iri) => Self::Iri(iri.clone()),
            Value::Blank(label) => Self::Blank(label.clone()),
            Value::String(text) => Self::String(text.clone()),
            Value::LangString(string) => Self::LangString(string.clone()),
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Number(Number::Decimal(i128::from(*value) * DECIMAL_SCALE)),
            Value::Decimal(value) => Self::Number(Number::Decimal(units(*value))),
            Value::Exact(value) => Self::Number(Number::Exact(value.clone())),
            Value::Float(value) => Self::Number(Number::Double(f64::from(*value))),
            Value::Double(value) => Self::Number(Number::Double(*value)),
            Value::DateTime(value) => calendar(0, value.to_be_bytes()),
            Value::Date(value) => calendar(1, value.to_be_bytes()),
            Value::Time(value) => calendar(2, value.to_be_bytes()),
            Value::GYear(value) => calendar(3, value.to_be_bytes()),
            Value::GYearMonth(value) => calendar(4, value.to_be_bytes()),
            Value::GMonth(value) => calendar(5, value.to_be_bytes()),
            Value::GMonthDay(value) => calendar(6, value.to_be_bytes()),
            Value::GDay(value) => calendar(7, value.to_be_bytes()),
            Value::Duration(value) => duration(value.to_be_bytes()),
            Value::YearMonthDuration(value) => duration(oxsdatatypes::Duration::from(*value).to_be_bytes()),
            Value::DayTimeDuration(value) => duration(oxsdatatypes::Duration::from(*value).to_be_bytes()),
            Value::Other(literal) => Self::Other(literal.datatype.clone(), literal.lexical.clone()),
            Value::Triple(triple) => Self::from_triple(triple),
        }
    }

    fn from_triple(triple: &Triple) -> Self {
        let subject = Self::new(&Value::from_term(triple.subject.as_ref().into()));
        let predicate = Self::new(&Value::from_term(triple.predicate.as_ref().into()));
        let object = Self::new(&Value::from_term(triple.object.as_ref()));
        Self::Triple(Box::new((subject, predicate, object)))
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Unbound => 0,
            Self::Blank(_) => 1,
            Self::Iri(_) => 2,
            Self::Number(_) => 3,
            Self::Boolean(_) => 4,
            Self::Calendar(_) => 5,
            Self::Duration(_) => 6,
            Self::String(_) => 7,
            Self::LangString(_) => 8,
            Self::Other(..) => 9,
            Self::Triple(_) => 10,
        }
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Blank(text) | Self::Iri(text) | Self::String(text) => text.len() + 16,
            Self::LangString(string) => string.text.len() + string.language.len() + 32,
            Self::Number(Number::Exact(value)) => value.heap_bytes() + 16,
            Self::Other(datatype, lexical) => datatype.len() + lexical.len() + 32,
            Self::Triple(parts) => {
                size_of::<(Key, Key, Key)>()
                    + parts.0.heap_bytes()
                    + parts.1.heap_bytes()
                    + parts.2.heap_bytes()
            }
            _ => 0,
        }
    }
}

/// `bytes`: seconds times 10^18, then the zone, which is all ones where there is none.
fn calendar(class: u8, bytes: [u8; 18]) -> Key {
    let [units @ .., zone_high, zone_low] = bytes;
    let has_zone = [zone_high, zone_low] != [0xFF; 2];
    Key::Calendar(Calendar { class, units: i128::from_be_bytes(units), has_zone })
}

/// `bytes`: months, then seconds times 10^18.
#[expect(clippy::cast_precision_loss, reason = "an estimate; ties are decided exactly")]
fn duration(bytes: [u8; 24]) -> Key {
    let [m0, m1, m2, m3, m4, m5, m6, m7, seconds @ ..] = bytes;
    let months = i64::from_be_bytes([m0, m1, m2, m3, m4, m5, m6, m7]);
    let seconds = i128::from_be_bytes(seconds);
    let about = (months as f64).mul_add(MONTH_SECONDS, seconds as f64 / DECIMAL_SCALE as f64);
    Key::Duration(DurationKey { about, months, seconds })
}

impl PartialEq for OrderKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OrderKey {}

impl PartialOrd for OrderKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}

impl Key {
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Blank(a), Self::Blank(b))
            | (Self::Iri(a), Self::Iri(b))
            | (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.order(b),
            (Self::LangString(a), Self::LangString(b)) => lang_string_order(a, b),
            (Self::Calendar(a), Self::Calendar(b)) => a.cmp(b),
            (Self::Duration(a), Self::Duration(b)) => a.order(*b),
            (Self::Other(a, x), Self::Other(b, y)) => a.cmp(b).then_with(|| x.cmp(y)),
            (Self::Triple(a), Self::Triple(b)) => {
                a.0.order(&b.0).then_with(|| a.1.order(&b.1)).then_with(|| a.2.order(&b.2))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// By text, then by tag with direction, as dictionary keys are.
fn lang_string_order(a: &LangString, b: &LangString) -> Ordering {
    let direction = |string: &LangString| match string.direction {
        None => 0,
        Some(BaseDirection::Ltr) => 1,
        Some(BaseDirection::Rtl) => 2,
    };
    a.text
        .cmp(&b.text)
        .then_with(|| a.language.cmp(&b.language))
        .then_with(|| direction(a).cmp(&direction(b)))
}

impl DurationKey {
    fn order(self, other: Self) -> Ordering {
        self.about
            .total_cmp(&other.about)
            .then_with(|| self.months.cmp(&other.months))
            .then_with(|| self.seconds.cmp(&other.seconds))
    }
}

impl Number {
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Double(a), Self::Double(b)) => order_doubles(*a, *b),
            (Self::Decimal(a), Self::Double(b)) => order_exactly(*a, *b),
            (Self::Double(a), Self::Decimal(b)) => order_exactly(*b, *a).reverse(),
            (Self::Exact(a), Self::Exact(b)) => a.order(b),
            (Self::Exact(a), Self::Decimal(b)) => a.order(&Exact::of_units(*b)),
            (Self::Decimal(a), Self::Exact(b)) => Exact::of_units(*a).order(b),
            (Self::Exact(a), Self::Double(b)) => order_with_double(a, *b),
            (Self::Double(a), Self::Exact(b)) => order_with_double(b, *a).reverse(),
        }
    }
}

fn order_with_double(a: &Exact, b: f64) -> Ordering {
    // NaN comes last.
    if b.is_nan() || b == f64::INFINITY {
        Ordering::Less
    } else if b == f64::NEG_INFINITY {
        Ordering::Greater
    } else {
        a.order_double(b)
    }
}

fn order_doubles(a: f64, b: f64) -> Ordering {
    // NaN comes last and ties with itself; zeros tie.
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Compares `decimal` / 10^18 with a double, both exactly.
fn order_exactly(decimal: i128, double: f64) -> Ordering {
    if double.is_nan() {
        return Ordering::Less;
    }
    let signs = decimal.signum().cmp(&sign(double));
    if signs != Ordering::Equal {
        return signs;
    }
    let magnitudes = order_magnitudes(decimal.unsigned_abs(), double.abs());
    if decimal < 0 { magnitudes.reverse() } else { magnitudes }
}

fn sign(double: f64) -> i128 {
    if double > 0.0 {
        1
    } else if double < 0.0 {
        -1
    } else {
        0
    }
}

/// Compares `decimal` with `double` * 10^18, both not negative.
fn order_magnitudes(decimal: u128, double: f64) -> Ordering {
    if double.is_infinite() {
        return Ordering::Less;
    }
    // With 10^18 the product has at most 53 + 60 bits.
    let (mantissa, shift) = mantissa_and_shift(double);
    let product = u128::from(mantissa) * DECIMAL_SCALE.unsigned_abs();
    let by = shift.unsigned_abs();
    if product == 0 || decimal == 0 {
        decimal.cmp(&product)
    } else if shift >= 0 {
        if by >= product.leading_zeros() { Ordering::Less } else { decimal.cmp(&(product << by)) }
    } else if by >= decimal.leading_zeros() {
        Ordering::Greater
    } else {
        (decimal << by).cmp(&product)
    }
}
