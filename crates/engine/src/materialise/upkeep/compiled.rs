//! Rules as a commit needs them: their patterns as numbers, read once for a version of the rules and not again for each commit.
//!
//! What has a form here is matched pattern by pattern in the indexes: of a few changes that costs some microseconds each, where a plan costs as much as a
//! small query. All else (OPTIONAL, aggregates, BIND, filters that look at values) keeps its query.

use super::super::rounds::only_adds;
use crate::EngineError;
use lode_rdf::{NamedNode, Term, Variable};
use lode_sparql::rules::{Atom, EqualityRules, Rule, Stratum, equality, strata};
use lode_sparql::update::TermTemplate;
use spargebra::algebra::{Expression, Function, GraphPattern, PropertyPathExpression as Path};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// How the names of predicates begin that sets of rules have for themselves: their triples are not kept, so nothing can go on from them.
const AUXILIARY: &str = "urn:lodestore:rules:";
/// More variables, patterns or filters have no form.
const PARTS_MAX: usize = 32;

/// A place of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Var(usize),
    /// A place in [`Compiled::constants`].
    Const(usize),
}

/// Subject, predicate, object.
pub(super) type Pattern = [Slot; 3];

/// What a body is made of.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Triple(Pattern),
    /// `from predicate* to`, or `+`.
    Star {
        from: Slot,
        predicate: usize,
        to: Slot,
        at_least_once: bool,
    },
}

/// A filter that needs ids only.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Same(Slot, Slot),
    IsLiteral(Slot),
    IsIri(Slot),
    IsBlank(Slot),
    Not(Box<Test>),
}

/// A body that is matched pattern by pattern.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub variables: usize,
    pub steps: Vec<Step>,
    pub tests: Vec<Test>,
    pub heads: Vec<Pattern>,
}

/// One rule.
#[derive(Debug)]
pub(super) enum Form {
    /// Matched pattern by pattern.
    Body(Body),
    /// By its queries.
    Queries,
    /// Instances of all members of a list are instances of its intersection: in the place of rules that have triples of their own for that.
    Intersections,
    /// Another does its work.
    Nothing,
}

/// A predicate and an object, by their places in [`Compiled::constants`]; none: any.
pub(super) type Place = [Option<usize>; 2];

/// What a rule is about.
#[derive(Debug)]
pub(super) struct About {
    /// What it reads otherwise than by patterns;
    pub whole: Vec<Place>,
    /// what it reads that must be complete before;
    pub below: Vec<Place>,
    /// all that it reads;
    pub reads: Vec<Place>,
    /// and what it adds.
    pub writes: Vec<Place>,
}

/// The rules of a database, ready.
#[derive(Debug)]
pub(super) struct Compiled {
    /// As they are kept.
    pub text: String,
    pub rules: Vec<Rule>,
    pub forms: Vec<Form>,
    pub about: Vec<About>,
    pub strata: Vec<Stratum>,
    pub constants: Vec<Term>,
    /// The rules of equality, where all are there: their bodies are for proofs, and to see whether a triple follows.
    pub equality: Option<EqualityRules>,
    pub all_graphs: bool,
    /// Whether more triples never have fewer consequences.
    pub only_adds: bool,
    /// Why commits cannot go on from what there is, if they cannot.
    pub refused: Option<String>,
}

