//! The phases of a run, and a gate that holds them until other generators of the same load are ready, too.

use busyhour_sample::Nanos;

/// The phase in which a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the main groups.
    SetUp,
    /// The main groups.
    Main,
    /// After the main groups.
    TearDown,
}

/// Decides when the phases of a run start. It is used if several generators produce one load together: each of them starts its
/// part at the same time.
///
/// # Calls
///
/// The engine calls [`PhaseGate::pass`] once before each phase, on its own thread, in the order setUp, main, tearDown, even if
/// this generator has no group in the phase. When it is called, all users of the previous phase have ended. It is not called
/// for phases that are skipped because the run was stopped.
///
/// # Example
///
/// ```
/// use busyhour_program::phase::{Phase, PhaseGate};
/// use busyhour_sample::Nanos;
///
/// /// Starts the main phase one second after the start of the run.
/// struct AfterOneSecond;
///
/// impl PhaseGate for AfterOneSecond {
///     fn pass(&self, phase: Phase, _is_stopped: &dyn Fn() -> bool) -> Option<Nanos> {
///         (phase == Phase::Main).then_some(Nanos::from_secs(1))
///     }
/// }
/// ```
pub trait PhaseGate: Send + Sync {
    /// Waits until the groups of `phase` may start. Returns the time at which they start, by the clock of the run; `None` if
    /// they start at once.
    ///
    /// While it waits, it must call `is_stopped` several times per second and return when the run is stopped.
    fn pass(&self, phase: Phase, is_stopped: &dyn Fn() -> bool) -> Option<Nanos>;

    /// Whether this generator leaves a phase out, because another one has run it. It is called before [`PhaseGate::pass`], which
    /// is then not called for this phase.
    fn skips(&self, _phase: Phase) -> bool {
        false
    }
}
