//! From a test plan as written to a program the engine walks: scoping, variables, functions.
