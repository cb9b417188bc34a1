//! Variables, patterns and graphs.

use super::bytes::{Reader, Writer};
use super::terms::{TermsRead, TermsWritten};
use crate::error::FragmentError;
use crate::limits::COLUMNS_MAX;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_sparql::plan::{NamedGraphs, VisibleGraphs};
use lode_sparql::{GraphScope, ScanPattern, Slot, VarId};
use std::sync::Arc;

/// What is written, and the terms that it refers to.
pub(super) struct Out<'a> {
    pub(super) to: Writer,
    pub(super) terms: TermsWritten<'a>,
}

/// What is read, and the terms that it refers to.
pub(super) struct In<'a> {
    pub(super) from: Reader<'a>,
    pub(super) terms: TermsRead<'a>,
    /// How many variables there are.
    pub(super) vars: u32,
    /// How many inputs there were so far.
    pub(super) inputs: u32,
}

impl Out<'_> {
    pub(super) fn var(&mut self, var: VarId) {
        self.to.number(var.0.into());
    }

    pub(super) fn vars(&mut self, vars: &[VarId]) {
        self.to.count(vars.len());
        vars.iter().for_each(|var| self.var(*var));
    }

    /// Something, if it is there.
    pub(super) fn option<T>(
        &mut self,
        value: Option<T>,
        put: impl FnOnce(&mut Self, T) -> Result<(), FragmentError>,
    ) -> Result<(), FragmentError> {
        self.to.flag(value.is_some());
        value.map_or(Ok(()), |value| put(self, value))
    }

    pub(super) fn slot(&mut self, slot: Slot) -> Result<(), FragmentError> {
        match slot {
            Slot::Any => self.to.byte(0),
            Slot::Var(var) => {
                self.to.byte(1);
                self.var(var);
            }
            Slot::Const(id) => {
                self.to.byte(2);
                let place = self.terms.id(id)?;
                self.to.number(place);
            }
        }
        Ok(())
    }

    /// Graphs by their names: the default graph has none.
    pub(super) fn graphs(&mut self, graphs: &[ValueId]) -> Result<(), FragmentError> {
        self.to.count(graphs.len());
        for graph in graphs {
            let place = if *graph == ValueId::DEFAULT_GRAPH { 0 } else { self.terms.id(*graph)? + 1 };
            self.to.number(place);
        }
        Ok(())
    }

    fn scope(&mut self, scope: &GraphScope) -> Result<(), FragmentError> {
        match scope {
            GraphScope::Default => self.to.byte(0),
            GraphScope::Union => self.to.byte(1),
            GraphScope::Merge(graphs) => {
                self.to.byte(2);
                self.graphs(graphs)?;
            }
            GraphScope::Named { slot, among } => {
                self.to.byte(3);
                self.slot(*slot)?;
                self.option(among.as_ref(), |out, among| out.graphs(among))?;
            }
        }
        Ok(())
    }

    pub(super) fn named_graphs(&mut self, graphs: &NamedGraphs) -> Result<(), FragmentError> {
        self.graphs(&graphs.ids)?;
        self.to.count(graphs.unknown.len());
        for name in graphs.unknown.iter() {
            let place = self.terms.term(name)?;
            self.to.number(place);
        }
        Ok(())
    }

    pub(super) fn visible(&mut self, visible: &VisibleGraphs) -> Result<(), FragmentError> {
        self.to.flag(visible.default);
        self.graphs(&visible.named)
    }

    pub(super) fn pattern(&mut self, pattern: &ScanPattern) -> Result<(), FragmentError> {
        self.to.byte(pattern.order as u8);
        self.slot(pattern.subject)?;
        self.slot(pattern.predicate)?;
        self.slot(pattern.object)?;
        self.scope(&pattern.graph)?;
        self.option(pattern.within.as_ref(), |out, within| {
            out.to.range(within);
            Ok(())
        })
    }
}

