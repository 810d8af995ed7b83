//! Computes how many users a group has and when they start, at the beginning of a phase.

use std::sync::Arc;

use busyhour_program::Program;
use busyhour_program::group::Group;
use busyhour_program::open::NoFreeUser;
use busyhour_program::population::{Lifetime, Lifetimes};
use busyhour_program::run::RunShared;
use busyhour_program::sampler::Protocol;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::core_share::users_in;
use crate::open::dispatch::OpenStart;

/// Why a group does not start, with the same text as in JMeter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InvalidGroup(String);

/// A thread group about to run.
#[derive(Clone, Debug)]
pub(crate) struct GroupStart {
    /// Index of the group in the program.
    pub(super) group: u32,
    /// Number of its users in the whole run; each process starts its share of them.
    pub(super) users: u32,
    /// Nanoseconds between the starts of two users.
    pub(super) spacing_ns: u64,
    /// When the first user starts.
    pub(super) first: Nanos,
    /// When the group ends.
    pub(super) end: Option<Nanos>,
    /// The start and end times of all users of the whole run, sorted by start; `None` if the ramp-up determines the starts.
    pub(super) lifetimes: Option<Arc<[Lifetime]>>,
}

/// A workload that a phase starts.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// A group that starts its own users.
    Closed(GroupStart),
    /// Index of a group whose number of users is held at a level.
    Level(u32),
    /// An open workload.
    Open(OpenStart),
}

/// The start of a phase: the planned time, or now.
fn begin(shared: &RunShared, planned: Option<Nanos>) -> Nanos {
    planned.unwrap_or_else(|| shared.clock.now())
}

/// Plans the users of a group that start evenly over the ramp-up.
///
/// # Errors
/// If the duration is invalid; the group does not start.
pub(super) fn plan_group<P: Protocol>(
    shared: &Arc<RunShared>,
    index: u32,
    group: &Group<P>,
    planned: Option<Nanos>,
) -> Result<GroupStart, InvalidGroup> {
    let mut user = UserState::new(Arc::clone(shared), None, index, 0);
    let users = u32::try_from(group.users.integer(&mut user, 0).max(0)).unwrap_or(u32::MAX);
    let users = users.saturating_mul(shared.user_factor(index));
    shared.plan_users(index, users_in(shared.share_of(index), users));
    let ramp_up_s = group.ramp_up.integer(&mut user, 0).max(0);
    // JMeter computes the spacing in whole milliseconds with a 32-bit float.
    let spacing_ms = if users == 0 { 0.0 } else { (ramp_up_s as f32 * 1000.0 / users as f32).round() };
    let spacing_ns = (spacing_ms as u64).saturating_mul(1_000_000);
    let mut first = begin(shared, planned);
    let mut end = None;
    if let Some(schedule) = &group.schedule {
        let delay_s = u64::try_from(schedule.delay.integer(&mut user, 0)).unwrap_or(0);
        let duration_s = schedule.duration.integer(&mut user, 0);
        first = first + Nanos::from_secs(delay_s).0;
        let Some(duration_s) = u64::try_from(duration_s).ok().filter(|s| *s > 0) else {
            let name = &shared.groups[index as usize].name;
            let why = format!("Invalid duration {duration_s} set in Thread Group:{name}");
            return Err(InvalidGroup(why));
        };
        end = Some(first + Nanos::from_secs(duration_s).0);
    }
    // Users of a generator that joins later start over the ramp-up, and end at the planned time.
    let first = first.max(shared.part.joined());
    Ok(GroupStart { group: index, users, spacing_ns, first, end, lifetimes: None })
}

/// Plans the users of a group with individual start and end times.
///
/// # Errors
/// If the settings cannot be evaluated; the group does not start.
pub(crate) fn plan_lifetimes(
    shared: &Arc<RunShared>,
    index: u32,
    lifetimes: &Lifetimes,
    planned: Option<Nanos>,
) -> Result<GroupStart, InvalidGroup> {
    let mut user = UserState::new(Arc::clone(shared), None, index, 0);
    let mut all = lifetimes.of(&mut user).map_err(|error| InvalidGroup(error.into()))?;
    all.sort_by_key(|lifetime| lifetime.begin_ms);
    let users = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let first = begin(shared, planned);
    Ok(GroupStart { group: index, users, spacing_ns: 0, first, end: None, lifetimes: Some(all.into()) })
}

/// Time between the decision to start an open workload and the beginning of its schedule, in nanoseconds.
const OPEN_LEAD_NS: u64 = 10_000_000;

/// The start of an open workload, with the initial and the maximum number of users of each group in the whole run.
pub(super) fn plan_open<P: Protocol>(
    program: &Program<P>,
    shared: &Arc<RunShared>,
    workload: u32,
    planned: Option<Nanos>,
) -> OpenStart {
    let open = &program.open[workload as usize];
    let users = |index: u32| {
        let mut user = UserState::new(Arc::clone(shared), None, index, 0);
        let number = open.users.as_ref().unwrap_or(&program.groups[index as usize].users);
        let number = u32::try_from(number.integer(&mut user, 0).max(1)).unwrap_or(u32::MAX);
        match open.no_free_user {
            NoFreeUser::Queue | NoFreeUser::Drop => (number, number),
            NoFreeUser::Grow(most) | NoFreeUser::GrowOrDrop(most) => (0, most.max(1)),
        }
    };
    let users = open.groups.iter().map(|(group, _)| users(*group)).collect();
    // The cores need a moment to receive the command; without this lead the first arrivals would be late.
    let first = planned.unwrap_or_else(|| shared.clock.now() + OPEN_LEAD_NS);
    OpenStart { workload, first, users }
}
