//! Complete exchanges with small servers in this process.

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
mod state;
mod test_user;
