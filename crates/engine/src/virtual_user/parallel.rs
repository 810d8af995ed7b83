//! Parallel branches of one user, the *parent*: each branch runs as a *branch user* with a copy of the parent's variables.
//! When the branch ends, its changes to variables are merged into those of the parent.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use busyhour_program::controller::ControllerKind;
use busyhour_program::group::{Group, OnError};
use busyhour_program::ids::{ControllerId, SamplerId};
use busyhour_program::result::SampleResult;
use busyhour_program::sampler::{Parallel, Protocol, SamplerPackage};
use busyhour_program::user::LogicalAction;
use busyhour_program::variables::Variables;
use busyhour_sample::{Nanos, SampleOutcome, SampleTimes};

use super::delivery::add_to_transaction;
use super::state::VirtualUser;
use crate::control::{ControllerState, ROOT, Walk};
use crate::virtual_user::state::BranchState;
use crate::virtual_user::state::ParallelState;
use crate::virtual_user::state::ParentRequest;

/// A running branch.
type Walking<'b> = Pin<Box<dyn Future<Output = ()> + 'b>>;

/// Runs futures concurrently, `at_once` at a time, starting them in their order; returns their numbers in the order in which
/// they ended.
async fn side_by_side(mut branches: Vec<Option<Walking<'_>>>, at_once: usize) -> Vec<usize> {
    let mut ended = Vec::with_capacity(branches.len());
    poll_fn(|context| {
        let mut running = 0;
        for (at, slot) in branches.iter_mut().enumerate() {
            if running == at_once {
                break;
            }
            let Some(branch) = slot else { continue };
            match branch.as_mut().poll(context) {
                Poll::Ready(()) => {
                    *slot = None;
                    ended.push(at);
                }
                Poll::Pending => running += 1,
            }
        }
        if running == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    ended
}

impl<P: Protocol> VirtualUser<P> {
    fn own_branch(&mut self) -> Option<&mut BranchState> {
        self.side.as_mut()?.own.as_mut()
    }

    /// The controller at which this user's walk begins.
    pub(super) fn root(&self) -> ControllerId {
        let own = self.side.as_ref().and_then(|side| side.own.as_ref());
        own.map_or(ROOT, |branch| branch.root)
    }

    /// Whether the walk is complete.
    pub(super) fn is_over(&mut self, group: &Group<P>) -> bool {
        let root = self.root();
        Walk::new(group, &mut self.place, &mut self.user).is_over(root)
    }

    /// The action after a failed sample. The setting of the group does not apply to branches.
    pub(super) fn on_error(&self, group: &Group<P>) -> OnError {
        if self.root() == ROOT { group.on_error } else { OnError::Continue }
    }

    /// Requests that the parent stops, because a Flow Control Action in this branch stops its user.
    pub(super) fn stop_parent_user(&mut self) {
        if let Some(branch) = self.own_branch() {
            branch.parent_request = ParentRequest::Stop;
        }
    }

    /// Ends the branch and the iteration of the parent, because of a jump to the thread group's next iteration.
    pub(super) fn leave_branch(&mut self) {
        if let Some(branch) = self.own_branch() {
            branch.parent_request = ParentRequest::NextIteration;
            self.user.running = false;
        }
    }

    /// Whether a sample is only a part of the parent's sample; if so, it is stored for the parent.
    pub(super) fn stores_for_parent(&mut self, result: &SampleResult) -> bool {
        match self.own_branch() {
            Some(branch) if branch.inside => {
                branch.samples.push(result.clone());
                true
            }
            _ => false,
        }
    }

    /// Whether samples of this user are not reported, because they are only parts of the parent's sample.
    pub(super) fn is_part_of_parent_sample(&mut self) -> bool {
        self.own_branch().is_some_and(|branch| branch.inside)
    }

    /// Stores the parts of a sample that are needed by transactions outside of the branch.
    pub(super) fn store_for_outer_transactions(
        &mut self,
        group: &Group<P>,
        package: &SamplerPackage<P>,
        result: &SampleResult,
    ) {
        let Some(branch) = self.own_branch() else { return };
        let around = package.ancestors.iter().skip_while(|id| **id != branch.root).skip(1);
        let transaction = |id: &ControllerId| {
            matches!(group.controllers[id.0 as usize].kind, ControllerKind::Transaction(_))
        };
        if around.into_iter().any(transaction) {
            branch.samples.push(SampleResult {
                outcome: SampleOutcome { success: result.outcome.success, ..SampleOutcome::default() },
                times: SampleTimes { idle_ns: 0, ..result.times },
                users: result.users,
                sizes: result.sizes,
                ..SampleResult::default()
            });
        }
    }

    /// Runs all branches to their ends; returns `false` if the controller has no sample of its own.
    pub(super) async fn run_side_by_side(
        &mut self,
        group: &Group<P>,
        id: SamplerId,
        parallel: &Parallel,
        intended: Nanos,
    ) -> bool {
        let package = &group.samplers[id.0 as usize];
        let at_once = match &parallel.at_once {
            Some(number) => usize::try_from(number.integer(&mut self.user, 6)).unwrap_or(1).max(1),
            None => usize::MAX,
        };
        if parallel.parent {
            self.user.begin_result(&package.label, intended);
        }
        let before = self.user.variables.clone();
        let mut branches = self.take_branches(parallel);
        for branch in &mut branches {
            self.prepare(branch, parallel.parent, &before);
        }
        let walks = branches.iter_mut().map(|branch| Some(walk(branch, group))).collect();
        let ended = side_by_side(walks, at_once).await;
        let mut samples = Vec::new();
        for at in ended {
            let branch = &mut branches[at];
            self.user.variables.take_changes(&before, &branch.user.variables);
            P::rejoin(&mut self.session, &mut branch.session);
            let Some(own) = branch.own_branch() else { continue };
            samples.append(&mut own.samples);
            match std::mem::take(&mut own.parent_request) {
                ParentRequest::Nothing => {}
                ParentRequest::NextIteration => self.user.action = LogicalAction::NextIterationOfThread,
                ParentRequest::Stop => self.user.running = false,
            }
        }
        let side =
            self.side.get_or_insert_with(|| Box::new(ParallelState { branches: Vec::new(), own: None }));
        side.branches.append(&mut branches);
        self.steps = 0;
        if !parallel.parent {
            for sample in &samples {
                for ancestor in &package.ancestors {
                    add_to_transaction(&mut self.place, group, *ancestor, sample, self.late_ns);
                }
            }
            return false;
        }
        samples.sort_by_key(|sample| sample.times.end);
        self.gather(group, parallel, samples, package.keep.request);
        true
    }

    /// The branch users: those of the previous pass, or new ones.
    fn take_branches(&mut self, parallel: &Parallel) -> Vec<VirtualUser<P>> {
        let mut kept = self.side.as_mut().map(|side| std::mem::take(&mut side.branches)).unwrap_or_default();
        let mut branches = Vec::with_capacity(parallel.branches.len());
        for &root in &parallel.branches {
            match kept.iter().position(|branch| branch.root() == root) {
                Some(at) => branches.push(kept.swap_remove(at)),
                None => {
                    let mut branch = VirtualUser::new(
                        Arc::clone(&self.program),
                        Rc::clone(&self.core),
                        self.user.group,
                        self.user.number,
                        self.next_intended_start,
                        None,
                    );
                    let own = BranchState {
                        root,
                        inside: parallel.parent,
                        samples: Vec::new(),
                        parent_request: ParentRequest::Nothing,
                    };
                    branch.side = Some(Box::new(ParallelState { branches: Vec::new(), own: Some(own) }));
                    branches.push(branch);
                }
            }
        }
        if let Some(side) = &mut self.side {
            side.branches = kept;
        }
        branches
    }

    /// Prepares a branch user for a pass.
    fn prepare(&mut self, branch: &mut VirtualUser<P>, inside: bool, variables: &Variables) {
        let root = branch.root();
        branch.user.variables = variables.clone();
        branch.user.iteration = self.user.iteration;
        branch.user.random = self.user.branch_stream(root.0);
        branch.user.running = true;
        branch.user.action = LogicalAction::Continue;
        branch.place.states[root.0 as usize] = ControllerState::default();
        branch.next_intended_start = self.user.now() - self.late_ns;
        branch.late_ns = self.late_ns;
        P::branch(&self.session, &mut branch.session);
        if let Some(own) = branch.own_branch() {
            own.inside = inside;
            own.samples.clear();
        }
    }

    /// Completes the parent's sample, which replaces those of the branches.
    fn gather(&mut self, group: &Group<P>, parallel: &Parallel, samples: Vec<SampleResult>, describe: bool) {
        if describe {
            let mut text = String::from("Parallel items:\n");
            for root in &parallel.branches {
                group.controllers[root.0 as usize].name.render(&mut self.user, &mut text);
                text.push('\n');
            }
            self.user.result.request_data = text;
        }
        let now = self.user.now();
        let own = &mut self.user.result;
        own.outcome.code.push_str("200");
        own.outcome.message.push_str("OK");
        own.times.end = samples.iter().map(|sample| sample.times.end).max().unwrap_or(now);
        for sample in samples {
            own.outcome.success &= sample.outcome.success;
            own.sizes += sample.sizes;
            own.sub_results.push(sample);
        }
    }
}

/// Runs a pass of a branch. (A separate function, because the future of a user contains those of its branches recursively.)
fn walk<'b, P: Protocol>(branch: &'b mut VirtualUser<P>, group: &'b Group<P>) -> Walking<'b> {
    Box::pin(branch.live(group))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn the_number_of_parallel_branches_is_limited() {
        for (at_once, most) in [(1, 1), (3, 3), (usize::MAX, 7)] {
            let (running, peak) = (Cell::new(0), Cell::new(0));
            let branch = |turns: usize| {
                let (running, peak) = (&running, &peak);
                let future: Walking<'_> = Box::pin(async move {
                    running.set(running.get() + 1);
                    peak.set(peak.get().max(running.get()));
                    for _ in 0..turns {
                        tokio::task::yield_now().await;
                    }
                    running.set(running.get() - 1);
                });
                Some(future)
            };
            let ended = side_by_side((1..=7).rev().map(branch).collect(), at_once).await;
            assert_eq!(peak.get(), most);
            assert_eq!(running.get(), 0);
            let mut all = ended.clone();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4, 5, 6]);
            if at_once == 1 {
                assert_eq!(ended, all, "branches that run one at a time end in their order");
            }
        }
    }
}
