//! Functions on terms (17.4.2): they look at what a term is, not at what it means, so they work on ids.

use crate::error::ExecError;
use crate::expr::call::Kernel;
use crate::expr::column::{Column, Constant, Operand, Tri};
use crate::expr::decode;
use crate::expr::eval::Evaluator;
use crate::expr::texts::Texts;
use crate::values::value::{LangString, Value};
use lode_rdf::{BaseDirection, Kind, Literal, NamedNode, Term, TermRef, ValueId, inline};
use lode_sparql::Expr;
use lode_sparql::Function;
use lode_sparql::function::{Meaning, ValueType, Volatility};
use oxiri::{Iri, IriRef};
use sha2::Digest as _;
use std::fmt::Write as _;

/// The entries.
pub(super) static FUNCTIONS: [Function; 16] = [
    Function::new("STR", &[ValueType::Term], ValueType::String, &Kernel::One(|rows, a| rows.of_term(a, str)))
        .meaning(Meaning::Text),
    Function::new(
        "LANG",
        &[ValueType::Literal],
        ValueType::String,
        &Kernel::One(|rows, a| rows.of_term(a, lang)),
    ),
    Function::new(
        "LANGDIR",
        &[ValueType::Literal],
        ValueType::String,
        &Kernel::One(|rows, a| rows.of_term(a, lang_dir)),
    ),
    Function::new(
        "DATATYPE",
        &[ValueType::Literal],
        ValueType::Iri,
        &Kernel::One(|rows, a| rows.datatype(a)),
    ),
    Function::new("IRI", &[ValueType::Term], ValueType::Iri, &Kernel::One(|rows, a| rows.iri(a)))
        .volatility(Volatility::Query),
    Function::new(
        "BNODE",
        &[],
        ValueType::Blank,
        &Kernel::Many(|rows, arguments| rows.blank_node(arguments)),
    )
    .optional(&[ValueType::String])
    .volatility(Volatility::Solution),
    Function::new(
        "STRDT",
        &[ValueType::String, ValueType::Iri],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| rows.typed_literal(arguments)),
    ),
    Function::new(
        "STRLANG",
        &[ValueType::String, ValueType::String],
        ValueType::String,
        &Kernel::Two(|rows, a, b| rows.binary(a, b, |a, b| with_language(a, b, None))),
    ),
    Function::new(
        "STRLANGDIR",
        &[ValueType::String, ValueType::String, ValueType::String],
        ValueType::String,
        &Kernel::Many(|rows, arguments| {
            rows.variadic(arguments, |values| match values {
                [text, language, direction] => with_language(text, language, Some(direction)),
                _ => None,
            })
        }),
    ),
    Function::new(
        "isIRI",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| {
            rows.test(a, |kind| Some(kind == Kind::Iri), |value| matches!(value, Value::Iri(_)))
        }),
    ),
    Function::new(
        "isBLANK",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| {
            rows.test(a, |kind| Some(kind == Kind::Blank), |value| matches!(value, Value::Blank(_)))
        }),
    ),
    Function::new(
        "isLITERAL",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| {
            rows.test(
                a,
                |kind| Some(kind.is_literal()),
                |value| !matches!(value, Value::Iri(_) | Value::Blank(_) | Value::Triple(_)),
            )
        }),
    ),
    Function::new(
        "isTRIPLE",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| {
            rows.test(a, |kind| Some(kind == Kind::TripleTerm), |value| matches!(value, Value::Triple(_)))
        }),
    ),
    Function::new(
        "isNUMERIC",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| rows.test(a, is_numeric_kind, Value::is_numeric)),
    ),
    Function::new(
        "hasLANG",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| {
            rows.test(a, |kind| Some(kind == Kind::LangString), |value| matches!(value, Value::LangString(_)))
        }),
    ),
    Function::new(
        "hasLANGDIR",
        &[ValueType::Term],
        ValueType::Boolean,
        &Kernel::One(|rows, a| {
            rows.test(
                a,
                |kind| if kind == Kind::LangString { None } else { Some(false) },
                |value| matches!(value, Value::LangString(string) if string.direction.is_some()),
            )
        }),
    ),
];

