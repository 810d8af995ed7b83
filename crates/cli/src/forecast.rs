//! What can be said of a run before it begins.

use std::sync::Arc;
use std::time::Duration;

use busyhour_compile::Started;
use busyhour_engine::program::Phase;
use busyhour_engine::user::UserState;

use crate::exit::say;
use crate::system;

/// Says before the run what the system will not grant during it.
pub(crate) fn limits(started: &Started) {
    let mut user = UserState::new(Arc::clone(&started.shared), None, 0, 0);
    let program = &started.program;
    let is_open = |group: u32| program.open.iter().any(|open| open.groups.iter().any(|(at, _)| *at == group));
    let closed = (0..).zip(&program.groups).filter(|(index, _)| !is_open(*index));
    // How many users an open workload makes depends on the server; nothing can be foreseen then.
    let users: u64 =
        closed.map(|(_, group)| u64::try_from(group.users.integer(&mut user, 0)).unwrap_or(0)).sum();
    if let Some(files) = system::raise_open_files()
        && users + 64 > files
    {
        say(&format!(
            "warning: the plan has {users} users, but this process may open only {files} files; connections beyond that \
             will fail with \"Too many open files\" (raise the limit: ulimit -n)"
        ));
    }
    if let Some(ports) = system::local_ports()
        && users > ports
    {
        say(&format!(
            "warning: the plan has {users} users, but the system has only {ports} local ports for connections to one \
             server port (net.ipv4.ip_local_port_range); only a server on this machine can be reached from more \
             addresses, and is"
        ));
    }
}

/// How long the run will take, if every group has a schedule and none runs before or after the others.
pub(crate) fn length(started: &Started) -> Option<Duration> {
    let mut user = UserState::new(Arc::clone(&started.shared), None, 0, 0);
    let mut longest = None;
    for (index, group) in (0..).zip(&started.program.groups) {
        if group.phase != Phase::Main || started.program.serialize_groups {
            return None;
        }
        let feeds =
            |open: &&busyhour_engine::open::OpenWorkload| open.groups.iter().any(|(at, _)| *at == index);
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
