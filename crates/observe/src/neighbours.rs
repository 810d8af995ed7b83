//! Neighbours: processes that are no part of the system under test and harm it.

mod allowed_cpus;
mod others;
mod victim;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use busyhour_detection::{
    Damage, Detection, Detector, HarmKind, NEIGHBOURS_VERSION, Neighbour, Neighbours, NotWatched, StealWatch,
    StolenTime, Who,
};
use busyhour_sample::Nanos;
use busyhour_series::{Mark, MarkKind};

use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::reading::Reading;

use others::Others;
use victim::{Machine, VictimReader};

/// The name of the source.
const SOURCE: &str = "neighbours";

/// Receives the sentence about a neighbour when it is found.
pub type NeighbourSink = Box<dyn FnMut(&str) + Send>;

/// The neighbours that a probe has found so far. Clones share the content.
#[derive(Clone, Debug, Default)]
pub struct FoundNeighbours(Arc<Mutex<Neighbours>>);

impl FoundNeighbours {
    /// The current content.
    #[must_use]
    pub fn get(&self) -> Neighbours {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, neighbours: Neighbours) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = neighbours;
    }
}

/// Compares the CPU time of all other processes with the harm to the watched ones; source `neighbours`. The harm is read from the
/// series of the other probes, so that both have the same values. A watch therefore reads this probe after them.
pub struct NeighbourProbe {
    root: ProcRoot,
    victim: VictimReader,
    others: Others,
    detector: Detector,
    steal: StealWatch,
    watched: Vec<Damage>,
    /// Who the detected suspects are; `None` for a suspect that cannot harm the system.
    suspects: Vec<(Detection, Option<Who>)>,
    found: FoundNeighbours,
    sink: Option<NeighbourSink>,
    readings: u64,
}

impl std::fmt::Debug for NeighbourProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NeighbourProbe").field("found", &self.found).finish_non_exhaustive()
    }
}

impl NeighbourProbe {
    /// A probe. `sink` is called when a neighbour is found.
    #[must_use]
    pub fn new(root: &ProcRoot, found: &FoundNeighbours, sink: Option<NeighbourSink>) -> NeighbourProbe {
        NeighbourProbe {
            root: root.clone(),
            victim: VictimReader::default(),
            others: Others::new(root),
            detector: Detector::default(),
            steal: StealWatch::default(),
            watched: Vec::new(),
            suspects: Vec::new(),
            found: found.clone(),
            sink,
            readings: 0,
        }
    }

    fn report(&mut self, reading: &mut Reading<'_>, neighbour: &Neighbour) {
        let text = neighbour.sentence();
        let ns = |seconds: f64| Nanos((seconds.max(0.0) * 1e9) as u64);
        let (from, to) = (ns(neighbour.from_s), reading.time());
        reading.mark(Mark { kind: MarkKind::Other, from: from.min(to), to, text: text.clone() });
        if let Some(sink) = &mut self.sink {
            sink(&text);
        }
    }

    /// Judges stolen time.
    fn judge_machine(&mut self, reading: &mut Reading<'_>, at_s: f64, machine: Machine) {
        self.note_watched(Damage::Steal);
        if self.steal.add(at_s, machine.used, machine.stolen)
            && let Some(stolen) = self.steal.found().copied()
        {
            self.report(reading, &of_steal(&stolen));
        }
    }

    fn note_watched(&mut self, damage: Damage) {
        if !self.watched.contains(&damage) {
            self.watched.push(damage);
        }
    }

    /// The neighbours so far.
    fn neighbours(&self) -> Neighbours {
        let detections: Vec<&Detection> = self.detector.detections().collect();
        let mut found: Vec<Neighbour> = self
            .suspects
            .iter()
            .filter_map(|(first, who)| {
                let latest = detections.iter().find(|detection| detection.suspect == first.suspect);
                Some(of_detection(latest.copied().unwrap_or(first), who.clone()?))
            })
            .collect();
        found.extend(self.steal.found().map(of_steal));
        found.sort_by(|a, b| a.found_s.total_cmp(&b.found_s));
        Neighbours {
            version: NEIGHBOURS_VERSION,
            watched: self.watched.clone(),
            not_watched: self.not_watched(),
            found,
        }
    }

    fn not_watched(&self) -> Vec<NotWatched> {
        let is_watched = |damage: Damage| self.watched.contains(&damage);
        let all = HarmKind::ALL.into_iter().map(Damage::from).chain([Damage::Steal]);
        all.filter(|damage| !is_watched(*damage))
            // One kind of waiting for a CPU is enough.
            .filter(|damage| !(*damage == Damage::CpuPressure && is_watched(Damage::CpuWait)))
            .map(|damage| NotWatched { damage, reason: self.victim.reason(damage) })
            .collect()
    }
}

fn of_detection(detection: &Detection, who: Who) -> Neighbour {
    Neighbour {
        who,
        damage: detection.harm.into(),
        from_s: detection.from_s,
        to_s: detection.to_s,
        found_s: detection.found_s,
        harm_with: detection.harm_with,
        harm_without: detection.harm_without,
        cores: Some(detection.cores),
        chance: Some(detection.chance),
        confidence: Some(detection.confidence),
    }
}

fn of_steal(stolen: &StolenTime) -> Neighbour {
    Neighbour {
        who: Who::Hypervisor,
        damage: Damage::Steal,
        from_s: stolen.from_s,
        to_s: stolen.to_s,
        found_s: stolen.found_s,
        harm_with: stolen.share,
        harm_without: 0.0,
        cores: None,
        chance: None,
        confidence: None,
    }
}

impl Probe for NeighbourProbe {
    fn source(&self) -> &str {
        SOURCE
    }

    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let now = reading.time();
        let at_s = now.0 as f64 / 1e9;
        let state = self.victim.read(reading.store, &self.root);
        self.others.read(&self.root, now, self.victim.pids(), state.machine.map(|machine| machine.used));
        self.readings += 1;
        if self.readings > 1 {
            if let Some(machine) = state.machine {
                self.judge_machine(reading, at_s, machine);
            }
            for (kind, _) in HarmKind::ALL.iter().zip(state.victim.harm).filter(|(_, harm)| harm.is_some()) {
                self.note_watched((*kind).into());
            }
            let uses = self.others.uses();
            let of_detector = busyhour_detection::UsageReading { at_s, victim: state.victim, uses };
            if let Some(detection) = self.detector.add(&of_detector).cloned() {
                let who = self.others.who(&self.root, detection.suspect).filter(|_| {
                    !Damage::from(detection.harm).is_cpu_time()
                        || self.others.shares_cpus(&self.root, detection.suspect, self.victim.pids())
                });
                if let Some(who) = &who {
                    self.report(reading, &of_detection(&detection, who.clone()));
                }
                self.suspects.push((detection, who));
            }
        }
        self.found.set(self.neighbours());
        Ok(())
    }
}
