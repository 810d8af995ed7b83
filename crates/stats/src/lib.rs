//! Statistics of stamps and counts. Pure functions: no files, no clock, and randomness only as it is handed in.
