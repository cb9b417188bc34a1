//! University data in the shape of the Lehigh University Benchmark: few predicates, deep class structure, many small
//! neighbourhoods. N-Triples.
//!
//! The counts per department are those of the published generator (Guo, Pan, Heflin: "LUBM: A benchmark for OWL
//! knowledge base systems", 2005, appendix); random numbers and the choice of neighbours are our own, so results of
//! queries differ from the original's. No inference is needed: the data are what they are.

use crate::bsbm::Random;
use std::io::{self, Write};

const ONTOLOGY: &str = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// About how many triples a university has.
pub const TRIPLES_PER_UNIVERSITY: u64 = 127_000;

/// Ranks of teachers: class, least and most of them in a department, most publications of one.
const RANKS: [(&str, u64, u64, u64); 4] = [
    ("FullProfessor", 7, 10, 20),
    ("AssociateProfessor", 10, 14, 18),
    ("AssistantProfessor", 8, 11, 10),
    ("Lecturer", 5, 7, 5),
];

/// Writes `universities` universities and returns how many triples they have.
pub fn generate(universities: u64, seed: u64, out: &mut dyn Write) -> io::Result<u64> {
    let mut writer = Writer { out, triples: 0 };
    for university in 0..universities {
        let mut random = Random::new(seed ^ university.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let iri = university_iri(university);
        writer.class(&iri, "University")?;
        writer.text(&iri, "name", &format!("University{university}"))?;
        for department in 0..random.between(15, 25) {
            let mut department = Department::new(university, department, universities, &mut random);
            department.write(&mut writer)?;
        }
    }
    Ok(writer.triples)
}

fn university_iri(number: u64) -> String {
    format!("http://www.University{number}.edu")
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    triples: u64,
}

impl Writer<'_> {
    fn class(&mut self, subject: &str, class: &str) -> io::Result<()> {
        self.triples += 1;
        writeln!(self.out, "<{subject}> <{TYPE}> <{ONTOLOGY}{class}> .")
    }

    fn link(&mut self, subject: &str, property: &str, object: &str) -> io::Result<()> {
        self.triples += 1;
        writeln!(self.out, "<{subject}> <{ONTOLOGY}{property}> <{object}> .")
    }

    fn text(&mut self, subject: &str, property: &str, text: &str) -> io::Result<()> {
        self.triples += 1;
        writeln!(self.out, "<{subject}> <{ONTOLOGY}{property}> \"{text}\" .")
    }
}

struct Department<'r> {
    host: String,
    iri: String,
    university: u64,
    universities: u64,
    random: &'r mut Random,
    teachers: Vec<String>,
    courses: u64,
    graduate_courses: u64,
}

impl<'r> Department<'r> {
    fn new(university: u64, number: u64, universities: u64, random: &'r mut Random) -> Self {
        let host = format!("Department{number}.University{university}.edu");
        let iri = format!("http://www.{host}");
        Self {
            host,
            iri,
            university,
            universities,
            random,
            teachers: Vec::new(),
            courses: 0,
            graduate_courses: 0,
        }
    }

    fn write(&mut self, writer: &mut Writer<'_>) -> io::Result<()> {
        let iri = self.iri.clone();
        writer.class(&iri, "Department")?;
        writer.text(&iri, "name", &self.host)?;
        writer.link(&iri, "subOrganizationOf", &university_iri(self.university))?;
        for (class, least, most, publications) in RANKS {
            for number in 0..self.random.between(least, most) {
                self.teacher(writer, class, number, publications)?;
            }
        }
        if let Some(head) = self.teachers.first() {
            writer.link(head, "headOf", &iri)?;
        }
        self.courses_and_groups(writer)?;
        let teachers = self.teachers.len() as u64;
        for number in 0..teachers * self.random.between(8, 14) {
            self.student(writer, "UndergraduateStudent", number)?;
        }
        for number in 0..teachers * self.random.between(3, 4) {
            self.student(writer, "GraduateStudent", number)?;
        }
        Ok(())
    }

