//! Texts of scripts in which generated parts are repeated: compiling them ends.

mod generated_parts;

use busyhour_limits::repeated::check_generated;

/// A brief run of what the fuzz target `parts` checks, with a fixed seed.
#[test]
fn generated_parts_are_compiled_or_refused() {
    check_generated(20_030_829, 400, |bytes| generated_parts::check(bytes, 2_000));
}
