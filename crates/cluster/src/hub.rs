//! The hub: a NATS server with certificates, users and permissions made for it.
//!
//! Two users exist. Controllers give orders and read reports; agents read orders and send reports. Neither can do what the other
//! does: the permissions of the server name the subjects of each.

mod end_with_parent;
mod files;
mod process;

pub use files::{HubFiles, HubSettings, create_hub_files};
pub use process::{Hub, find_server};