impl Compiled {
    pub fn of(text: &str, named: Vec<(String, Rule)>, all_graphs: bool) -> Result<Self, EngineError> {
        let (sources, rules): (Vec<String>, Vec<Rule>) = named.into_iter().unzip();
        let strata = strata(&rules).map_err(|error| EngineError::Rules(error.to_string()))?;
        let mut constants = Constants::default();
        let mut forms = Vec::with_capacity(rules.len());
        let mut refused = None;
        for (source, rule) in sources.iter().zip(&rules) {
            let is_own = |atom: &Atom| {
                atom.predicate.as_ref().is_some_and(|name| name.as_str().starts_with(AUXILIARY))
            };
            let has_own = rule.writes().iter().chain(rule.reads()).any(is_own);
            forms.push(match rule.name.as_str() {
                "cls-int1" if has_own && source == "owl2-rl" => Form::Intersections,
                name if has_own && source == "owl2-rl" && name.starts_with("cls-int1-") => Form::Nothing,
                name if has_own => {
                    refused = Some(format!("rule {name} reads or adds triples that are not kept"));
                    Form::Nothing
                }
                _ => body(rule, &mut constants).map_or(Form::Queries, Form::Body),
            });
        }
        let about = rules.iter().map(|rule| {
            let places = |atoms: &[Atom], constants: &mut Constants| {
                atoms.iter().map(|atom| constants.place(atom)).collect()
            };
            About {
                whole: places(rule.reads_whole(), &mut constants),
                below: places(rule.reads_below(), &mut constants),
                reads: rule.reads().map(|atom| constants.place(atom)).collect(),
                writes: places(rule.writes(), &mut constants),
            }
        });
        let mut about: Vec<About> = about.collect();
        for name in [RDF_TYPE, RDF_FIRST, RDF_REST, RDF_NIL, INTERSECTION, SAME_AS] {
            constants.add(NamedNode::new_unchecked(name).into());
        }
        // Lists are walked there, though its patterns do not say so.
        for (form, about) in forms.iter().zip(&mut about) {
            if matches!(form, Form::Intersections) {
                let lists = [INTERSECTION, RDF_FIRST, RDF_REST]
                    .map(|name| constants.add(NamedNode::new_unchecked(name).into()));
                about.whole = lists.map(|place| [Some(place), None]).to_vec();
                let a = constants.add(NamedNode::new_unchecked(RDF_TYPE).into());
                about.reads = [&about.whole[..], &[[Some(a), None]]].concat();
            }
        }
        Ok(Self {
            text: text.to_owned(),
            equality: equality(&rules),
            only_adds: only_adds(&rules),
            rules,
            forms,
            about,
            strata,
            constants: constants.0,
            all_graphs,
            refused,
        })
    }

    /// The place of a constant that is there.
    pub fn constant(&self, name: &str) -> Option<usize> {
        self.constants.iter().position(|term| matches!(term, Term::NamedNode(node) if node.as_str() == name))
    }
}

pub(super) const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
pub(super) const RDF_FIRST: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#first";
pub(super) const RDF_REST: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#rest";
pub(super) const RDF_NIL: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil";
pub(super) const INTERSECTION: &str = "http://www.w3.org/2002/07/owl#intersectionOf";
pub(super) const SAME_AS: &str = "http://www.w3.org/2002/07/owl#sameAs";

#[derive(Default)]
struct Constants(Vec<Term>);

impl Constants {
    fn add(&mut self, term: Term) -> usize {
        self.0.iter().position(|known| *known == term).unwrap_or_else(|| {
            self.0.push(term);
            self.0.len() - 1
        })
    }

    fn place(&mut self, atom: &Atom) -> Place {
        [atom.predicate.clone().map(Term::from), atom.object.clone()].map(|term| Some(self.add(term?)))
    }
}

/// The form of a rule, if it has one.
fn body(rule: &Rule, constants: &mut Constants) -> Option<Body> {
    let mut builder = Builder { constants, variables: Vec::new(), steps: Vec::new(), tests: Vec::new() };
    builder.pattern(rule.body())?;
    let mut heads = Vec::with_capacity(rule.head.len());
    for quad in &rule.head {
        let mut slots = [Slot::Var(0); 3];
        let terms = [&quad.triple.subject, &quad.triple.predicate, &quad.triple.object];
        for (slot, term) in slots.iter_mut().zip(terms) {
            *slot = match term {
                TermTemplate::Column(column) => {
                    let name = rule.variables.get(*column)?;
                    Slot::Var(builder.variables.iter().position(|known| known == name)?)
                }
                TermTemplate::Const(term) => Slot::Const(builder.constants.add(term.clone())),
                TermTemplate::Blank(_) | TermTemplate::Triple(_) => return None,
            };
        }
        heads.push(slots);
    }
    let Builder { variables, steps, tests, .. } = builder;
    if variables.len() > PARTS_MAX || steps.len() > PARTS_MAX || tests.len() > PARTS_MAX {
        return None;
    }
    let is_bound = |slot: &Slot| match slot {
        Slot::Const(_) => true,
        Slot::Var(_) => {
            steps.iter().any(|step| matches!(step, Step::Triple(pattern) if pattern.contains(slot)))
        }
    };
    // What leads nowhere leads from each term to itself: from which is known where one end is.
    let is_reached =
        |step: &Step| !matches!(step, Step::Star { from, to, .. } if !is_bound(from) && !is_bound(to));
    steps.iter().all(is_reached).then_some(Body { variables: variables.len(), steps, tests, heads })
}

struct Builder<'a> {
    constants: &'a mut Constants,
    variables: Vec<Variable>,
    steps: Vec<Step>,
    tests: Vec<Test>,
}

