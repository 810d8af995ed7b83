//! Components of conformance tests: a small HTTP server that records all requests, the cases (plans with recordings of
//! Apache JMeter), and the comparison of such a recording with the behaviour of another load generator.
//!
//! A replay has five steps: [`cases`] finds the plans, [`StandIn::start`] starts the server, the generator runs with
//! [`Case::command_line`], [`Case::collect`] collects its recording, and [`differences`] compares it with
//! [`Case::expected`].
//!
//! [`LivePageClient`] is a client of the live page of a run, for the tests of its server.

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

pub use case::{Case, CaseError, cases};
pub use compare::differences;
pub use live_page::{LiveEvents, LivePageClient};
pub use peer::{LinesEqual, PEER_PLANS, PeerOutcome, PeerPlan, peer_files};
pub use recording::{Recording, RequestRecord};
pub use request::ReceivedRequest;
pub use server::{Received, StandIn};
pub use settings::{CaseSettings, Mask, OrderRule};
pub use shape::{RemovedParts, shape};
