//! Room for the states of more groups.

/// Makes room for groups `0..groups`, the new ones with the state `empty`.
pub(super) fn grow<T: Clone>(states: &mut Vec<T>, groups: usize, empty: T) {
    if states.len() < groups {
        states.resize(groups, empty);
    }
}
