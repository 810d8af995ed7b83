//! The `.jsimg` format: classes, nodes with three sections (input, service, output), and connections.

mod laws;
mod nodes;
mod parameters;
mod read;
mod regions;
mod routes;
mod servers;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
