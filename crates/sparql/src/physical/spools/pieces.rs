//! Parts of a query that it may have several times: what is grouped, made distinct or optional, and patterns that are joined with each other.

use super::matching::{Dropped, Matcher, Renaming};
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op, graph_var, slot_var};
use crate::plan::{GraphScope, Slot, VarId};
use crate::var_set::VarSet;

/// Joins, and other operators, that are compared with each other.
const SITES_MAX: usize = 16;
/// Members of a join that are looked at.
const MEMBERS_MAX: usize = 16;

/// A pattern that others may be the same as.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// All of an operator.
    Whole(Box<Logical>),
    /// Members of a join, with conditions on their variables only.
    Members(Vec<Logical>, Vec<Expr>),
}

impl Piece {
    /// The pattern.
    pub fn pattern(&self) -> Logical {
        match self {
            Self::Whole(logical) => (**logical).clone(),
            Self::Members(members, filters) => Logical::group_of(members.clone(), filters.clone()),
        }
    }

    /// Variables that only one place has.
    fn once(&self) -> VarSet {
        let Self::Members(members, filters) = self else { return VarSet::new() };
        let mut places: Vec<VarId> = filters.iter().flat_map(|f| f.vars().as_slice().to_vec()).collect();
        for member in members {
            match &member.op {
                Op::Scan(pattern) => {
                    let slots = [pattern.subject, pattern.predicate, pattern.object];
                    places.extend(slots.iter().filter_map(slot_var).chain(graph_var(&pattern.graph)));
                }
                _ => places.extend(member.vars.iter()),
            }
        }
        let once = |var: &VarId| places.iter().filter(|v| *v == var).count() == 1;
        places.iter().copied().filter(once).collect()
    }

    /// `root` with a reader of the common sub-plan `number` in each place of the piece, and how many there are.
    pub fn replace(&self, root: Logical, number: u32) -> (Logical, usize) {
        let matcher = Matcher::new();
        let mut replacing = Replacing { piece: self, once: self.once(), matcher, number, count: 0 };
        let replaced = replacing.visit(root, false);
        (replaced, replacing.count)
    }
}

/// Pieces that at least two places may have in common; `fresh` makes variables.
pub(super) fn pieces(roots: &[&Logical], fresh: &dyn Fn() -> VarId) -> Vec<Piece> {
    let (mut joins, mut others) = (Vec::new(), Vec::new());
    roots.iter().for_each(|root| collect(root, &mut joins, &mut others));
    let mut found: Vec<Piece> = Vec::new();
    let mut add = |piece: Piece| {
        if !found.contains(&piece) {
            found.push(piece);
        }
    };
    let matcher = Matcher::new();
    for (number, a) in others.iter().enumerate() {
        let same = |b: &&Logical| matcher.same(a, b, &mut Renaming::default());
        if others.iter().skip(number + 1).any(same) {
            add(Piece::Whole(Box::new((*a).clone())));
        }
    }
    for (number, a) in joins.iter().enumerate() {
        for b in joins.iter().skip(number + 1) {
            if let Some(piece) = common(&matcher, a, b, fresh) {
                add(piece);
            }
        }
    }
    found
}

/// The members and filters of a join.
type Join<'a> = (&'a [Logical], &'a [Expr]);

fn collect<'a>(logical: &'a Logical, joins: &mut Vec<Join<'a>>, others: &mut Vec<&'a Logical>) {
    match &logical.op {
        Op::Join { members, filters } if joins.len() < SITES_MAX && members.len() <= MEMBERS_MAX => {
            joins.push((members, filters));
        }
        op if is_whole(op) && !has_order(logical) && others.len() < SITES_MAX => others.push(logical),
        _ => {}
    }
    logical.inputs().into_iter().for_each(|input| collect(input, joins, others));
}

/// Whether rows come in the order of a sort: then it may be the query's, which readers do not keep.
fn has_order(logical: &Logical) -> bool {
    match &logical.op {
        Op::Sort { .. } => true,
        Op::LeftJoin { left: input, .. }
        | Op::Exists { left: input, .. }
        | Op::Minus { left: input, .. }
        | Op::Filter { input, .. }
        | Op::Extend { input, .. }
        | Op::TripleTerm { input: Some(input), .. }
        | Op::Project { input, .. }
        | Op::Distinct(input)
        | Op::Reduced(input) => has_order(input),
        _ => false,
    }
}

