//! Checks before a run: limits of the system, length of schedules, expected duration.

use std::sync::Arc;
use std::time::Duration;

use busyhour_analysis::arrivals::ARRIVALS_FOR_VERDICT;
use busyhour_arrivals::Law;
use busyhour_compile::Started;
use busyhour_program::group::{Group, Phase};
use busyhour_program::open::{NoFreeUser, OpenWorkload};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_samplers::AnySampler;

use crate::event::RunEvent;
use crate::observers::Observers;
use crate::system;

/// Warns about limits of the system that the run would exceed.
pub(crate) fn limits(started: &Started, cores: usize, observers: &Observers) {
    let mut user = UserState::new(Arc::clone(&started.shared), None, 0, 0);
    let program = &started.program;
    let share = started.shared.share();
    // The number of users of a group in this share of the load. For an open workload, this is the number per group.
    let users_in = |number: &Template, user: &mut UserState| share.count_below(number_of(number, user));
    let is_open = |group: u32| program.open.iter().any(|open| open.groups.iter().any(|(at, _)| *at == group));
    let is_closed = |index: u32| !is_open(index) && started.shared.runs_group(index);
    let closed = (0..).zip(&program.groups).filter(|(index, _)| is_closed(*index));
    let of_closed = |(index, group): (u32, &Group<AnySampler>)| {
        let users = number_of(&group.users, &mut user) * u64::from(started.shared.user_factor(index));
        started.shared.share_of(index).count_below(users)
    };
    let mut users: u64 = closed.map(of_closed).sum();
    // The number of users that arrivals need depends on the server. Before the run, only its maximum is known.
    let mut may_be_made = 0_u64;
    for open in &program.open {
        let groups = open.groups.iter().filter_map(|(group, _)| program.groups.get(*group as usize));
        match (open.no_free_user, &open.users) {
            // Without a limit, there is no number that could be compared.
            (NoFreeUser::Grow(u32::MAX), _) => {}
            (NoFreeUser::Grow(most), _) => {
                may_be_made += share.count_below(u64::from(most)) * groups.count() as u64;
            }
            (_, Some(number)) => users += users_in(number, &mut user) * groups.count() as u64,
            (_, None) => users += groups.map(|group| users_in(&group.users, &mut user)).sum::<u64>(),
        }
    }
    for open in program.open.iter().filter(|open| !open.is_slow(share)) {
        let groups = open.groups.iter().filter(|(_, weight)| *weight > 0.0);
        let groups = groups.filter_map(|(group, _)| program.groups.get(*group as usize));
        let fewest = groups
            .map(|group| match (open.no_free_user, &open.users) {
                (NoFreeUser::Grow(most), _) => share.count_below(u64::from(most)),
                (_, Some(number)) => users_in(number, &mut user),
                (_, None) => users_in(&group.users, &mut user),
            })
            .min();
        if let Some(users) = fewest.filter(|users| *users < cores as u64) {
            observers.warn(format!(
                "using {cores} users instead of {users}, because each core needs at least one (for fewer users: \
                 --cores {})",
                users.max(1)
            ));
        }
    }
    if let Some(files) = system::raise_open_files() {
        if users == 0 && files < 64 {
            observers.warn(format!(
                "this process may open only {files} files, and each connection needs one; further connections \
                 will fail with \"Too many open files\" (raise the limit: ulimit -n)"
            ));
        } else if users + 64 > files {
            observers.warn(format!(
                "the plan has {users} users, but this process may open only {files} files; connections beyond \
                 that will fail with \"Too many open files\" (raise the limit: ulimit -n)"
            ));
        } else if users + may_be_made + 64 > files {
            observers.warn(format!(
                "arrivals may create up to {may_be_made} users, but this process may open only {files} files; \
                 connections beyond that will fail with \"Too many open files\" (raise the limit: ulimit -n, or lower \
                 --no-free-user 'grow to N')"
            ));
        }
    }
    if let Some(ports) = system::local_ports()
        && users > ports
    {
        observers.warn(format!(
            "the plan has {users} users, but the system has only {ports} local ports for connections to one \
             server port (net.ipv4.ip_local_port_range); further connections to a server on another machine will \
             fail (connections to a server on this machine use further loopback addresses)"
        ));
    }
}

/// Warns if a share of the load has arrivals but none of the users who serve them.
pub(crate) fn share_without_users(started: &Started, observers: &Observers) {
    let (program, share) = (&started.program, started.shared.share());
    let mut user = UserState::new(Arc::clone(&started.shared), None, 0, 0);
    let has_none = |number: u64| share.count_below(number) == 0;
    let mut lacks_users = |open: &OpenWorkload| match (open.no_free_user, &open.users) {
        (NoFreeUser::Grow(most) | NoFreeUser::GrowOrDrop(most), _) => has_none(u64::from(most)),
        (NoFreeUser::Queue | NoFreeUser::Drop, Some(number)) => has_none(number_of(number, &mut user)),
        (NoFreeUser::Queue | NoFreeUser::Drop, None) => open.groups.iter().any(|(group, _)| {
            let group = program.groups.get(*group as usize);
            group.is_some_and(|group| has_none(number_of(&group.users, &mut user)))
        }),
    };
    if !share.is_whole() && program.open.iter().any(&mut lacks_users) {
        observers.warn(format!(
            "the plan has fewer users for arrivals than the load has shares; the share {share} uses one user for each \
             thread group, so that all shares together have more users than the plan"
        ));
    }
}

/// The number of users in a template.
fn number_of(number: &Template, user: &mut UserState) -> u64 {
    u64::try_from(number.integer(user, 0)).unwrap_or(0)
}

/// Number of arrivals that is needed to determine their coefficient of variation to ± 0.03. The error rates are in
/// docs/offered-load.md.
pub const ARRIVALS_NARROW: u64 = 5_200;

/// Warns about schedules of Poisson arrivals that are too short for a verdict.
pub(crate) fn verdicts(started: &Started, observers: &Observers) {
    for open in &started.program.open {
        let expected = open.process.expected_count() * started.shared.share().size();
        let length_s = open.process.duration_ns() as f64 / 1e9;
        let needed = ARRIVALS_FOR_VERDICT as f64;
        let is_poisson = matches!(open.process.law(), Law::Poisson | Law::FixedCount);
        if is_poisson && expected > 0.0 && expected < needed && length_s > 0.0 {
            observers.emit(RunEvent::Notice(format!(
                "note: the schedule has about {expected:.0} arrivals; a verdict on their process needs {needed}, that is \
                 {:.0} s at this rate",
                (needed / expected * length_s).ceil()
            )));
        }
    }
}

/// Duration of the run, if every group has a schedule and no group runs before or after the others.
pub(crate) fn length(started: &Started) -> Option<Duration> {
    let mut user = UserState::new(Arc::clone(&started.shared), None, 0, 0);
    let mut longest = None;
    for (index, group) in (0..).zip(&started.program.groups) {
        if group.phase != Phase::Main || started.program.serialize_groups {
            return None;
        }
        let feeds =
            |open: &&busyhour_program::open::OpenWorkload| open.groups.iter().any(|(at, _)| *at == index);
        if let Some(open) = started.program.open.iter().find(feeds) {
            longest = longest.max(Some(Duration::from_nanos(open.process.duration_ns())));
            continue;
        }
        let schedule = group.schedule.as_ref()?;
        let seconds =
            schedule.delay.integer(&mut user, 0).max(0) + schedule.duration.integer(&mut user, 0).max(0);
        longest = longest.max(Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))));
    }
    longest
}
