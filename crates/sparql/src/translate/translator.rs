//! The state of a translation: what names mean, and which variables stand for terms or columns.

use super::names;
use crate::error::PlanError;
use crate::plan::{Dataset, SubPattern, VarId, VarTable};
use crate::statistics::Statistics;
use crate::var_set::VarSet;
use lode_rdf::Term;
use spargebra::algebra::GraphPattern;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What a dependent pattern depends on.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters {
    /// The variables.
    pub vars: VarSet,
    /// How many bindings of them are expected.
    pub rows: f64,
}

/// What names mean in one scope: the whole query, or a sub-query.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub names: HashMap<String, VarId>,
    pub blanks: HashMap<String, VarId>,
}

/// The state of a translation.
pub(crate) struct Translator<'a> {
    pub(super) stats: &'a dyn Statistics,
    pub(super) optimize: bool,
    pub(super) vars: VarTable,
    pub(super) dataset: Arc<Dataset>,
    pub(super) scopes: Vec<Scope>,
    /// Variables that stand for terms: the outer row of an EXISTS.
    pub(super) constants: BTreeMap<VarId, Term>,
    /// Variables that stand for the columns of a domain (see [`super::dependent`]).
    pub(super) params: Parameters,
    /// Why there will be no plan, where that was found out in the midst of a pattern.
    pub(super) refused: Option<PlanError>,
}

impl<'a> Translator<'a> {
    pub fn new(stats: &'a dyn Statistics, optimize: bool, vars: VarTable, dataset: Arc<Dataset>) -> Self {
        let scopes = vec![Scope::default()];
        let (constants, params) = (BTreeMap::new(), Parameters::default());
        let refused = None;
        Self { stats, optimize, vars, dataset, scopes, constants, params, refused }
    }

    /// The variables so far.
    pub fn into_vars(self) -> VarTable {
        self.vars
    }

    /// Gives the names of a pattern their meanings.
    pub(super) fn put_names(&mut self, sub: &SubPattern) {
        for (name, var) in &sub.scope {
            self.scope_mut().names.insert(name.clone(), *var);
        }
        for (name, term) in &sub.constants {
            let var = self.vars.add(name.clone());
            self.scope_mut().names.insert(name.clone(), var);
            self.constants.insert(var, term.clone());
        }
    }

    /// Translates something whose names mean the same as outside only where `outer` has them; all others are its own.
    pub(super) fn isolated<T>(&mut self, outer: &VarSet, translate: impl FnOnce(&mut Self) -> T) -> T {
        let mut scope = self.scope_mut().clone();
        scope.names.retain(|_, v| {
            outer.contains(*v) || self.constants.contains_key(v) || self.params.vars.contains(*v)
        });
        scope.blanks.clear();
        self.scopes.push(scope);
        let result = translate(self);
        self.scopes.pop();
        result
    }

    pub(super) fn scope_mut(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The variable that a name means in the current scope.
    pub(super) fn var(&mut self, name: &str) -> VarId {
        if let Some(var) = self.scope_mut().names.get(name) {
            return *var;
        }
        let var = self.vars.add(name);
        self.scope_mut().names.insert(name.to_owned(), var);
        var
    }

    /// The variable that a name means, if it was met already.
    pub(super) fn known_var(&self, name: &str) -> Option<VarId> {
        self.scopes.last().and_then(|s| s.names.get(name)).copied()
    }

    /// The hidden variable of a blank node.
    pub(super) fn blank(&mut self, label: &str) -> VarId {
        if let Some(var) = self.scope_mut().blanks.get(label) {
            return *var;
        }
        let var = self.vars.add(format!("_:{label}"));
        self.scope_mut().blanks.insert(label.to_owned(), var);
        var
    }

    /// A variable that no name means.
    pub(super) fn fresh(&mut self, hint: &str) -> VarId {
        self.vars.add(format!(".{hint}"))
    }

    /// The in-scope variables of a pattern, without those that stand for terms.
    pub(super) fn visible_vars(&mut self, pattern: &GraphPattern) -> VarSet {
        let names = names::in_scope(pattern);
        let vars: Vec<VarId> = names.iter().map(|n| self.var(n)).collect();
        vars.into_iter().filter(|v| !self.constants.contains_key(v) && !self.is_param(*v)).collect()
    }

    pub(super) fn is_param(&self, var: VarId) -> bool {
        self.params.vars.contains(var)
    }
}
