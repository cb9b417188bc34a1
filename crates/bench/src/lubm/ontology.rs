//! What the univ-bench ontology says of the classes and properties that are generated.

pub(super) const NAMESPACE: &str = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#";

/// The classes right above a class. Those that are defined by a property (who takes a course is a student, who works for an organisation
/// an employee) stand here for all their members, as each has such a property.
fn parents(class: &str) -> &'static [&'static str] {
    match class {
        "FullProfessor" | "AssociateProfessor" | "AssistantProfessor" | "Chair" => &["Professor"],
        "Professor" | "Lecturer" => &["Faculty"],
        "Faculty" | "ResearchAssistant" => &["Employee"],
        "UndergraduateStudent" | "GraduateStudent" => &["Student"],
        "Employee" | "Student" | "TeachingAssistant" => &["Person"],
        "University" | "Department" | "ResearchGroup" => &["Organization"],
        "GraduateCourse" => &["Course"],
        "Course" => &["Work"],
        _ => &[],
    }
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
    match property {
        "headOf" => Some("worksFor"),
        "worksFor" => Some("memberOf"),
        "undergraduateDegreeFrom" | "mastersDegreeFrom" | "doctoralDegreeFrom" => Some("degreeFrom"),
        _ => None,
    }
}

/// The property that holds the other way round.
pub(super) fn inverse(property: &str) -> Option<&'static str> {
    match property {
        "memberOf" => Some("member"),
        "degreeFrom" => Some("hasAlumnus"),
        _ => None,
    }
}
