//! The decision, reading by reading.

use crate::association::{Association, Glance, Window, associate, glance};
use crate::candidates::Candidate;
use crate::chance::chance;
use crate::detection::{Confidence, Detection};
use crate::episodes::{Episodes, REMEMBERED_S};
use crate::harm::HarmKind;
use crate::history::{DISCARDED, History};
use crate::reading::{SuspectId, UsageReading};
use crate::scores::NormalScores;

/// The largest accepted probability that noise gives such an association, over all candidates and kinds of harm that
/// are compared in one reading.
const NOISE_MAX: f64 = 1e-4;

/// The largest accepted chance of a coincidence for a system that is never slow by itself: after some minutes, and at
/// the start, when few other times can be compared. The start may have a larger chance, because it is a small part of
/// an hour.
const CHANCE_MAX: (f64, f64) = (0.025, 0.05);

/// Number of readings at the start. After them, the largest accepted chance decreases with the length of the history.
const START: f64 = 150.0;

/// The largest accepted chance decreases with this power of the frequency of slow times without a neighbour, because
/// each slow time is compared several times.
const EPISODES_POWER: f64 = 2.0;

/// A detection is very likely if its chance of a coincidence is at most this share of the largest accepted chance.
const VERY_LIKELY: f64 = 0.2;

/// Number of readings between two decisions.
const EVERY: usize = 2;

/// Number of readings until a suspect is compared again.
const PAUSE: usize = 4;

/// The largest accepted probability that noise gives the association that remains when another candidate is subtracted.
const DISTINCT: f64 = 0.001;

/// Two candidates are the same suspect, such as a process and its control group, if the correlation of their CPU times
/// is at least this.
const SAME: f64 = 0.9;

/// If several candidates are the same suspect, the first one whose correlation is at least this share of the largest
/// one is named.
const NEARLY: f64 = 0.95;

/// Minimum number of readings in which a suspect has to be active.
const ACTIVE_MIN: usize = 8;

/// Number of readings whose mean score decides whether the system is slow.
const EPISODE: usize = 10;

/// Maximum number of detections of an observation.
const DETECTIONS_MAX: usize = 16;

/// Maximum number of detections whose CPU time is subtracted from the harm.
const SUBTRACTED_MAX: usize = 4;

/// Detects neighbours, with one reading per second.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    history: History,
    episodes: [Episodes; HarmKind::COUNT],
    detections: Vec<Active>,
    scores: NormalScores,
    start_s: Option<f64>,
    readings: usize,
    /// The suspect of the last comparison, for each kind of harm.
    unconfirmed: [Option<SuspectId>; HarmKind::COUNT],
    pause: usize,
}

/// A detection that continues.
#[derive(Clone, Debug)]
struct Active {
    detection: Detection,
    /// Minimum CPU time with which the suspect counts as active.
    level: f64,
}

/// A suspect of one kind of harm.
struct Suspect {
    id: SuspectId,
    harm: usize,
    association: Association,
    chance: f64,
    limit: f64,
}

impl Detector {
    /// Processes a reading. Returns the neighbour that was found with it, if any.
    pub fn add(&mut self, reading: &UsageReading<'_>) -> Option<&Detection> {
        self.readings += 1;
        self.start_s.get_or_insert(reading.at_s);
        if self.history.is_full() {
            self.discard();
        }
        self.history.add(reading);
        for active in &mut self.detections {
            let used = reading.uses.iter().find(|used| used.id == active.detection.suspect);
            if used.is_some_and(|used| used.cores >= active.level) {
                active.detection.to_s = reading.at_s;
            }
        }
        self.pause = self.pause.saturating_sub(1);
        if !self.readings.is_multiple_of(EVERY) || self.detections.len() >= DETECTIONS_MAX {
            return None;
        }
        let suspect = self.suspect()?;
        let active = self.detect(&suspect, reading.at_s);
        self.detections.push(active);
        self.detections.last().map(|active| &active.detection)
    }

