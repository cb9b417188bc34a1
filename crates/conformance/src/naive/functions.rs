//! Built-in functions on terms, numbers, dates and hashes (SPARQL 1.1 section 17.4, SPARQL 1.2); strings are in `strings`.

use super::arithmetic::{number, to_double};
use super::calendar;
use super::cast::cast;
use super::datatypes::{Value, boolean, double, simple, term_value, text, typed};
use super::evaluator::Evaluator;
use super::numbers;
use super::scope::{At, Evaluated, Problem};
use super::search;
use super::solution::identity_variable;
use super::strings;
use bigdecimal::RoundingMode;
use oxiri::{Iri, IriRef};
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode, Term, Triple};
use sha1::Digest;
use spargebra::algebra::{Expression, Function};

/// The namespace of XPath's functions of doubles.
const MATH: &str = "http://www.w3.org/2005/xpath-functions/math#";
/// That of full-text search.
const TEXT: &str = "urn:lodestore:text:";

impl Evaluator<'_> {
    pub(super) fn call(&self, function: &Function, arguments: &[Expression], at: &At<'_>) -> Evaluated {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.expression(argument, at)?);
        }
        self.apply(function, &values, at).ok_or(Problem::Type)
    }

    fn apply(&self, function: &Function, args: &[Term], at: &At<'_>) -> Option<Term> {
        match function {
            Function::BNode => self.blank_node(args, at),
            Function::Iri => self.iri(args.first()?),
            Function::Rand => {
                let bits = mix(self.number());
                Some(typed(
                    oxsdatatypes::Double::from((bits >> 11) as f64 / (1_u64 << 53) as f64),
                    xsd::DOUBLE,
                ))
            }
            Function::Now => Some(typed(self.now, xsd::DATE_TIME)),
            Function::Uuid => Some(NamedNode::new_unchecked(format!("urn:uuid:{}", self.uuid())).into()),
            Function::StrUuid => Some(text(self.uuid())),
            Function::Custom(name) if name.as_str().starts_with(TEXT) => {
                search::apply(&name.as_str()[TEXT.len()..], args)
            }
            Function::Custom(name) => match (name.as_str().strip_prefix(MATH), args) {
                (Some(name), _) => math(name, args),
                (None, [value]) => cast(name.as_ref(), value),
                _ => None,
            },
            _ => about_terms(function, args)
                .or_else(|| about_numbers(function, args))
                .or_else(|| calendar::part(function, args))
                .or_else(|| hashes(function, args))
                .or_else(|| strings::apply(function, args)),
        }
    }

    fn iri(&self, term: &Term) -> Option<Term> {
        match term {
            Term::NamedNode(_) => Some(term.clone()),
            _ => {
                let given = simple(term)?;
                let iri = match &self.base {
                    Some(base) => base.resolve(&IriRef::parse(given).ok()?).ok()?,
                    None => Iri::parse(given.to_owned()).ok()?,
                };
                Some(NamedNode::new_unchecked(iri.into_inner()).into())
            }
        }
    }

    /// The same text gives the same node within a solution, another one for every other solution.
    fn blank_node(&self, args: &[Term], at: &At<'_>) -> Option<Term> {
        let Some(label) = args.first() else { return Some(self.fresh_blank_node().into()) };
        let label = simple(label)?;
        let hex: String = label.bytes().map(|b| format!("{b:02x}")).collect();
        let number = match at.solution.get(&identity_variable()) {
            Some(Term::Literal(identity)) => identity.value().to_owned(),
            _ => self.number().to_string(),
        };
        Some(BlankNode::new_unchecked(format!("naive{number}x{hex}")).into())
    }

    fn uuid(&self) -> String {
        let (a, b) = (mix(self.number()), mix(self.number()));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            (b >> 48) & 0x3fff | 0x8000,
            b & 0xffff_ffff_ffff
        )
    }
}

