//! What the univ-bench ontology says of the classes and properties that are generated.

use std::io::{self, Write};

pub(super) const NAMESPACE: &str = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#";

/// Classes, each with those right above it. Those that are defined by a property (who takes a course is a student, who works for an
/// organisation an employee) stand here for all their members, as each has such a property.
const SUPER_CLASSES: [(&str, &[&str]); 18] = [
    ("FullProfessor", &["Professor"]),
    ("AssociateProfessor", &["Professor"]),
    ("AssistantProfessor", &["Professor"]),
    ("Chair", &["Professor"]),
    ("Professor", &["Faculty"]),
    ("Lecturer", &["Faculty"]),
    ("Faculty", &["Employee"]),
    ("ResearchAssistant", &["Employee"]),
    ("UndergraduateStudent", &["Student"]),
    ("GraduateStudent", &["Student"]),
    ("Employee", &["Person"]),
    ("Student", &["Person"]),
    ("TeachingAssistant", &["Person"]),
    ("University", &["Organization"]),
    ("Department", &["Organization"]),
    ("ResearchGroup", &["Organization"]),
    ("GraduateCourse", &["Course"]),
    ("Course", &["Work"]),
];

/// Properties, each with the one right above it.
const SUPER_PROPERTIES: [(&str, &str); 5] = [
    ("headOf", "worksFor"),
    ("worksFor", "memberOf"),
    ("undergraduateDegreeFrom", "degreeFrom"),
    ("mastersDegreeFrom", "degreeFrom"),
    ("doctoralDegreeFrom", "degreeFrom"),
];

/// Properties, each with the one that holds the other way round.
const INVERSES: [(&str, &str); 2] = [("memberOf", "member"), ("degreeFrom", "hasAlumnus")];

/// The classes right above a class.
fn parents(class: &str) -> &'static [&'static str] {
    SUPER_CLASSES.iter().find(|(below, _)| *below == class).map_or(&[], |(_, above)| above)
}

/// These classes and all above them, each once.
pub(super) fn with_ancestors<'a>(classes: &[&'a str]) -> Vec<&'a str> {
    let mut all: Vec<&'a str> = classes.to_vec();
    let mut next = 0;
    while let Some(class) = all.get(next).copied() {
        let new = parents(class).iter().filter(|parent| !all.contains(parent));
        all.extend(new.copied().collect::<Vec<_>>());
        next += 1;
    }
    all
}

/// The property right above a property.
pub(super) fn parent_property(property: &str) -> Option<&'static str> {
    SUPER_PROPERTIES.iter().find(|(below, _)| *below == property).map(|(_, above)| *above)
}

/// The property that holds the other way round.
pub(super) fn inverse(property: &str) -> Option<&'static str> {
    INVERSES.iter().find(|(one, _)| *one == property).map(|(_, other)| *other)
}

/// Writes all of it as Turtle. Who heads something is a chair: that is the domain of the property.
///
/// # Errors
///
/// Where `out` fails.
pub fn write_ontology(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "@prefix : <{NAMESPACE}> .")?;
    writeln!(out, "@prefix owl: <http://www.w3.org/2002/07/owl#> .")?;
    writeln!(out, "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n")?;
    for (class, above) in SUPER_CLASSES {
        for above in above {
            writeln!(out, ":{class} rdfs:subClassOf :{above} .")?;
        }
    }
    for (property, above) in SUPER_PROPERTIES {
        writeln!(out, ":{property} rdfs:subPropertyOf :{above} .")?;
    }
    for (property, other) in INVERSES {
        writeln!(out, ":{property} owl:inverseOf :{other} .")?;
    }
    writeln!(out, ":headOf rdfs:domain :Chair .")?;
    writeln!(out, ":subOrganizationOf a owl:TransitiveProperty .")?;
    out.flush()
}
