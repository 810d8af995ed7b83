//! Parts of caches and of memory bandwidth, and their lines in `schemata`.

use std::collections::BTreeMap;
use std::fmt;

/// A resource that can be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// The level 3 cache.
    L3,
    /// Code in the level 3 cache (code and data prioritization, CDP).
    L3Code,
    /// Data in the level 3 cache.
    L3Data,
    /// The level 2 cache.
    L2,
    /// Code in the level 2 cache.
    L2Code,
    /// Data in the level 2 cache.
    L2Data,
    /// Memory bandwidth in percent.
    MemoryBandwidth,
}

impl Resource {
    /// All resources.
    pub const ALL: [Resource; 7] = [
        Resource::L3,
        Resource::L3Code,
        Resource::L3Data,
        Resource::L2,
        Resource::L2Code,
        Resource::L2Data,
        Resource::MemoryBandwidth,
    ];

    /// Its name in resctrl.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::L3 => "L3",
            Self::L3Code => "L3CODE",
            Self::L3Data => "L3DATA",
            Self::L2 => "L2",
            Self::L2Code => "L2CODE",
            Self::L2Data => "L2DATA",
            Self::MemoryBandwidth => "MB",
        }
    }

    /// The resource with this name in resctrl.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }
}

/// A part of a resource in some or all of its domains: sockets, or clusters of cores with a common cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The resource.
    pub resource: Resource,
    /// Mask or percentage by domain. Other domains keep theirs.
    pub values: BTreeMap<u32, u64>,
}

impl fmt::Display for Allocation {
    /// The line for `schemata`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.resource.name())?;
        for (at, (domain, value)) in self.values.iter().enumerate() {
            let separator = if at > 0 { ";" } else { "" };
            if self.resource == Resource::MemoryBandwidth {
                write!(f, "{separator}{domain}={value}")?;
            } else {
                write!(f, "{separator}{domain}={value:x}")?;
            }
        }
        Ok(())
    }
}

/// Parses `schemata`. Resources that this program does not know, and lines that it cannot read, are left out.
#[must_use]
pub fn parse_schemata(text: &str) -> Vec<Allocation> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Allocation> {
    let (name, domains) = line.trim().split_once(':')?;
    let resource = Resource::of_name(name.trim())?;
    let radix = if resource == Resource::MemoryBandwidth { 10 } else { 16 };
    let domain = |text: &str| {
        let (domain, value) = text.split_once('=')?;
        Some((domain.trim().parse().ok()?, u64::from_str_radix(value.trim(), radix).ok()?))
    };
    let values = domains.split(';').map(domain).collect::<Option<_>>()?;
    Some(Allocation { resource, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_written() {
        let text = "    MB:0=100;1= 90\n    L3:0=fffff;1=00003\nSMBA:0=1\nL2DATA:x=1\nL3\n";
        let lines: Vec<String> = parse_schemata(text).iter().map(Allocation::to_string).collect();
        assert_eq!(lines, ["MB:0=100;1=90", "L3:0=fffff;1=3"]);
    }
}
