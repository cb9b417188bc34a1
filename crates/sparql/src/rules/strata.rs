//! Strata: which rules are applied together until nothing is new, and in which sequence.

use super::{Rule, RuleError};

/// Rules that depend on each other, or one that depends on none of those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stratum {
    /// Their places in the list.
    pub rules: Vec<usize>,
    /// Whether one of them can give another, or itself, something new to read.
    pub is_recursive: bool,
}

/// The strata of rules, each after those on which it depends.
///
/// # Errors
/// [`RuleError::Rule`] where a rule reads in a way that must see all there is (NOT EXISTS, MINUS, OPTIONAL, aggregates) what depends on the rule itself.
pub fn strata(rules: &[Rule]) -> Result<Vec<Stratum>, RuleError> {
    let feeds =
        |from: &Rule, to: &Rule| to.reads().any(|read| from.writes.iter().any(|write| write.meets(read)));
    let next: Vec<Vec<usize>> =
        rules.iter().map(|from| (0..rules.len()).filter(|to| feeds(from, &rules[*to])).collect()).collect();
    let mut strata = Vec::new();
    for component in components(&next) {
        let is_recursive = component.len() > 1 || next[component[0]].contains(&component[0]);
        if is_recursive {
            check(rules, &component)?;
        }
        strata.push(Stratum { rules: component, is_recursive });
    }
    Ok(strata)
}

/// Fails where a rule of those that depend on each other must see all that they will add.
fn check(rules: &[Rule], component: &[usize]) -> Result<(), RuleError> {
    for reader in component.iter().map(|at| &rules[*at]) {
        for writer in component.iter().map(|at| &rules[*at]) {
            let meets = |read: &super::Atom| writer.writes.iter().any(|write| write.meets(read));
            if reader.reads.below.iter().any(meets) {
                let message = match std::ptr::eq(reader, writer) {
                    true => {
                        "it asks by NOT EXISTS, MINUS, OPTIONAL or an aggregate for what it adds itself: \
                             there is no sequence in which that has one meaning"
                            .to_owned()
                    }
                    false => format!(
                        "it asks by NOT EXISTS, MINUS, OPTIONAL or an aggregate for what rule {} (line {}) adds, and that \
                         depends on what this rule adds: there is no sequence in which that has one meaning. Write one of \
                         them so that it does not depend on the other",
                        writer.name, writer.line
                    ),
                };
                return Err(RuleError::of(&reader.name, reader.line, message));
            }
        }
    }
    Ok(())
}

/// The strongly connected components of a graph, each after those from which an edge leads to it; within one the nodes ascend.
fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
    for (from, tos) in next.iter().enumerate() {
        tos.iter().for_each(|to| before[*to].push(from));
    }
    // Whoever is left last is before all that it leads to (Kosaraju).
    let (mut left, mut seen) = (Vec::new(), vec![false; next.len()]);
    for start in 0..next.len() {
        let mut open = vec![(start, 0)];
        while let Some((node, at)) = open.pop() {
            if at == 0 && std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match next[node].get(at) {
                Some(to) => {
                    open.push((node, at + 1));
                    if !seen[*to] {
                        open.push((*to, 0));
                    }
                }
                None => left.push(node),
            }
        }
    }
    let (mut found, mut taken) = (Vec::new(), vec![false; next.len()]);
    for start in left.into_iter().rev() {
        let (mut component, mut open) = (Vec::new(), vec![start]);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut taken[node], true) {
                component.push(node);
                open.extend(&before[node]);
            }
        }
        component.sort_unstable();
        if !component.is_empty() {
            found.push(component);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_come_after_what_leads_to_them() {
        let found = components(&[vec![1], vec![2], vec![1, 3], vec![], vec![0, 4]]);
        assert_eq!(found, [vec![4], vec![0], vec![1, 2], vec![3]]);
        assert_eq!(components(&[vec![], vec![0]]), [vec![1], vec![0]]);
        assert!(components(&[]).is_empty());
    }

    #[test]
    fn components_of_long_chains_need_no_recursion() {
        let nodes = 50_000;
        let next: Vec<Vec<usize>> = (0..nodes).map(|node| vec![(node + 1) % nodes]).collect();
        assert_eq!(components(&next).len(), 1);
    }
}
