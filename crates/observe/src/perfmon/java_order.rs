//! The order in which Java's `HashMap` iterates over texts.
//!
//! JMeter's PerfMon collector stores its metrics in a `HashMap` and writes the rows of each interval in this order.

/// The indices of `keys` in the order in which a `HashMap` iterates over the keys, if they are inserted one after another. The
/// keys must differ. Java converts buckets with many keys to trees; such buckets keep the order of insertion.
pub(super) fn hash_map_order(keys: &[String]) -> Vec<usize> {
    let mut capacity: usize = 16;
    while keys.len() * 4 > capacity * 3 {
        capacity *= 2;
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|at| spread_hash(&keys[*at]) as usize & (capacity - 1));
    order
}

/// `String.hashCode`, spread as `HashMap` does it.
fn spread_hash(text: &str) -> u32 {
    let hash =
        text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_java() {
        // Printed by Java 17 for `new HashMap<>()` with these keys put in this order.
        let keys = ["one", "two", "three", "four", "five", "six", "seven", "Ä", ""].map(String::from);
        let ordered: Vec<&str> = hash_map_order(&keys).into_iter().map(|at| keys[at].as_str()).collect();
        assert_eq!(ordered, JAVA_ORDER);
        assert_eq!(hash_map_order(&[]), [0; 0]);
    }

    const JAVA_ORDER: [&str; 9] = ["", "six", "Ä", "four", "one", "seven", "two", "three", "five"];

    #[test]
    fn maps_that_grew_are_in_the_order_of_java() {
        let keys: Vec<String> = (0..40).map(|core| format!("localhost CPU core={core}")).collect();
        let first = [30, 31, 16, 38, 17, 39, 14, 36, 15, 37, 12, 34, 13, 35, 10, 32, 11, 33, 29, 9];
        let last = [7, 8, 20, 5, 6, 3, 4, 1, 2, 27, 0, 28, 25, 26, 23, 24, 21, 22, 18, 19];
        assert_eq!(hash_map_order(&keys), [first, last].concat());
    }
}
