//! A department with all its people, courses, groups and publications. Ranges are those of the published profile.

use super::university::{DEGREE_UNIVERSITIES, university_iri};
use super::writer::Writer;
use crate::bsbm::Random;
use std::collections::BTreeMap;
use std::io;

/// A rank of teachers.
struct Rank {
    class: &'static str,
    /// Least and most of them in a department.
    count: (u64, u64),
    /// Least and most publications of one.
    publications: (u64, u64),
    is_professor: bool,
}

const RANKS: [Rank; 4] = [
    Rank { class: "FullProfessor", count: (7, 10), publications: (15, 20), is_professor: true },
    Rank { class: "AssociateProfessor", count: (10, 14), publications: (10, 18), is_professor: true },
    Rank { class: "AssistantProfessor", count: (8, 11), publications: (5, 10), is_professor: true },
    Rank { class: "Lecturer", count: (5, 7), publications: (0, 5), is_professor: false },
];

/// Courses, and graduate courses, that a teacher gives.
const COURSES_OF_TEACHER: (u64, u64) = (1, 2);
const COURSES_OF_UNDERGRADUATE: (u64, u64) = (2, 4);
const COURSES_OF_GRADUATE: (u64, u64) = (1, 3);
/// Students for each teacher.
const UNDERGRADUATES: (u64, u64) = (8, 14);
const GRADUATES: (u64, u64) = (3, 4);
/// Graduate students for each teaching assistant, and for each research assistant, most first.
const GRADUATES_OF_TEACHING: (u64, u64) = (5, 4);
const GRADUATES_OF_RESEARCH: (u64, u64) = (4, 3);
/// Publications that a graduate student is an author of.
const PUBLICATIONS_OF_GRADUATE: (u64, u64) = (0, 5);
/// One in so many undergraduates has an advisor; graduate students all have one.
const UNDERGRADUATES_OF_ADVISED: u64 = 5;
const GROUPS: (u64, u64) = (10, 20);
const RESEARCH_INTERESTS: u64 = 30;

/// What a graduate student does for money.
#[derive(Clone, Copy)]
enum Assistance {
    None,
    /// Of this course.
    Teaching(u64),
    Research,
}

/// A department while it is written.
pub(super) struct Department<'r> {
    iri: String,
    host: String,
    university: String,
    random: &'r mut Random,
    teachers: u64,
    professors: Vec<String>,
    courses: u64,
    graduate_courses: u64,
    /// With their authors.
    publications: Vec<(String, Vec<String>)>,
}

impl<'r> Department<'r> {
    pub(super) fn new(university: u64, number: u64, random: &'r mut Random) -> Self {
        let host = format!("Department{number}.University{university}.edu");
        Self {
            iri: format!("http://www.{host}"),
            host,
            university: university_iri(university),
            random,
            teachers: 0,
            professors: Vec::new(),
            courses: 0,
            graduate_courses: 0,
            publications: Vec::new(),
        }
    }

    pub(super) fn write(mut self, w: &mut Writer<'_>) -> io::Result<()> {
        w.classes(&self.iri, &["Department"])?;
        w.text(&self.iri, "name", &self.host)?;
        w.part(&self.iri, &[&self.university])?;
        self.faculty(w)?;
        self.courses_and_groups(w)?;
        self.students(w)?;
        for (publication, authors) in &self.publications {
            w.classes(publication, &["Publication"])?;
            let name = publication.rsplit('/').next().unwrap_or_default();
            w.text(publication, "name", name)?;
            authors.iter().try_for_each(|author| w.link(publication, "publicationAuthor", author))?;
        }
        Ok(())
    }

    fn between(&mut self, (low, high): (u64, u64)) -> u64 {
        self.random.between(low, high)
    }

    fn faculty(&mut self, w: &mut Writer<'_>) -> io::Result<()> {
        for rank in &RANKS {
            let count = self.between(rank.count);
            // One of the full professors is the chair.
            let chair = (rank.class == "FullProfessor").then(|| self.random.below(count));
            for number in 0..count {
                self.teacher(w, rank, number, chair == Some(number))?;
            }
        }
        Ok(())
    }

    fn teacher(&mut self, w: &mut Writer<'_>, rank: &Rank, number: u64, is_chair: bool) -> io::Result<()> {
        let classes: &[&str] = if is_chair { &[rank.class, "Chair"] } else { &[rank.class] };
        // Whether somebody is a chair follows from what they are the head of.
        let classes = if w.tells_inferred() { classes } else { &classes[..1] };
        let person = self.person(w, rank.class, number, classes)?;
        let posts: &[&str] = if is_chair { &["worksFor", "headOf"] } else { &["worksFor"] };
        w.links(&person, posts, &self.iri)?;
        let mut degrees: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for degree in ["undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"] {
            degrees.entry(self.random.below(DEGREE_UNIVERSITIES)).or_default().push(degree);
        }
        for (university, degrees) in degrees {
            w.links(&person, &degrees, &university_iri(university))?;
        }
        for _ in 0..self.between(COURSES_OF_TEACHER) {
            w.link(&person, "teacherOf", &self.course("Course", self.courses))?;
            self.courses += 1;
        }
        for _ in 0..self.between(COURSES_OF_TEACHER) {
            w.link(&person, "teacherOf", &self.course("GraduateCourse", self.graduate_courses))?;
            self.graduate_courses += 1;
        }
        for publication in 0..self.between(rank.publications) {
            self.publications.push((format!("{person}/Publication{publication}"), vec![person.clone()]));
        }
        self.teachers += 1;
        if rank.is_professor {
            let interest = self.random.below(RESEARCH_INTERESTS);
            w.text(&person, "researchInterest", &format!("Research{interest}"))?;
            self.professors.push(person);
        }
        Ok(())
    }

