//! Full-text search: whether a text has the words of a query, how well it matches, and the part of it that shows why.
//!
//! The query is in the language of [`lode_text`]. One that is wrong is an error of the expression here; where it is a constant, parsing has refused it already.

use super::regex::{MatchLimit, regex_parts};
use super::string_predicates::StringRef;
use crate::error::ExecError;
use crate::expr::call::Kernel;
use crate::expr::column::{Column, Operand, Tri};
use crate::expr::decode;
use crate::expr::eval::Evaluator;
use crate::expr::texts::{TextLimit, Texts};
use crate::text_bytes::TextBytes;
use crate::values::compare::to_f64;
use crate::values::value::Value;
use lode_sparql::Expr;
use lode_sparql::Function;
use lode_sparql::TextTest;
use lode_sparql::function::ValueType;
use lode_sparql::text_search;
use lode_text::analysis::Language;
use lode_text::{Dialect, Marks, Matcher, Part, Parts, Prepared};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The entries.
pub(super) static FUNCTIONS: [Function; 3] = [
    Function::new(
        text_search::MATCHES,
        &[ValueType::String, ValueType::String],
        ValueType::Boolean,
        &Kernel::Two(|rows, text, query| {
            let (found, _) = rows.search(text, query, |matcher, text, language, limit| {
                matcher.is_match(text, language, |bytes| limit.spend(bytes))
            })?;
            Ok(Column::Bools(found.into_iter().map(Tri::from_option).collect()))
        }),
    ),
    Function::new(
        text_search::SCORE,
        &[ValueType::String, ValueType::String],
        ValueType::Floating,
        &Kernel::Two(|rows, text, query| {
            let (found, texts) = rows.search(text, query, |matcher, text, language, limit| {
                matcher.score(text, language, |bytes| limit.spend(bytes)).map(Value::Double)
            })?;
            Ok(Column::Values(found, texts))
        }),
    ),
    Function::new(
        text_search::SNIPPET,
        &[ValueType::String, ValueType::String],
        ValueType::String,
        &Kernel::Many(|rows, arguments| rows.limited("text:snippet", |limit| rows.snippet(arguments, limit))),
    )
    .optional(&[ValueType::String, ValueType::String, ValueType::Number]),
];

/// As how many bytes that are looked at one of a query counts, which may have to be read.
const PREPARED_BYTES: usize = 1 << 4;
/// Queries that a thread keeps ready.
const CACHE_ENTRIES: usize = 16;

thread_local! {
    /// The queries that this thread used last, most recent first.
    static CACHE: RefCell<Vec<(Box<str>, Option<Arc<Prepared>>)>> = const { RefCell::new(Vec::new()) };
}

/// A query for words that is ready; `None` where it is none.
pub fn prepared_search(query: &str) -> Option<Arc<Prepared>> {
    CACHE.with_borrow_mut(|cache| {
        match cache.iter().position(|entry| &*entry.0 == query) {
            Some(0) => {}
            Some(at) => cache.swap(0, at),
            None => {
                cache.truncate(CACHE_ENTRIES - 1);
                cache.insert(0, (query.into(), Prepared::parse(query, Dialect::Lucene).ok().map(Arc::new)));
            }
        }
        cache.first().and_then(|entry| entry.1.clone())
    })
}

/// Strings that texts have that pass a test; `None` where nothing is known.
pub fn text_parts(test: &TextTest<'_>) -> Option<Parts> {
    match test {
        TextTest::Has { text, at_start, at_end } => {
            let (text, at_start, at_end) = ((*text).to_owned(), *at_start, *at_end);
            Some(Parts::Part(Part { text, at_start, at_end, any_case: false }))
        }
        TextTest::Matches { pattern, flags } => regex_parts(pattern, flags),
        TextTest::All(tests) => Some(Parts::All(tests.iter().filter_map(text_parts).collect())),
        TextTest::Any(tests) => tests.iter().map(text_parts).collect::<Option<Vec<Parts>>>().map(Parts::Any),
    }
}