impl Evaluator<'_> {
    /// A function of a term that gives a value, once per distinct term.
    pub fn of_term<'e>(
        &self,
        a: &'e Expr,
        f: impl Fn(TermRef<'_>) -> Option<Value>,
    ) -> Result<Column<'e>, ExecError> {
        Ok(match self.eval(a)? {
            Column::Constant(Constant::Term(term)) => Column::Constant(Constant::Value(f(term.as_ref()))),
            Column::Ids(ids) => {
                let (values, texts) = decode::map_terms(self.cx, &ids, f)?;
                Column::Values(values, texts)
            }
            column => {
                let operand = decode::operand(self.cx, &column)?;
                let apply = |row| operand.get(row).and_then(|value| f(value.to_term().as_ref()));
                if operand.is_constant() { self.constant(apply(0))? } else { self.values(apply)? }
            }
        })
    }

    /// A test of what a term is: by its kind where that tells, else by the term.
    fn test<'e>(
        &self,
        a: &'e Expr,
        by_kind: impl Fn(Kind) -> Option<bool>,
        by_value: impl Fn(&Value) -> bool,
    ) -> Result<Column<'e>, ExecError> {
        let column = self.eval(a)?;
        let Column::Ids(ids) = column else {
            let operand = decode::operand(self.cx, &column)?;
            let test = |row| Tri::from_option(operand.get(row).map(&by_value));
            return Ok(Column::Bools((0..self.rows()).map(test).collect()));
        };
        let mut result = Vec::with_capacity(ids.len());
        let mut open = Vec::new();
        for (row, id) in ids.iter().enumerate() {
            result.push(match id.kind() {
                Some(Kind::Special) => Tri::Error,
                Some(kind) if kind != Kind::Local => match by_kind(kind) {
                    Some(truth) => truth.into(),
                    None => {
                        open.push(row);
                        Tri::Error
                    }
                },
                _ => {
                    open.push(row);
                    Tri::Error
                }
            });
        }
        if !open.is_empty() {
            let open_ids: Vec<ValueId> = open.iter().filter_map(|row| ids.get(*row).copied()).collect();
            for (row, value) in open.iter().zip(decode::values(self.cx, &open_ids)?) {
                if let Some(slot) = result.get_mut(*row) {
                    *slot = Tri::from_option(value.as_ref().map(&by_value));
                }
            }
        }
        Ok(Column::Bools(result))
    }

    /// `DATATYPE`, by kind without looking at the term where possible.
    fn datatype<'e>(&self, a: &'e Expr) -> Result<Column<'e>, ExecError> {
        let column = self.eval(a)?;
        if let Column::Ids(ids) = &column
            && ids.iter().all(|id| {
                id.kind().is_some_and(|kind| kind == Kind::String || inline::datatype_iri(kind).is_some())
            })
        {
            let iri = |id: &ValueId| id.kind().map(|kind| inline::datatype_iri(kind).unwrap_or(XSD_STRING));
            let distinct = decode::distinct(&ids.iter().map(|id| kind_id(*id)).collect::<Vec<_>>());
            let iris: Vec<Option<Value>> =
                distinct.ids.iter().map(|id| iri(id).map(|iri| Value::Iri(iri.into()))).collect();
            return Ok(Column::Values(
                distinct.rows.iter().map(|at| iris.get(*at as usize).cloned().flatten()).collect(),
                Texts::default(),
            ));
        }
        match column {
            Column::Ids(ids) => {
                let (values, texts) = decode::map_terms(self.cx, &ids, datatype)?;
                Ok(Column::Values(values, texts))
            }
            Column::Constant(Constant::Term(term)) => {
                Ok(Column::Constant(Constant::Value(datatype(term.as_ref()))))
            }
            column => {
                let operand = decode::operand(self.cx, &column)?;
                let apply = |row| operand.get(row)?.datatype().map(|iri| Value::Iri(iri.into()));
                self.values(apply)
            }
        }
    }

    /// `IRI`: strings are resolved against the query's base.
    fn iri<'e>(&self, a: &'e Expr) -> Result<Column<'e>, ExecError> {
        let base = self.cx.dataset.base_iri.as_deref().and_then(|base| Iri::parse(base).ok());
        self.unary(a, |value| match value {
            Value::Iri(iri) => Some(Value::Iri(iri.clone())),
            Value::String(text) => {
                let iri = match &base {
                    Some(base) => base.resolve(&IriRef::parse(&**text).ok()?).ok()?.into_inner(),
                    None => Iri::parse(text.to_string()).ok()?.into_inner(),
                };
                Some(Value::Iri(iri.into()))
            }
            _ => None,
        })
    }

    /// `BNODE()` is a new node in each row, `BNODE(label)` one per label and row.
    fn blank_node<'e>(&self, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        let Some(label) = arguments.first() else {
            let base = self.cx.local.fresh(self.rows() as u64);
            let node =
                |row: usize| Some(Value::Blank(format!("q{:x}", base.wrapping_add(row as u64)).into()));
            return self.values(node);
        };
        let column = self.eval(label)?;
        let labels = decode::operand(self.cx, &column)?;
        let node = |row: usize| {
            let label = labels.get(row)?.simple()?;
            Some(Value::Blank(labelled(self.row_number(row), label).into()))
        };
        self.values(node)
    }

    /// A function of values whose result is a term, not the canonical form of a value.
    pub fn terms<'e>(
        &self,
        arguments: &'e [Expr],
        f: impl Fn(&[&Value]) -> Option<Term>,
    ) -> Result<Column<'e>, ExecError> {
        let columns: Vec<_> =
            arguments.iter().map(|argument| self.eval(argument)).collect::<Result<_, _>>()?;
        let operands: Vec<_> =
            columns.iter().map(|column| decode::operand(self.cx, column)).collect::<Result<_, _>>()?;
        let mut ids = Vec::with_capacity(self.rows());
        let mut row_values = Vec::with_capacity(operands.len());
        let rows = if operands.iter().all(Operand::is_constant) { 1 } else { self.rows() };
        for row in 0..rows {
            row_values.clear();
            row_values.extend(operands.iter().filter_map(|operand| operand.get(row)));
            let term = if row_values.len() == operands.len() { f(&row_values) } else { None };
            ids.push(term.map_or(Ok(ValueId::UNDEF), |term| self.cx.intern(&term))?);
        }
        if rows == 1 {
            ids.resize(self.rows(), ids.first().copied().unwrap_or_default());
        }
        Ok(Column::Ids(ids))
    }

    /// `STRDT`.
    fn typed_literal<'e>(&self, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        self.terms(arguments, |values| {
            let [Value::String(text), Value::Iri(datatype)] = values else { return None };
            // These two need a language, which STRDT cannot give.
            if matches!(&**datatype, RDF_LANG_STRING | RDF_DIR_LANG_STRING) {
                return None;
            }
            Some(Literal::new_typed_literal(&**text, NamedNode::new_unchecked(&**datatype)).into())
        })
    }
}

