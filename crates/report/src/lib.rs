//! From a run's summary to HTML, JSON and terminal tables.
