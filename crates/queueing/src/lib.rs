//! Queueing models. Pure functions: no files, no clock, and randomness only as it is handed in.
