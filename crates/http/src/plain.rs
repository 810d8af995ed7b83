//! Plain connections for samplers of other protocols, whose failures have the names of Java's own sockets.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use busyhour_program::clock::Clock;
use tokio::net::TcpStream;

use crate::failure::Failure;

/// Connects like `java.net.Socket`: to the first address of the host, with an optional timeout.
///
/// # Errors
/// If connecting fails: the exception that Java would have thrown.
pub async fn connect_plainly(
    host: &str,
    port: u16,
    timeout: Option<Duration>,
    clock: &Clock,
) -> Result<TcpStream, Failure> {
    let address = resolve_plainly(host, port, clock).await?;
    crate::dial::connect_to(address, timeout).await.map_err(|error| connect_failure(&error))
}

/// Resolves a host to its first address, like `java.net.InetSocketAddress`.
///
/// # Errors
/// If the host cannot be resolved.
pub async fn resolve_plainly(host: &str, port: u16, clock: &Clock) -> Result<SocketAddr, Failure> {
    let unknown = || Failure::new("java.net.UnknownHostException", host);
    // In Java an empty name means this machine.
    let name = if host.is_empty() { "localhost" } else { host };
    crate::allowed_hosts::check(name)?;
    let addresses = crate::dns::resolve(name, port, clock.now()).await.map_err(|_| unknown())?;
    addresses.first().copied().ok_or_else(unknown)
}

fn connect_failure(error: &io::Error) -> Failure {
    const ADDRESS_NOT_AVAILABLE: i32 = 99;
    const NETWORK_UNREACHABLE: i32 = 101;
    const NO_ROUTE: i32 = 113;
    match (error.kind(), error.raw_os_error()) {
        (_, Some(NO_ROUTE)) => Failure::new("java.net.NoRouteToHostException", "No route to host"),
        (_, Some(NETWORK_UNREACHABLE)) => Failure::new("java.net.ConnectException", "Network is unreachable"),
        (_, Some(ADDRESS_NOT_AVAILABLE)) => {
            Failure::new("java.net.NoRouteToHostException", "Cannot assign requested address")
        }
        (io::ErrorKind::TimedOut, None) => {
            Failure::new("java.net.SocketTimeoutException", "Connect timed out")
        }
        (io::ErrorKind::TimedOut, _) => Failure::new("java.net.ConnectException", "Connection timed out"),
        (io::ErrorKind::ConnectionRefused, _) => {
            Failure::new("java.net.ConnectException", "Connection refused")
        }
        _ => Failure::socket(error),
    }
}
