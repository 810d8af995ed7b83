//! The busyhour command.
fn main() {}
