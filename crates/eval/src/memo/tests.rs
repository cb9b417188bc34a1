//! Memos: what goes in comes out, their size is bounded, and they are given up where they do not help.

use super::pages::Pages;
use super::{Memo, Memos, SHELVES_MAX, SLOTS_MAX, SLOTS_MIN, bytes, page_ids};
use crate::functions::find;
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::{Kind, Literal, ValueId};
use lode_sparql::{Callee, Expr, VarId};

fn id(number: u64) -> ValueId {
    ValueId::new(Kind::Iri, number)
}

fn new_memo(budget: &MemoryBudget) -> Option<Memo> {
    Memo::new(&Pages::new(budget), budget)
}

fn expr(number: u32) -> Expr {
    Expr::Call(Callee::new("STR", find("STR")), vec![Expr::Var(VarId(number))])
}

/// Looks ids up, remembers what is missing (twice the number), and checks all results.
fn use_memo(memo: &mut Memo, numbers: &[u64]) -> usize {
    let ids: Vec<_> = numbers.iter().map(|number| id(*number)).collect();
    let (mut results, missing) = memo.look_up(&ids);
    for row in &missing {
        results[*row as usize] = id(2 * numbers[*row as usize]);
        memo.remember(&[ids[*row as usize]], &[results[*row as usize]]);
    }
    let expected: Vec<_> = numbers.iter().map(|number| id(2 * number)).collect();
    assert_eq!(results, expected);
    missing.len()
}

#[test]
fn results_are_those_of_the_term() {
    let mut memo = new_memo(&MemoryBudget::unlimited()).unwrap();
    let mut random = 1_u64;
    for _ in 0..200 {
        let numbers: Vec<u64> = (0..1000)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % 5000
            })
            .collect();
        use_memo(&mut memo, &numbers);
    }
    assert!(memo.pays());
    assert_eq!(use_memo(&mut memo, &[7]).max(1), 1);
    assert_eq!(use_memo(&mut memo, &[7]), 0);
}

#[test]
fn an_unbound_term_has_a_result_too() {
    let mut memo = new_memo(&MemoryBudget::unlimited()).unwrap();
    assert_eq!(memo.look_up(&[ValueId::UNDEF]).1, [0]);
    memo.remember(&[ValueId::UNDEF], &[id(3)]);
    assert_eq!(memo.look_up(&[ValueId::UNDEF]), (vec![id(3)], vec![]));
}

#[test]
fn memory_is_bounded_and_counted() {
    let budget = MemoryBudget::new(100 << 20);
    let mut memo = new_memo(&budget).unwrap();
    let numbers: Vec<u64> = (0..4 * SLOTS_MAX as u64).collect();
    use_memo(&mut memo, &numbers);
    assert_eq!(budget.used(), bytes(SLOTS_MAX));
    drop(memo);
    assert_eq!(budget.used(), 0);
    // Without memory for a larger table the small one goes on.
    let budget = MemoryBudget::new(bytes(SLOTS_MIN));
    let mut memo = new_memo(&budget).unwrap();
    use_memo(&mut memo, &numbers[..10_000]);
    assert!(new_memo(&budget).is_none());
}

#[test]
fn what_does_not_pay_is_given_up() {
    let (memos, budget) = (Memos::default(), MemoryBudget::unlimited());
    let mut memo = memos.take(&expr(0), VarId(0), &budget).unwrap();
    use_memo(&mut memo, &(0..200_000).collect::<Vec<_>>());
    memos.put(&expr(0), memo);
    assert!(memos.take(&expr(0), VarId(0), &budget).is_none());
    assert!(memos.take(&expr(1), VarId(1), &budget).is_some());
}

#[test]
fn expressions_have_memos_of_their_own() {
    let (memos, budget) = (Memos::default(), MemoryBudget::unlimited());
    let mut memo = memos.take(&expr(0), VarId(0), &budget).unwrap();
    memo.remember(&[id(1)], &[id(10)]);
    memos.put(&expr(0), memo);
    assert_eq!(memos.take(&expr(1), VarId(1), &budget).unwrap().look_up(&[id(1)]).1, [0]);
    assert_eq!(memos.take(&expr(0), VarId(0), &budget).unwrap().look_up(&[id(1)]).0, [id(10)]);
    // As many as there may be, and no more.
    let many: Vec<_> = (0..2 * SHELVES_MAX)
        .map(|n| Expr::Equal(Box::new(expr(0)), Box::new(Expr::Const(Literal::from(n as u64).into()))))
        .collect();
    let taken = many.iter().filter(|expr| memos.take(expr, VarId(0), &budget).is_some()).count();
    assert_eq!(taken, SHELVES_MAX - 2);
}

#[test]
fn crowded_pages_are_filled_once_and_shared() {
    let budget = MemoryBudget::unlimited();
    let pages = Pages::new(&budget);
    let mut first = Memo::new(&pages, &budget).unwrap();
    let mut second = Memo::new(&pages, &budget).unwrap();
    let ids: Vec<_> = (0..1024).map(id).collect();
    let few: Vec<_> = ids.iter().copied().step_by(4).collect();
    assert!(first.crowded(&few).is_empty());
    let crowded = second.crowded(&few);
    let [page] = crowded.as_slice() else { panic!("{crowded:?}") };
    // Somebody is at it already.
    assert!(first.crowded(&few).is_empty());
    let here: Vec<_> = ids.iter().copied().filter(|id| page_ids(*page).contains(id)).collect();
    let results: Vec<_> = here.iter().map(|id| ValueId::from_bits(id.to_bits() + 1)).collect();
    second.fill(*page, &here, &results);
    assert_eq!(second.look_up(&here), (results.clone(), vec![]));
    // The other memo learns of it when it misses next.
    assert_eq!(first.look_up(&here).1.len(), here.len());
    assert!(first.crowded(&here).is_empty());
    assert_eq!(first.look_up(&here), (results, vec![]));
    // Terms of the page that are in no dictionary stay unknown.
    let unknown = page_ids(*page).end;
    assert_eq!(first.look_up(&[unknown]).1, [0]);
}

#[test]
fn pages_give_their_memory_back() {
    let budget = MemoryBudget::unlimited();
    let pages = Pages::new(&budget);
    let mut memo = Memo::new(&pages, &budget).unwrap();
    let before = budget.used();
    let page = super::pages::page_of(id(1));
    memo.fill(page, &[id(1)], &[id(2)]);
    assert_eq!(budget.used() - before, 8 << 10);
    drop((memo, pages));
    assert_eq!(budget.used(), 0);
    // Without memory a page is not kept.
    let budget = MemoryBudget::new(bytes(SLOTS_MIN));
    let mut memo = new_memo(&budget).unwrap();
    memo.fill(page, &[id(1)], &[id(2)]);
    assert_eq!(memo.look_up(&[id(1)]).1, [0]);
}
