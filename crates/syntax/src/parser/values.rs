//! VALUES: inline data.

use super::Parser;
use super::triples::Place;
use crate::token::Kind;
use crate::tree::Node;

impl Parser<'_> {
    /// VALUES and what follows it.
    pub(super) fn values(&mut self) {
        let open = self.open();
        self.bump();
        self.columns();
        self.close_node(open, Node::Values);
    }

    fn columns(&mut self) {
        if self.kind() == Kind::Variable {
            self.variable("a variable");
            return self.rows(None);
        }
        let open = self.span();
        if !self.eat_mark("(") {
            return self.unexpected("a variable, or variables in parentheses, of VALUES");
        }
        let mut columns = 0;
        while self.kind() == Kind::Variable {
            self.variable("a variable");
            self.comma("variables of VALUES");
            columns += 1;
        }
        self.close(")", open);
        self.rows(Some(columns));
    }

    fn rows(&mut self, columns: Option<usize>) {
        let open = self.span();
        if self.is_mark("(") {
            return self.stop(
                open,
                "the data of VALUES stand in braces",
                "VALUES ?x { 1 2 3 }, VALUES (?x ?y) { (1 2) (3 4) }",
            );
        }
        if !self.eat_mark("{") {
            return self.unexpected("`{` before the data of VALUES");
        }
        while !self.is_mark("}") && !self.at_end() {
            match columns {
                None if self.is_mark("(") => {
                    return self.stop(
                        self.span(),
                        "a row in parentheses, for a variable without them",
                        "write VALUES (?x) { (1) (2) }, or VALUES ?x { 1 2 }",
                    );
                }
                None => self.cell(),
                Some(columns) => self.row(columns),
            }
            self.comma("data of VALUES");
            self.resume_behind_data();
        }
        self.close("}", open);
    }

    fn row(&mut self, columns: usize) {
        let node = self.open();
        let open = self.span();
        if !self.eat_mark("(") {
            if self.begins_term(0) || self.is_keyword("UNDEF") {
                return self.stop(
                    open,
                    "a row of VALUES stands in parentheses",
                    "VALUES (?x ?y) { (1 2) (3 4) }",
                );
            }
            return self.unexpected("a row of VALUES in parentheses");
        }
        let mut cells = 0;
        while !self.is_mark(")") && !self.at_end() {
            self.cell();
            self.comma("values of a row");
            cells += 1;
        }
        self.close(")", open.clone());
        self.close_node(node, Node::Row);
        if cells != columns {
            self.tell(
                open.start..self.before(),
                format!("a row of {cells} values, for {columns} variables"),
                "each row has a value for each variable, or UNDEF",
            );
        }
    }

    fn cell(&mut self) {
        match self.kind() {
            Kind::Iri | Kind::Name => self.iri("a value"),
            Kind::Word if self.is_keyword("UNDEF") => self.leaf(Node::Undef),
            Kind::Mark if self.is_mark("<<(") => self.triple_term(Place::Data),
            Kind::Variable => self.no_cell(
                "a variable among the data of VALUES",
                "data are IRIs and literals; UNDEF leaves a place open",
            ),
            Kind::Blank => self.no_cell(
                "a blank node among the data of VALUES",
                "data are IRIs and literals; UNDEF leaves a place open",
            ),
            Kind::Word if !self.is_boolean() => {
                let word = self.word();
                let help = format!("text stands in quotes, \"{word}\"; an IRI has a prefix, :{word}");
                self.no_cell(&format!("`{word}` is no value"), &help);
            }
            _ if self.literal() => {}
            _ => self.unexpected("a value, or `}` at the end of VALUES"),
        }
    }

    /// Tells of what is no value, in the place of one.
    fn no_cell(&mut self, message: &str, help: &str) {
        self.tell(self.span(), message, help);
        self.bump();
    }

    /// A comma where spaces are enough.
    pub(super) fn comma(&mut self, between: &str) {
        if self.is_mark(",") {
            self.tell(
                self.span(),
                format!("a comma between {between}"),
                "a space is enough: leave the comma out",
            );
            self.bump();
        }
    }
}