    /// All neighbours that were found, in the order of their detection.
    pub fn detections(&self) -> impl Iterator<Item = &Detection> {
        self.detections.iter().map(|active| &active.detection)
    }

    /// The suspect with the smallest chance of a coincidence, over all kinds of harm.
    fn suspect(&mut self) -> Option<Suspect> {
        let known: Vec<usize> = (0..HarmKind::COUNT)
            .filter(|harm| self.history.harm[*harm].last().is_some_and(|value| value.is_finite()))
            .collect();
        let mut best: Option<Suspect> = None;
        for harm in &known {
            let Some(suspect) = self.suspect_of(*harm, known.len()) else { continue };
            if best.as_ref().is_none_or(|best| suspect.chance < best.chance) {
                best = Some(suspect);
            }
        }
        best
    }

    fn suspect_of(&mut self, harm: usize, kinds: usize) -> Option<Suspect> {
        let found: Vec<SuspectId> = self
            .detections
            .iter()
            .map(|active| active.detection.suspect)
            .rev()
            .take(SUBTRACTED_MAX)
            .collect();
        let candidates = &self.history.candidates;
        let subtracted: Vec<&Candidate> = found.iter().filter_map(|id| candidates.get(*id)).collect();
        let window = Window::new(&self.history, harm, &subtracted, &mut self.scores)?;
        self.episodes[harm].add(window.recent_mean(EPISODE), self.history.len() - 1);
        if self.pause > 0 {
            return None;
        }
        let kind = HarmKind::ALL[harm];
        let is_known = |id| self.detections.iter().any(|active| active.detection.suspect == id);
        let unknown = candidates.all.iter().filter(|candidate| !is_known(candidate.id));
        let glances: Vec<(&Candidate, Glance)> =
            unknown.map(|candidate| (candidate, glance(&window, candidate))).collect();
        let compared = glances.iter().filter(|(_, glance)| *glance != Glance::Unchanged).count();
        let associated: Vec<(&Candidate, Association)> = glances
            .iter()
            .filter(|(_, glance)| *glance == Glance::Open)
            .filter_map(|(candidate, _)| Some((*candidate, associate(&window, candidate)?)))
            .collect();
        let own = mean(window.at.iter().map(|at| self.history.own[*at]));
        let noise = NOISE_MAX / (compared * kinds) as f64;
        let suspects = associated.iter().filter(|(_, association)| {
            association.p <= noise
                && association.cores >= kind.use_min()
                && association.readings >= ACTIVE_MIN
                && is_large(kind, association, own)
        });
        let suspects: Vec<&(&Candidate, Association)> = suspects.collect();
        let best = suspects.iter().max_by(|a, b| a.1.correlation.total_cmp(&b.1.correlation))?;
        let best = suspects.iter().find(|(candidate, association)| {
            association.correlation >= NEARLY * best.1.correlation
                && window.similarity(candidate, best.0) >= SAME
        })?;
        let others = associated.iter().filter(|(candidate, _)| candidate.id != best.0.id);
        let largest = (CHANCE_MAX.1 * START / self.history.len() as f64).clamp(CHANCE_MAX.0, CHANCE_MAX.1);
        let episodes = self.own_episodes_per_hour(harm, best.0, best.1.active);
        let limit = largest * kind.share_of_chance(kinds) / (1.0 + episodes).powf(EPISODES_POWER);
        let chance = chance(&self.history, &window, (best.0, &best.1), compared, limit)
            .filter(|_| is_distinct(&window, best.0, others));
        let suspect =
            chance.map(|chance| Suspect { id: best.0.id, harm, association: best.1, chance, limit });
        self.confirmed(harm, suspect)
    }

    /// The suspect, if the previous comparison found the same one. A coincidence fits the harm only for a short time.
    fn confirmed(&mut self, harm: usize, suspect: Option<Suspect>) -> Option<Suspect> {
        let id = suspect.as_ref().map(|suspect| suspect.id);
        let is_confirmed = id.is_some() && self.unconfirmed[harm] == id;
        self.unconfirmed[harm] = id.filter(|_| !is_confirmed);
        if is_confirmed {
            return suspect;
        }
        self.pause = PAUSE;
        None
    }

