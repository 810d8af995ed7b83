//! Whole exchanges with small servers of this process.

mod allocation;
mod bodies;
mod compressed;
mod connections;
mod failures;
mod limits;
mod local_ports;
mod methods;
mod proxies;
mod secure;
mod server;
mod visits;
mod world;
