//! Functions that return the context of their call: `__threadNum`, `__threadGroupName`, `__samplerName`, `__TestPlanName`,
//! `__machineName`, `__machineIP`, and `__iterationNum` of jmeter-plugins.

use std::fmt::Write as _;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, OnceLock};

use busyhour_program::run::LogLevel;
use busyhour_program::template::Function;
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, Target};

/// Name of the thread on which JMeter evaluates texts before the first user starts.
const ENGINE_THREAD: &str = "StandardJMeterEngine";

#[derive(Debug)]
struct ThreadNumber;

/// Builds `${__threadNum}`.
pub(crate) fn thread_number(_: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(ThreadNumber))
}

impl Function for ThreadNumber {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        if user.core.is_none() && user.run.groups.is_empty() {
            out.push_str(ENGINE_THREAD);
        } else {
            let _ = write!(out, "{}", user.number + 1);
        }
    }
}

#[derive(Debug)]
struct GroupName;

/// Builds `${__threadGroupName}`.
pub(crate) fn group_name(_: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(GroupName))
}

impl Function for GroupName {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        if let Some(group) = user.run.groups.get(user.group as usize) {
            out.push_str(&group.name);
        }
    }
}

#[derive(Debug)]
struct SamplerName {
    target: Target,
}

/// Builds `${__samplerName(variable)}`.
pub(crate) fn sampler_name(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(SamplerName { target: arguments.target(0) }))
}

impl Function for SamplerName {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        out.push_str(&user.sampler_name);
        self.target.store(user, &out[start..]);
    }
}

#[derive(Debug)]
struct PlanName;

/// Name of the property that holds the plan's file name; the command line sets it.
pub const PLAN_NAME_PROPERTY: &str = "busyhour.plan.file";

/// Property with the absolute path of the plan's folder, for scripts.
pub const PLAN_DIRECTORY_PROPERTY: &str = "busyhour.plan.directory";

/// The folder of the plan as in Java's `File.getAbsoluteFile().getParentFile()`, which does not resolve `.` and `..`.
#[must_use]
pub fn plan_directory(plan: &str) -> String {
    let working = std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
    let path = if plan.starts_with('/') { plan.to_owned() } else { format!("{working}/{plan}") };
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts.pop();
    format!("/{}", parts.join("/"))
}

/// Builds `${__TestPlanName}`.
pub(crate) fn plan_name(_: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(PlanName))
}

impl Function for PlanName {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        user.run.properties.with(PLAN_NAME_PROPERTY, |name| out.push_str(name.unwrap_or_default()));
    }
}

#[derive(Debug)]
struct Iteration;

/// Builds `${__iterationNum}` of jmeter-plugins: the iteration of the thread group, from 1.
pub(crate) fn iteration(_: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Iteration))
}

impl Function for Iteration {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let _ = write!(out, "{}", user.iteration);
    }
}

#[derive(Debug)]
struct Machine {
    determine: fn() -> String,
    /// The result, determined once because it does not change during a run.
    value: OnceLock<String>,
    target: Target,
}

/// Builds `${__machineName(variable)}`.
pub(crate) fn machine_name(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Machine { determine: host_name, value: OnceLock::new(), target: arguments.target(0) }))
}

/// Builds `${__machineIP(variable)}`.
pub(crate) fn machine_ip(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Machine { determine: host_address, value: OnceLock::new(), target: arguments.target(0) }))
}

impl Function for Machine {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let text = self.value.get_or_init(self.determine);
        if text.is_empty() {
            user.log(LogLevel::Warn, "cannot determine the name of this machine");
        }
        out.push_str(text);
        self.target.store(user, text);
    }
}

/// The host name of this machine according to the kernel.
fn host_name() -> String {
    let from_file = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::fs::read_to_string("/etc/hostname"));
    match from_file {
        Ok(name) => name.trim().to_owned(),
        Err(_) => std::env::var("HOSTNAME").unwrap_or_default(),
    }
}

/// The first address of the host name.
fn host_address() -> String {
    let addresses = (host_name(), 0).to_socket_addrs();
    let address = addresses.ok().and_then(|mut found| found.next()).map(|found| found.ip());
    address.unwrap_or(IpAddr::from([127, 0, 0, 1])).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_plan_is_absolute_and_keeps_its_dots() {
        let working = std::env::current_dir().expect("a working directory").display().to_string();
        assert_eq!(plan_directory("plan.jmx"), working);
        assert_eq!(plan_directory("./plan.jmx"), format!("{working}/."));
        assert_eq!(plan_directory("a//../b/plan.jmx"), format!("{working}/a/../b"));
        assert_eq!(plan_directory("/tests/plan.jmx"), "/tests");
        assert_eq!(plan_directory("/plan.jmx"), "/");
    }
}
