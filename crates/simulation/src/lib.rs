//! Discrete-event simulation of queueing networks: what the analytic solvers of `queueing` cannot do.
//!
//! A network ([`QueueingNetwork`](busyhour_queueing::network::QueueingNetwork)) is set in motion by `world`: one
//! event after another, each of which changes the state and plans others. The parts of it are the queue of `events`,
//! `sampler`s of random times, `waiting` lines, stations that serve all at once (`sharing`) or at changing speeds
//! (`serving`), and the strategies of `routing`. What happens is added up in batches of equal simulated time (`tally`),
//! in memory that does not grow with the length.
//!
//! [`simulate`] runs independent replications in parallel, removes their transients, and continues until the
//! interval of every measure is as narrow as requested (`inference`): Heidelberger and Welch's spectral estimate
//! within each replication, pooled over them. It reads no clock and no file; the same seed gives the same result with
//! any number of threads.
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
//! // M/M/1 with half the server busy: R = S/(1 − U) = 0.2 s.
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
mod station;
mod tally;
mod validity;
mod waiting;
mod world;

pub use result::{
    ClassResult, Ending, HeavyTail, Measure, PERCENTILES, Percentile, Reason, SimulationResult,
    StationMeasures, StationResult, Unconverged,
};
pub use settings::{SimulationError, SimulationSettings, SimulationWatch};
pub use simulate::{simulate, simulate_watched};
