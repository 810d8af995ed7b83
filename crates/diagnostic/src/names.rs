//! Finds the known name that is most similar to an unknown one, for hints.

/// Maximum length, in characters, of a name for which similar names are searched.
const LETTERS_MAX: usize = 200;

/// The known name that is most similar to `name`, if at most a third of its letters differ. `None` if `name` has more than 200
/// letters.
pub fn nearest_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    if length > LETTERS_MAX {
        return None;
    }
    known
        .filter(|candidate| {
            let other = candidate.chars().count();
            length.abs_diff(other) <= (other / 3).max(1)
        })
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .map(|(_, candidate)| candidate)
}

/// The number of letters to insert, remove, replace or exchange with their neighbour in order to turn one name into the other
/// (optimal string alignment). Upper and lower case are considered equal.
#[must_use]
pub fn edit_distance(one: &str, other: &str) -> usize {
    let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let (one, other) = (letters(one), letters(other));
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for at in 1..=one.len() {
        let mut next = Vec::with_capacity(row.len());
        next.push(at);
        for column in 1..=other.len() {
            let replaced = row[column - 1] + usize::from(one[at - 1] != other[column - 1]);
            let mut least = replaced.min(row[column] + 1).min(next[column - 1] + 1);
            let is_exchanged =
                at > 1 && column > 1 && one[at - 1] == other[column - 2] && one[at - 2] == other[column - 1];
            if is_exchanged {
                least = least.min(before[column - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_name_is_suggested() {
        for (one, other, distance) in [
            ("", "abc", 3),
            ("itmId", "itemId", 1),
            ("__Radnom", "__Random", 1),
            ("host", "HOST", 0),
            ("ab", "xy", 2),
        ] {
            assert_eq!(edit_distance(one, other), distance, "{one} {other}");
            assert_eq!(edit_distance(other, one), distance, "{other} {one}");
        }
        let known = ["__Random", "__RandomString", "__P"];
        let nearest = |name| nearest_name(name, known.into_iter());
        assert_eq!(nearest("__Radnom"), Some("__Random"));
        assert_eq!(nearest("__RandomStrin"), Some("__RandomString"));
        assert_eq!(nearest("__nothing"), None);
        assert_eq!(nearest(&"_".repeat(1_000_000)), None);
    }
}