const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const RDF_DIR_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// One id for all ids of a kind.
fn kind_id(id: ValueId) -> ValueId {
    id.kind().map_or(id, |kind| ValueId::new(kind, 0))
}

/// A label that is the same for the same row and label only: short labels are spelled out, long ones digested.
fn labelled(row: u64, label: &str) -> String {
    let mut out = format!("q{row:x}x");
    let digest;
    let bytes = if label.len() <= 32 {
        label.as_bytes()
    } else {
        out.push('h');
        digest = sha2::Sha256::digest(label.as_bytes());
        digest.as_slice()
    };
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// `STR`.
pub(crate) fn str(term: TermRef<'_>) -> Option<Value> {
    match term {
        TermRef::NamedNode(node) => Some(Value::string(node.as_str())),
        TermRef::Literal(literal) => Some(Value::string(literal.value())),
        TermRef::BlankNode(_) | TermRef::Triple(_) => None,
    }
}

/// `LANG`.
pub(crate) fn lang(term: TermRef<'_>) -> Option<Value> {
    match term {
        TermRef::Literal(literal) => Some(Value::string(literal.language().unwrap_or_default())),
        _ => None,
    }
}

/// `LANGDIR`.
pub(crate) fn lang_dir(term: TermRef<'_>) -> Option<Value> {
    let TermRef::Literal(literal) = term else { return None };
    Some(Value::string(match literal.direction() {
        Some(BaseDirection::Ltr) => "ltr",
        Some(BaseDirection::Rtl) => "rtl",
        None => "",
    }))
}

fn datatype(term: TermRef<'_>) -> Option<Value> {
    match term {
        TermRef::Literal(literal) => Some(Value::Iri(literal.datatype().as_str().into())),
        _ => None,
    }
}

/// `STRLANG`, `STRLANGDIR`: a simple string, a tag that is one, and a direction where it is asked for.
pub(crate) fn with_language(text: &Value, language: &Value, direction: Option<&Value>) -> Option<Value> {
    let (text, language) = (text.simple()?, language.simple()?);
    let direction = match direction {
        None => None,
        Some(direction) => Some(match &**direction.simple()? {
            "ltr" => BaseDirection::Ltr,
            "rtl" => BaseDirection::Rtl,
            _ => return None,
        }),
    };
    // The library checks the tag and writes it in lower case, as the parsers of RDF do.
    let literal = Literal::new_language_tagged_literal("", &**language).ok()?;
    Some(Value::LangString(LangString {
        text: text.clone(),
        language: literal.language()?.into(),
        direction,
    }))
}

/// Whether literals of a kind are numbers; typed literals have to be looked at.
fn is_numeric_kind(kind: Kind) -> Option<bool> {
    match kind {
        Kind::Decimal | Kind::Double | Kind::Float => Some(true),
        Kind::TypedLiteral => None,
        _ => Some(kind.is_integer()),
    }
}
