//! Whole exchanges with small servers of this process.

mod allocation;
mod bodies;
mod connections;
mod failures;
mod secure;
mod server;
mod visits;
mod world;
