//! Helpers for starting programs.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use anyhow::Result;

/// The last lines of a log file.
#[must_use]
pub fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// A port of the loopback interface that is currently free.
///
/// # Errors
/// No port is free.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
