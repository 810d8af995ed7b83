//! The part of a load that one generator produces: its share, when it joins, and what decides when its phases start.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use busyhour_arrivals::LoadShare;
use busyhour_sample::Nanos;

use crate::phase::{Phase, PhaseGate};

/// The share of an undivided run or group.
pub(crate) static WHOLE: LoadShare = LoadShare::WHOLE;

/// The part of a load that one generator produces. All settings must be made before the phase to which they apply starts; of
/// each, only the first has an effect, except for [`LoadPart::join_at`].
#[derive(Default)]
pub struct LoadPart {
    /// The share of the load; unset: the whole.
    share: OnceLock<LoadShare>,
    /// By what the users of divided groups are multiplied; unset: 1.
    user_factor: OnceLock<u32>,
    /// When this generator joins the load, in nanoseconds since the run's start.
    joined_ns: AtomicU64,
    /// Decides when phases start; unset: each phase starts when the previous one has ended.
    gate: OnceLock<Arc<dyn PhaseGate>>,
}

impl LoadPart {
    /// Restricts the run to a share of the load.
    pub fn set_share(&self, share: LoadShare) {
        let _ = self.share.set(share);
    }

    /// The share of the load.
    pub fn share(&self) -> &LoadShare {
        self.share.get().unwrap_or(&WHOLE)
    }

    /// Multiplies the users of the main thread groups.
    pub fn multiply_users(&self, factor: u32) {
        let _ = self.user_factor.set(factor);
    }

    /// By what the users of the main thread groups are multiplied.
    pub fn user_factor(&self) -> u32 {
        self.user_factor.get().copied().unwrap_or(1)
    }

    /// Lets this generator join a load that has started: its part of the load before this time is left out.
    pub fn join_at(&self, at: Nanos) {
        self.joined_ns.store(at.0, Ordering::Relaxed);
    }

    /// The time before which this generator leaves its part of the load out; the start of the run if it generates all of it.
    pub fn joined(&self) -> Nanos {
        Nanos(self.joined_ns.load(Ordering::Relaxed))
    }

    /// Lets a gate decide when phases start.
    pub fn hold_phases(&self, gate: Arc<dyn PhaseGate>) {
        let _ = self.gate.set(gate);
    }

    /// Whether the gate leaves a phase out.
    pub fn skips_phase(&self, phase: Phase) -> bool {
        self.gate.get().is_some_and(|gate| gate.skips(phase))
    }

    /// Waits until the gate lets a phase start. Returns the planned time of the start; `None` if the phase starts at once.
    pub fn pass_gate(&self, phase: Phase, is_stopped: &dyn Fn() -> bool) -> Option<Nanos> {
        self.gate.get().and_then(|gate| gate.pass(phase, is_stopped))
    }
}
