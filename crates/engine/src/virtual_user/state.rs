//! The state of a virtual user.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_program::Program;
use busyhour_program::ids::{ControllerId, SamplerId};
use busyhour_program::result::SampleResult;
use busyhour_program::sampler::Protocol;
use busyhour_program::user::UserState;
use busyhour_program::variables::Slot;
use busyhour_sample::Nanos;

use crate::control::UserPlace;
use crate::core::Core;

/// A virtual user at work.
pub(crate) struct VirtualUser<P: Protocol> {
    pub(super) program: Arc<Program<P>>,
    pub(super) core: Rc<Core>,
    pub(super) user: UserState,
    pub(super) session: P::Session,
    pub(super) place: UserPlace,
    pub(super) last_package: Option<SamplerId>,
    pub(super) next_intended_start: Nanos,
    /// How late a session of an open workload began, until its first sample: pauses before that do not make up for it.
    pub(super) late_ns: u64,
    /// Slot of [`LAST_SAMPLE_OK`], if the program has one.
    pub(super) last_ok: Option<Slot>,
    pub(super) steps: u32,
    /// Whether it is outside open workloads, so that a pause stops it. A user that serves arrivals ends its session.
    pub(super) holds: bool,
    /// When the last pause it held for was over: nothing was meant to begin in it.
    pub(super) held_until: Nanos,
    /// What it does side by side, or whose branch it is.
    pub(super) side: Option<Box<Side<P>>>,
}

/// Additional state of a user with parallel branches.
pub(super) struct Side<P: Protocol> {
    /// Its branches, by their roots; they keep their connections and counters from pass to pass.
    pub(super) branches: Vec<VirtualUser<P>>,
    /// That it is one itself.
    pub(super) own: Option<Branch>,
}

/// A user that walks one branch.
pub(super) struct Branch {
    /// Where its walk begins.
    pub(super) root: ControllerId,
    /// Its samples become part of another one, and only of that.
    pub(super) inside: bool,
    /// Its samples, for the user of the branch: all of them, or those for transactions around it.
    pub(super) samples: Vec<SampleResult>,
    /// What its user is to do when the branch has ended.
    pub(super) asks: Asks,
}

/// What a branch needs of its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asks {
    /// Nothing.
    #[default]
    Nothing,
    /// To begin the thread group's next iteration.
    NextIteration,
    /// To stop.
    Stop,
}
