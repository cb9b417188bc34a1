//! Random expressions.

use super::ast::Expr;
use super::queries::Generator;
use crate::naive::known::CASTS;

/// Functions of one term of any kind, or of one string, number, date.
const UNARY: &[&str] = &[
    "STR",
    "STR",
    "LANG",
    "DATATYPE",
    "isIRI",
    "isBLANK",
    "isLITERAL",
    "isNUMERIC",
    "isTRIPLE",
    "LANGDIR",
    "hasLANG",
    "hasLANGDIR",
    "IRI",
    CAST,
    CAST,
    CAST,
    CAST,
    CAST,
    CAST,
    CAST,
    CAST,
    "ABS",
    "CEIL",
    "FLOOR",
    "ROUND",
    "STRLEN",
    "UCASE",
    "LCASE",
    "ENCODE_FOR_URI",
    "YEAR",
    "MONTH",
    "DAY",
    "HOURS",
    "MINUTES",
    "SECONDS",
    "TIMEZONE",
    "TZ",
    "MD5",
    "SHA1",
    "SHA256",
    "SHA384",
    "SHA512",
    "SUBJECT",
    "PREDICATE",
    "OBJECT",
];

/// One of the casts.
const CAST: &str = "xsd:";

/// Functions of two strings.
const BINARY: &[&str] = &["CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "CONCAT", "REGEX"];

impl Generator<'_> {
    /// Something to filter by.
    pub(super) fn condition(&mut self, depth: usize) -> Expr {
        match self.random.weighted(&[40, 12, 12, 8, 6, 8, 6, 8]) {
            0 => {
                let operator = self.random.word(&["=", "!=", "<", "<=", ">", ">="]);
                Expr::Infix(operator, Box::new(self.value(1)), Box::new(self.value(0)))
            }
            1 if depth > 0 => {
                let operator = self.random.word(&["&&", "||"]);
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                Expr::Infix(operator, Box::new(a), Box::new(b))
            }
            2 if depth > 0 && self.depth > 0 => self.exists(),
            3 => Expr::Call("BOUND".into(), vec![Expr::Atom(self.variable())]),
            4 if depth > 0 => Expr::Prefix("!", Box::new(self.condition(depth - 1))),
            5 => {
                let operator = self.random.word(&["IN", "NOT IN"]);
                let values = (0..self.random.below(3)).map(|_| self.value(0)).collect();
                Expr::In(operator, Box::new(self.value(1)), values)
            }
            6 => self.call("sameTerm", 2),
            _ => self.value(2),
        }
    }

    pub(super) fn exists(&mut self) -> Expr {
        let word = if self.random.chance(50) { "EXISTS" } else { "NOT EXISTS" };
        Expr::Exists(word, self.group(1))
    }

    fn call(&mut self, name: &str, arguments: usize) -> Expr {
        Expr::Call(name.into(), (0..arguments).map(|_| self.value(1)).collect())
    }

    /// A value of any kind.
    pub(super) fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.atom();
        }
        match self.random.weighted(&[40, 20, 14, 8, 4, 4, 10]) {
            0 => self.atom(),
            1 => {
                let name = match self.random.word(UNARY) {
                    CAST => format!("{CAST}{}", self.random.word(CASTS)),
                    name => name.to_owned(),
                };
                Expr::Call(name, vec![self.value(depth - 1)])
            }
            2 => {
                let operator = self.random.word(&["+", "-", "*", "/"]);
                Expr::Infix(operator, Box::new(self.value(depth - 1)), Box::new(self.value(depth - 1)))
            }
            3 => {
                let name = self.random.word(BINARY);
                Expr::Call(name.into(), vec![self.text(depth - 1), self.text(0)])
            }
            4 => Expr::Call("COALESCE".into(), vec![self.value(depth - 1), self.value(depth - 1)]),
            5 => {
                let condition = self.condition(0);
                Expr::Call("IF".into(), vec![condition, self.value(depth - 1), self.value(depth - 1)])
            }
            _ => self.rare(depth),
        }
    }

    /// Functions with arguments of their own.
    fn rare(&mut self, depth: usize) -> Expr {
        let constant = |text: &str| Expr::Atom(text.to_owned());
        match self.random.below(13) {
            0 => Expr::Call("SUBSTR".into(), vec![self.text(0), self.small_number()]),
            1 => Expr::Call("SUBSTR".into(), vec![self.text(0), self.small_number(), self.small_number()]),
            2 => {
                let replacement = self.random.word(&["\"b\"", "\"\"", "\"$0$0\"", "\"\\\\$\""]);
                let pattern =
                    self.random.word(&["\"a\"", "\"[a-c]\"", "\"a*\"", "\"(a|b)\"", "\"(.)\\\\1\""]);
                Expr::Call("REPLACE".into(), vec![self.text(0), constant(pattern), constant(replacement)])
            }
            3 => {
                let flags = self.random.word(&["\"i\"", "\"\"", "\"s\"", "\"q\"", "\"x\""]);
                let pattern = self.random.word(&["\"^a\"", "\"A\"", "\"a.\"", "\"(\"", "\"(.).*\\\\1\""]);
                Expr::Call("REGEX".into(), vec![self.text(0), constant(pattern), constant(flags)])
            }
            4 => {
                let language = self.random.word(&["\"en\"", "\"EN\"", "\"fr-BE\"", "\"\"", "\"no tag\""]);
                Expr::Call("STRLANG".into(), vec![self.text(0), constant(language)])
            }
            5 => {
                let datatype =
                    self.random.word(&["xsd:integer", "xsd:string", ":type", "xsd:date", "rdf:langString"]);
                Expr::Call("STRDT".into(), vec![self.text(0), constant(datatype)])
            }
            6 => {
                let range = self.random.word(&["\"en\"", "\"*\"", "\"EN\"", "\"\""]);
                let tag = Expr::Call("LANG".into(), vec![self.value(0)]);
                Expr::Call("langMatches".into(), vec![tag, constant(range)])
            }
            7 => {
                let predicate = Expr::Atom(self.random.word(&[":p", ":q", "?a", "?c"]).to_owned());
                Expr::Call("TRIPLE".into(), vec![self.value(0), predicate, self.value(0)])
            }
            8 => {
                let direction = self.random.word(&["\"ltr\"", "\"rtl\"", "\"up\""]);
                Expr::Call("STRLANGDIR".into(), vec![self.text(0), constant("\"en\""), constant(direction)])
            }
            9 => Expr::Prefix("-", Box::new(self.value(depth - 1))),
            10 => Expr::Infix("<", Box::new(Expr::Call("RAND".into(), Vec::new())), Box::new(constant("2"))),
            11 => Expr::Call("STRLEN".into(), vec![Expr::Call("STRUUID".into(), Vec::new())]),
            _ => Expr::Call("isBLANK".into(), vec![Expr::Call("BNODE".into(), Vec::new())]),
        }
    }

    fn small_number(&mut self) -> Expr {
        Expr::Atom(self.random.word(&["0", "1", "2", "3", "-1", "1.5"]).to_owned())
    }

    fn text(&mut self, depth: usize) -> Expr {
        match self.random.below(4) {
            0 => Expr::Atom(self.random.word(&["\"a\"", "\"ab\"", "\"b\"@en", "\"\""]).to_owned()),
            1 => self.value(depth),
            _ => Expr::Call("STR".into(), vec![self.value(0)]),
        }
    }

    fn atom(&mut self) -> Expr {
        Expr::Atom(match self.random.weighted(&[65, 27, 8]) {
            0 => self.variable(),
            1 => self.vocabulary.literal(self.random).to_owned(),
            _ => self.vocabulary.node(self.random).to_owned(),
        })
    }
}
