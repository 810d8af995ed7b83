//! Arrival processes: from a line of text to intended start times, and shares of them.
