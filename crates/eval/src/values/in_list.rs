//! The constants of an IN as a set: a value is looked up in it instead of being compared with each.
//!
//! `=` is no equality of keys: numbers promote to the type of their partner, dates without a time zone may or may not be equal to others, and of
//! literals of unknown types nobody knows. So each kind of value has an index of its own, which answers as `=` would with every constant
//! one after the other: true where one is equal, else an error where one comparison is, else false.

use super::compare::{self, Comparison};
use super::identity;
use super::truth::Tri;
use super::value::{OtherLiteral, Value};
use crate::error::ExecError;
use lode_base::cancel::CancelToken;
use lode_rdf::{Term, ValueId};
use lode_sparql::Expr;
use oxsdatatypes::Duration;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Constants that are looked at between two looks at the cancel token.
const CHECK_EVERY: usize = 1 << 12;

/// The list of an IN, ready for look-ups.
#[derive(Debug)]
pub(crate) struct InList {
    /// Ids of constants that are equal to themselves, sorted.
    ids: Vec<ValueId>,
    /// All items are IRIs and strings, which are equal to nothing but themselves.
    only_identity: bool,
    constants: Constants,
    /// The items that are no constants, by their numbers.
    pub(crate) others: Vec<usize>,
}

impl InList {
    /// The constants of a list, whose ids `intern` gives.
    pub(crate) fn new(
        list: &[Expr],
        cancel: &CancelToken,
        intern: impl Fn(&Term) -> Result<ValueId, ExecError>,
    ) -> Result<Self, ExecError> {
        let (mut ids, mut others, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut only_identity = true;
        for (number, item) in list.iter().enumerate() {
            if number % CHECK_EVERY == 0 {
                cancel.check()?;
            }
            let Expr::Const(term) = item else {
                others.push(number);
                only_identity = false;
                continue;
            };
            let id = intern(term)?;
            let identity = match term {
                Term::NamedNode(_) => true,
                Term::Literal(literal) => lode_rdf::is_string(literal.as_ref()),
                _ => false,
            };
            only_identity &= identity;
            if identity || identity::equals_itself(id) {
                ids.push(id);
            }
            values.push(Value::from_term(term.as_ref()));
        }
        ids.sort_unstable();
        Ok(Self { ids, only_identity, constants: Constants::new(values), others })
    }

    /// What the id tells by itself, if it tells.
    #[inline]
    pub(crate) fn by_id(&self, id: ValueId) -> Option<Tri> {
        if id.is_undef() {
            Some(Tri::Error)
        } else if self.ids.binary_search(&id).is_ok() {
            Some(Tri::True)
        } else {
            (self.only_identity && identity::has_known_value(id)).then_some(Tri::False)
        }
    }

    /// Whether a value is equal to one of the constants.
    pub(crate) fn by_value(&self, value: &Value) -> Tri {
        self.constants.contain(value)
    }
}

/// Values, each kind with its index.
#[derive(Debug, Default)]
struct Constants {
    iris: HashSet<Arc<str>>,
    /// Labels: an EXISTS puts the nodes of its row in for variables.
    blanks: HashSet<Arc<str>>,
    strings: HashSet<Arc<str>>,
    lang_strings: HashMap<Arc<str>, Vec<Value>>,
    booleans: [bool; 2],
    numbers: Numbers,
    /// Durations of all three types as text, which is the same for equal ones.
    durations: HashSet<String>,
    calendar: Calendar,
    unknown: HashSet<(Arc<str>, Arc<str>)>,
    /// Those without an index.
    rest: Vec<Value>,
    /// All, for values of kinds without an index.
    all: Vec<Value>,
    /// A constant that a literal of unknown value may be equal to.
    may_be_unknown: bool,
}

impl Constants {
    fn new(values: Vec<Value>) -> Self {
        let mut this = Self::default();
        for value in &values {
            this.add(value);
        }
        this.numbers.sort();
        this.calendar.sort();
        this.all = values;
        this
    }

