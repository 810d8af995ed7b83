//! Resolves names without blocking the executor, and caches the results for some time, like a JVM. Also contains the DNS Cache
//! Manager, which gives each user its own cache.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::allowed_hosts;
use crate::dns_query;
use crate::failure::Failure;

/// The lifetime of a cached result in seconds: Java's `networkaddress.cache.ttl` without a security manager.
const TTL_S: u64 = 30;

/// The maximum number of cached names.
const NAMES_MAX: usize = 4096;

/// Addresses and their expiry time, by name.
type NameCache = HashMap<Box<str>, (Nanos, Box<[IpAddr]>)>;

thread_local! {
    static NAME_CACHE: RefCell<NameCache> = RefCell::default();
}

/// Resolves a host; IPv4 addresses come first, as in Java.
pub(crate) async fn resolve(host: &str, port: u16, now: Nanos) -> Result<Vec<SocketAddr>, Failure> {
    allowed_hosts::check(host)?;
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    if let Some(known) = cached(host, port, now) {
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
    NAME_CACHE.with_borrow_mut(|all| {
        // The names in a plan may be generated without end.
        if all.len() >= NAMES_MAX {
            all.clear();
        }
        all.insert(host.into(), (until, addresses))
    });
    Ok(found)
}

/// The cached addresses of a host.
pub(crate) fn cached(host: &str, port: u16, now: Nanos) -> Option<Vec<SocketAddr>> {
    NAME_CACHE.with_borrow(|all| {
        let (until, addresses) = all.get(host)?;
        (now < *until).then(|| addresses.iter().map(|ip| SocketAddr::new(*ip, port)).collect())
    })
}

/// The port on which DNS servers listen.
const DNS_PORT: u16 = 53;

/// A DNS Cache Manager.
#[derive(Debug, Default)]
pub struct DnsManager {
    /// `DNSCacheManager.clearEachIteration`
    pub clear_each_iteration: bool,
    /// `DNSCacheManager.hosts`: names and their addresses, separated by commas.
    pub hosts: Vec<(Template, Template)>,
    /// `DNSCacheManager.servers`, if they replace the system's resolver.
    pub servers: Vec<Template>,
    /// The number of queries so far; the servers are used in turn.
    pub queries: AtomicUsize,
}

/// The names that a user has resolved under a manager, until its next iteration or for the whole run.
#[derive(Debug)]
pub(crate) struct ResolvedNames {
    pub(crate) manager: Arc<DnsManager>,
    pub(crate) known: HashMap<Box<str>, Arc<[SocketAddr]>>,
}

/// A name that is resolved under a manager.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) manager: Arc<DnsManager>,
    pub(crate) host: Box<str>,
    /// The names or addresses with which the plan replaces the name.
    replacement: Option<Vec<String>>,
    /// The DNS servers in the plan.
    servers: Vec<String>,
    /// The addresses, if they are already known.
    pub(crate) addresses: Option<Arc<[SocketAddr]>>,
}

impl Name {
    /// A name with its settings in the plan.
    pub(crate) fn new(manager: &Arc<DnsManager>, host: &str, user: &mut UserState) -> Self {
        let mut replacement = None;
        for (name, addresses) in &manager.hosts {
            if *name.text(user) == *host {
                let addresses = addresses.text(user);
                replacement = Some(addresses.split(',').map(|name| name.trim().to_owned()).collect());
                break;
            }
        }
        let servers = manager.servers.iter().map(|server| server.text(user).into_owned()).collect();
        Self { manager: Arc::clone(manager), host: host.into(), replacement, servers, addresses: None }
    }

    /// Returns the addresses, which are resolved if they are not known.
    pub(crate) async fn resolve(&mut self, port: u16, now: Nanos) -> Result<Arc<[SocketAddr]>, Failure> {
        if let Some(known) = &self.addresses {
            return Ok(Arc::clone(known));
        }
        allowed_hosts::check(&self.host)?;
        let found: Arc<[SocketAddr]> = match &self.replacement {
            None => self.look_up(&self.host, port, now).await?.into(),
            Some(names) => {
                let mut all = Vec::new();
                for name in names {
                    // Names that cannot be resolved are skipped.
                    all.extend(self.look_up(name, port, now).await.unwrap_or_default());
                }
                all.into()
            }
        };
        Ok(Arc::clone(self.addresses.insert(found)))
    }

    /// Queries the DNS servers of the plan, or the system if there are none. If a server does not respond, the next
    /// one is used.
    async fn look_up(&self, host: &str, port: u16, now: Nanos) -> Result<Vec<SocketAddr>, Failure> {
        allowed_hosts::check(host)?;
        if self.servers.is_empty() || host.parse::<IpAddr>().is_ok() {
            return resolve(host, port, now).await;
        }
        let turn = self.manager.queries.fetch_add(1, Ordering::Relaxed);
        for at in 0..self.servers.len() {
            let server = &self.servers[(turn + at) % self.servers.len()];
            let Some(server) = resolve(server, DNS_PORT, now).await.ok().and_then(|all| all.first().copied())
            else {
                continue;
            };
            // Concurrent queries must not have the same id.
            let id = u16::try_from((now.0 >> 10).wrapping_add(turn as u64) & 0xffff).unwrap_or_default();
            match dns_query::addresses(server, host, id).await {
                Ok(found) if found.is_empty() => break,
                Ok(found) => {
                    return Ok(found.into_iter().map(|ip| SocketAddr::new(ip.into(), port)).collect());
                }
                Err(_) => {}
            }
        }
        let message = format!("Failed to resolve host name: {host}");
        Err(Failure::new("java.net.UnknownHostException", message))
    }
}
