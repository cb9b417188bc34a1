//! Chains of what may be put together in any way: joins, UNION, `&&`, `||`, and `/` and `|` of paths.

use spargebra::algebra::GraphPattern;

/// Chains up to this long lean to the left, as the specification has them; longer ones are trees that are as low as can be.
const LEANING_MAX: usize = 64;

/// All of them together; none where there are none.
pub(super) fn together<T>(mut operands: Vec<T>, join: fn(Box<T>, Box<T>) -> T) -> Option<T> {
    let pair = |left, right| join(Box::new(left), Box::new(right));
    if operands.len() <= LEANING_MAX {
        return operands.into_iter().reduce(pair);
    }
    while operands.len() > 1 {
        let mut joined = Vec::with_capacity(operands.len().div_ceil(2));
        let mut all = operands.into_iter();
        while let Some(left) = all.next() {
            joined.push(match all.next() {
                Some(right) => pair(left, right),
                None => left,
            });
        }
        operands = joined;
    }
    operands.pop()
}

/// Patterns that are joined.
#[derive(Default)]
pub(super) struct Joined(Vec<GraphPattern>);

impl Joined {
    /// One more. An empty basic graph pattern changes nothing, and two basic graph patterns are one.
    pub fn push(&mut self, pattern: GraphPattern) {
        let GraphPattern::Bgp { patterns } = pattern else { return self.add(pattern) };
        if patterns.is_empty() {
            return;
        }
        if let [GraphPattern::Bgp { patterns: before }] = &mut self.0[..] {
            return before.extend(patterns);
        }
        self.add(GraphPattern::Bgp { patterns });
    }

    /// Most groups come to one pattern.
    fn add(&mut self, pattern: GraphPattern) {
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.push(pattern);
    }

    /// All of them; an empty basic graph pattern where there are none.
    pub fn take(&mut self) -> GraphPattern {
        let join = |left, right| GraphPattern::Join { left, right };
        together(std::mem::take(&mut self.0), join).unwrap_or_default()
    }

    /// Another pattern in place of all.
    pub fn replace(&mut self, make: impl FnOnce(Box<GraphPattern>) -> GraphPattern) {
        let all = Box::new(self.take());
        self.add(make(all));
    }
}
