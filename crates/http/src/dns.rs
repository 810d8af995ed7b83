//! Names to addresses, off the executor and remembered for a while, as a Java machine does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use busyhour_record::Nanos;

use crate::failure::Failure;

/// How long an answer is remembered, in seconds: Java's `networkaddress.cache.ttl` without a security manager.
const TTL_S: u64 = 30;

/// So many names are remembered.
const NAMES_MAX: usize = 4096;

/// Addresses and when they expire.
type Remembered = HashMap<Box<str>, (Nanos, Box<[IpAddr]>)>;

thread_local! {
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

/// The addresses of a host, IPv4 first as Java orders them.
pub(crate) async fn resolve(host: &str, port: u16, now: Nanos) -> Result<Vec<SocketAddr>, Failure> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let known = REMEMBERED.with_borrow(|all| {
        let (until, addresses) = all.get(host)?;
        (now < *until).then(|| addresses.iter().map(|ip| SocketAddr::new(*ip, port)).collect())
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let found = tokio::net::lookup_host((host, port)).await.map_err(|error| {
        let text = error.to_string();
        let reason = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
        Failure::unknown_host(host, Some(reason))
    })?;
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.dedup();
    if found.is_empty() {
        return Err(Failure::unknown_host(host, None));
    }
    let addresses = found.iter().map(SocketAddr::ip).collect();
    let until = now + Nanos::from_secs(TTL_S).0;
    REMEMBERED.with_borrow_mut(|all| {
        // A plan may make names up as it goes.
        if all.len() >= NAMES_MAX {
            all.clear();
        }
        all.insert(host.into(), (until, addresses))
    });
    Ok(found)
}