/// The splitmix64 step: numbers in order become numbers that look random.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn about_terms(function: &Function, args: &[Term]) -> Option<Term> {
    let first = args.first()?;
    match function {
        Function::Str => match first {
            Term::NamedNode(n) => Some(text(n.as_str())),
            Term::Literal(l) => Some(text(l.value())),
            _ => None,
        },
        Function::Lang => literal(first).map(|l| text(l.language().unwrap_or_default())),
        Function::LangDir => literal(first).map(|l| text(direction_name(l.direction()))),
        Function::HasLang => Some(boolean(literal(first).is_some_and(|l| l.language().is_some()))),
        Function::HasLangDir => Some(boolean(literal(first).is_some_and(|l| l.direction().is_some()))),
        Function::Datatype => literal(first).map(|l| l.datatype().into_owned().into()),
        Function::IsIri => Some(boolean(first.is_named_node())),
        Function::IsBlank => Some(boolean(first.is_blank_node())),
        Function::IsLiteral => Some(boolean(first.is_literal())),
        Function::IsTriple => Some(boolean(first.is_triple())),
        Function::IsNumeric => Some(boolean(term_value(first).and_then(number).is_some())),
        Function::StrDt => match args {
            // Strings with a language are made by STRLANG.
            [_, Term::NamedNode(datatype)]
                if [rdf::LANG_STRING, rdf::DIR_LANG_STRING].contains(&datatype.as_ref()) =>
            {
                None
            }
            [lexical, Term::NamedNode(datatype)] => {
                Some(Literal::new_typed_literal(simple(lexical)?, datatype.clone()).into())
            }
            _ => None,
        },
        Function::StrLang => match args {
            [lexical, language] => {
                Literal::new_language_tagged_literal(simple(lexical)?, simple(language)?).ok().map(Term::from)
            }
            _ => None,
        },
        Function::StrLangDir => match args {
            [lexical, language, direction] => {
                let direction = match simple(direction)? {
                    "ltr" => BaseDirection::Ltr,
                    "rtl" => BaseDirection::Rtl,
                    _ => return None,
                };
                Literal::new_directional_language_tagged_literal(
                    simple(lexical)?,
                    simple(language)?,
                    direction,
                )
                .ok()
                .map(Term::from)
            }
            _ => None,
        },
        Function::Triple => match args {
            [s, p, o] => Triple::from_terms(s.clone(), p.clone(), o.clone()).ok().map(Term::from),
            _ => None,
        },
        Function::Subject => triple(first).map(|t| t.subject.clone().into()),
        Function::Predicate => triple(first).map(|t| t.predicate.clone().into()),
        Function::Object => triple(first).map(|t| t.object.clone()),
        _ => None,
    }
}

fn literal(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(l) => Some(l),
        _ => None,
    }
}

fn triple(term: &Term) -> Option<&Triple> {
    match term {
        Term::Triple(t) => Some(t),
        _ => None,
    }
}

fn direction_name(direction: Option<BaseDirection>) -> &'static str {
    match direction {
        Some(BaseDirection::Ltr) => "ltr",
        Some(BaseDirection::Rtl) => "rtl",
        None => "",
    }
}

fn about_numbers(function: &Function, args: &[Term]) -> Option<Term> {
    if !matches!(function, Function::Abs | Function::Ceil | Function::Floor | Function::Round) {
        return None;
    }
    number(match (function, term_value(args.first()?)?) {
        (Function::Abs, Value::Integer(v)) => Value::Integer(if v < 0.into() { -v } else { v }),
        (Function::Abs, Value::Decimal(v)) => Value::Decimal(v.abs()),
        (Function::Abs, Value::Float(v)) => Value::Float(v.abs()),
        (Function::Abs, Value::Double(v)) => Value::Double(v.abs()),
        (_, Value::Integer(v)) => Value::Integer(v),
        (Function::Ceil, Value::Decimal(v)) => Value::Decimal(v.with_scale_round(0, RoundingMode::Ceiling)),
        (Function::Ceil, Value::Float(v)) => Value::Float(v.ceil()),
        (Function::Ceil, Value::Double(v)) => Value::Double(v.ceil()),
        (Function::Floor, Value::Decimal(v)) => Value::Decimal(v.with_scale_round(0, RoundingMode::Floor)),
        (Function::Floor, Value::Float(v)) => Value::Float(v.floor()),
        (Function::Floor, Value::Double(v)) => Value::Double(v.floor()),
        (_, Value::Decimal(v)) => Value::Decimal(numbers::rounded(&v)),
        (_, Value::Float(v)) => Value::Float(v.round()),
        (_, Value::Double(v)) => Value::Double(v.round()),
        _ => return None,
    })
}

fn hashes(function: &Function, args: &[Term]) -> Option<Term> {
    let input = simple(args.first()?)?.as_bytes();
    match function {
        Function::Md5 => Some(hex(&md5::Md5::digest(input))),
        Function::Sha1 => Some(hex(&sha1::Sha1::digest(input))),
        Function::Sha256 => Some(hex(&sha2::Sha256::digest(input))),
        Function::Sha384 => Some(hex(&sha2::Sha384::digest(input))),
        Function::Sha512 => Some(hex(&sha2::Sha512::digest(input))),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> Term {
    text(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())
}

/// Functions of doubles (XPath and XQuery Functions and Operators 3.1, section 4.8).
fn math(name: &str, args: &[Term]) -> Option<Term> {
    let number = |term: &Term| to_double(term_value(term)?).map(f64::from);
    let numbers: Vec<f64> = args.iter().map(number).collect::<Option<_>>()?;
    let value = match (name, numbers.as_slice()) {
        ("pi", []) => std::f64::consts::PI,
        ("exp", [a]) => a.exp(),
        ("exp10", [a]) => 10_f64.powf(*a),
        ("log", [a]) => a.ln(),
        ("log10", [a]) => a.log10(),
        ("pow", [a, b]) => a.powf(*b),
        ("sqrt", [a]) => a.sqrt(),
        ("sin", [a]) => a.sin(),
        ("cos", [a]) => a.cos(),
        ("tan", [a]) => a.tan(),
        ("asin", [a]) => a.asin(),
        ("acos", [a]) => a.acos(),
        ("atan", [a]) => a.atan(),
        ("atan2", [a, b]) => a.atan2(*b),
        _ => return None,
    };
    Some(double(value.into()))
}
