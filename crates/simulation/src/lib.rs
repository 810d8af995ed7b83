//! Discrete-event simulation of queueing networks, for models that the analytic solvers of `queueing` do not support.
//!
//! `simulator` contains the state of a network ([`QueueingNetwork`](busyhour_queueing::network::QueueingNetwork)) and processes
//! one event after another. Each event changes the state and schedules other events. Other modules are the event queue
//! (`events`), random times (`sampler`), waiting lines (`waiting`), stations with processor sharing (`sharing`) or preemption
//! and load-dependent speeds (`serving`), and routing strategies (`routing`). Observations are summed in batches of equal
//! simulated time (`tally`), so memory does not grow with the simulated time.
//!
//! [`simulate`] runs independent replications in parallel, removes their transients, and continues until the interval of every
//! measure is as narrow as requested (`inference`). Intervals are computed with Heidelberger and Welch's spectral estimate
//! within each replication, pooled over the replications. The simulation uses no clock and no files. Its result depends only on
//! the seed, not on the number of threads.
//!
//! ```
//! use busyhour_queueing::network::{CustomerClass, QueueingNetwork, Station};
//! use busyhour_simulation::{SimulationSettings, simulate};
//!
//! let network = QueueingNetwork::new(
//!     vec![CustomerClass::open("jobs", 5.0)],
//!     vec![Station::queue("server", 1, 0.1)],
//! );
//! let settings = SimulationSettings { precision: 0.1, ..SimulationSettings::default() };
//! let found = simulate(&network, &settings).unwrap();
//! // M/M/1 with a utilization of 50 %: R = S/(1 − U) = 0.2 s.
//! let response = found.classes[0].response_s.unwrap();
//! assert!(response.low < 0.21 && response.high > 0.19);
//! ```

mod build;
mod customer;
mod events;
mod histogram;
mod inference;
mod measures;
mod random;
mod result;
mod routing;
mod sampler;
mod serving;
mod settings;
mod sharing;
mod simulate;
mod simulator;
mod station;
mod tally;
mod validity;
mod waiting;

pub use result::{
    ClassResult, Ending, HeavyTail, MeasureKind, PERCENTILES, Percentile, Reason, SimulationResult,
    StationMeasures, StationResult, Unconverged,
};
pub use settings::{SimulationError, SimulationSettings, SimulationWatch};
pub use simulate::{simulate, simulate_watched};
