//! What another controller needs to take over a run whose controller has ended: `attach.json` in the run directory.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_arrivals::LoadShare;
use busyhour_launch::{Prepared, RunRequest};
use busyhour_program::clock::{Clock, monotonic_ns};
use busyhour_record::RunDir;
use serde::{Deserialize, Serialize};

use super::member::Member;
use super::settings::{ControllerSettings, OnAgentLoss};
use crate::clock_table::ClockTable;
use crate::error::ClusterError;
use crate::invitation::Invitation;
use crate::machine_clock::{boot, machine_ns};
use crate::messages::AgentInfo;

/// The file with the state of the run. It is removed when the run has ended.
const FILE: &str = "attach.json";

/// The file that the controller of the run keeps locked.
const LOCK: &str = "controller.lock";

/// Version of the file.
const VERSION: u32 = 1;

/// Maximum length of the file.
const BYTES_MAX: u64 = 256 << 20;

/// Files of the controller that has ended. They contain no samples, because samples are recorded at the end of a run.
const OLD_FILES: [&str; 3] = ["run.json", "samples.bhs", "samples.jtl"];

/// The state of a run, as its controller stores it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunState {
    version: u32,
    /// The start of the machine on which the controller ran. Only there, its clock can be continued.
    boot: String,
    /// The start of the run's clock, by the clock of the machine in ns.
    origin_ns: i64,
    wall_start_ms: u64,
    /// The identifier of the run.
    pub(super) run: String,
    /// The request without secrets.
    request: RunRequest,
    on_loss: OnAgentLoss,
    leaves_records: bool,
    lease_s: u64,
    /// When the main groups started, in ns of the run; 0 if they have not started.
    pub(super) started_ns: u64,
    pub(super) is_paused: bool,
    pub(super) factor: f64,
    members: Vec<MemberState>,
}

/// An agent of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct MemberState {
    info: AgentInfo,
    share: LoadShare,
    origin_ns: i64,
    clock: ClockTable,
    start_offset_ns: i64,
}

/// The changing part of the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) started_ns: u64,
    pub(super) is_paused: bool,
    pub(super) factor: f64,
}

/// The stored state of a run that this process controls.
#[derive(Debug)]
pub(super) struct StoredRun {
    path: PathBuf,
    pub(super) state: RunState,
    /// Locked as long as this process controls the run.
    lock: File,
}

impl StoredRun {
    /// Stores the state of a run whose agents are ready.
    pub(super) fn create(
        prepared: &Prepared,
        settings: &ControllerSettings,
        run: &str,
        members: &[Member],
    ) -> Result<StoredRun, ClusterError> {
        let dir = prepared.dir().path();
        let clock = prepared.clock();
        let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let state = RunState {
            version: VERSION,
            boot: boot(),
            origin_ns: machine_ns() - signed(clock.now().0),
            wall_start_ms: clock.wall_start_ms(),
            run: run.to_owned(),
            request: prepared.storable_request(),
            on_loss: settings.on_loss,
            leaves_records: settings.leaves_records,
            lease_s: settings.lease.as_secs(),
            started_ns: 0,
            is_paused: false,
            factor: 1.0,
            members: Vec::new(),
        };
        let mut stored = StoredRun { path: dir.join(FILE), state, lock: lock(dir)? };
        stored.store_members(members);
        stored.write()?;
        Ok(stored)
    }

    /// Stores the progress of the run.
    pub(super) fn update(&mut self, members: &[Member], progress: Progress) -> Result<(), ClusterError> {
        let Progress { started_ns, is_paused, factor } = progress;
        (self.state.started_ns, self.state.is_paused, self.state.factor) = (started_ns, is_paused, factor);
        self.store_members(members);
        self.write()
    }

    fn store_members(&mut self, members: &[Member]) {
        let stored = |member: &Member| MemberState {
            info: member.info.clone(),
            share: member.share.clone(),
            origin_ns: member.origin_ns,
            clock: member.clock.clone(),
            start_offset_ns: member.start_offset_ns,
        };
        self.state.members = members.iter().map(stored).collect();
    }

