//! All kinds of changes, as the journal contains them.

pub mod cgroup;
pub mod network;
pub mod program;
pub mod resctrl;

use serde::{Deserialize, Serialize};

use self::cgroup::CgroupChange;
use self::network::NetworkChange;
use self::program::{PqosChange, XenChange};
use self::resctrl::ResctrlChange;
use crate::error::ControlError;
use crate::reversible::{Reversible, Undone};
use crate::system::System;

/// A change of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Change {
    /// Of a control group.
    Cgroup(CgroupChange),
    /// Of a resctrl group.
    Resctrl(ResctrlChange),
    /// By `pqos`.
    Pqos(PqosChange),
    /// By `xl`.
    Xen(XenChange),
    /// Of the network.
    Network(NetworkChange),
}

impl Change {
    fn reversible(&self) -> &dyn Reversible {
        match self {
            Self::Cgroup(change) => change,
            Self::Resctrl(change) => change,
            Self::Pqos(change) => change,
            Self::Xen(change) => change,
            Self::Network(change) => change,
        }
    }

    /// What it changes, if a second change of it could not be undone independently: a setting, or the group of a process.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        match self {
            Self::Cgroup(CgroupChange::Set { file, before: Some(_), .. }) => Some(file.display().to_string()),
            Self::Cgroup(CgroupChange::Move { mount, process, .. })
            | Self::Resctrl(ResctrlChange::Move { mount, process, .. }) => {
                Some(format!("the group of process {} in {}", process.pid, mount.display()))
            }
            Self::Resctrl(ResctrlChange::Allocate { mount, group, before: Some(_), after }) => {
                let (resource, _) = after.split_once(':').unwrap_or((after, ""));
                Some(format!("{resource} of the group {}", mount.join(group).display()))
            }
            Self::Pqos(change) => {
                let (target, _) = change.after.split_once('=').unwrap_or((&change.after, ""));
                // Cores are listed after the class.
                let is_association = change.option == "-a";
                let target = if is_association { &change.after[..] } else { target };
                Some(format!("{} {target}", change.program))
            }
            Self::Xen(XenChange { domain, socket, options, .. }) => {
                Some(format!("the cache mask ({}) of domain {domain} on socket {socket}", options.join(" ")))
            }
            Self::Cgroup(_) | Self::Resctrl(_) | Self::Network(_) => None,
        }
    }
}

impl Reversible for Change {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        self.reversible().make(system)
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        self.reversible().undo(system)
    }
}
