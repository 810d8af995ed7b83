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

use crate::control::UserPosition;
use crate::core::Core;

/// A running virtual user.
pub(crate) struct VirtualUser<P: Protocol> {
    pub(super) program: Arc<Program<P>>,
    pub(super) core: Rc<Core>,
    pub(super) user: UserState,
    pub(super) session: P::Session,
    pub(super) place: UserPosition,
    pub(super) last_package: Option<SamplerId>,
    pub(super) next_intended_start: Nanos,
    /// The lateness of the start of an open workload's session, kept until its first sample. Pauses before that sample do not
    /// reduce it.
    pub(super) late_ns: u64,
    /// Slot of [`LAST_SAMPLE_OK`], if the program has one.
    pub(super) last_ok: Option<Slot>,
    pub(super) steps: u32,
    /// Whether pauses of the run stop this user. They do not stop a user of an open workload, which completes its session.
    pub(super) holds: bool,
    /// The end of the last pause for which this user waited. No intended start is in a pause.
    pub(super) pause_end: Nanos,
    /// State for parallel branches: the branches of this user, or the branch that this user walks.
    pub(super) side: Option<Box<ParallelState<P>>>,
}

/// Additional state of a user that has parallel branches or walks one.
pub(super) struct ParallelState<P: Protocol> {
    /// The branch users of this user. They keep their connections and counters between passes.
    pub(super) branches: Vec<VirtualUser<P>>,
    /// The branch that this user walks; `None` if it is not a branch user.
    pub(super) own: Option<BranchState>,
}

/// The additional state of a branch user, which walks one branch of its parent.
pub(super) struct BranchState {
    /// The controller at which its walk begins.
    pub(super) root: ControllerId,
    /// Whether its samples become part of another sample and are not reported separately.
    pub(super) inside: bool,
    /// The samples for the parent: all of them, or those for transactions around the branch.
    pub(super) samples: Vec<SampleResult>,
    /// The action of the parent when the branch has ended.
    pub(super) parent_request: ParentRequest,
}

/// What a branch user requests from its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ParentRequest {
    /// Nothing.
    #[default]
    Nothing,
    /// Begin the thread group's next iteration.
    NextIteration,
    /// Stop.
    Stop,
}
