//! Interned string literals: as in Java, equal literals are the same object, even in different scripts.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

/// Minimum number of entries at which the entries of dropped scripts are removed.
const CLEAN_UP_MIN: usize = 10_000;

static TEXTS: LazyLock<Mutex<Texts>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Texts {
    known: HashMap<Box<str>, Weak<str>>,
    /// Number of entries at which the entries of dropped scripts are removed: twice the number that the last removal left.
    clean_up_at: usize,
}

/// The interned object for this text.
pub(super) fn interned(text: &str) -> Arc<str> {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.known.get(text).and_then(Weak::upgrade) {
        return known;
    }
    if texts.known.len() >= texts.clean_up_at.max(CLEAN_UP_MIN) {
        texts.known.retain(|_, known| known.strong_count() > 0);
        texts.clean_up_at = 2 * texts.known.len();
    }
    let added: Arc<str> = text.into();
    texts.known.insert(text.into(), Arc::downgrade(&added));
    added
}

/// Whether `text` is the object of a string literal.
pub(super) fn is_interned(text: &Arc<str>) -> bool {
    let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = texts.known.get(&**text).and_then(Weak::upgrade);
    known.is_some_and(|known| Arc::ptr_eq(&known, text))
}
