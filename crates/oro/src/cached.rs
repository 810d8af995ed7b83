//! A cache of patterns that are computed during the run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::{Pattern, PatternError};

/// Patterns kept per thread; JMeter keeps 1000.
const KEPT_MAX: usize = 1000;

/// A pattern compiled by this thread, or why not.
pub type Cached = Result<Rc<Pattern>, PatternError>;

thread_local! {
    static KEPT: RefCell<HashMap<String, Cached>> = RefCell::default();
}

/// The pattern of a text, from what this thread compiled before if it can be.
pub fn cached(text: &str) -> Cached {
    KEPT.with_borrow_mut(|kept| {
        if let Some(pattern) = kept.get(text) {
            return pattern.clone();
        }
        if kept.len() >= KEPT_MAX {
            // Forgetting all at once keeps the cost per sample bounded without an order of use.
            kept.clear();
        }
        let pattern = Pattern::compile(text).map(Rc::new);
        kept.insert(text.to_owned(), pattern.clone());
        pattern
    })
}