    fn add(&mut self, value: &Value) {
        self.may_be_unknown |=
            !matches!(value, Value::Iri(_) | Value::Blank(_) | Value::LangString(_) | Value::Triple(_));
        match value {
            Value::Iri(iri) => {
                self.iris.insert(Arc::clone(iri));
            }
            Value::Blank(label) => {
                self.blanks.insert(Arc::clone(label));
            }
            Value::String(text) => {
                self.strings.insert(Arc::clone(text));
            }
            Value::LangString(string) => {
                let same_text = self.lang_strings.entry(Arc::clone(&string.text)).or_default();
                if !same_text.iter().any(|other| compare::equal(other, value) == Tri::True) {
                    same_text.push(value.clone());
                }
            }
            Value::Boolean(truth) => self.booleans[usize::from(*truth)] = true,
            Value::Other(literal) => {
                self.unknown.insert(key(literal));
            }
            _ if self.numbers.add(value) => {}
            _ => match compare::to_duration(value) {
                Some(duration) => {
                    self.durations.insert(text(&duration));
                }
                None if self.calendar.add(value) => {}
                None => self.rest.push(value.clone()),
            },
        }
    }

    fn contain(&self, value: &Value) -> Tri {
        let indexed = match value {
            Value::Iri(iri) => return self.iris.contains(iri).into(),
            Value::Blank(label) => return self.blanks.contains(label).into(),
            Value::LangString(string) => {
                let same_text = self.lang_strings.get(&string.text);
                return same_text.map_or(Tri::False, |constants| any_equal(value, constants));
            }
            Value::Triple(_) => return any_equal(value, &self.rest),
            Value::Other(literal) if self.unknown.contains(&key(literal)) => Tri::True,
            Value::Other(_) => return if self.may_be_unknown { Tri::Error } else { Tri::False },
            Value::String(text) => self.strings.contains(text).into(),
            Value::Boolean(truth) => self.booleans[usize::from(*truth)].into(),
            Value::Integer(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_) => {
                self.numbers.contain(value).into()
            }
            _ => match (compare::to_duration(value), self.calendar.contain(value)) {
                (Some(duration), _) => self.durations.contains(&text(&duration)).into(),
                (None, Some(truth)) => truth,
                (None, None) => return any_equal(value, &self.all),
            },
        };
        let of_rest = any_equal(value, &self.rest);
        // It is not known whether a literal of unknown value is this one.
        let of_unknown = if self.unknown.is_empty() { Tri::False } else { Tri::Error };
        indexed.or(of_rest).or(of_unknown)
    }
}

fn any_equal(value: &Value, constants: &[Value]) -> Tri {
    constants.iter().fold(Tri::False, |truth, constant| truth.or(compare::equal(value, constant)))
}

fn key(literal: &OtherLiteral) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&literal.datatype), Arc::clone(&literal.lexical))
}

fn text(duration: &Duration) -> String {
    duration.to_string()
}

/// Numbers, by the type that they are compared in. Promotion is not transitive: the integer 16777217 is equal to the float 16777216, and is
/// not equal to the integer 16777216. So each type has its own list.
#[derive(Debug, Default)]
struct Numbers {
    /// Integers and decimals.
    exact: Vec<Value>,
    /// These as floats, and the floats.
    as_floats: Vec<f32>,
    floats: Vec<f32>,
    doubles: Vec<f64>,
    /// All as doubles.
    as_doubles: Vec<f64>,
}

