//! Summaries of a run and the caveats that go with them.
