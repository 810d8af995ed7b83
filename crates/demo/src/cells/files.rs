//! The names of the files in the directory of an emulator.

/// The log of the server, in the layout of log4j, with the stack traces of failed requests.
pub const SERVER_LOG: &str = "server.log";

/// The log of requests, in the common log format with the duration in microseconds as the last field.
pub const ACCESS_LOG: &str = "access.log";

/// The log of the garbage collector.
pub const GC_LOG: &str = "gc.log";

/// The output of the JVM itself, such as warnings about options.
pub const CONSOLE_LOG: &str = "console.log";

/// The copy of the configurations in use.
pub(super) const CONFIGURATIONS: &str = "cells.toml";

/// The source of the Java program. Stack traces refer to its line numbers.
pub(super) const SOURCE: &str = "Cells.java";

/// The directory of the compiled classes.
pub(super) const CLASSES: &str = "classes";