impl Numbers {
    /// Adds a number; nothing else. NaN is equal to nothing.
    fn add(&mut self, value: &Value) -> bool {
        match value {
            Value::Integer(_) | Value::Decimal(_) => {
                self.exact.push(value.clone());
                self.as_floats.extend(compare::to_f32(value).map(unsigned_zero_f32));
            }
            Value::Float(float) if !float.is_nan() => {
                self.floats.push(unsigned_zero_f32(*float));
                self.as_floats.push(unsigned_zero_f32(*float));
            }
            Value::Double(double) if !double.is_nan() => self.doubles.push(unsigned_zero(*double)),
            Value::Float(_) | Value::Double(_) => return true,
            _ => return false,
        }
        self.as_doubles.extend(compare::to_f64(value).map(unsigned_zero));
        true
    }

    fn sort(&mut self) {
        self.exact.sort_unstable_by(order);
        [&mut self.as_floats, &mut self.floats]
            .into_iter()
            .for_each(|list| list.sort_unstable_by(f32::total_cmp));
        [&mut self.doubles, &mut self.as_doubles]
            .into_iter()
            .for_each(|list| list.sort_unstable_by(f64::total_cmp));
    }

    fn contain(&self, value: &Value) -> bool {
        let has_double = |list: &[f64]| {
            let double = compare::to_f64(value).map(unsigned_zero);
            double.is_some_and(|double| list.binary_search_by(|other| other.total_cmp(&double)).is_ok())
        };
        let has_float = |list: &[f32]| {
            let float = compare::to_f32(value).map(unsigned_zero_f32);
            float.is_some_and(|float| list.binary_search_by(|other| other.total_cmp(&float)).is_ok())
        };
        match value {
            Value::Double(_) => has_double(&self.as_doubles),
            Value::Float(_) => has_float(&self.as_floats) || has_double(&self.doubles),
            _ => {
                self.exact.binary_search_by(|other| order(other, value)).is_ok()
                    || has_float(&self.floats)
                    || has_double(&self.doubles)
            }
        }
    }
}

/// The order of two values of one kind, all of which have one.
fn order(a: &Value, b: &Value) -> Ordering {
    compare::order(a, b).flatten().unwrap_or(Ordering::Equal)
}

/// The two zeros are equal.
fn unsigned_zero(value: f64) -> f64 {
    value + 0.0
}

fn unsigned_zero_f32(value: f32) -> f32 {
    value + 0.0
}

/// Dates, times and parts of dates, by type and by whether they have a time zone: those of one list have an order.
#[derive(Debug, Default)]
struct Calendar([[Vec<Value>; 2]; 8]);

impl Calendar {
    fn add(&mut self, value: &Value) -> bool {
        let Some((kind, zoned)) = place(value) else { return false };
        self.0[kind][usize::from(zoned)].push(value.clone());
        true
    }

    fn sort(&mut self) {
        self.0.iter_mut().flatten().for_each(|list| list.sort_by(order));
    }

    /// `None` for all other values.
    fn contain(&self, value: &Value) -> Option<Tri> {
        let (kind, _) = place(value)?;
        // What is before the value for certain comes first in a list, then what may be equal to it.
        let find = |list: &Vec<Value>| {
            let before = |other: &Value| compare::compare(Comparison::Less, other, value) == Tri::True;
            let first = list.get(list.partition_point(before));
            first.map_or(Tri::False, |first| compare::equal(first, value))
        };
        Some(self.0[kind].iter().map(find).fold(Tri::False, Tri::or))
    }
}

/// The number of a value's type, and whether it has a time zone.
fn place(value: &Value) -> Option<(usize, bool)> {
    Some(match value {
        Value::DateTime(value) => (0, value.timezone_offset().is_some()),
        Value::Date(value) => (1, value.timezone_offset().is_some()),
        Value::Time(value) => (2, value.timezone_offset().is_some()),
        Value::GYear(value) => (3, value.timezone_offset().is_some()),
        Value::GYearMonth(value) => (4, value.timezone_offset().is_some()),
        Value::GMonth(value) => (5, value.timezone_offset().is_some()),
        Value::GMonthDay(value) => (6, value.timezone_offset().is_some()),
        Value::GDay(value) => (7, value.timezone_offset().is_some()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
