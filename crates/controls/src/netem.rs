//! Emulated delay, loss and rate between this machine and a network namespace.

use std::path::Path;
use std::time::Duration;

use crate::change::Change;
use crate::change::network::{NetworkChange, namespace_file};
use crate::control::{Control, Created, PREFIX, Plan, token};
use crate::error::ControlError;
use crate::system::{System, arguments, read, run};

/// The capabilities that are needed, with their bits in `CapEff`.
const CAPABILITIES: [(&str, u32); 2] = [("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21)];

/// The longest name of a namespace.
const NAME_BYTES_MAX: usize = 60;

/// The longest delay.
const DELAY_MAX: Duration = Duration::from_secs(60);

/// Addresses of the created pair of interfaces, for IPv4 with a prefix of 30 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Of this machine.
    pub outside: String,
    /// In the namespace.
    pub inside: String,
}

impl Default for Addresses {
    /// Addresses that RFC 2544 reserves for benchmarks.
    fn default() -> Self {
        Self { outside: "198.18.0.1".to_owned(), inside: "198.18.0.2".to_owned() }
    }
}

/// Emulation in one direction. The default changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Emulation {
    /// The delay of each packet.
    pub delay: Duration,
    /// The variation of the delay.
    pub jitter: Duration,
    /// The lost packets in percent.
    pub loss_percent: f64,
    /// The rate in bits/s.
    pub rate: Option<u64>,
}

impl Emulation {
    /// The arguments of `tc qdisc add … netem`; empty if nothing is emulated.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn arguments(&self) -> Result<Vec<String>, ControlError> {
        let Self { delay, jitter, loss_percent, rate } = *self;
        if delay > DELAY_MAX || jitter > delay {
            return Err(ControlError::invalid(format!(
                "the delay {delay:?} ± {jitter:?} is not allowed: at most 60 s, and the variation at most the delay"
            )));
        }
        if !(0.0..=100.0).contains(&loss_percent) {
            return Err(ControlError::invalid(format!(
                "the loss {loss_percent} % is not between 0 and 100 %"
            )));
        }
        if rate == Some(0) {
            return Err(ControlError::invalid("a rate of 0 bits/s lets no packet pass"));
        }
        let mut words = Vec::new();
        if !delay.is_zero() {
            words.extend(["delay".to_owned(), format!("{}us", delay.as_micros())]);
            if !jitter.is_zero() {
                words.push(format!("{}us", jitter.as_micros()));
            }
        }
        if loss_percent > 0.0 {
            words.extend(["loss".to_owned(), format!("{loss_percent}%")]);
        }
        if let Some(rate) = rate {
            words.extend(["rate".to_owned(), format!("{rate}bit")]);
        }
        Ok(words)
    }
}

/// Creates a network namespace that is connected to this machine by a pair of virtual interfaces with emulated delay, loss and
/// rate. Existing interfaces are not changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetemControl {
    /// The name of the namespace, which must not exist; `None` for a unique name.
    pub namespace: Option<String>,
    /// The addresses.
    pub addresses: Addresses,
    /// From this machine to the namespace.
    pub to_namespace: Emulation,
    /// From the namespace to this machine.
    pub from_namespace: Emulation,
}

impl NetemControl {
    fn check_machine(&self, system: &dyn System) -> Result<(), ControlError> {
        let status = read(system, Path::new("/proc/self/status"))?;
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let effective = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
        if let Some((name, _)) = CAPABILITIES.iter().find(|(_, bit)| effective >> bit & 1 == 0) {
            return Err(ControlError::unavailable(format!("this process lacks {name}"), "run as root"));
        }
        for (program, option) in [("ip", "-V"), ("tc", "-V")] {
            run(system, program, &arguments(&[option])).map_err(|error| {
                ControlError::unavailable(format!("`{program}` cannot be used ({error})"), "install iproute2")
            })?;
        }
        let network = format!("{}/30", self.addresses.outside);
        let routes = run(system, "ip", &arguments(&["route", "show", "table", "all", "root", &network]))?;
        if let Some(route) = routes.lines().find(|line| !line.trim().is_empty()) {
            return Err(ControlError::unavailable(
                format!("the addresses {network} are in use ({})", route.trim()),
                "choose other addresses",
            ));
        }
        Ok(())
    }
}

