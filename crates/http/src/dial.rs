//! Connects to the addresses of a name in turn. If the local ports are exhausted, other local addresses are tried.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream};

use busyhour_program::clock::Clock;

use crate::failure::Failure;
use crate::settings::SharedHttp;

/// The data needed to connect.
pub(crate) struct ConnectOptions<'a> {
    /// Settings of the run.
    pub(crate) shared: &'a SharedHttp,
    /// The clock.
    pub(crate) clock: &'a Clock,
    /// Connect timeout.
    pub(crate) timeout: Option<Duration>,
    /// Local address.
    pub(crate) source: Option<IpAddr>,
    /// The alias of the user's key, if a variable specifies it.
    pub(crate) key_alias: Option<&'a str>,
}

/// Error of `connect` when the local ports for an address are exhausted.
const ADDRESS_NOT_AVAILABLE: i32 = 99;

/// Error of `bind` when the local ports of an address are exhausted.
const ADDRESS_IN_USE: i32 = 98;

/// The last parts of the addresses 127.0.0.x that are tried besides the default one.
const OTHER_LOOPBACK_RANGE: std::ops::RangeInclusive<u8> = 2..=254;

thread_local! {
    /// The last other address that had free ports. The ports of the addresses before it are exhausted, and checking them again
    /// would make the kernel scan all of them.
    static LAST_WITH_FREE_PORTS: Cell<u8> = const { Cell::new(*OTHER_LOOPBACK_RANGE.start()) };
}

/// Connects to a host by trying its addresses in turn; `known` are the addresses, if they are already resolved.
pub(crate) async fn connect(
    host: &str,
    port: u16,
    known: Option<&[SocketAddr]>,
    options: &ConnectOptions<'_>,
) -> Result<TcpStream, Failure> {
    let addresses = match known {
        Some(known) => known.iter().map(|address| SocketAddr::new(address.ip(), port)).collect(),
        None => crate::dns::resolve(host, port, options.clock.now()).await?,
    };
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in &addresses {
        let attempt = match options.source {
            Some(source) => connect_from(*address, source, options.timeout).await?,
            None => connect_to(*address, options.timeout).await,
        };
        match attempt {
            Ok(stream) => {
                // With Nagle's algorithm, the second part of a request that is sent in two parts could wait for an
                // acknowledgement.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    // Java prints an address as name/number, or /number when there is no name.
    let name = if host.parse::<std::net::IpAddr>().is_ok() { "" } else { host };
    let printed: Vec<String> = addresses.iter().map(|address| format!("{name}/{}", address.ip())).collect();
    Err(Failure::connect(&last, &format!("{host}:{port}"), &format!("[{}]", printed.join(", "))))
}

pub(crate) async fn connect_to(address: SocketAddr, timeout: Option<Duration>) -> io::Result<TcpStream> {
    let error = match open_socket(address, None, timeout).await {
        Err(error) if error.raw_os_error() == Some(ADDRESS_NOT_AVAILABLE) => error,
        connected => return connected,
    };
    // There are millions of loopback addresses, each with its own local ports. A server on this machine can therefore
    // be reached from another loopback address when the ports of the default address are exhausted.
    if !matches!(address, SocketAddr::V4(v4) if v4.ip().is_loopback()) {
        return Err(error);
    }
    let opened = connect_from_other(LAST_WITH_FREE_PORTS.get(), async |source| {
        open_socket(address, Some(source), timeout).await
    });
    match opened.await {
        Some((good, opened)) => {
            LAST_WITH_FREE_PORTS.set(good);
            opened
        }
        None => Err(error),
    }
}

/// Connects from the first other address, starting with `first`, whose ports are not exhausted; returns the address
/// and the result. `None` if all are exhausted.
async fn connect_from_other<S>(
    first: u8,
    mut open: impl AsyncFnMut(Ipv4Addr) -> io::Result<S>,
) -> Option<(u8, io::Result<S>)> {
    let (before, from) = (*OTHER_LOOPBACK_RANGE.start()..first, first..=*OTHER_LOOPBACK_RANGE.end());
    for last in from.chain(before) {
        let opened = open(Ipv4Addr::new(127, 0, 0, last)).await;
        let used_up = opened.as_ref().err().and_then(io::Error::raw_os_error);
        if !matches!(used_up, Some(ADDRESS_NOT_AVAILABLE | ADDRESS_IN_USE)) {
            return Some((last, opened));
        }
    }
    None
}

/// Connects from the local address in the plan.
async fn connect_from(
    address: SocketAddr,
    source: IpAddr,
    timeout: Option<Duration>,
) -> Result<io::Result<TcpStream>, Failure> {
    let failed = |error: io::Error| {
        let why = match error.raw_os_error() {
            Some(ADDRESS_NOT_AVAILABLE) => "Cannot assign requested address".to_owned(),
            Some(ADDRESS_IN_USE) => "Address already in use".to_owned(),
            _ => error.to_string(),
        };
        Failure::new("java.net.BindException", why)
    };
    if address.is_ipv4() != source.is_ipv4() {
        return Err(Failure::new("java.net.SocketException", "Network is unreachable"));
    }
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.map_err(failed)?;
    socket.bind(SocketAddr::new(source, 0)).map_err(failed)?;
    Ok(with_timeout(socket.connect(address), timeout).await)
}

async fn with_timeout(
    attempt: impl Future<Output = io::Result<TcpStream>>,
    timeout: Option<Duration>,
) -> io::Result<TcpStream> {
    match timeout {
        None => attempt.await,
        Some(timeout) => match tokio::time::timeout(timeout, attempt).await {
            Ok(connected) => connected,
            Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut)),
        },
    }
}

async fn open_socket(
    address: SocketAddr,
    source: Option<Ipv4Addr>,
    timeout: Option<Duration>,
) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if let Some(source) = source {
        socket.bind(SocketAddr::from((source, 0)))?;
    }
    with_timeout(socket.connect(address), timeout).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries addresses that fail with `error_of`; returns the tried addresses and the outcome.
    fn attempt(first: u8, error_of: impl Fn(u8) -> Option<i32>) -> (Vec<u8>, Option<(u8, bool)>) {
        let mut tried = Vec::new();
        let found = connect_from_other(first, async |source| {
            let last = source.octets()[3];
            tried.push(last);
            error_of(last).map_or(Ok(last), |code| Err(io::Error::from_raw_os_error(code)))
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(found);
        (tried, found.map(|(last, opened)| (last, opened.is_ok())))
    }

    #[test]
    fn the_first_address_with_free_ports_is_used() {
        assert_eq!(attempt(2, |_| None), (vec![2], Some((2, true))));
        let busy =
            |last| (last < 5).then_some(if last == 3 { ADDRESS_IN_USE } else { ADDRESS_NOT_AVAILABLE });
        assert_eq!(attempt(2, busy), (vec![2, 3, 4, 5], Some((5, true))));
        assert_eq!(attempt(5, busy), (vec![5], Some((5, true))));
        let only_early = |last| (last != 3).then_some(ADDRESS_IN_USE);
        assert_eq!(attempt(253, only_early), (vec![253, 254, 2, 3], Some((3, true))));
    }

    #[test]
    fn other_errors_and_exhausted_addresses_are_returned() {
        const REFUSED: i32 = 111;
        assert_eq!(attempt(2, |_| Some(REFUSED)), (vec![2], Some((2, false))));
        let (tried, found) = attempt(9, |_| Some(ADDRESS_IN_USE));
        assert_eq!((tried.len(), found), (253, None));
    }
}
