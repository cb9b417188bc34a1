//! Calls of functions of geometries: how they come by the geometries of their arguments, and what becomes of what they give.

use crate::error::ExecError;
use crate::expr::column::{Column, Operand};
use crate::expr::decode;
use crate::expr::eval::Evaluator;
use crate::text_bytes::TextBytes as _;
use crate::values::compare::to_f64;
use crate::values::value::{OtherLiteral, Value};
use lode_base::cancel::with_current;
use lode_geo::vocabulary::WKT_LITERAL;
use lode_geo::{GeoError, Geometry, Unit, write};
use lode_sparql::Expr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The IRI of a function, by its local name.
macro_rules! iri {
    ($name:literal) => {
        concat!("http://www.opengis.net/def/function/geosparql/", $name)
    };
}
pub(super) use iri;

/// The datatype of IRIs as literals.
pub(super) const ANY_URI: &str = "http://www.w3.org/2001/XMLSchema#anyURI";

/// What a call gives: a value, or an error in the expression.
pub(super) type Given = Result<Value, GeoError>;

/// A function of one geometry.
pub(super) fn of_one<'e>(
    rows: &Evaluator<'_>,
    a: &'e Expr,
    f: impl Fn(&Geometry) -> Given,
) -> Result<Column<'e>, ExecError> {
    let column = rows.eval(a)?;
    let operand = decode::operand(rows.cx, &column)?;
    let shapes = Shapes::new(rows, &operand);
    given(rows, operand.is_constant(), |row| Some(f(&*shapes.get(row)?)))
}

/// A function of two geometries.
pub(super) fn of_two<'e>(
    rows: &Evaluator<'_>,
    a: &'e Expr,
    b: &'e Expr,
    f: impl Fn(&Geometry, &Geometry) -> Given,
) -> Result<Column<'e>, ExecError> {
    let (a, b) = (rows.eval(a)?, rows.eval(b)?);
    let (a, b) = (decode::operand(rows.cx, &a)?, decode::operand(rows.cx, &b)?);
    let (shapes, others) = (Shapes::new(rows, &a), Shapes::new(rows, &b));
    let is_constant = a.is_constant() && b.is_constant();
    given(rows, is_constant, |row| Some(f(&*shapes.get(row)?, &*others.get(row)?)))
}

/// A function of geometries, so many of the first arguments, and of other values, all of which have one.
pub(super) fn of_many<'e>(
    rows: &Evaluator<'_>,
    arguments: &'e [Expr],
    geometries: usize,
    f: impl Fn(&[Arc<Geometry>], &[&Value]) -> Option<Given>,
) -> Result<Column<'e>, ExecError> {
    let columns: Vec<_> = arguments.iter().map(|argument| rows.eval(argument)).collect::<Result<_, _>>()?;
    let operands: Vec<_> =
        columns.iter().map(|column| decode::operand(rows.cx, column)).collect::<Result<_, _>>()?;
    let (first, rest) = operands.split_at(geometries.min(operands.len()));
    let shapes: Vec<_> = first.iter().map(|operand| Shapes::new(rows, operand)).collect();
    let is_constant = operands.iter().all(Operand::is_constant);
    given(rows, is_constant, |row| {
        let geometries: Vec<_> = shapes.iter().map(|shapes| shapes.get(row)).collect::<Option<_>>()?;
        let values: Vec<_> = rest.iter().map(|operand| operand.get(row)).collect::<Option<_>>()?;
        f(&geometries, &values)
    })
}

/// A column of what is computed for each row. One call may take milliseconds, and a long one looks now and then, so the query can be stopped before and in each; one that was
/// stopped has no answer that anybody may take for an error.
fn given<'e>(
    rows: &Evaluator<'_>,
    is_constant: bool,
    value: impl Fn(usize) -> Option<Given>,
) -> Result<Column<'e>, ExecError> {
    let column = with_current(Some(&rows.cx.cancel), || computed(rows, is_constant, value))?;
    rows.cx.cancel.check()?;
    Ok(column)
}

fn computed<'e>(
    rows: &Evaluator<'_>,
    is_constant: bool,
    value: impl Fn(usize) -> Option<Given>,
) -> Result<Column<'e>, ExecError> {
    rows.limited("a geometry as text", |limit| {
        let value = |row| {
            let value = value(row)?.ok()?;
            limit.allow(value.text_bytes())?;
            Some(value)
        };
        if is_constant {
            return rows.constant(value(0));
        }
        let stopped = RefCell::new(None);
        let column = rows.values(|row| match rows.cx.cancel.check() {
            Ok(()) => value(row),
            Err(reason) => {
                stopped.borrow_mut().get_or_insert(reason);
                None
            }
        })?;
        match stopped.into_inner() {
            Some(reason) => Err(reason.into()),
            None => Ok(column),
        }
    })
}

/// The geometries of an argument's values.
struct Shapes<'a> {
    rows: &'a Evaluator<'a>,
    operand: &'a Operand<'a>,
    /// That of a constant.
    one: Option<Arc<Geometry>>,
    /// Those of literals that were met in this column and are accounted, by where the literals are.
    known: RefCell<HashMap<*const OtherLiteral, Option<Arc<Geometry>>>>,
}

impl<'a> Shapes<'a> {
    fn new(rows: &'a Evaluator<'a>, operand: &'a Operand<'a>) -> Self {
        let mut shapes = Self { rows, operand, one: None, known: RefCell::default() };
        if operand.is_constant() {
            shapes.one = operand.get(0).and_then(|value| shapes.read(value));
        }
        shapes
    }

    fn get(&self, row: usize) -> Option<Arc<Geometry>> {
        if self.operand.is_constant() { self.one.clone() } else { self.read(self.operand.get(row)?) }
    }

    fn read(&self, value: &Value) -> Option<Arc<Geometry>> {
        let Value::Other(literal) = value else { return None };
        if let Some(known) = self.known.borrow().get(&Arc::as_ptr(literal)) {
            return known.clone();
        }
        let found = self.rows.cx.memos.geometries().of(value, &self.rows.cx.budget);
        if found.is_kept {
            self.known.borrow_mut().insert(Arc::as_ptr(literal), found.geometry.clone());
        }
        found.geometry
    }
}

/// A geometry as a value: well-known text.
pub(super) fn literal(geometry: &Geometry) -> Value {
    typed(write::wkt(geometry), WKT_LITERAL)
}

pub(super) fn typed(lexical: String, datatype: &str) -> Value {
    Value::Other(Arc::new(OtherLiteral { lexical: lexical.into(), datatype: datatype.into() }))
}

/// An IRI that a function has as an argument: as such, as `xsd:anyURI`, or as a string.
pub(super) fn iri_of(value: &Value) -> Option<&str> {
    match value {
        Value::Iri(iri) | Value::String(iri) => Some(iri),
        Value::Other(literal) if &*literal.datatype == ANY_URI => Some(&literal.lexical),
        _ => None,
    }
}

pub(super) fn unit_of(value: &Value) -> Option<Unit> {
    Unit::from_iri(iri_of(value)?)
}

pub(super) fn number_of(value: &Value) -> Option<f64> {
    to_f64(value).filter(|number| number.is_finite())
}