/// What may be worth being made once as a whole.
fn is_whole(op: &Op) -> bool {
    matches!(
        op,
        Op::Group { .. }
            | Op::Distinct(_)
            | Op::LeftJoin { .. }
            | Op::Exists { .. }
            | Op::Minus { .. }
            | Op::Union(_)
            | Op::Path { .. }
    )
}

/// Members of `a` that are connected and that `b` has, too: as many as are found, at least two, or one that is no pattern.
fn common(matcher: &Matcher, a: &Join<'_>, b: &Join<'_>, fresh: &dyn Fn() -> VarId) -> Option<Piece> {
    let mut best: Vec<(usize, usize)> = Vec::new();
    let mut renaming = Renaming::default();
    for i in 0..a.0.len() {
        for j in 0..b.0.len() {
            if best.contains(&(i, j)) {
                continue;
            }
            let (pairs, names) = grown(matcher, a.0, b.0, (i, j));
            if pairs.len() > best.len() {
                (best, renaming) = (pairs, names);
            }
        }
    }
    best.sort_unstable();
    let pair = |(i, j): &(usize, usize)| Some((a.0.get(*i)?, b.0.get(*j)?));
    let members: Vec<Logical> =
        best.iter().filter_map(pair).map(|(a, b)| all_delivered(a, b, fresh)).collect();
    if members.len() < 2 {
        return None;
    }
    let joined = Logical::join(members, Vec::new());
    // What a member may leave unbound, another one outside of the piece may bind.
    let wanted = |filter: &&Expr| {
        let renamed = renaming.expr(filter);
        filter.vars().is_subset(&joined.certain) && renamed.is_some_and(|renamed| b.1.contains(&renamed))
    };
    let filters = a.1.iter().filter(wanted).cloned().collect();
    let Op::Join { members, .. } = joined.op else { return None };
    Some(Piece::Members(members, filters))
}

/// Pairs of members that are the same, from one pair on along shared variables.
fn grown(
    matcher: &Matcher,
    a: &[Logical],
    b: &[Logical],
    seed: (usize, usize),
) -> (Vec<(usize, usize)>, Renaming) {
    let (mut pairs, mut renaming) = (Vec::new(), Renaming::default());
    let mut next = Some(seed);
    let mut vars = VarSet::new();
    while let Some((i, j)) = next.take() {
        let (Some(from), Some(to)) = (a.get(i), b.get(j)) else { break };
        let mut more = renaming.clone();
        if !takes_rows(from) && matcher.same_member(from, to, Dropped::Any, &mut more) {
            renaming = more;
            pairs.push((i, j));
            vars.extend(&from.vars);
        } else if pairs.is_empty() {
            break;
        }
        let open = |(i, j): &(usize, usize)| !pairs.iter().any(|(a, b)| a == i || b == j);
        let fits = |(i, j): &(usize, usize)| {
            let connected = a.get(*i).is_some_and(|m| !m.vars.is_disjoint(&vars) && !takes_rows(m));
            connected && matcher.same_member(&a[*i], &b[*j], Dropped::Any, &mut renaming.clone())
        };
        next = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j))).filter(open).find(fits);
    }
    (pairs, renaming)
}

/// A step that needs the rows of other members.
fn takes_rows(member: &Logical) -> bool {
    matches!(member.op, Op::TripleTerm { input: None, .. } | Op::Service { .. } | Op::ForEachGraph { .. })
}

