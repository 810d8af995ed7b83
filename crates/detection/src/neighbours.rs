//! The neighbours of an observed system, as files, summaries and messages contain them.

use serde::{Deserialize, Serialize};

use crate::detection::Confidence;
use crate::harm::HarmKind;

/// The file in a run directory.
pub const NEIGHBOURS_FILE_NAME: &str = "neighbours.json";

/// The version of the file's format.
pub const NEIGHBOURS_VERSION: u32 = 1;

/// The neighbours of an observed system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Neighbours {
    /// The version of the format.
    pub version: u32,
    /// The kinds of harm that were watched.
    pub watched: Vec<Damage>,
    /// The kinds that were not watched, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_watched: Vec<NotWatched>,
    /// The neighbours, in the order in which they were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Neighbour>,
}

/// The damage by a neighbour: a kind of harm to the system, or CPU time taken from the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// See [`HarmKind::CpuWait`].
    CpuWait,
    /// See [`HarmKind::CpuPressure`].
    CpuPressure,
    /// See [`HarmKind::CyclesPerInstruction`].
    CyclesPerInstruction,
    /// See [`HarmKind::MemoryPressure`].
    MemoryPressure,
    /// See [`HarmKind::DiskPressure`].
    DiskPressure,
    /// CPU time that the hypervisor gave to other machines.
    Steal,
}

impl From<HarmKind> for Damage {
    fn from(kind: HarmKind) -> Damage {
        match kind {
            HarmKind::CpuWait => Damage::CpuWait,
            HarmKind::CpuPressure => Damage::CpuPressure,
            HarmKind::CyclesPerInstruction => Damage::CyclesPerInstruction,
            HarmKind::MemoryPressure => Damage::MemoryPressure,
            HarmKind::DiskPressure => Damage::DiskPressure,
        }
    }
}

impl Damage {
    /// Whether a neighbour takes CPU time of the same machine.
    #[must_use]
    pub const fn is_cpu_time(self) -> bool {
        matches!(self, Damage::CpuWait | Damage::CpuPressure)
    }
}

/// A kind of harm that was not watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotWatched {
    /// The kind.
    pub damage: Damage,
    /// The reason, and how to enable it.
    pub reason: String,
}

/// A neighbour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The process, control group or machine.
    pub who: Who,
    /// The damage.
    pub damage: Damage,
    /// When it became active, in seconds since the start of the run.
    pub from_s: f64,
    /// When it was active last, in seconds.
    pub to_s: f64,
    /// When it was found, in seconds.
    pub found_s: f64,
    /// The harm while it was active: seconds of waiting per second, cycles per instruction, or a share of the time. For
    /// [`Damage::Steal`], the share of the requested CPU time.
    pub harm_with: f64,
    /// The harm while it was inactive.
    pub harm_without: f64,
    /// Its CPU time while it was active, in cores; `None` for the hypervisor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<f64>,
    /// The chance that other times fit the harm as well, from 0 to 1; `None` if the harm was measured directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The confidence of the detection; `None` if the harm was measured directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
}

/// A process, a control group or a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Who {
    /// A process.
    Process {
        /// Its process ID.
        pid: u32,
        /// The name of its command.
        name: String,
        /// Its control group, if it is in another one than the root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cgroup: Option<String>,
    },
    /// The processes of a control group together.
    Cgroup {
        /// Its path.
        path: String,
    },
    /// All processes together that are not listed, such as many that run for a short time.
    ShortProcesses,
    /// Other virtual machines.
    Hypervisor,
}

impl Who {
    /// The name for sentences.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Who::Process { pid, name, cgroup: None } => format!("process {pid} ({name})"),
            Who::Process { pid, name, cgroup: Some(cgroup) } => format!("process {pid} ({name}, {cgroup})"),
            Who::Cgroup { path } => format!("control group {path}"),
            Who::ShortProcesses => "many short processes together".to_owned(),
            Who::Hypervisor => "the hypervisor".to_owned(),
        }
    }
}