impl Builder<'_> {
    fn pattern(&mut self, pattern: &GraphPattern) -> Option<()> {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().try_for_each(|triple| self.triple(triple)),
            GraphPattern::Join { left, right } => {
                self.pattern(left)?;
                self.pattern(right)
            }
            GraphPattern::Filter { expr, inner } => {
                self.pattern(inner)?;
                let mut seen = Vec::new();
                inner.on_in_scope_variable(|variable| seen.push(variable.clone()));
                self.filter(expr, &seen)
            }
            GraphPattern::Path { subject, path, object } => {
                let (from, to) = (self.term(subject)?, self.term(object)?);
                self.path(from, path, to)
            }
            _ => None,
        }
    }

    fn triple(&mut self, triple: &TriplePattern) -> Option<()> {
        let predicate = match &triple.predicate {
            NamedNodePattern::NamedNode(name) => Slot::Const(self.constants.add(name.clone().into())),
            NamedNodePattern::Variable(name) => self.variable(name),
        };
        let pattern = [self.term(&triple.subject)?, predicate, self.term(&triple.object)?];
        self.steps.push(Step::Triple(pattern));
        Some(())
    }

    fn path(&mut self, from: Slot, path: &Path, to: Slot) -> Option<()> {
        let star = |inner: &Path, at_least_once, constants: &mut Constants| match inner {
            Path::NamedNode(name) => {
                let predicate = constants.add(name.clone().into());
                Some(Step::Star { from, predicate, to, at_least_once })
            }
            _ => None,
        };
        match path {
            Path::NamedNode(name) => {
                let predicate = Slot::Const(self.constants.add(name.clone().into()));
                self.steps.push(Step::Triple([from, predicate, to]));
            }
            Path::Reverse(inner) => self.path(to, inner, from)?,
            Path::Sequence(left, right) => {
                // No text has such a name.
                let middle = Variable::new_unchecked(format!(".{}", self.variables.len()));
                let middle = self.variable(&middle);
                self.path(from, left, middle)?;
                self.path(middle, right, to)?;
            }
            Path::ZeroOrMore(inner) => self.steps.push(star(inner, false, self.constants)?),
            Path::OneOrMore(inner) => self.steps.push(star(inner, true, self.constants)?),
            Path::Alternative(..) | Path::ZeroOrOne(_) | Path::NegatedPropertySet(_) => return None,
        }
        Some(())
    }

    /// `seen`: the variables that the filter can see; others have no value there, whatever they have elsewhere.
    fn filter(&mut self, expr: &Expression, seen: &[Variable]) -> Option<()> {
        if let Expression::And(left, right) = expr {
            self.filter(left, seen)?;
            return self.filter(right, seen);
        }
        let test = self.test(expr, seen)?;
        self.tests.push(test);
        Some(())
    }

    fn test(&mut self, expr: &Expression, seen: &[Variable]) -> Option<Test> {
        match expr {
            Expression::Not(inner) => Some(Test::Not(Box::new(self.test(inner, seen)?))),
            Expression::SameTerm(a, b) => Some(Test::Same(self.operand(a, seen)?, self.operand(b, seen)?)),
            Expression::FunctionCall(function, operands) => {
                let [operand] = operands.as_slice() else { return None };
                let slot = self.operand(operand, seen)?;
                match function {
                    Function::IsLiteral => Some(Test::IsLiteral(slot)),
                    Function::IsIri => Some(Test::IsIri(slot)),
                    Function::IsBlank => Some(Test::IsBlank(slot)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn operand(&mut self, expr: &Expression, seen: &[Variable]) -> Option<Slot> {
        match expr {
            Expression::Variable(name) if seen.contains(name) => Some(self.variable(name)),
            _ => None,
        }
    }

    fn term(&mut self, term: &TermPattern) -> Option<Slot> {
        match term {
            TermPattern::NamedNode(name) => Some(Slot::Const(self.constants.add(name.clone().into()))),
            TermPattern::Literal(literal) => Some(Slot::Const(self.constants.add(literal.clone().into()))),
            TermPattern::Variable(name) => Some(self.variable(name)),
            TermPattern::BlankNode(_) | TermPattern::Triple(_) => None,
        }
    }

    fn variable(&mut self, name: &Variable) -> Slot {
        let known = self.variables.iter().position(|known| known == name);
        Slot::Var(known.unwrap_or_else(|| {
            self.variables.push(name.clone());
            self.variables.len() - 1
        }))
    }
}
