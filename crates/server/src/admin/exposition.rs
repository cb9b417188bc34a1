//! Texts of metrics, put together: what has one name stands in one place, as OpenMetrics asks, and what is of a database has its name as a label.

use std::fmt::Write as _;

/// The metrics of one name.
struct Family<'a> {
    name: &'a str,
    head: Vec<&'a str>,
    samples: String,
}

/// All parts as one text, each with the name of its database, if it is of one: a name has nothing that a label would have to escape.
pub(super) fn merged(parts: &[(Option<String>, String)]) -> String {
    let mut families: Vec<Family<'_>> = Vec::new();
    for (database, text) in parts {
        let mut current = None;
        for line in text.lines().filter(|line| *line != "# EOF") {
            let Some(comment) = line.strip_prefix("# ") else {
                if let Some(family) = current.and_then(|at: usize| families.get_mut(at)) {
                    sample(line, database.as_deref(), &mut family.samples);
                }
                continue;
            };
            let name = comment.split(' ').nth(1).unwrap_or_default();
            let known = families.iter().position(|family| family.name == name);
            let at = known.unwrap_or_else(|| {
                families.push(Family { name, head: Vec::new(), samples: String::new() });
                families.len() - 1
            });
            current = Some(at);
            if let Some(family) = families.get_mut(at).filter(|family| !family.head.contains(&line)) {
                family.head.push(line);
            }
        }
    }
    let mut text = String::new();
    for Family { head, samples, .. } in families {
        head.iter().for_each(|line| text.extend([line, "\n"]));
        text.push_str(&samples);
    }
    text.push_str("# EOF\n");
    text
}

/// A value, with the label before those that it has.
fn sample(line: &str, database: Option<&str>, out: &mut String) {
    let end = line.find(['{', ' ']).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let _ = match (database, rest.strip_prefix('{')) {
        (None, _) => writeln!(out, "{line}"),
        (Some(database), Some(rest)) => writeln!(out, "{name}{{database=\"{database}\",{rest}"),
        (Some(database), None) => writeln!(out, "{name}{{database=\"{database}\"}}{rest}"),
    };
}

#[cfg(test)]
mod tests {
    //! Texts that become one.
    use super::merged;

    #[test]
    fn one_name_stands_in_one_place() {
        let part = |a: u32| {
            format!(
                "# HELP a Some.\n# TYPE a counter\na_total {a}\n# HELP b More.\n# TYPE b gauge\nb{{of=\"x y\"}} 1.5\n"
            )
        };
        let parts = [(None, part(1)), (Some("d".to_owned()), part(2)), (Some("e".to_owned()), part(3))];
        assert_eq!(
            merged(&parts),
            "# HELP a Some.\n# TYPE a counter\na_total 1\na_total{database=\"d\"} 2\na_total{database=\"e\"} 3\n# HELP b More.\n# TYPE b gauge\n\
             b{of=\"x y\"} 1.5\nb{database=\"d\",of=\"x y\"} 1.5\nb{database=\"e\",of=\"x y\"} 1.5\n# EOF\n"
        );
    }
}
