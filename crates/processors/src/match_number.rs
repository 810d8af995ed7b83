//! Selects a match by an extractor's match number.

use busyhour_program::user::UserState;
use rand::Rng as _;

/// The index of the match with the given number, counted from 1, if it exists. 0 selects a random match.
pub(crate) fn select(user: &mut UserState, number: usize, count: usize) -> Option<usize> {
    match number {
        _ if count == 0 => None,
        0 => Some(user.random.random_range(0..count)),
        number => (number <= count).then(|| number - 1),
    }
}

/// [`select`] for extractors that select the only match for every number.
pub(crate) fn select_or_single(user: &mut UserState, number: usize, count: usize) -> Option<usize> {
    if count == 1 { Some(0) } else { select(user, number, count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user_with_body;

    #[test]
    fn numbers_count_from_one_and_zero_is_random() {
        let mut user = user_with_body("");
        assert_eq!(select(&mut user, 0, 0), None);
        assert_eq!(select(&mut user, 2, 3), Some(1));
        assert_eq!(select(&mut user, 4, 3), None);
        let drawn: std::collections::BTreeSet<_> = (0..100).map(|_| select(&mut user, 0, 3)).collect();
        assert_eq!(drawn, [Some(0), Some(1), Some(2)].into());
        assert_eq!(select(&mut user, 2, 1), None);
        assert_eq!(select_or_single(&mut user, 2, 1), Some(0));
        assert_eq!(select_or_single(&mut user, 3, 2), None);
    }
}