    fn write(&self) -> Result<(), ClusterError> {
        let json = serde_json::to_vec(&self.state)
            .map_err(|error| ClusterError::message("the state of the run", error))?;
        RunDir::write_whole(&self.path, &json)
            .map_err(|error| ClusterError::message("the state of the run", error))
    }

    /// Removes the state, because the run has ended.
    pub(super) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(self.path.with_file_name(LOCK));
        drop(self.lock);
    }

    /// The agents of the run.
    pub(super) fn members(&self) -> Vec<Member> {
        let member = |stored: &MemberState| {
            let mut member = Member::new(stored.info.clone(), stored.share.clone());
            member.origin_ns = stored.origin_ns;
            member.clock = stored.clock.clone();
            member.start_offset_ns = stored.start_offset_ns;
            member
        };
        self.state.members.iter().map(member).collect()
    }
}

/// A run whose controller has ended and that another one takes over.
#[derive(Debug)]
pub struct AbandonedRun {
    stored: StoredRun,
    clock: Clock,
}

impl AbandonedRun {
    /// Opens the run in a directory.
    ///
    /// # Errors
    /// The directory contains no run with agents that has not ended, its controller is still alive, or the run was started on
    /// another machine.
    pub fn open(dir: &Path) -> Result<AbandonedRun, ClusterError> {
        let path = dir.join(FILE);
        let refused = |reason: &str| ClusterError::Attach { dir: dir.to_owned(), reason: reason.to_owned() };
        let facts = std::fs::metadata(&path)
            .map_err(|_| refused("there is no run with agents that has not ended"))?;
        if facts.len() > BYTES_MAX {
            return Err(refused("attach.json is too long"));
        }
        let lock = lock(dir)?;
        let text = std::fs::read(&path).map_err(ClusterError::file(&path))?;
        let mut state: RunState = serde_json::from_slice(&text)
            .map_err(|error| refused(&format!("attach.json cannot be read: {error}")))?;
        if state.version != VERSION {
            return Err(refused("attach.json was written by another version of busyhour"));
        }
        if state.boot != boot() {
            return Err(refused(
                "the run was started on another machine, or this one was started again since; its agents stop by themselves \
                 and keep their records",
            ));
        }
        let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let origin_ns = signed(monotonic_ns()) - (machine_ns() - state.origin_ns);
        let clock = Clock::with_origin(origin_ns, state.wall_start_ms)
            .ok_or_else(|| refused("the run is older than this machine's clock"))?;
        let plan = RunDir::open(dir).plan_path();
        state.request.plan_text = Some(std::fs::read_to_string(&plan).map_err(ClusterError::file(&plan))?);
        state.request.dir = Some(dir.to_owned());
        Ok(AbandonedRun { stored: StoredRun { path, state, lock }, clock })
    }

    /// The request for the run.
    #[must_use]
    pub fn request(&self) -> &RunRequest {
        &self.stored.state.request
    }

    /// The clock of the run.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The settings of the controller that has ended, with an invitation to the hub.
    #[must_use]
    pub fn settings(&self, invitation: Invitation) -> ControllerSettings {
        let state = &self.stored.state;
        ControllerSettings {
            on_loss: state.on_loss,
            leaves_records: state.leaves_records,
            lease: Duration::from_secs(state.lease_s),
            ..ControllerSettings::new(invitation)
        }
    }

    /// Removes the files of the controller that has ended, so that the run can be prepared again in its directory.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn clear(&self) -> Result<(), ClusterError> {
        for name in OLD_FILES {
            let path = self.stored.path.with_file_name(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ClusterError::file(&path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The stored run, which this process controls from now on.
    pub(super) fn into_stored(self) -> StoredRun {
        self.stored
    }
}

/// Locks a run for this process.
fn lock(dir: &Path) -> Result<File, ClusterError> {
    let path = dir.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(ClusterError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ClusterError::Attach {
            dir: dir.to_owned(),
            reason: "another process controls this run".to_owned(),
        }),
        // Some file systems have no locks.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}