    /// How often the system became slow while neither the suspect nor a neighbour that was found was active, per hour.
    fn own_episodes_per_hour(&self, harm: usize, suspect: &Candidate, level: f64) -> f64 {
        let now_s = self.history.at_s.last().copied().unwrap_or(0.0);
        let since_s = self.start_s.unwrap_or(now_s).max(now_s - REMEMBERED_S);
        let starts = self.episodes[harm].starts.iter();
        let own = starts.filter(|at| !is_active(suspect, level, **at) && !self.is_explained(**at)).count();
        (own + self.episodes[harm].earlier(since_s)) as f64 * 3_600.0 / (now_s - since_s).max(1.0)
    }

    /// Whether a neighbour that was found was active at the start of an episode.
    fn is_explained(&self, at: usize) -> bool {
        self.detections.iter().any(|active| {
            let candidate = self.history.candidates.get(active.detection.suspect);
            candidate.is_some_and(|candidate| is_active(candidate, active.level, at))
        })
    }

    /// Makes room in the history.
    fn discard(&mut self) {
        for harm in 0..HarmKind::COUNT {
            let starts = self.episodes[harm].starts.iter().copied();
            let own: Vec<f64> = starts
                .filter(|at| *at < DISCARDED && !self.is_explained(*at))
                .map(|at| self.history.at_s[at])
                .collect();
            self.episodes[harm].discard(DISCARDED, own);
        }
        self.history.discard();
    }

    fn detect(&self, suspect: &Suspect, found_s: f64) -> Active {
        let association = suspect.association;
        let level = association.active.max(f64::MIN_POSITIVE);
        let first = self.history.len().saturating_sub(crate::association::WINDOW);
        let from = self
            .history
            .candidates
            .get(suspect.id)
            .and_then(|candidate| (first..self.history.len()).find(|at| candidate.cores(*at) >= level));
        let detection = Detection {
            suspect: suspect.id,
            harm: HarmKind::ALL[suspect.harm],
            found_s,
            from_s: from.map_or(found_s, |at| self.history.at_s[at]),
            to_s: found_s,
            harm_without: association.without,
            harm_with: association.without + association.excess,
            cores: association.cores,
            chance: suspect.chance,
            confidence: if suspect.chance <= VERY_LIKELY * suspect.limit {
                Confidence::VeryLikely
            } else {
                Confidence::Likely
            },
        };
        Active { detection, level }
    }
}

/// Whether a candidate was active around the start of an episode.
fn is_active(candidate: &Candidate, level: f64, at: usize) -> bool {
    let around = at.saturating_sub(2 * EPISODE)..(at + 3).min(candidate.roots.len());
    around.into_iter().any(|at| candidate.cores(at) >= level)
}

/// Whether the suspect is associated with the harm even if the CPU time of any other candidate is subtracted.
/// Candidates with nearly the same CPU time at all times are the same suspect.
fn is_distinct<'c>(
    window: &Window,
    suspect: &Candidate,
    mut others: impl Iterator<Item = &'c (&'c Candidate, Association)>,
) -> bool {
    others.all(|(other, _)| {
        if window.similarity(suspect, other) >= SAME {
            return true;
        }
        let rest = window.without(other);
        rest.and_then(|rest| associate(&rest, suspect)).is_some_and(|association| association.p <= DISTINCT)
    })
}

/// Whether the harm matters.
fn is_large(kind: HarmKind, association: &Association, own: f64) -> bool {
    let (absolute, share) = kind.relevant();
    let base = match kind {
        HarmKind::CpuWait | HarmKind::CpuPressure => own,
        HarmKind::CyclesPerInstruction => association.without,
        HarmKind::MemoryPressure | HarmKind::DiskPressure => 0.0,
    };
    association.excess >= absolute.max(share * base)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}
