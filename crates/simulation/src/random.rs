//! Streams of random numbers, one for each thing that is drawn.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One stream.
pub(crate) type Stream = Xoshiro256PlusPlus;

/// What a stream is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Interarrival times or think times.
    Arrival = 1,
    /// Service times.
    Service = 2,
    /// Where to go next.
    Routing = 3,
    /// Which class to become.
    Switching = 4,
    /// Whom to serve next.
    Choice = 5,
}

/// Seeds of streams. A stream depends on the seed, the replication, and the *names* of the station and the class: a
/// variant of a model with one station more, or another strategy, sees the same arrivals and the same service times
/// (common random numbers), so that the difference of the two is sharper than either.
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
        // No name holds it, so that "a" + "bc" is not "ab" + "c".
        key.add(&[0xff]);
        key.add(class.as_bytes());
        // The seeding of xoshiro spreads the key by SplitMix64.
        Stream::seed_from_u64(key.0)
    }
}

/// The hash of Fowler, Noll and Vo (FNV-1a, 64 bits): the same on every machine and in every version.
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
    fn every_key_has_its_own_stream() {
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
