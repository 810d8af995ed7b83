//! Controls: treatments that can be checked, applied and undone.

use std::path::Path;

use busyhour_diagnostic::io_hints::chain;

use crate::change::Change;
use crate::error::ControlError;
use crate::system::{System, read};
use crate::treatments::{Applied, Restoration, Treatments};

/// Whether a control is available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It can be applied.
    Available {
        /// Notes: values that the hardware rounds, shared parts of a cache.
        notes: Vec<String>,
    },
    /// It cannot be applied.
    Unavailable {
        /// Why not, and how to enable it.
        reason: String,
    },
}

/// The changes that a control will make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// Notes about the changes.
    pub notes: Vec<String>,
    /// The objects that will be created.
    pub created: Vec<Created>,
}

/// An object that a control creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its kind: `cgroup`, `resctrl group`, `network namespace`, `address`.
    pub kind: &'static str,
    /// Its name or path.
    pub name: String,
}

/// A treatment of a machine.
pub trait Control {
    /// A short description of its effect.
    fn name(&self) -> String;

    /// Checks everything that can be checked without a change, and lists the changes.
    ///
    /// # Errors
    /// The control is not available here, or a setting is wrong.
    fn plan(&self, system: &dyn System) -> Result<Plan, ControlError>;

    /// Whether it is available here; if not, the reason and how to enable it.
    fn check(&self, system: &dyn System) -> Availability {
        match self.plan(system) {
            Ok(plan) => Availability::Available { notes: plan.notes },
            Err(error) => Availability::Unavailable { reason: chain(&error) },
        }
    }

    /// Applies it. If a part fails, the other parts are undone.
    ///
    /// # Errors
    /// It is not available here, a setting is wrong, or the system refuses a change.
    fn apply(&self, treatments: &mut Treatments) -> Result<(Applied, Vec<Created>), ControlError> {
        let plan = self.plan(treatments.system())?;
        let applied = treatments.make(plan.changes)?;
        Ok((applied, plan.created))
    }

    /// Undoes it. Has no effect if it was undone before.
    fn undo(&self, treatments: &mut Treatments, applied: &Applied) -> Restoration {
        treatments.undo(applied)
    }
}

/// Twelve random hexadecimal digits for the name of a created object.
pub(crate) fn token(system: &dyn System) -> Result<String, ControlError> {
    let uuid = read(system, Path::new("/proc/sys/kernel/random/uuid"))?;
    Ok(uuid.chars().filter(char::is_ascii_hexdigit).take(12).collect())
}

/// The prefix of the names of created objects.
pub(crate) const PREFIX: &str = "busyhour-";
