//! A request to stop the experiment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop the experiment, shared with the thread that handles signals.
#[derive(Debug, Clone, Default)]
pub struct StopRequest(Arc<AtomicBool>);

impl StopRequest {
    /// Requests the stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