/// What matching may cost: after the first refusal nothing more.
struct Spending {
    limit: MatchLimit,
    is_over: Cell<bool>,
}

impl Spending {
    fn spend(&self, bytes: usize) -> Option<()> {
        let spent = if self.is_over.get() { None } else { self.limit.spend(bytes) };
        self.is_over.set(spent.is_none());
        spent
    }

    fn prepared(&self, query: &Value) -> Option<Arc<Prepared>> {
        let query = query.text()?;
        self.spend(query.len().saturating_mul(PREPARED_BYTES))?;
        prepared_search(query)
    }
}

/// What `f` makes of each text and its query, and the memory of its texts.
type Found<T> = (Vec<Option<T>>, Texts);

impl Evaluator<'_> {
    /// Calls `f` with the query, ready to match, and each text.
    fn search<T: Clone + TextBytes>(
        &self,
        text: &Expr,
        query: &Expr,
        mut f: impl FnMut(&mut Matcher<'_>, &str, Language, &Spending) -> Option<T>,
    ) -> Result<Found<T>, ExecError> {
        let spending = Spending { limit: MatchLimit::new(self.cx), is_over: Cell::new(false) };
        let columns = (self.eval(text)?, self.eval(query)?);
        let query = decode::operand(self.cx, &columns.1)?;
        let mut of_string = |matcher: &mut Matcher<'_>, string: StringRef<'_>| {
            let language = string.language().map_or(Language::NONE, Language::of_tag);
            f(matcher, string.text(), language, &spending)
        };
        let found = if let (Column::Ids(ids), Operand::One(one)) = (&columns.0, &query) {
            match one.as_ref().and_then(|one| spending.prepared(one)) {
                Some(prepared) => {
                    let mut matcher = Matcher::new(&prepared);
                    decode::map_terms(self.cx, ids, |term| {
                        of_string(&mut matcher, StringRef::of_term(term)?)
                    })?
                }
                None => (vec![None; self.rows()], Texts::default()),
            }
        } else {
            let text = decode::operand(self.cx, &columns.0)?;
            let each = |row| {
                let prepared = spending.prepared(query.get(row)?)?;
                of_string(&mut Matcher::new(&prepared), StringRef::of_value(text.get(row)?)?)
            };
            self.each_row(each)?
        };
        spending.limit.check()?;
        Ok(found)
    }

    /// `text:snippet(text, query, start, end, characters)`.
    fn snippet<'e>(&self, arguments: &'e [Expr], limit: &TextLimit) -> Result<Column<'e>, ExecError> {
        let [text, query, rest @ ..] = arguments else { return Ok(Column::ERROR) };
        let mut options = Vec::with_capacity(rest.len());
        for option in rest {
            // Marks are the same for all rows; others are errors.
            match decode::operand(self.cx, &self.eval(option)?)? {
                Operand::One(Some(value)) => options.push(value),
                _ => return Ok(Column::ERROR),
            }
        }
        let Some(marks) = marks(&options) else { return Ok(Column::ERROR) };
        let (found, texts) = self.search(text, query, |matcher, text, language, spending| {
            let spend = |bytes| spending.spend(bytes);
            let made = marks.snippet(matcher.query(), text, language, spend, |bytes| limit.allow(bytes))?;
            Some(Value::string(made))
        })?;
        Ok(Column::Values(found, texts))
    }
}

/// The marks of a snippet by the arguments; `None` where one is of another type.
fn marks(options: &[Value]) -> Option<Marks<'_>> {
    let mut marks = Marks::default();
    if let Some(start) = options.first() {
        (marks.start, marks.end) = (start.text()?, "");
    }
    if let Some(end) = options.get(1) {
        marks.end = end.text()?;
    }
    if let Some(chars) = options.get(2) {
        let chars = to_f64(chars).filter(|chars| (1.0..=1e6).contains(chars))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and a million"
        )]
        let chars = chars as usize;
        marks.chars = chars;
    }
    Some(marks)
}
