//! The inside of braces as SPARQL: triples first, then what is computed of them, then tests.

/// What is computed.
#[derive(Debug, Clone)]
pub(super) struct Computed {
    /// The expression,
    pub expression: String,
    /// the variables in it,
    pub of: Vec<String>,
    /// and what it must be: a variable is bound to it where nothing else binds that.
    pub result: String,
}

/// The inside of braces.
#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    /// As they stand.
    pub triples: String,
    /// The variables of these.
    pub bound: Vec<String>,
    pub computed: Vec<Computed>,
    pub tests: Vec<String>,
}

impl Body {
    /// The text in SPARQL.
    pub fn text(&self) -> String {
        let (mut text, mut bound, mut left) =
            (self.triples.clone(), self.bound.clone(), self.computed.clone());
        let mut tests = self.tests.clone();
        // What is computed of what was computed comes after it; what depends on nothing known comes last, and says so by itself.
        while !left.is_empty() {
            let ready = left.iter().position(|one| one.of.iter().all(|name| bound.contains(name)));
            let Computed { expression, result, .. } = left.remove(ready.unwrap_or(0));
            if result.starts_with('?') && !bound.contains(&result) {
                text += &format!("BIND(({expression}) AS {result}) ");
                bound.push(result);
            } else {
                tests.push(format!("FILTER(({expression}) = {result})"));
            }
        }
        text + &tests.join(" ")
    }

    pub fn bind(&mut self, variable: &str) {
        if !self.bound.iter().any(|known| known == variable) {
            self.bound.push(variable.to_owned());
        }
    }
}