impl Neighbours {
    /// One line for a page or a terminal: the first neighbour, with the number of others; the reason if nothing could be watched; `None`
    /// if there was no neighbour, or nothing to watch.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        match (self.found.first(), self.found.len()) {
            (Some(first), 1) => Some(first.sentence()),
            (Some(first), 2) => Some(format!("{} One more neighbour was found.", first.sentence())),
            (Some(first), count) => {
                Some(format!("{} {} more neighbours were found.", first.sentence(), count - 1))
            }
            (None, _) if self.watched.is_empty() => {
                let reason = &self.not_watched.first()?.reason;
                Some(format!("Neighbours were not watched: {reason}."))
            }
            (None, _) => None,
        }
    }
}

impl Neighbour {
    /// A sentence with the neighbour, the time, the harm and the confidence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let time = format!("between {:.0} s and {:.0} s", self.from_s, self.to_s.max(self.from_s));
        let who = self.who.name();
        if self.damage == Damage::Steal {
            return format!(
                "Neighbour: {who} gave {:.1} % of the CPU time that this machine requested to other machines {time} \
                 (measured).",
                self.harm_with * 100.0
            );
        }
        let cores = self.cores.unwrap_or(0.0);
        let (with, without) = (self.harm_with, self.harm_without);
        let harm = match self.damage {
            Damage::CpuWait => format!("waited {with:.2} s per second for a CPU instead of {without:.2} s"),
            Damage::CpuPressure => waited("a CPU", with, without),
            Damage::CyclesPerInstruction => {
                format!("needed {with:.2} cycles per instruction instead of {without:.2}")
            }
            Damage::MemoryPressure => waited("memory", with, without),
            Damage::DiskPressure | Damage::Steal => waited("disks", with, without),
        };
        let sure = match self.confidence {
            Some(Confidence::VeryLikely) => "very likely",
            Some(Confidence::Likely) | None => "likely",
        };
        let chance = self.chance.map_or_else(String::new, |chance| {
            format!("; {:.1} % of other times fit as well", chance * 100.0)
        });
        format!("Neighbour: while {who} used {cores:.2} CPUs {time}, the system {harm} ({sure}{chance}).")
    }
}

fn waited(what: &str, with: f64, without: f64) -> String {
    format!("waited for {what} in {:.1} % of the time instead of {:.1} %", with * 100.0, without * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour() -> Neighbour {
        Neighbour {
            who: Who::Process { pid: 47, name: "busyhour".to_owned(), cgroup: None },
            damage: Damage::CpuWait,
            from_s: 61.2,
            to_s: 95.0,
            found_s: 70.0,
            harm_with: 0.314,
            harm_without: 0.04,
            cores: Some(0.93),
            chance: Some(0.004),
            confidence: Some(Confidence::VeryLikely),
        }
    }

    #[test]
    fn the_line_contains_neighbour_time_harm_and_confidence() {
        let one = Neighbours { found: vec![neighbour()], ..Neighbours::default() };
        assert_eq!(
            one.line().unwrap(),
            "Neighbour: while process 47 (busyhour) used 0.93 CPUs between 61 s and 95 s, the system waited 0.31 s per second for a \
             CPU instead of 0.04 s (very likely; 0.4 % of other times fit as well)."
        );
        let two = Neighbours { found: vec![neighbour(), neighbour()], ..Neighbours::default() };
        assert!(two.line().unwrap().ends_with(" One more neighbour was found."));
        let steal = Neighbour { who: Who::Hypervisor, damage: Damage::Steal, cores: None, ..neighbour() };
        assert!(steal.sentence().starts_with("Neighbour: the hypervisor gave 31.4 % of the CPU time"));
    }

    #[test]
    fn no_neighbour_and_no_source_have_different_texts() {
        let watched = Neighbours { watched: vec![Damage::CpuWait], ..Neighbours::default() };
        assert_eq!(watched.line(), None);
        let reason = NotWatched { damage: Damage::CpuWait, reason: "no process is watched".to_owned() };
        let nothing = Neighbours { not_watched: vec![reason], ..Neighbours::default() };
        assert_eq!(nothing.line().unwrap(), "Neighbours were not watched: no process is watched.");
    }
}
