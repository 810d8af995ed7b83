//! Independent streams of random numbers.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub(crate) type Stream = Xoshiro256PlusPlus;

/// The purpose of a stream of random numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Interarrival times or think times.
    Arrival = 1,
    /// Service times.
    Service = 2,
    /// Routing.
    Routing = 3,
    /// Class switches.
    Switching = 4,
    /// Random order of service.
    Choice = 5,
}

/// Creates random streams. A stream depends on the seed, the replication, and the *names* of the station and the class. A
/// variant of a model with another station or strategy therefore has the same arrivals and service times (common random
/// numbers). The difference between the results of the two models is then more precise than each result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    seed: u64,
    replication: u32,
}

impl Streams {
    pub(crate) fn new(seed: u64, replication: u32) -> Self {
        Self { seed, replication }
    }

    pub(crate) fn stream(self, purpose: Purpose, station: &str, class: &str) -> Stream {
        let mut key = Fnv::new();
        key.add(&self.seed.to_le_bytes());
        key.add(&self.replication.to_le_bytes());
        key.add(&[purpose as u8]);
        key.add(station.as_bytes());
        // This separator does not occur in UTF-8; with it, "a" + "bc" differs from "ab" + "c".
        key.add(&[0xff]);
        key.add(class.as_bytes());
        // `seed_from_u64` expands the key by SplitMix64.
        Stream::seed_from_u64(key.0)
    }
}

/// The hash function of Fowler, Noll and Vo (FNV-1a, 64 bits), which is the same on all machines and in all versions.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngCore as _;

    #[test]
    fn different_keys_have_different_streams() {
        let first = |seed, replication, purpose, station, class| {
            Streams::new(seed, replication).stream(purpose, station, class).next_u64()
        };
        let base = first(1, 0, Purpose::Service, "web", "browse");
        assert_eq!(base, first(1, 0, Purpose::Service, "web", "browse"));
        for other in [
            first(2, 0, Purpose::Service, "web", "browse"),
            first(1, 1, Purpose::Service, "web", "browse"),
            first(1, 0, Purpose::Arrival, "web", "browse"),
            first(1, 0, Purpose::Service, "webb", "rowse"),
            first(1, 0, Purpose::Service, "db", "browse"),
        ] {
            assert_ne!(base, other);
        }
    }
}
