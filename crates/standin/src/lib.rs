//! Tools for conformance tests: a small HTTP server that records all requests, cases (plans with recordings of Apache JMeter),
//! and the comparison of these recordings with runs of another load generator.
//!
//! A replay has five steps:
//!
//! - [`cases`] finds the plans.
//! - [`StandIn::start`] starts the server.
//! - The caller runs the load generator with [`ConformanceCase::command_line`].
//! - [`ConformanceCase::collect`] creates the recording of this run.
//! - [`differences`] compares it with [`ConformanceCase::expected`].
//!
//! [`LivePageClient`] is a client of a run's live page, for tests of the server of that page.

mod application;
mod case;
mod compare;
mod compressed;
mod digest;
mod live_page;
mod mask;
mod pages;
mod peer;
mod proxy;
mod recording;
mod request;
mod response;
mod responses;
mod rows;
mod server;
mod settings;
mod shape;
mod tls;
mod websocket;

pub use case::{CaseError, ConformanceCase, cases};
pub use compare::differences;
pub use live_page::{LiveEvents, LivePageClient};
pub use peer::{BATCH_TEST_PLANS, BatchTestOutcome, BatchTestPlan, LineComparison, peer_files};
pub use recording::{Recording, RequestRecord};
pub use request::ReceivedRequest;
pub use server::{Received, StandIn};
pub use settings::{CaseSettings, Mask, OrderRule};
pub use shape::{RemovedParts, shape};
