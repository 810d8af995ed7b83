//! CPU time of a machine by mode and by core.

use super::catalogue::CPU_METRIC;
use super::lines::{NotDrawn, PlannedLine, keep_largest};
use super::survey::Survey;

/// The CPU whose series contain the sum over all CPUs, on machines with many CPUs.
const ALL: &str = "all";

/// The names of the lines, and the modes of busy CPUs that each line combines.
const MODES: [(&str, &[&str]); 4] = [
    ("programs", &["user", "nice"]),
    ("kernel", &["system"]),
    ("interrupts", &["irq", "softirq"]),
    ("stolen by the hypervisor", &["steal"]),
];

/// The CPUs of a machine with their own series, in numerical order.
pub(super) fn cpus<'s>(survey: &'s Survey, series: &[usize]) -> Vec<&'s str> {
    let of = series.iter().map(|number| &survey.series[*number]).filter(|one| one.info.name == CPU_METRIC);
    let mut cpus: Vec<&str> = of.filter_map(|one| one.label("cpu")).filter(|cpu| *cpu != ALL).collect();
    cpus.sort_unstable_by_key(|cpu| (cpu.parse::<u32>().unwrap_or(u32::MAX), *cpu));
    cpus.dedup();
    cpus
}

/// Shares of the CPU time of the machine.
pub(super) fn modes(survey: &Survey, series: &[usize]) -> Vec<PlannedLine> {
    let all = of_modes(survey, series);
    let lines = MODES.into_iter().map(|(name, modes)| share(survey, &all, name, modes));
    lines.filter(|line| !line.series.is_empty()).collect()
}

/// The share of the time in which CPUs were idle while a thread that had run there waited for a disk.
pub(super) fn idle_for_disks(survey: &Survey, series: &[usize]) -> Vec<PlannedLine> {
    let line = share(survey, &of_modes(survey, series), "idle, waiting for a disk", &["iowait"]);
    if line.series.is_empty() { Vec::new() } else { vec![line] }
}

fn share(survey: &Survey, all: &[usize], name: &str, modes: &[&str]) -> PlannedLine {
    let mut line = PlannedLine::new(name.to_owned(), 100.0);
    for number in all {
        let one = &survey.series[*number];
        if one.label("mode").is_some_and(|mode| modes.contains(&mode)) {
            line.series.push(*number);
            line.largest += one.max;
            line.is_changing |= one.max > one.min;
        }
    }
    all.clone_into(&mut line.share_of);
    line
}

/// The series of all modes. If there are series with the sum over all CPUs, only these.
fn of_modes(survey: &Survey, series: &[usize]) -> Vec<usize> {
    let of = |number: &&usize| {
        survey.series[**number].info.name == CPU_METRIC && survey.series[**number].values > 0
    };
    let is_sum = |number: &usize| survey.series[*number].label("cpu") == Some(ALL);
    let has_sum = series.iter().filter(of).any(is_sum);
    series.iter().filter(of).filter(|number| !has_sum || is_sum(number)).copied().collect()
}

/// The utilization of each core in %. Only the busiest cores have a line.
pub(super) fn cores(survey: &Survey, series: &[usize]) -> (Vec<PlannedLine>, NotDrawn) {
    let mut lines: Vec<PlannedLine> = Vec::new();
    for cpu in cpus(survey, series) {
        let mut line = PlannedLine::new(format!("CPU {cpu}"), -100.0);
        line.offset = 100.0;
        let mut idle = 0.0;
        for number in series {
            let one = &survey.series[*number];
            let is_idle = one.info.name == CPU_METRIC
                && one.label("cpu") == Some(cpu)
                && one.label("mode").is_some_and(|mode| mode == "idle" || mode == "iowait");
            if let Some(mean) = one.mean().filter(|_| is_idle) {
                line.series.push(*number);
                idle += mean;
            }
        }
        line.largest = 1.0 - idle;
        line.is_changing = true;
        if !line.series.is_empty() {
            lines.push(line);
        }
    }
    if lines.len() < 2 {
        // With a single core, the values are those of the machine.
        return (Vec::new(), NotDrawn::default());
    }
    let not_drawn = keep_largest(&mut lines);
    (lines, not_drawn)
}