    fn person(&self, w: &mut Writer<'_>, name: &str, number: u64, classes: &[&str]) -> io::Result<String> {
        let person = format!("{}/{name}{number}", self.iri);
        w.classes(&person, classes)?;
        w.text(&person, "name", &format!("{name}{number}"))?;
        w.text(&person, "emailAddress", &format!("{name}{number}@{}", self.host))?;
        w.text(&person, "telephone", "xxx-xxx-xxxx")?;
        Ok(person)
    }

    fn course(&self, class: &str, number: u64) -> String {
        format!("{}/{class}{number}", self.iri)
    }

    fn courses_and_groups(&mut self, w: &mut Writer<'_>) -> io::Result<()> {
        for (class, count) in [("Course", self.courses), ("GraduateCourse", self.graduate_courses)] {
            for number in 0..count {
                let course = self.course(class, number);
                w.classes(&course, &[class])?;
                w.text(&course, "name", &format!("{class}{number}"))?;
            }
        }
        for number in 0..self.between(GROUPS) {
            let group = format!("{}/ResearchGroup{number}", self.iri);
            w.classes(&group, &["ResearchGroup"])?;
            w.part(&group, &[&self.iri, &self.university])?;
        }
        Ok(())
    }

    fn students(&mut self, w: &mut Writer<'_>) -> io::Result<()> {
        for number in
            0..self.random.between(UNDERGRADUATES.0 * self.teachers, UNDERGRADUATES.1 * self.teachers)
        {
            let person = self.person(w, "UndergraduateStudent", number, &["UndergraduateStudent"])?;
            w.link(&person, "memberOf", &self.iri)?;
            self.takes_courses(w, &person, "Course", self.courses, COURSES_OF_UNDERGRADUATE)?;
            if self.random.below(UNDERGRADUATES_OF_ADVISED) == 0 {
                self.advisor(w, &person)?;
            }
        }
        let graduates = self.random.between(GRADUATES.0 * self.teachers, GRADUATES.1 * self.teachers);
        for (number, assistance) in (0..).zip(self.assistances(graduates)) {
            self.graduate(w, number, assistance)?;
        }
        Ok(())
    }

    /// What each graduate student does: some teach, each another course, others help with research.
    fn assistances(&mut self, graduates: u64) -> Vec<Assistance> {
        let mut all = vec![Assistance::None; graduates as usize];
        let each = |(most, least): (u64, u64)| (graduates / most, graduates / least);
        let teaching = self.between(each(GRADUATES_OF_TEACHING)).min(self.courses);
        let research = self.between(each(GRADUATES_OF_RESEARCH));
        let assistants = self.distinct(teaching + research, graduates);
        let courses = self.distinct(teaching, self.courses);
        let teaching = courses.into_iter().map(Assistance::Teaching);
        for (assistant, what) in
            assistants.into_iter().zip(teaching.chain(std::iter::repeat(Assistance::Research)))
        {
            all[assistant as usize] = what;
        }
        all
    }

    fn graduate(&mut self, w: &mut Writer<'_>, number: u64, assistance: Assistance) -> io::Result<()> {
        let mut classes = vec!["GraduateStudent"];
        match assistance {
            Assistance::None => {}
            Assistance::Teaching(_) => classes.push("TeachingAssistant"),
            Assistance::Research => classes.push("ResearchAssistant"),
        }
        let person = self.person(w, "GraduateStudent", number, &classes)?;
        w.link(&person, "memberOf", &self.iri)?;
        self.takes_courses(w, &person, "GraduateCourse", self.graduate_courses, COURSES_OF_GRADUATE)?;
        let university = university_iri(self.random.below(DEGREE_UNIVERSITIES));
        w.link(&person, "undergraduateDegreeFrom", &university)?;
        self.advisor(w, &person)?;
        if let Assistance::Teaching(course) = assistance {
            w.link(&person, "teachingAssistantOf", &self.course("Course", course))?;
        }
        let count = self.between(PUBLICATIONS_OF_GRADUATE);
        for publication in self.distinct(count, self.publications.len() as u64) {
            self.publications[publication as usize].1.push(person.clone());
        }
        Ok(())
    }

    fn takes_courses(
        &mut self,
        w: &mut Writer<'_>,
        person: &str,
        class: &str,
        of: u64,
        count: (u64, u64),
    ) -> io::Result<()> {
        let count = self.between(count);
        for course in self.distinct(count, of) {
            w.link(person, "takesCourse", &self.course(class, course))?;
        }
        Ok(())
    }

    fn advisor(&mut self, w: &mut Writer<'_>, person: &str) -> io::Result<()> {
        let professor = self.random.below(self.professors.len() as u64) as usize;
        w.link(person, "advisor", &self.professors[professor])
    }

    /// So many different numbers below a bound, which is not less.
    fn distinct(&mut self, count: u64, below: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        while (numbers.len() as u64) < count.min(below) {
            let number = self.random.below(below);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }
}