/// A member that delivers all that some place may want: all terms of a pattern, and what either of two readers does.
fn all_delivered(member: &Logical, other: &Logical, fresh: &dyn Fn() -> VarId) -> Logical {
    if let (Op::Spool { number, columns }, Op::Spool { columns: others, .. }) = (&member.op, &other.op) {
        let known = |there: &VarId| columns.iter().any(|(_, t)| t == there);
        let more = others.iter().filter(|(_, there)| !known(there)).map(|(_, there)| (fresh(), *there));
        let all = columns.iter().copied().chain(more).collect();
        let bound = |of: &Logical, columns: &[(VarId, VarId)]| -> VarSet {
            columns.iter().filter(|(here, _)| of.certain.contains(*here)).map(|(_, there)| *there).collect()
        };
        let certain = bound(member, columns).union(&bound(other, others));
        return Logical::spool(*number, all, &certain);
    }
    let Op::Scan(pattern) = &member.op else { return member.clone() };
    let named = |slot: Slot| if slot == Slot::Any { Slot::Var(fresh()) } else { slot };
    let graph = match &pattern.graph {
        GraphScope::Named { slot, among } => GraphScope::Named { slot: named(*slot), among: among.clone() },
        other => other.clone(),
    };
    Logical::scan(pattern.with_slots(named, graph))
}

struct Replacing<'a> {
    piece: &'a Piece,
    /// Variables that only one place of the piece has: without them the pattern matches as often.
    once: VarSet,
    matcher: Matcher,
    number: u32,
    count: usize,
}

impl Replacing<'_> {
    /// `lazy`: the rows may not all be wanted.
    fn visit(&mut self, logical: Logical, lazy: bool) -> Logical {
        if !lazy && let Some(read) = self.whole(&logical) {
            self.count += 1;
            return read;
        }
        let logical = if lazy { logical } else { self.in_join(logical) };
        let lazy = match &logical.op {
            Op::Slice { length: Some(_), .. } => true,
            Op::Sort { .. } | Op::Group { .. } => false,
            _ => lazy,
        };
        logical.map_inputs(&mut |input| self.visit(input, lazy))
    }

    fn whole(&self, logical: &Logical) -> Option<Logical> {
        let Piece::Whole(pattern) = self.piece else { return None };
        let mut names = Renaming::default();
        if !is_whole(&logical.op) || !self.matcher.same(pattern, logical, &mut names) {
            return None;
        }
        Some(self.read(&names, &pattern.certain, &logical.vars))
    }

    /// A reader of the columns that a place has.
    fn read(&self, names: &Renaming, certain: &VarSet, vars: &VarSet) -> Logical {
        let columns = names.pairs().iter().filter(|(_, here)| vars.contains(*here));
        let columns = columns.map(|(there, here)| (*here, *there)).collect();
        Logical::spool(self.number, columns, certain)
    }

    /// A join with readers for the members that are those of the piece.
    fn in_join(&mut self, logical: Logical) -> Logical {
        let Piece::Members(wanted, conditions) = self.piece else { return logical };
        let Op::Join { mut members, mut filters } = logical.op else { return logical };
        while members.len() <= MEMBERS_MAX {
            let Some((used, names)) = self.embedded(wanted, &members, &mut Vec::new(), &Renaming::default())
            else {
                break;
            };
            let mut kept = filters.clone();
            let mut drop = |condition: &Expr| {
                let renamed = names.expr(condition)?;
                let at = kept.iter().position(|filter| *filter == renamed)?;
                Some(kept.remove(at))
            };
            if !conditions.iter().all(|condition| drop(condition).is_some()) {
                break;
            }
            filters = kept;
            let own = used.iter().filter_map(|i| members.get(*i));
            let (mut vars, pattern) = (VarSet::new(), Logical::join(wanted.clone(), Vec::new()));
            own.for_each(|member| vars.extend(&member.vars));
            let rest = members.into_iter().enumerate().filter(|(i, _)| !used.contains(i));
            members = rest.map(|(_, member)| member).collect();
            members.push(self.read(&names, &pattern.certain, &vars));
            self.count += 1;
        }
        Logical::group_of(members, filters)
    }

    /// Which of `members` are those of the piece, one for each in their sequence, and their names.
    fn embedded(
        &self,
        wanted: &[Logical],
        members: &[Logical],
        used: &mut Vec<usize>,
        names: &Renaming,
    ) -> Option<(Vec<usize>, Renaming)> {
        let Some((first, rest)) = wanted.split_first() else { return Some((used.clone(), names.clone())) };
        for (i, member) in members.iter().enumerate() {
            let mut more = names.clone();
            let dropped = Dropped::Of(&self.once);
            if used.contains(&i) || !self.matcher.same_member(first, member, dropped, &mut more) {
                continue;
            }
            used.push(i);
            let found = self.embedded(rest, members, used, &more);
            used.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
