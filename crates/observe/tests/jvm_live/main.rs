//! Running JVMs: the probe is compared with `jstat` of the same JDK, and commands are sent over the attach protocol.
//!
//! Uses the `java` of the path, or all JDKs of `BUSYHOUR_TEST_JDKS` (homes, separated by colons). Without Java the tests print a note.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod attach;
mod java;
mod probe;
