//! Mean values of closed product-form networks: exact and approximate, for one class and for many.
//!
//! A network is [`ClosedNetwork`]: centres with service demands (visits × service time), and classes with a population
//! and a think time. Product form holds for exponential service in order of arrival (the same mean for all classes),
//! processor sharing and last-come-first-served-preemptive with any service, and delays (Baskett, Chandy, Muntz &
//! Palacios, JACM 22, 1975); the law of the think time does not matter.
//!
//! - [`exact()`]: mean value analysis of Reiser & Lavenberg where centres serve one at a time ([`multi_class`], and
//!   [`single`] for one class), convolution where they have several servers or a speed that depends on the load
//!   ([`convolution`]).
//! - [`linearizer`](linearizer::linearizer) and [`schweitzer`](linearizer::schweitzer), whose cost does not depend on
//!   the populations.

mod closed_network;
pub mod convolution;
pub mod linearizer;
pub mod multi_class;
mod scaled;
pub mod single;

pub use closed_network::{Centre, ClosedMeans, ClosedNetwork, Population};
pub(crate) use scaled::Scaled;

/// Exact mean values. The cost grows with the product of all populations: see [`ClosedNetwork::exact_cost`].
#[must_use]
pub fn exact(network: &ClosedNetwork) -> ClosedMeans {
    if network.centres.iter().all(Centre::is_plain) {
        multi_class::exact(network)
    } else {
        convolution::means(network).means
    }
}
