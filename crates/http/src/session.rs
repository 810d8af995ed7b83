//! The state of a user between requests: connections, cookies, caches.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::cache::{Cache, CacheManager};
use crate::connection::Connection;
use crate::cookies::{CookieManager, Jar};
use crate::dns::{Name, ResolvedNames};
use crate::origin::Origin;
use crate::proxy_address::{ProxyAddress, ProxyAuth};

/// The state of a user between requests.
#[derive(Default)]
pub struct HttpSession {
    idle: Vec<Connection>,
    origins: Vec<(Box<str>, Arc<Origin>)>,
    jars: Vec<Jar>,
    caches: Vec<Cache>,
    /// State that only few users have.
    rare: Option<Box<RareState>>,
    /// Whether the iteration belongs to a new user. If so, connections are closed before the next request.
    is_new_user: bool,
}

/// State that only few users have.
#[derive(Default)]
struct RareState {
    /// The states of proxy authentication.
    proxies: Vec<(Arc<Origin>, Arc<ProxyAddress>, ProxyAuth)>,
    /// The names that were resolved under DNS cache managers.
    looked: Vec<ResolvedNames>,
    /// For a branch of a Parallel Controller: the cookies with which it started.
    initial_jars: Vec<Jar>,
}

impl std::fmt::Debug for HttpSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpSession").field("idle", &self.idle.len()).finish_non_exhaustive()
    }
}

/// The maximum number of idle connections of a user; browsers and JMeter's pool also keep few.
const IDLE_MAX: usize = 20;

/// The number of cached origins per user.
const ORIGINS_MAX: usize = 64;

/// The number of cached names per user under a DNS Cache Manager.
const NAMES_MAX: usize = 1024;

impl HttpSession {
    /// Starts an iteration; `same_user`: whether it belongs to the same user as the previous one.
    pub fn iteration_started(&mut self, user: &mut UserState, same_user: bool) {
        self.is_new_user = !same_user;
        for jar in &mut self.jars {
            jar.iteration_started(user, same_user);
        }
        for cache in &mut self.caches {
            cache.iteration_started(same_user);
        }
        for looked in self.rare.iter_mut().flat_map(|rare| &mut rare.looked) {
            if looked.manager.clear_each_iteration {
                looked.known.clear();
            }
        }
    }

    /// Starts a new user in place of the previous one, whose state is dropped.
    pub fn begin_arrival(&mut self, keep_connections: bool) {
        self.jars.clear();
        self.caches.clear();
        if let Some(rare) = &mut self.rare {
            rare.looked.clear();
        }
        self.is_new_user = !keep_connections;
    }

    /// Closes the connections of the previous user, if there was one.
    pub(crate) fn start_session(&mut self, reset: bool) {
        if std::mem::take(&mut self.is_new_user) && reset {
            self.idle.clear();
        }
    }

    /// Takes an idle connection to this origin with the same proxy and local address.
    pub(crate) fn take_idle(
        &mut self,
        origin: &Arc<Origin>,
        proxy: Option<&Arc<ProxyAddress>>,
        source: Option<IpAddr>,
        now: Nanos,
    ) -> Option<Connection> {
        let mut at = 0;
        while at < self.idle.len() {
            let matches = {
                let idle = &self.idle[at];
                (Arc::ptr_eq(&idle.origin, origin) || idle.origin == *origin)
                    && idle.proxy.as_ref() == proxy
                    && idle.source == source
            };
            if matches {
                let mut connection = self.idle.swap_remove(at);
                if connection.is_usable(now) {
                    return Some(connection);
                }
            } else {
                at += 1;
            }
        }
        None
    }

    /// Stores a connection for the next request.
    pub(crate) fn store_idle(&mut self, connection: Connection) {
        if self.idle.len() >= IDLE_MAX {
            self.idle.remove(0);
        }
        if self.idle.is_empty() {
            self.idle.reserve_exact(1);
        }
        self.idle.push(connection);
    }

    /// The origin for the rendered `key`, if it is cached.
    pub(crate) fn origin(&self, key: &str) -> Option<&Arc<Origin>> {
        self.origins.iter().find(|(known, _)| **known == *key).map(|(_, origin)| origin)
    }

    /// Stores the origin for `key`.
    pub(crate) fn remember_origin(&mut self, key: &str, origin: Arc<Origin>) {
        if self.origins.len() >= ORIGINS_MAX {
            self.origins.clear();
        }
        if self.origins.is_empty() {
            self.origins.reserve_exact(1);
        }
        self.origins.push((key.into(), origin));
    }

    /// The state of proxy authentication for this server.
    pub(crate) fn proxy_auth(&self, origin: &Arc<Origin>, proxy: &Arc<ProxyAddress>) -> ProxyAuth {
        let Some(rare) = &self.rare else { return ProxyAuth::Unasked };
        let known = rare.proxies.iter().find(|(server, known, _)| server == origin && known == proxy);
        known.map_or(ProxyAuth::Unasked, |(_, _, proxy_auth)| *proxy_auth)
    }

