//! The local address of a sampler's connections.

use std::net::{IpAddr, SocketAddr};

use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::dns;
use crate::failure::Failure;

/// `HTTPSampler.ipSource` and its type.
#[derive(Debug, Clone)]
pub struct Source {
    /// An address, a host name or the name of a network interface; empty: none.
    pub text: Template,
    /// `HTTPSampler.ipSourceType`
    pub kind: SourceKind,
}

impl Source {
    /// Resolves a host name, so that it is cached afterwards.
    pub(crate) async fn look_up(name: Option<String>, now: Nanos) {
        if let Some(name) = name {
            // Errors are reported when the address is used.
            let _ = dns::resolve(&name, 0, now).await;
        }
    }

    /// The host name that must be resolved first; `None` if the address is not a host name.
    pub(crate) fn name(&self, user: &mut UserState) -> Option<String> {
        let text = self.text.text(user);
        let text = text.trim();
        let is_name = self.kind == SourceKind::Host && !text.is_empty() && text.parse::<IpAddr>().is_err();
        is_name.then(|| text.to_owned())
    }

    /// The address, if the plan specifies one.
    pub(crate) fn address(&self, user: &mut UserState) -> Result<Option<IpAddr>, Failure> {
        let text = self.text.text(user).trim().to_owned();
        if text.is_empty() {
            return Ok(None);
        }
        if self.kind != SourceKind::Host {
            return self.kind.interface_address(&text).map(Some);
        }
        if let Ok(address) = text.parse() {
            return Ok(Some(address));
        }
        let known = dns::cached(&text, 0, user.now());
        let first = known.and_then(|all| all.first().map(SocketAddr::ip));
        first.map(Some).ok_or_else(|| Failure::unknown_host(&text, Some("Name or service not known")))
    }
}

/// `HTTPSampler.ipSourceType`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// An address or a host name.
    #[default]
    Host,
    /// The first address of a network interface, which is an IPv6 address if it has one.
    Interface,
    /// The first IPv4 address of a network interface.
    InterfaceV4,
    /// The first IPv6 address of a network interface.
    InterfaceV6,
}

impl SourceKind {
    /// Returns the kind with this number.
    pub fn numbered(number: i64) -> Option<Self> {
        [Self::Host, Self::Interface, Self::InterfaceV4, Self::InterfaceV6]
            .get(usize::try_from(number).ok()?)
            .copied()
    }

    /// Java's class for the kind of address.
    fn class(self) -> &'static str {
        match self {
            Self::InterfaceV4 => "Inet4Address",
            Self::InterfaceV6 => "Inet6Address",
            Self::Host | Self::Interface => "InetAddress",
        }
    }

    /// The address of an interface.
    pub(crate) fn interface_address(self, name: &str) -> Result<IpAddr, Failure> {
        let unknown = |message: String| Failure::new("java.net.UnknownHostException", message);
        let all = if_addrs::get_if_addrs().map_err(|error| unknown(error.to_string()))?;
        let mut own = all.iter().filter(|interface| interface.name == name).peekable();
        if own.peek().is_none() {
            return Err(unknown(format!("Cannot find interface {name}")));
        }
        let own: Vec<IpAddr> = own.map(|interface| interface.ip()).collect();
        // Java lists IPv6 addresses first.
        let of = |version_6: bool| own.iter().copied().find(|address| address.is_ipv6() == version_6);
        let found = match self {
            Self::InterfaceV4 => of(false),
            Self::InterfaceV6 => of(true),
            Self::Host | Self::Interface => of(true).or(of(false)),
        };
        found.ok_or_else(|| {
            unknown(format!("Interface {name} does not have address of type {}", self.class()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_have_addresses() {
        let loopback = if_addrs::get_if_addrs()
            .unwrap()
            .into_iter()
            .find(|interface| interface.ip().is_loopback())
            .unwrap();
        assert!(SourceKind::Interface.interface_address(&loopback.name).unwrap().is_loopback());
        let message = SourceKind::InterfaceV4.interface_address("nosuch0").unwrap_err().message;
        assert_eq!(message, "Cannot find interface nosuch0");
        assert_eq!(SourceKind::numbered(3), Some(SourceKind::InterfaceV6));
        assert_eq!(SourceKind::numbered(-1), None);
    }
}
