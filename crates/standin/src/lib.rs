//! What conformance is made of: a small HTTP server that writes down every request it gets, the folder of
//! plans that were run against it by Apache JMeter, and the comparison of such a recording with what
//! another load generator does with the same plan.
//!
//! A replay is five lines: [`cases`] finds the plans, [`StandIn::start`] listens, the generator is run with
//! [`Case::command_line`], [`Case::collect`] gathers what it did, [`compare`] says where that differs from
//! [`Case::expected`].
//!
//! [`LivePage`] is a browser before the page of a run that goes on, for the tests of its server.

mod answers;
mod anything;
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
mod rows;
mod server;
mod settings;
mod shape;
mod tls;
mod websocket;

pub use case::{Case, CaseError, cases};
pub use compare::compare;
pub use live_page::{LiveEvents, LivePage};
pub use peer::{LinesEqual, PEER_PLANS, PeerOutcome, PeerPlan, peer_files};
pub use recording::{Recording, RequestRecord};
pub use request::Request;
pub use server::{Received, StandIn};
pub use settings::{Mask, Order, Settings};
pub use shape::{Shape, shape};
