//! Rules in N3: `{ ?x :parent ?y . ?y :brother ?z } => { ?x :uncle ?z } .`, as others know them
//! (<https://w3c.github.io/N3/spec/>), and the built-ins that SPARQL has a word for.
//!
//! Each rule is written as SPARQL and read as such a rule. What is wrong with the text is found before that, and told with its line and column.

mod body;
mod builtins;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;
mod wrong;

use super::text::{BYTE_ORDER_MARK, RULES_MAX, name_before};
use super::{Rule, RuleError, parse_rules};
use parser::Parser;
use wrong::Wrong;

/// The rules of a text in N3.
///
/// # Errors
/// [`RuleError`] where it is not of that form, with line and column; or a rule says what no rule may, as of [`parse_rules`].
pub fn parse_n3_rules(text: &str) -> Result<Vec<Rule>, RuleError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let told = |Wrong { at, message }: Wrong| {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        RuleError::Text(format!("line {line}, column {column}: {message}"))
    };
    let written = Parser::new(text).and_then(Parser::rules).map_err(told)?;
    if written.len() > RULES_MAX {
        return Err(RuleError::Text(format!(
            "{} rules, of which a text may have {RULES_MAX}",
            written.len()
        )));
    }
    let mut rules = Vec::with_capacity(written.len());
    for (number, one) in written.iter().enumerate() {
        let line = text.get(..one.start).unwrap_or(text).matches('\n').count() + 1;
        let name = name_before(text, one.start).unwrap_or_else(|| (number + 1).to_string());
        let placed = |error: RuleError| match error {
            RuleError::Rule { message, .. } => RuleError::of(&name, line, message),
            // Of what was written for it, whose places say nothing.
            RuleError::Syntax(error) => RuleError::of(&name, line, error.message.clone()),
            RuleError::Text(message) => RuleError::of(&name, line, message),
        };
        for rule in parse_rules(&one.text).map_err(placed)? {
            rules.push(Rule { name: name.clone(), line, ..rule });
        }
    }
    if rules.is_empty() {
        return Err(RuleError::Text("there is no rule: write { ... } => { ... } .".to_owned()));
    }
    Ok(rules)
}