    /// Stores the state of proxy authentication.
    pub(crate) fn set_proxy_auth(
        &mut self,
        origin: &Arc<Origin>,
        proxy: &Arc<ProxyAddress>,
        proxy_auth: ProxyAuth,
    ) {
        if proxy_auth == ProxyAuth::Unasked && self.rare.is_none() {
            return;
        }
        let proxies = &mut self.rare.get_or_insert_default().proxies;
        match proxies.iter_mut().find(|(server, known, _)| server == origin && known == proxy) {
            Some((_, _, before)) => *before = proxy_auth,
            None if proxy_auth == ProxyAuth::Unasked => {}
            None => {
                if proxies.len() >= ORIGINS_MAX {
                    proxies.clear();
                }
                proxies.push((Arc::clone(origin), Arc::clone(proxy), proxy_auth));
            }
        }
    }

    /// The addresses of a name, if they were resolved under its manager.
    pub(crate) fn known_addresses(&self, name: &Name) -> Option<Arc<[SocketAddr]>> {
        let mut all = self.rare.as_ref()?.looked.iter();
        let looked = all.find(|looked| Arc::ptr_eq(&looked.manager, &name.manager))?;
        looked.known.get(&name.host).map(Arc::clone)
    }

    /// Stores the resolved addresses of a name.
    pub(crate) fn remember_addresses(&mut self, name: Name) {
        let Some(addresses) = name.addresses else { return };
        let all = &mut self.rare.get_or_insert_default().looked;
        let at = all.iter().position(|looked| Arc::ptr_eq(&looked.manager, &name.manager));
        let at = at.unwrap_or_else(|| {
            all.push(ResolvedNames { manager: Arc::clone(&name.manager), known: HashMap::new() });
            all.len() - 1
        });
        let known = &mut all[at].known;
        if known.len() >= NAMES_MAX {
            // Redirects and pages may refer to new hosts without end.
            known.clear();
        }
        known.insert(name.host, addresses);
    }

    /// The user's jars.
    pub(crate) fn jars(&self) -> &[Jar] {
        &self.jars
    }

    /// The user's jars, for changes.
    pub(crate) fn jars_mut(&mut self) -> &mut [Jar] {
        &mut self.jars
    }

    /// Exchanges the user's jars for others.
    pub(crate) fn swap_jars(&mut self, jars: &mut Vec<Jar>) {
        std::mem::swap(&mut self.jars, jars);
    }

    /// Starts a branch of a Parallel Controller with the user's cookies.
    pub(crate) fn branch(&self, branch: &mut HttpSession) {
        branch.jars.clone_from(&self.jars);
        if !self.jars.is_empty() || branch.rare.is_some() {
            branch.rare.get_or_insert_default().initial_jars.clone_from(&self.jars);
        }
    }

    /// Ends a branch: the user receives the cookies that the branch received.
    pub(crate) fn rejoin(&mut self, branch: &mut HttpSession) {
        let known = branch.rare.as_mut().map_or_else(Vec::new, |rare| std::mem::take(&mut rare.initial_jars));
        for mut jar in std::mem::take(&mut branch.jars) {
            if let Some(before) = known.iter().find(|before| Arc::ptr_eq(&before.manager, &jar.manager)) {
                jar.remove_all(before);
            }
            match self.jars.iter_mut().find(|own| Arc::ptr_eq(&own.manager, &jar.manager)) {
                Some(own) => own.add_all(jar),
                None => self.jars.push(jar),
            }
        }
    }

    /// Adds all cookies of other jars to the user's cookies.
    pub(crate) fn add_cookies(&mut self, from: Vec<Jar>) {
        for other in from {
            if let Some(jar) = self.jars.iter_mut().find(|jar| Arc::ptr_eq(&jar.manager, &other.manager)) {
                jar.add_all(other);
            }
        }
    }

    /// The user's jar for a manager.
    pub fn jar(&mut self, manager: &Arc<CookieManager>, user: &mut UserState) -> &mut Jar {
        let at = match self.jars.iter().position(|jar| Arc::ptr_eq(&jar.manager, manager)) {
            Some(at) => at,
            None => {
                self.jars.push(Jar::new(manager, user));
                self.jars.len() - 1
            }
        };
        &mut self.jars[at]
    }

    /// The user's cache for a manager.
    pub(crate) fn cache(&mut self, manager: &Arc<CacheManager>) -> &mut Cache {
        let at = match self.caches.iter().position(|cache| Arc::ptr_eq(&cache.manager, manager)) {
            Some(at) => at,
            None => {
                self.caches.push(Cache::new(manager));
                self.caches.len() - 1
            }
        };
        &mut self.caches[at]
    }
}