impl Control for NetemControl {
    fn name(&self) -> String {
        "network namespace with emulated delay, loss and rate".to_owned()
    }

    fn plan(&self, system: &dyn System) -> Result<Plan, ControlError> {
        let to_namespace = self.to_namespace.arguments()?;
        let from_namespace = self.from_namespace.arguments()?;
        check_addresses(&self.addresses)?;
        self.check_machine(system)?;
        let token = token(system)?;
        let namespace = match &self.namespace {
            Some(name) => free_name(system, name)?,
            None => format!("{PREFIX}{token}"),
        };
        // Names of interfaces have at most 15 characters.
        let (outside, inside) = (format!("bh{token}o"), format!("bh{token}i"));
        let mut changes = vec![
            NetworkChange::Namespace { name: namespace.clone() },
            NetworkChange::Pair {
                namespace: namespace.clone(),
                outside: outside.clone(),
                inside: inside.clone(),
            },
        ];
        let mut configure = |program: &str, words: &[&str], more: &[String]| {
            let mut arguments = arguments(words);
            arguments.extend(more.iter().cloned());
            changes.push(NetworkChange::Configure { program: program.to_owned(), arguments });
        };
        let inside_address = format!("{}/30", self.addresses.inside);
        let outside_address = format!("{}/30", self.addresses.outside);
        configure("ip", &["-n", &namespace, "address", "add", &inside_address, "dev", &inside], &[]);
        configure("ip", &["-n", &namespace, "link", "set", "lo", "up"], &[]);
        configure("ip", &["-n", &namespace, "link", "set", &inside, "up"], &[]);
        configure("ip", &["address", "add", &outside_address, "dev", &outside], &[]);
        configure("ip", &["link", "set", &outside, "up"], &[]);
        if !from_namespace.is_empty() {
            let words = ["-n", &namespace, "qdisc", "add", "dev", &inside, "root", "netem"];
            configure("tc", &words, &from_namespace);
        }
        if !to_namespace.is_empty() {
            configure("tc", &["qdisc", "add", "dev", &outside, "root", "netem"], &to_namespace);
        }
        let created = vec![
            Created { kind: "network namespace", name: namespace },
            Created { kind: "interface", name: outside },
            Created { kind: "address", name: self.addresses.inside.clone() },
        ];
        let changes = changes.into_iter().map(Change::Network).collect();
        Ok(Plan { changes, notes: Vec::new(), created })
    }
}

/// Checks that a name is valid, and that no namespace has it.
fn free_name(system: &dyn System, name: &str) -> Result<String, ControlError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty()
        || name.len() > NAME_BYTES_MAX
        || name.starts_with(['-', '.'])
        || !name.chars().all(is_allowed)
    {
        return Err(ControlError::invalid(format!(
            "{name:?} is not a name of a network namespace: letters, digits and - _ . are allowed"
        )));
    }
    if system.exists(&namespace_file(name)) {
        return Err(ControlError::unavailable(
            format!("the network namespace {name} exists"),
            "choose another name; existing namespaces are not changed",
        ));
    }
    Ok(name.to_owned())
}

/// Both addresses are the hosts of one network with a prefix of 30 bits.
fn check_addresses(addresses: &Addresses) -> Result<(), ControlError> {
    let number = |text: &str| {
        text.parse::<std::net::Ipv4Addr>()
            .map(u32::from)
            .map_err(|_| ControlError::invalid(format!("{text:?} is not an IPv4 address")))
    };
    let (outside, inside) = (number(&addresses.outside)?, number(&addresses.inside)?);
    if outside >> 2 == inside >> 2 && matches!((outside & 3, inside & 3), (1, 2) | (2, 1)) {
        return Ok(());
    }
    Err(ControlError::invalid(format!(
        "{} and {} are not the two hosts of one network with a prefix of 30 bits, such as 198.18.0.1 and 198.18.0.2",
        addresses.outside, addresses.inside
    )))
}
