//! A cache of patterns whose text is computed during the run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::{Pattern, PatternError};

/// Maximum number of patterns in the cache of a thread. JMeter caches 1000 patterns.
const CACHED_PATTERNS_MAX: usize = 1000;

/// A pattern compiled by this thread, or its error.
pub type Cached = Result<Rc<Pattern>, PatternError>;

thread_local! {
    static CACHE: RefCell<HashMap<String, Cached>> = RefCell::default();
}

/// The pattern for a text, from the cache of this thread if possible.
pub fn cached(text: &str) -> Cached {
    CACHE.with_borrow_mut(|cache| {
        if let Some(pattern) = cache.get(text) {
            return pattern.clone();
        }
        if cache.len() >= CACHED_PATTERNS_MAX {
            // Clearing the whole cache limits the cost per sample without recording the order of use.
            cache.clear();
        }
        let pattern = Pattern::compile(text).map(Rc::new);
        cache.insert(text.to_owned(), pattern.clone());
        pattern
    })
}
