//! CONTAINS, STRSTARTS, STRENDS and REGEX of a column of terms with constants: on the dictionary's own bytes, since a test needs no copy of
//! a text.

use super::regex::{self, MatchLimit};
use crate::error::ExecError;
use crate::expr::call::Kernel;
use crate::expr::column::{Column, Operand, Tri};
use crate::expr::decode;
use crate::expr::eval::Evaluator;
use crate::values::value::Value;
use lode_rdf::{BaseDirection, TermRef, ValueId};
use lode_sparql::Expr;
use lode_sparql::Function;
use lode_sparql::function::{Meaning, ValueType};

/// The entries.
pub(super) static FUNCTIONS: [Function; 4] = [
    Function::new(
        "CONTAINS",
        &[ValueType::String, ValueType::String],
        ValueType::Boolean,
        &Kernel::Two(|rows, a, b| rows.text_test(a, b, |text, part| text.contains(part))),
    ),
    Function::new(
        "STRSTARTS",
        &[ValueType::String, ValueType::String],
        ValueType::Boolean,
        &Kernel::Two(|rows, a, b| rows.text_test(a, b, |text, start| text.starts_with(start))),
    )
    .meaning(Meaning::StartsWith),
    Function::new(
        "STRENDS",
        &[ValueType::String, ValueType::String],
        ValueType::Boolean,
        &Kernel::Two(|rows, a, b| rows.text_test(a, b, |text, end| text.ends_with(end))),
    ),
    Function::new(
        "REGEX",
        &[ValueType::String, ValueType::String],
        ValueType::Boolean,
        &Kernel::Many(|rows, arguments| match arguments {
            [text, pattern] => rows.regex(text, pattern, None),
            [text, pattern, flags] => rows.regex(text, pattern, Some(flags)),
            _ => Ok(Column::ERROR),
        }),
    )
    .optional(&[ValueType::String])
    .meaning(Meaning::Matches),
];

/// Bytes of texts that are matched between two looks at the cancel token.
const BYTES_UNCHECKED: usize = 1 << 20;

/// Patterns that are made into expressions between two looks.
const PATTERNS_UNCHECKED: usize = 32;

/// A string with or without a language, wherever it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringRef<'a> {
    text: &'a str,
    language: Option<(&'a str, Option<BaseDirection>)>,
}

impl<'a> StringRef<'a> {
    /// `None` for values that are no strings.
    pub fn of_value(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self { text, language: None }),
            Value::LangString(string) => {
                Some(Self { text: &string.text, language: Some((&string.language, string.direction)) })
            }
            _ => None,
        }
    }

    /// `None` for terms that are no strings.
    pub fn of_term(term: TermRef<'a>) -> Option<Self> {
        let TermRef::Literal(literal) = term else { return None };
        let language = literal.language().map(|language| (language, literal.direction()));
        (language.is_some() || lode_rdf::is_string(literal)).then(|| Self { text: literal.value(), language })
    }

    /// Its text.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// Its language tag, if it has one.
    pub fn language(self) -> Option<&'a str> {
        self.language.map(|(tag, _)| tag)
    }

    /// The texts of two compatible arguments (17.4.3.1.2): the second without language, or both with the same.
    pub fn compatible(self, other: Self) -> Option<(&'a str, &'a str)> {
        let same = match (self.language, other.language) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some((a, direction_a)), Some((b, direction_b))) => {
                a.eq_ignore_ascii_case(b) && direction_a == direction_b
            }
        };
        same.then_some((self.text, other.text))
    }
}

impl Evaluator<'_> {
    /// A test of two compatible strings.
    fn text_test<'e>(
        &self,
        a: &'e Expr,
        b: &'e Expr,
        test: fn(&str, &str) -> bool,
    ) -> Result<Column<'e>, ExecError> {
        let (a, b) = (self.eval(a)?, self.eval(b)?);
        if let (Column::Ids(ids), Column::Constant(_)) = (&a, &b)
            && let Operand::One(value) = decode::operand(self.cx, &b)?
        {
            let other = value.as_ref().and_then(StringRef::of_value);
            return self.test_of_strings(ids, |string| {
                string.compatible(other?).map(|(text, other)| test(text, other))
            });
        }
        self.predicate_columns(&a, &b, |a, b| {
            let (text, other) = StringRef::of_value(a)?.compatible(StringRef::of_value(b)?)?;
            Some(test(text, other))
        })
    }

    /// `REGEX`.
    fn regex<'e>(
        &self,
        text: &'e Expr,
        pattern: &'e Expr,
        flags: Option<&'e Expr>,
    ) -> Result<Column<'e>, ExecError> {
        let matching = MatchLimit::new(self.cx);
        let columns =
            (self.eval(text)?, self.eval(pattern)?, flags.map(|flags| self.eval(flags)).transpose()?);
        let pattern = decode::operand(self.cx, &columns.1)?;
        let flags = columns.2.as_ref().map(|flags| decode::operand(self.cx, flags)).transpose()?;
        if let (Column::Ids(ids), Operand::One(one), None | Some(Operand::One(_))) =
            (&columns.0, &pattern, &flags)
        {
            let flags = flags.as_ref().map(|flags| flags.get(0));
            let compiled = one.as_ref().and_then(|one| regex::of_values(one, flags, &matching));
            let truths =
                self.test_of_strings(ids, |string| compiled.as_ref()?.is_match(string.text, &matching));
            matching.check()?;
            return truths;
        }
        let text = decode::operand(self.cx, &columns.0)?;
        let matches = |row| {
            let flags = flags.as_ref().map(|flags| flags.get(row));
            let compiled = regex::of_values(pattern.get(row)?, flags, &matching)?;
            compiled.is_match(text.get(row)?.text()?, &matching)
        };
        let mut truths = Vec::with_capacity(self.rows());
        let mut bytes = 0;
        for row in 0..self.rows() {
            bytes += text.get(row).and_then(Value::text).map_or(0, |text| text.len());
            // To make an expression of a pattern takes much longer than to look at a text.
            if bytes > BYTES_UNCHECKED || (row % PATTERNS_UNCHECKED == 0 && !pattern.is_constant()) {
                self.cx.cancel.check()?;
                bytes = 0;
            }
            truths.push(Tri::from_option(matches(row)));
        }
        matching.check()?;
        Ok(Column::Bools(truths))
    }

    fn test_of_strings<'e>(
        &self,
        ids: &[ValueId],
        test: impl Fn(StringRef<'_>) -> Option<bool>,
    ) -> Result<Column<'e>, ExecError> {
        let (mut bytes, mut cancelled) = (0, Ok(()));
        let (truths, _) = decode::map_terms(self.cx, ids, |term| {
            let string = StringRef::of_term(term)?;
            bytes += string.text.len();
            if bytes > BYTES_UNCHECKED && cancelled.is_ok() {
                cancelled = self.cx.cancel.check();
                bytes = 0;
            }
            if cancelled.is_ok() { test(string) } else { None }
        })?;
        cancelled?;
        Ok(Column::Bools(truths.into_iter().map(Tri::from_option).collect()))
    }
}
