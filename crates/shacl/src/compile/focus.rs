//! Patterns for focus nodes and their values, with the variables that they bind.

/// A pattern for focus nodes.
#[derive(Debug, Clone)]
pub struct Focus {
    /// What a group begins with.
    pub pattern: String,
    /// The variables on the way to the focus node, which is the last: a node that is reached in two ways is reported twice. The pattern has each
    /// row once.
    pub chain: Vec<String>,
}

impl Focus {
    /// The variable of the focus node.
    pub fn variable(&self) -> &str {
        self.chain.last().map_or("?this", String::as_str)
    }
}

/// A pattern for focus nodes and their values, each once.
#[derive(Debug)]
pub struct Values {
    pub pattern: String,
    pub chain: Vec<String>,
    /// The variable of the value.
    pub value: String,
}

impl Values {
    /// The values as focus nodes.
    pub fn into_focus(mut self) -> Focus {
        self.chain.push(self.value);
        Focus { pattern: self.pattern, chain: self.chain }
    }
}
