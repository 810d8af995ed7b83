//! Keys by which a source's series are found.

use busyhour_series::{LABEL_BYTES_MAX, LABELS_MAX, Metric, shorten};

/// Writes the key of a metric with labels into `key`, which is cleared. Texts are separated by a byte that UTF-8 never contains in
/// this position, so that different labels have different keys.
pub(crate) fn write_key(key: &mut Vec<u8>, metric: &Metric, labels: &[(&str, &str)]) {
    key.clear();
    key.extend_from_slice(shorten(&metric.name, LABEL_BYTES_MAX).as_bytes());
    for (name, value) in labels.iter().take(LABELS_MAX) {
        for text in [name, value] {
            key.push(0xff);
            key.extend_from_slice(shorten(text, LABEL_BYTES_MAX).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &'static str, labels: &[(&str, &str)]) -> Vec<u8> {
        let mut key = Vec::new();
        write_key(&mut key, &Metric::gauge(name, ""), labels);
        key
    }

    #[test]
    fn different_series_have_different_keys() {
        let keys = [
            key("a", &[]),
            key("ab", &[]),
            key("a", &[("b", "")]),
            key("a", &[("", "b")]),
            key("a", &[("b", "c")]),
            key("a", &[("bc", "")]),
            key("a", &[("b", "c"), ("d", "e")]),
            key("a", &[("b", "c\u{ff}d\u{ff}e")]),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(one), "{at}");
        }
        assert_eq!(key("a", &[("b", "c")]), key("a", &[("b", "c")]));
    }
}
