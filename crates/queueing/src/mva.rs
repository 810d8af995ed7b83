//! Mean values of closed product-form networks: exact and approximate, for one class and for several classes.
//!
//! A [`ClosedNetwork`] has centres with service demands (visits × service time), and classes with a population and a think
//! time. A network has a product form (Baskett, Chandy, Muntz & Palacios, JACM 22, 1975) if every centre is one of these:
//!
//! - FCFS with exponential service times of the same mean for all classes
//! - processor sharing, preemptive LCFS or a delay, with any service times
//!
//! The distribution of the think time has no influence. The methods are:
//!
//! - [`exact()`]: mean value analysis of Reiser & Lavenberg if all centres have a single server ([`multi_class`], and
//!   [`single`] for one class), convolution if some have several servers or load-dependent speeds ([`convolution`]).
//! - [`linearizer`](linearizer::linearizer) and [`schweitzer`](linearizer::schweitzer), whose cost does not depend on
//!   the populations.

mod closed_network;
pub mod convolution;
pub mod linearizer;
pub mod multi_class;
mod scaled;
pub mod single;

pub use closed_network::{Centre, ClosedClass, ClosedMeans, ClosedNetwork};
pub(crate) use scaled::Scaled;

/// Exact mean values. The cost is proportional to the product of all populations, see [`ClosedNetwork::exact_cost`].
#[must_use]
pub fn exact(network: &ClosedNetwork) -> ClosedMeans {
    if network.centres.iter().all(Centre::is_load_independent) {
        multi_class::exact(network)
    } else {
        convolution::means(network).means
    }
}