    fn person(&self, writer: &mut Writer<'_>, class: &str, number: u64) -> io::Result<String> {
        let person = format!("{}/{class}{number}", self.iri);
        writer.class(&person, class)?;
        writer.text(&person, "name", &format!("{class}{number}"))?;
        writer.text(&person, "emailAddress", &format!("{class}{number}@{}", self.host))?;
        writer.text(&person, "telephone", "xxx-xxx-xxxx")?;
        Ok(person)
    }

    fn degree(&mut self, writer: &mut Writer<'_>, person: &str, property: &str) -> io::Result<()> {
        let from = university_iri(self.random.below(self.universities));
        writer.link(person, property, &from)
    }

    fn teacher(&mut self, writer: &mut Writer<'_>, class: &str, number: u64, most: u64) -> io::Result<()> {
        let person = self.person(writer, class, number)?;
        writer.link(&person, "worksFor", &self.iri)?;
        for degree in ["undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"] {
            self.degree(writer, &person, degree)?;
        }
        writer.text(&person, "researchInterest", &format!("Research{}", self.random.below(30)))?;
        for _ in 0..self.random.between(1, 2) {
            writer.link(&person, "teacherOf", &format!("{}/Course{}", self.iri, self.courses))?;
            self.courses += 1;
        }
        for _ in 0..self.random.between(1, 2) {
            let course = format!("{}/GraduateCourse{}", self.iri, self.graduate_courses);
            writer.link(&person, "teacherOf", &course)?;
            self.graduate_courses += 1;
        }
        for publication in 0..self.random.between(most / 4, most) {
            let iri = format!("{person}/Publication{publication}");
            writer.class(&iri, "Publication")?;
            writer.text(&iri, "name", &format!("Publication{publication}"))?;
            writer.link(&iri, "publicationAuthor", &person)?;
        }
        self.teachers.push(person);
        Ok(())
    }

    fn courses_and_groups(&mut self, writer: &mut Writer<'_>) -> io::Result<()> {
        for (class, count) in [("Course", self.courses), ("GraduateCourse", self.graduate_courses)] {
            for number in 0..count {
                let course = format!("{}/{class}{number}", self.iri);
                writer.class(&course, class)?;
                writer.text(&course, "name", &format!("{class}{number}"))?;
            }
        }
        for number in 0..self.random.between(10, 20) {
            let group = format!("{}/ResearchGroup{number}", self.iri);
            writer.class(&group, "ResearchGroup")?;
            writer.link(&group, "subOrganizationOf", &self.iri)?;
        }
        Ok(())
    }

    fn student(&mut self, writer: &mut Writer<'_>, class: &str, number: u64) -> io::Result<()> {
        let person = self.person(writer, class, number)?;
        writer.link(&person, "memberOf", &self.iri)?;
        let graduate = class == "GraduateStudent";
        let (kind, of, least, most) = if graduate {
            ("GraduateCourse", self.graduate_courses, 1, 3)
        } else {
            ("Course", self.courses, 2, 4)
        };
        for _ in 0..self.random.between(least, most) {
            let course = format!("{}/{kind}{}", self.iri, self.random.below(of));
            writer.link(&person, "takesCourse", &course)?;
        }
        if graduate {
            self.degree(writer, &person, "undergraduateDegreeFrom")?;
        }
        if graduate || self.random.below(5) == 0 {
            let teacher = self.random.below(self.teachers.len() as u64) as usize;
            if let Some(advisor) = self.teachers.get(teacher) {
                writer.link(&person, "advisor", advisor)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn universities_are_valid_and_of_the_promised_size() {
        let mut text = Vec::new();
        let triples = generate(4, 1, &mut text).unwrap();
        let parsed = oxttl::NTriplesParser::new().for_slice(&text).filter(Result::is_ok).count() as u64;
        assert_eq!(triples, parsed);
        assert!(
            (triples / 4).abs_diff(TRIPLES_PER_UNIVERSITY) < TRIPLES_PER_UNIVERSITY / 5,
            "{}",
            triples / 4
        );
        let mut again = Vec::new();
        generate(4, 1, &mut again).unwrap();
        assert!(text == again);
    }
}
