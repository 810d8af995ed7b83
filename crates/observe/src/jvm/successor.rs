//! Recognises a JVM that was restarted.

use rustc_hash::FxHashMap;

use super::locate::{OpenJvm, TmpScan};
use crate::probe::ProbeError;
use crate::proc_root::ProcRoot;

/// The largest number of processes that are examined.
const PROCESSES_MAX: usize = 10_000;

/// A process that has not become the successor after this many searches is not examined again: a JVM publishes its counters within a
/// second after its start.
const SEARCHES_MAX: u8 = 20;

/// A restart usually takes less than this many readings. Afterwards only every 10th reading searches, because a JVM that has ended
/// for good would otherwise cost a list of all processes at each reading.
const READINGS_OF_RESTART: u64 = 60;
const LATER_EVERY: u64 = 10;

/// The conditions that the successor of a JVM must meet.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The command line after `java` and its options.
    pub(super) command: Option<String>,
    /// The user it runs as.
    pub(super) user: u32,
    /// The earliest time of its creation, in ms since 1970: an instance that ran together with the ended JVM is not its successor.
    pub(super) not_before_ms: u64,
}

/// Searches for the successor of a JVM that has ended.
#[derive(Debug)]
pub(super) struct Successor {
    wanted: Wanted,
    what: String,
    /// How often each running process was examined.
    searches: FxHashMap<u32, u8>,
    /// Readings since the JVM ended.
    readings: u64,
}

impl Successor {
    /// `what` names the JVM that ended.
    pub(super) fn new(wanted: Wanted, what: String) -> Successor {
        Successor { wanted, what, searches: FxHashMap::default(), readings: 0 }
    }

    /// Searches once, if a search is due. If several JVMs match, the one that started first is returned.
    pub(super) fn find(&mut self, root: &ProcRoot) -> Option<OpenJvm> {
        self.readings += 1;
        if self.readings > READINGS_OF_RESTART && !self.readings.is_multiple_of(LATER_EVERY) {
            return None;
        }
        let pids = root.pids(PROCESSES_MAX).unwrap_or_default();
        let mut searches = FxHashMap::default();
        let mut scan = TmpScan::default();
        let mut first: Option<OpenJvm> = None;
        for pid in pids {
            let count = self.searches.get(&pid).copied().unwrap_or(0);
            if count >= SEARCHES_MAX {
                searches.insert(pid, count);
                continue;
            }
            searches.insert(pid, count + 1);
            if let Ok(Some(jvm)) = scan.open(root, pid)
                && self.matches(&jvm)
                && first.as_ref().is_none_or(|first| jvm.identity.created_ms < first.identity.created_ms)
            {
                first = Some(jvm);
            }
        }
        self.searches = searches;
        first
    }

    fn matches(&self, jvm: &OpenJvm) -> bool {
        jvm.facts.effective_uid == self.wanted.user
            && jvm.identity.command.is_some()
            && jvm.identity.command == self.wanted.command
            && jvm.identity.created_ms.is_some_and(|created| created >= self.wanted.not_before_ms)
    }

    /// The state of the source while there is no successor.
    pub(super) fn waiting(&self) -> ProbeError {
        ProbeError::Missing {
            what: self.what.clone(),
            advice: "it has ended; a JVM that starts with the same command line and user will be watched"
                .to_owned(),
        }
    }
}
