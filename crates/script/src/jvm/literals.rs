//! Texts that a script writes down: as in Java, equal ones are one object, also those of different scripts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Entries above which those of scripts that are gone are removed.
const CLEAN_UP: usize = 10_000;

static TEXTS: Mutex<Option<HashMap<Box<str>, Weak<str>>>> = Mutex::new(None);

/// The object of that text.
pub(super) fn interned(text: &str) -> Arc<str> {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(known) = texts.get(text).and_then(Weak::upgrade) {
        return known;
    }
    if texts.len() >= CLEAN_UP {
        texts.retain(|_, known| known.strong_count() > 0);
    }
    let made: Arc<str> = text.into();
    texts.insert(text.into(), Arc::downgrade(&made));
    made
}

/// Whether it is the object of a text that a script writes down.
pub(super) fn is_interned(text: &Arc<str>) -> bool {
    let texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = texts.as_ref().and_then(|texts| texts.get(&**text)).and_then(Weak::upgrade);
    known.is_some_and(|known| Arc::ptr_eq(&known, text))
}
