//! SUM: exact for integers and decimals, promoted like `+`.

use super::grow::grow;
use super::state::{Kernel, State, same};
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::{decode, value_id};
use crate::values::arithmetic;
use crate::values::exact::Exact;
use crate::values::value::Value;
use lode_rdf::{ValueId, inline};
use lode_scheduler::steps::steps;
use lode_sparql::AggregateFunction;
use lode_sparql::aggregate::InParts;
use lode_sparql::function::ValueType;

/// `SUM`.
pub static SUM: AggregateFunction =
    AggregateFunction::new("SUM", ValueType::Number, ValueType::Number, &Kernel(|_| Totals::of(Totals::sum)))
        .of_a_set()
        .in_parts(InParts::Sums);

/// A sum of counts, which is always an integer: COUNT in two steps. Only the planner makes it.
pub static SUM_OF_COUNTS: AggregateFunction = AggregateFunction::new(
    "SUM(COUNT)",
    ValueType::Integer,
    ValueType::Integer,
    &Kernel(|_| Totals::of(Totals::sum)),
)
.always_bound()
.in_parts(InParts::As(&SUM_OF_COUNTS));

/// A sum so far. Integers are summed in 128 bits, so that only the result has to fit, whatever the order of arrival.
#[derive(Debug, Clone)]
enum Total {
    Integer(i128),
    Number(Value),
    /// Something was no number, or the sum is too large.
    Error,
}

/// Sums and counts, one per group.
#[derive(Debug)]
pub(super) struct Totals {
    totals: Vec<(Total, u64)>,
    /// What becomes of a group's.
    result: fn(&Self, usize) -> Option<Value>,
}

impl Total {
    /// Adds a number of the same type as the sum, straight from its id; `false`: it is no such number.
    #[inline]
    fn add_same(&mut self, id: ValueId) -> bool {
        let added = match self {
            // No column is long enough to exceed 128 bits with 64-bit integers.
            Self::Integer(sum) => inline::as_i64(id).map(|value| *sum += i128::from(value)),
            Self::Number(Value::Float(sum)) => inline::as_f32(id).map(|value| *sum += value),
            Self::Number(Value::Double(sum)) => inline::as_f64(id).map(|value| *sum += value),
            Self::Number(_) | Self::Error => None,
        };
        added.is_some()
    }

    fn add(&mut self, value: Option<&Value>) {
        let sum = match (&*self, value) {
            (Self::Integer(total), Some(Value::Integer(value))) => {
                total.checked_add(i128::from(*value)).map(Self::Integer)
            }
            (Self::Error, _) | (_, None) => None,
            (total, Some(value)) => {
                total.value().and_then(|total| arithmetic::add(&total, value)).and_then(Self::number)
            }
        };
        *self = sum.unwrap_or(Self::Error);
    }

    /// A sum that is a number (and no duration, which `+` takes, too).
    fn number(value: Value) -> Option<Self> {
        match value {
            Value::Integer(value) => Some(Self::Integer(i128::from(value))),
            Value::Decimal(_) | Value::Exact(_) | Value::Float(_) | Value::Double(_) => {
                Some(Self::Number(value))
            }
            _ => None,
        }
    }

    /// The sum for further arithmetic.
    fn value(&self) -> Option<Value> {
        match self {
            Self::Integer(total) => match i64::try_from(*total) {
                Ok(total) => Some(Value::Integer(total)),
                Err(_) => Exact::integer((*total).into()).bounded().map(Value::from),
            },
            Self::Number(value) => Some(value.clone()),
            Self::Error => None,
        }
    }

    fn merge(&mut self, other: &Self) {
        let sum = match (&*self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.checked_add(*b).map(Self::Integer),
            (Self::Number(Value::Float(a)), Self::Number(Value::Float(b))) => {
                Some(Self::Number(Value::Float(*a + *b)))
            }
            (Self::Number(Value::Double(a)), Self::Number(Value::Double(b))) => {
                Some(Self::Number(Value::Double(*a + *b)))
            }
            (a, b) => {
                let sum = a.value().zip(b.value()).and_then(|(a, b)| arithmetic::add(&a, &b));
                sum.and_then(Self::number)
            }
        };
        *self = sum.unwrap_or(Self::Error);
    }
}

impl Totals {
    pub fn of(result: fn(&Self, usize) -> Option<Value>) -> Box<dyn State> {
        Box::new(Self { totals: Vec::new(), result })
    }

    /// The sum; 0 of nothing.
    fn sum(&self, group: usize) -> Option<Value> {
        match self.totals.get(group) {
            None => Some(Value::Integer(0)),
            Some((total, _)) => total.value(),
        }
    }

    /// The mean; 0 of nothing.
    pub fn average(&self, group: usize) -> Option<Value> {
        match self.totals.get(group) {
            None | Some((Total::Integer(_), 0)) => Some(Value::Integer(0)),
            Some((total, count)) => {
                arithmetic::divide(&total.value()?, &Value::Integer(i64::try_from(*count).ok()?))
            }
        }
    }
}

impl State for Totals {
    fn resize(&mut self, groups: usize) {
        grow(&mut self.totals, groups, (Total::Integer(0), 0));
    }

    fn update(&mut self, cx: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        let mut stored = Vec::new();
        let mut stored_groups = Vec::new();
        for (&group, &id) in groups.iter().zip(values) {
            let Some((total, count)) = self.totals.get_mut(group as usize) else { continue };
            if total.add_same(id) {
                *count += 1;
            } else if id.is_undef() {
                total.add(None);
            } else if let Some(value) = Value::from_inline(id) {
                total.add(Some(&value));
                *count += 1;
            } else {
                stored.push(id);
                stored_groups.push(group);
            }
        }
        if stored.is_empty() {
            return Ok(());
        }
        for (group, value) in stored_groups.iter().zip(decode::values(cx, &stored)?) {
            if let Some((total, count)) = self.totals.get_mut(*group as usize) {
                total.add(value.as_ref());
                *count += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError> {
        let Some(more) = same::<Self>(other).map(|other| other.totals) else { return Ok(()) };
        for step in steps(groups.len().min(more.len()), &cx.cancel) {
            let step = step?;
            for (group, (their_total, their_count)) in groups[step.clone()].iter().zip(&more[step]) {
                if let Some((total, count)) = self.totals.get_mut(*group as usize) {
                    total.merge(their_total);
                    *count += their_count;
                }
            }
        }
        Ok(())
    }

    fn finish(&self, cx: &EvalContext, group: usize) -> Result<ValueId, ExecError> {
        value_id(cx, (self.result)(self, group).as_ref())
    }

    fn bytes(&self) -> usize {
        self.totals.capacity() * size_of::<(Total, u64)>()
    }
}
