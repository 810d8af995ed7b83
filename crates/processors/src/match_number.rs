//! Selection of a match by an extractor's match number.

use busyhour_program::user::UserState;
use rand::Rng as _;

/// The index of the match with this number, from 1, if there are that many; 0 selects one at random.
pub(crate) fn chosen(user: &mut UserState, number: usize, count: usize) -> Option<usize> {
    match number {
        _ if count == 0 => None,
        0 => Some(user.random.random_range(0..count)),
        number => (number <= count).then(|| number - 1),
    }
}

/// The same for extractors that select a single match for every number.
pub(crate) fn chosen_or_single(user: &mut UserState, number: usize, count: usize) -> Option<usize> {
    if count == 1 { Some(0) } else { chosen(user, number, count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user_with_body;

    #[test]
    fn numbers_count_from_one_and_none_draws() {
        let mut user = user_with_body("");
        assert_eq!(chosen(&mut user, 0, 0), None);
        assert_eq!(chosen(&mut user, 2, 3), Some(1));
        assert_eq!(chosen(&mut user, 4, 3), None);
        let drawn: std::collections::BTreeSet<_> = (0..100).map(|_| chosen(&mut user, 0, 3)).collect();
        assert_eq!(drawn, [Some(0), Some(1), Some(2)].into());
        assert_eq!(chosen(&mut user, 2, 1), None);
        assert_eq!(chosen_or_single(&mut user, 2, 1), Some(0));
        assert_eq!(chosen_or_single(&mut user, 3, 2), None);
    }
}