impl In<'_> {
    pub(super) fn var(&mut self) -> Result<VarId, FragmentError> {
        let number = self.from.small()?;
        let known = number < self.vars;
        if known {
            Ok(VarId(number))
        } else {
            Err(FragmentError::Damaged("a variable that is not in its table"))
        }
    }

    pub(super) fn vars(&mut self) -> Result<Vec<VarId>, FragmentError> {
        let vars = self.list(Self::var)?;
        // What is checked of them takes as long as the square of their number.
        if vars.len() > COLUMNS_MAX {
            return Err(FragmentError::TooLarge("it has too many columns"));
        }
        Ok(vars)
    }

    pub(super) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, FragmentError>,
    ) -> Result<Vec<T>, FragmentError> {
        let count = self.from.count(1)?;
        // Not with room for all: it may end early.
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(each(self)?);
        }
        Ok(list)
    }

    pub(super) fn option<T>(
        &mut self,
        get: impl FnOnce(&mut Self) -> Result<T, FragmentError>,
    ) -> Result<Option<T>, FragmentError> {
        if self.from.flag()? { get(self).map(Some) } else { Ok(None) }
    }

    pub(super) fn slot(&mut self) -> Result<Slot, FragmentError> {
        match self.from.byte()? {
            0 => Ok(Slot::Any),
            1 => Ok(Slot::Var(self.var()?)),
            2 => {
                let place = self.from.number()?;
                Ok(Slot::Const(self.terms.id(place)?))
            }
            _ => Err(FragmentError::Damaged("a position of a pattern that is none")),
        }
    }

    fn graphs(&mut self) -> Result<Arc<[ValueId]>, FragmentError> {
        let graph = |read: &mut Self| match read.from.number()?.checked_sub(1) {
            None => Ok(ValueId::DEFAULT_GRAPH),
            Some(place) => read.terms.id(place),
        };
        Ok(self.list(graph)?.into())
    }

    /// Names of graphs that are looked for by halving.
    fn sorted_graphs(&mut self) -> Result<Arc<[ValueId]>, FragmentError> {
        let graphs = self.graphs()?;
        let sorted = graphs.windows(2).all(|pair| pair[0] < pair[1]);
        if sorted { Ok(graphs) } else { Err(FragmentError::Damaged("graphs that are not sorted")) }
    }

    fn scope(&mut self) -> Result<GraphScope, FragmentError> {
        match self.from.byte()? {
            0 => Ok(GraphScope::Default),
            1 => Ok(GraphScope::Union),
            2 => Ok(GraphScope::Merge(self.graphs()?)),
            3 => Ok(GraphScope::Named { slot: self.slot()?, among: self.option(Self::sorted_graphs)? }),
            _ => Err(FragmentError::Damaged("graphs that are none")),
        }
    }

    pub(super) fn named_graphs(&mut self) -> Result<NamedGraphs, FragmentError> {
        let ids = self.sorted_graphs()?;
        let unknown = self.list(|read| {
            let place = read.from.number()?;
            read.terms.term(place)
        })?;
        Ok(NamedGraphs { ids, unknown: unknown.into() })
    }

    pub(super) fn visible(&mut self) -> Result<VisibleGraphs, FragmentError> {
        Ok(VisibleGraphs { default: self.from.flag()?, named: self.sorted_graphs()? })
    }

    pub(super) fn pattern(&mut self) -> Result<ScanPattern, FragmentError> {
        Ok(ScanPattern {
            order: self.order()?,
            subject: self.slot()?,
            predicate: self.slot()?,
            object: self.slot()?,
            graph: self.scope()?,
            within: self.option(|read| read.from.range())?,
        })
    }

    fn order(&mut self) -> Result<Order, FragmentError> {
        order(&mut self.from)
    }
}

/// A permutation by its number.
pub(crate) fn order(from: &mut Reader<'_>) -> Result<Order, FragmentError> {
    let number = usize::from(from.byte()?);
    Order::ALL.get(number).copied().ok_or(FragmentError::Damaged("a permutation that is none"))
}
