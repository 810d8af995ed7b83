//! The order in which Java's `Hashtable` lists its keys, which is the order of the keys of a JKS store.

/// Java's `String.hashCode`.
fn hash(text: &str) -> usize {
    let hash =
        text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    (hash & 0x7fff_ffff) as usize
}

/// The number of buckets of a new table.
const BUCKETS: usize = 11;

/// Sorts items as in a table into which they were inserted one by one; later items replace those with an equal key.
pub(super) fn order<T>(items: Vec<T>, key: impl Fn(&T) -> &str) -> Vec<T> {
    let mut buckets: Vec<Vec<T>> = (0..BUCKETS).map(|_| Vec::new()).collect();
    let mut count = 0;
    for item in items {
        let at = hash(key(&item));
        let length = buckets.len();
        let known = buckets[at % length].iter_mut().find(|known| key(known) == key(&item));
        if let Some(known) = known {
            *known = item;
            continue;
        }
        // When the table is three quarters full, it grows to twice the number of buckets plus one.
        if count >= length * 3 / 4 {
            buckets = grown(buckets, &key);
        }
        let length = buckets.len();
        // New items are inserted at the start of their bucket.
        buckets[at % length].insert(0, item);
        count += 1;
    }
    buckets.into_iter().rev().flatten().collect()
}

fn grown<T>(old: Vec<Vec<T>>, key: impl Fn(&T) -> &str) -> Vec<Vec<T>> {
    let length = old.len() * 2 + 1;
    let mut buckets: Vec<Vec<T>> = (0..length).map(|_| Vec::new()).collect();
    for item in old.into_iter().rev().flatten() {
        buckets[hash(key(&item)) % length].insert(0, item);
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which Java 17 lists the keys of a `Hashtable` into which `words` were inserted.
    #[test]
    fn the_order_is_that_of_java() {
        let listed = |words: &[&'static str]| order(words.to_vec(), |word| word).join(" ");
        assert_eq!(listed(&["Zed", "anna", "carl", "Bert"]), include_str!("hashtable/four.txt").trim());
        let many: Vec<&'static str> = include_str!("hashtable/words.txt").split_whitespace().collect();
        assert_eq!(listed(&many), include_str!("hashtable/many.txt").trim());
    }

    #[test]
    fn equal_keys_are_replaced() {
        assert_eq!(order(vec![("a", 1), ("a", 2)], |item| item.0), [("a", 2)]);
    }
}
