//! Converts lists of values by class.

use busyhour_queueing::network::PerClass;

/// Returns one value for all classes if all `classes` have the same value, otherwise one value for each class.
pub(crate) fn per_class<T: Clone + PartialEq>(values: Vec<(String, T)>, classes: usize) -> PerClass<T> {
    match values.first() {
        Some((_, first)) if values.len() == classes && values.iter().all(|(_, value)| value == first) => {
            PerClass::Same(first.clone())
        }
        _ => PerClass::ByClass(values.into_iter().collect()),
    }
}
