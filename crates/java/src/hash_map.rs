//! The iteration order of a `HashMap`.

use crate::hash_code;

/// The size of the table of a `HashMap` that was filled entry by entry: the table doubles from 16 when three quarters are used.
#[must_use]
pub const fn table_size_of_insertions(entries: usize) -> usize {
    let mut size = 16;
    while entries * 4 > size * 3 {
        size *= 2;
    }
    size
}

/// The size of the table of a `HashMap` that was created as a copy of a map: the next power of two above entries / 0.75 + 1.
#[must_use]
pub const fn table_size_of_copy(entries: usize) -> usize {
    (entries * 4 / 3 + 1).next_power_of_two()
}

/// The indexes of the keys in the order in which a `HashMap` with a table of `size` (a power of two) iterates over them.
#[must_use]
pub fn hash_map_order<'k>(keys: impl IntoIterator<Item = &'k str>, size: usize) -> Vec<usize> {
    let bucket = |key: &str| {
        let hash = hash_code(key).cast_unsigned();
        (hash ^ (hash >> 16)) as usize & (size - 1)
    };
    let mut order: Vec<(usize, usize)> =
        keys.into_iter().enumerate().map(|(index, key)| (bucket(key), index)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

/// The entries of a `HashMap` in the order of iteration. If several entries have the same key, the value of the last one is
/// used, at the position of the first one.
#[must_use]
pub fn hash_map(entries: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut map: Vec<(String, String)> = Vec::new();
    for (key, value) in entries {
        match map.iter_mut().find(|(known, _)| *known == key) {
            Some((_, before)) => *before = value,
            None => map.push((key, value)),
        }
    }
    let order = hash_map_order(map.iter().map(|(key, _)| &**key), table_size_of_insertions(map.len()));
    order.into_iter().map(|index| std::mem::take(&mut map[index])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_by_their_buckets() {
        let keys = ["banana", "apple", "cherry", "kiwi", "plum", "fig"];
        // `new HashMap()` with these keys, printed by Java 17: [banana, plum, apple, cherry, kiwi, fig]
        assert_eq!(hash_map_order(keys, table_size_of_insertions(6)), [0, 4, 1, 2, 3, 5]);
        assert_eq!((table_size_of_insertions(12), table_size_of_insertions(13)), (16, 32));
        assert_eq!((table_size_of_copy(3), table_size_of_copy(6)), (8, 16));
    }
}
