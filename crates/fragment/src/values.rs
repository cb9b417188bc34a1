//! Values of a column on their way: ids that all processes with the version know, and terms that somebody made, which have none.

use crate::error::FragmentError;
use lode_exec::{Came, EvalContext, ExecError, NewTerm};
use lode_rdf::key::{Encoded, decode, encode};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, Term, ValueId};

/// Behind the tags of sections: an id.
const ID: u8 = 16;

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowValue {
    /// An id of the version, or inline.
    Id(ValueId),
    /// An IRI or a literal.
    Term(Term),
}

impl RowValue {
    /// What to send of an id of a query.
    ///
    /// # Errors
    ///
    /// Where its term cannot be read, or is one that means nothing elsewhere: a blank node of the query, or a triple term.
    pub fn of(id: ValueId, cx: &EvalContext) -> Result<Self, FragmentError> {
        if id.kind() != Some(Kind::Local) {
            return Ok(Self::Id(id));
        }
        match cx.term(id)? {
            term @ (Term::NamedNode(_) | Term::Literal(_)) => Ok(Self::Term(term)),
            _ => Err(FragmentError::Stays("a new term that is no IRI and no literal")),
        }
    }

    /// Its bytes, behind those of `to`.
    pub fn write(&self, to: &mut Vec<u8>) {
        let mut key = Vec::new();
        let id = match self {
            Self::Id(id) => *id,
            Self::Term(term) => match encode(term.as_ref(), &mut key) {
                Encoded::Inline(id) => id,
                Encoded::Key(section) => {
                    to.push(section as u8);
                    to.extend(key);
                    return;
                }
                // There is none among IRIs and literals.
                Encoded::Blank => ValueId::UNDEF,
            },
        };
        to.push(ID);
        to.extend(id.to_bits().to_le_bytes());
    }

    /// The value of bytes that anybody may have sent.
    ///
    /// # Errors
    ///
    /// Where they are of none.
    pub fn read(bytes: &[u8]) -> Result<Self, FragmentError> {
        let damaged = || FragmentError::Damaged("a value that is none");
        let (tag, rest) = bytes.split_first().ok_or_else(damaged)?;
        if *tag == ID {
            let bits: [u8; 8] = rest.try_into().map_err(|_| damaged())?;
            return Ok(Self::Id(ValueId::from_bits(u64::from_le_bytes(bits))));
        }
        let section = Section::ALL.into_iter().find(|section| *section as u8 == *tag).ok_or_else(damaged)?;
        match decode(section, rest).map_err(|_| damaged())? {
            term @ (Term::NamedNode(_) | Term::Literal(_)) => Ok(Self::Term(term)),
            _ => Err(damaged()),
        }
    }

    /// Puts it behind the last value of a column.
    pub fn push(self, column: usize, to: &mut Came) {
        let Some(ids) = to.batch.columns.get_mut(column) else { return };
        let row = ids.len();
        match self {
            Self::Id(id) => ids.push(id),
            Self::Term(term) => {
                ids.push(ValueId::UNDEF);
                to.terms.push(NewTerm { column, row, term });
            }
        }
    }
}

/// Puts a query's new terms in a batch of its rows beside them.
pub(crate) fn set_apart(came: &mut Came, cx: &EvalContext) -> Result<(), ExecError> {
    for (column, ids) in came.batch.columns.iter_mut().enumerate() {
        for (row, id) in ids.iter_mut().enumerate() {
            if let RowValue::Term(term) = RowValue::of(*id, cx).map_err(failed)? {
                *id = ValueId::UNDEF;
                came.terms.push(NewTerm { column, row, term });
            }
        }
    }
    Ok(())
}

fn failed(error: FragmentError) -> ExecError {
    match error {
        FragmentError::Execution(error) => error,
        other => ExecError::Internal(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    //! There and back, and what nobody writes.
    use super::*;
    use lode_rdf::{Literal, NamedNode};

    fn written(value: &RowValue) -> Vec<u8> {
        let mut bytes = vec![7];
        value.write(&mut bytes);
        bytes.split_off(1)
    }

    #[test]
    fn come_back() {
        let integer = NamedNode::new_unchecked("http://www.w3.org/2001/XMLSchema#integer");
        let long = "9".repeat(300);
        let values = [
            RowValue::Id(ValueId::UNDEF),
            RowValue::Id(ValueId::from_bits(1 << 60)),
            RowValue::Term(NamedNode::new_unchecked("http://e/a").into()),
            RowValue::Term(Literal::new_typed_literal(long, integer).into()),
            RowValue::Term(Literal::new_simple_literal("").into()),
            RowValue::Term(Literal::new_language_tagged_literal_unchecked("x\u{0}y", "en").into()),
        ];
        for value in values {
            let bytes = written(&value);
            assert_eq!(RowValue::read(&bytes).unwrap(), value);
        }
    }

    #[test]
    fn nothing_else_is_a_value_and_nothing_crashes() {
        assert!(RowValue::read(&[]).is_err());
        assert!(RowValue::read(&[ID, 1, 2]).is_err());
        assert!(RowValue::read(&[99, 1, 2]).is_err());
        for tag in 0..=255 {
            for rest in [&[][..], &[0], &[255; 9], &[0; 40], b"http://e/a", &[128; 3]] {
                let mut bytes = vec![tag];
                bytes.extend_from_slice(rest);
                let _ = RowValue::read(&bytes);
            }
        }
    }
}
