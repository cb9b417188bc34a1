//! Function calls: which function is which.

use super::column::{Column, Constant, Tri};
use super::eval::Evaluator;
use super::pattern::MatchLimit;
use super::texts::Texts;
use super::{dates, decode, hashes, pattern, random, strings, terms};
use crate::error::ExecError;
use crate::values::arithmetic;
use crate::values::value::{Value, XSD};
use lode_rdf::{Kind, Term};
use lode_sparql::Expr;
use spargebra::algebra::Function;

impl Evaluator<'_> {
    /// What a function call is worth for every row. A wrong number of arguments is an error.
    pub fn call<'e>(&self, function: &Function, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        match arguments {
            [] => self.call_0(function),
            [a] => self.call_1(function, a, arguments),
            [a, b] => self.call_2(function, a, b, arguments),
            _ => self.call_more(function, arguments),
        }
    }

    fn call_0<'e>(&self, function: &Function) -> Result<Column<'e>, ExecError> {
        match function {
            Function::Concat => Ok(Column::Constant(Constant::Value(Some(Value::string(""))))),
            Function::Now => Ok(Column::Constant(Constant::Value(Some(Value::DateTime(self.cx.now))))),
            Function::BNode => self.blank_node(&[]),
            Function::Rand => Ok(Column::Values(random::doubles(self.rows()), Texts::default())),
            Function::Uuid => Ok(Column::Values(random::uuids(self.rows(), true), Texts::default())),
            Function::StrUuid => Ok(Column::Values(random::uuids(self.rows(), false), Texts::default())),
            _ => Ok(Column::ERROR),
        }
    }

    fn call_1<'e>(
        &self,
        function: &Function,
        a: &'e Expr,
        arguments: &'e [Expr],
    ) -> Result<Column<'e>, ExecError> {
        match function {
            Function::Str => self.of_term(a, terms::str),
            Function::Lang => self.of_term(a, terms::lang),
            Function::LangDir => self.of_term(a, terms::lang_dir),
            Function::Datatype => self.datatype(a),
            Function::Iri => self.iri(a),
            Function::BNode => self.blank_node(arguments),
            Function::Abs => self.unary(a, arithmetic::abs),
            Function::Ceil => self.unary(a, arithmetic::ceil),
            Function::Floor => self.unary(a, arithmetic::floor),
            Function::Round => self.unary(a, arithmetic::round),
            Function::Concat => {
                self.limited("CONCAT", |limit| self.unary(a, |a| strings::concat(&[a], limit)))
            }
            Function::StrLen => self.unary(a, strings::length),
            Function::UCase => self.limited("UCASE", |limit| self.unary(a, |a| strings::upper(a, limit))),
            Function::LCase => self.limited("LCASE", |limit| self.unary(a, |a| strings::lower(a, limit))),
            Function::EncodeForUri => {
                self.limited("ENCODE_FOR_URI", |limit| self.unary(a, |a| strings::encode_for_uri(a, limit)))
            }
            Function::Year => self.unary(a, dates::year),
            Function::Month => self.unary(a, dates::month),
            Function::Day => self.unary(a, dates::day),
            Function::Hours => self.unary(a, dates::hours),
            Function::Minutes => self.unary(a, dates::minutes),
            Function::Seconds => self.unary(a, dates::seconds),
            Function::Timezone => self.unary(a, dates::timezone),
            Function::Tz => self.unary(a, dates::tz),
            Function::Md5 => self.unary(a, hashes::digest::<md5::Md5>),
            Function::Sha1 => self.unary(a, hashes::digest::<sha1::Sha1>),
            Function::Sha256 => self.unary(a, hashes::digest::<sha2::Sha256>),
            Function::Sha384 => self.unary(a, hashes::digest::<sha2::Sha384>),
            Function::Sha512 => self.unary(a, hashes::digest::<sha2::Sha512>),
            Function::Subject => self.component(a, |triple| triple.subject.clone().into()),
            Function::Predicate => self.component(a, |triple| Term::NamedNode(triple.predicate.clone())),
            Function::Object => self.component(a, |triple| triple.object.clone()),
            Function::Custom(iri) => match iri.as_str().strip_prefix(XSD) {
                Some(name) => self.cast(name, arguments),
                None => Ok(Column::ERROR),
            },
            _ => self.call_test(function, a),
        }
    }

    /// Functions that test what kind of term it is.
    fn call_test<'e>(&self, function: &Function, a: &'e Expr) -> Result<Column<'e>, ExecError> {
        let is_literal = |kind: Kind| kind.is_literal();
        match function {
            Function::IsIri => {
                self.test(a, |kind| Some(kind == Kind::Iri), |value| matches!(value, Value::Iri(_)))
            }
            Function::IsBlank => {
                self.test(a, |kind| Some(kind == Kind::Blank), |value| matches!(value, Value::Blank(_)))
            }
            Function::IsLiteral => self.test(
                a,
                |kind| Some(is_literal(kind)),
                |value| !matches!(value, Value::Iri(_) | Value::Blank(_) | Value::Triple(_)),
            ),
            Function::IsTriple => {
                self.test(a, |kind| Some(kind == Kind::TripleTerm), |value| matches!(value, Value::Triple(_)))
            }
            Function::IsNumeric => self.test(a, is_numeric_kind, Value::is_numeric),
            Function::HasLang => self.test(
                a,
                |kind| Some(kind == Kind::LangString),
                |value| matches!(value, Value::LangString(_)),
            ),
            Function::HasLangDir => self.test(
                a,
                |kind| if kind == Kind::LangString { None } else { Some(false) },
                |value| matches!(value, Value::LangString(string) if string.direction.is_some()),
            ),
            _ => Ok(Column::ERROR),
        }
    }

    fn call_2<'e>(
        &self,
        function: &Function,
        a: &'e Expr,
        b: &'e Expr,
        arguments: &'e [Expr],
    ) -> Result<Column<'e>, ExecError> {
        match function {
            Function::LangMatches => self.predicate(a, b, strings::lang_matches),
            Function::Contains => self.text_test(a, b, |text, part| text.contains(part)),
            Function::StrStarts => self.text_test(a, b, |text, start| text.starts_with(start)),
            Function::StrEnds => self.text_test(a, b, |text, end| text.ends_with(end)),
            Function::Regex => self.regex(a, b, None),
            Function::StrBefore => self.binary(a, b, strings::before),
            Function::StrAfter => self.binary(a, b, strings::after),
            Function::SubStr => self.binary(a, b, |a, b| strings::substring(a, b, None)),
            Function::Concat => {
                self.limited("CONCAT", |limit| self.binary(a, b, |a, b| strings::concat(&[a, b], limit)))
            }
            Function::StrLang => self.binary(a, b, |a, b| terms::with_language(a, b, None)),
            Function::StrDt => self.typed_literal(arguments),
            _ => Ok(Column::ERROR),
        }
    }

    fn call_more<'e>(&self, function: &Function, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        match (function, arguments.len()) {
            (Function::Concat, _) => self
                .limited("CONCAT", |limit| self.variadic(arguments, |values| strings::concat(values, limit))),
            (Function::Triple, 3) => self.triple(arguments),
            (Function::SubStr, 3) => self.variadic(arguments, |values| match values {
                [text, start, length] => strings::substring(text, start, Some(length)),
                _ => None,
            }),
            (Function::Regex, 3) => match arguments {
                [text, pattern, flags] => self.regex(text, pattern, Some(flags)),
                _ => Ok(Column::ERROR),
            },
            (Function::Replace, 3 | 4) => self.replace(arguments),
            (Function::StrLangDir, 3) => self.variadic(arguments, |values| match values {
                [text, language, direction] => terms::with_language(text, language, Some(direction)),
                _ => None,
            }),
            _ => Ok(Column::ERROR),
        }
    }

    fn replace<'e>(&self, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
        let matching = MatchLimit::new(self.cx);
        let column = self.limited("REPLACE", |limit| {
            self.variadic(arguments, |values| match values {
                [text, pattern, with] => pattern::replace(text, pattern, with, None, limit, &matching),
                [text, pattern, with, flags] => {
                    pattern::replace(text, pattern, with, Some(flags), limit, &matching)
                }
                _ => None,
            })
        });
        matching.check()?;
        column
    }

    /// A function of two values that is true or false.
    fn predicate<'e>(
        &self,
        a: &'e Expr,
        b: &'e Expr,
        f: impl Fn(&Value, &Value) -> Option<bool>,
    ) -> Result<Column<'e>, ExecError> {
        self.predicate_columns(&self.eval(a)?, &self.eval(b)?, f)
    }

    /// The same of evaluated columns.
    pub fn predicate_columns<'e>(
        &self,
        a: &Column<'_>,
        b: &Column<'_>,
        f: impl Fn(&Value, &Value) -> Option<bool>,
    ) -> Result<Column<'e>, ExecError> {
        let (a, b) = (decode::operand(self.cx, a)?, decode::operand(self.cx, b)?);
        let apply = |row| Tri::from_option(a.get(row).zip(b.get(row)).and_then(|(a, b)| f(a, b)));
        if a.is_constant() && b.is_constant() {
            return Ok(Column::Bools(vec![apply(0); self.rows()]));
        }
        Ok(Column::Bools((0..self.rows()).map(apply).collect()))
    }
}

/// Whether literals of a kind are numbers; typed literals have to be looked at.
fn is_numeric_kind(kind: Kind) -> Option<bool> {
    match kind {
        Kind::Decimal | Kind::Double | Kind::Float => Some(true),
        Kind::TypedLiteral => None,
        _ => Some(kind.is_integer()),
    }
}
