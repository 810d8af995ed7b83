//! The arrivals of the Arrivals and the Free-Form Arrivals Thread Group of jmeter-plugins.
//!
//! The plugin computes each arrival from the previous one: the interval is the reciprocal of the rate at the previous
//! arrival. Therefore arrivals are evenly spaced, and while the rate changes, the spacing follows with a delay of one
//! arrival.

use busyhour_arrivals::ArrivalProcess;
use busyhour_diagnostic::Diagnostic;
use busyhour_plan::{Element, Property};
use busyhour_program::open::{NoFreeUser, OpenWorkload};

use crate::context::Context;
use crate::elements::groups::GroupClass;

/// The maximum number of arrivals and of pauses with a rate of 0 that are computed in advance.
const ARRIVALS_MAX: usize = 20_000_000;

/// The time that the plugin waits while the rate is 0, in seconds.
const PAUSE_S: f64 = 0.2;

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
enum Rate {
    /// Rises to a target, then stays constant.
    Level { target_per_s: f64, ramp_up_s: f64, steps: f64, hold_s: f64 },
    /// Rows of start rate and end rate (per second) and duration (seconds).
    Rows(Vec<(f64, f64, f64)>),
}

impl Rate {
    /// The rate at the time `at_s`, after this number of arrivals; `None` after the end.
    fn at(&self, at_s: f64, arrivals: usize) -> Option<f64> {
        match self {
            Rate::Level { target_per_s, ramp_up_s, steps, hold_s } => {
                if at_s >= ramp_up_s + hold_s {
                    return None;
                }
                Some(if *ramp_up_s == 0.0 || at_s > *ramp_up_s {
                    *target_per_s
                } else if *steps > 0.0 {
                    target_per_s / steps * ((at_s / (ramp_up_s / steps)).floor() + 1.0)
                } else {
                    // Before the first arrival this is 0, so there is no arrival until the end of the ramp.
                    let slope = target_per_s / ramp_up_s;
                    slope * (2.0 * arrivals as f64 / slope).sqrt()
                })
            }
            Rate::Rows(rows) => {
                let mut offset_s = 0.0;
                for (from, to, seconds) in rows {
                    let progress = (at_s - offset_s) / seconds;
                    // The plugin counts whole seconds here.
                    offset_s = (offset_s + seconds).trunc();
                    if at_s <= offset_s {
                        let rate = from + progress * (to - from);
                        return (rate >= 0.0).then_some(rate);
                    }
                }
                None
            }
        }
    }

    /// The approximate number of arrivals, not including those during a ramp to a level.
    fn area(&self) -> f64 {
        match self {
            Rate::Level { target_per_s, hold_s, .. } => target_per_s * hold_s,
            Rate::Rows(rows) => rows.iter().map(|(from, to, seconds)| (from + to) / 2.0 * seconds).sum(),
        }
    }

    /// The arrivals in nanoseconds, and the time at which the plugin finds that there are no more; `None` if there are
    /// too many.
    fn arrivals_ns(&self) -> Option<(Vec<u64>, u64)> {
        // Reject a rate with too many arrivals before computing them.
        if self.area() > 2.0 * ARRIVALS_MAX as f64 {
            return None;
        }
        let mut all = Vec::new();
        let mut at_s = 0.0_f64;
        let mut pauses = 0;
        while let Some(rate) = self.at(at_s, all.len()) {
            if all.len() + pauses >= ARRIVALS_MAX {
                return None;
            }
            // If the slope is 0, the rate is not a number.
            if rate > 0.0 {
                all.push((at_s * 1e9).round() as u64);
                at_s += 1.0 / rate;
            } else {
                pauses += 1;
                at_s += PAUSE_S;
            }
        }
        Some((all, (at_s * 1e9).round() as u64))
    }
}

/// The number of seconds in the unit of the group's times.
pub(crate) fn unit_s(element: Element<'_>) -> u32 {
    if element.text("Unit") == Some("M") { 60 } else { 1 }
}

/// The workload of a group of this kind; `index` is its index in the program.
pub(crate) fn workload<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: GroupClass,
    index: u32,
) -> Option<OpenWorkload> {
    if context.at_start(element, "ArrivalsLimit").parse().is_ok_and(|limit: i64| limit > 0) {
        context.findings.unsupported_setting(
            element,
            "ArrivalsLimit",
            "a limit of arrivals is not supported",
        );
    }
    let rate = if class == GroupClass::FreeFormArrivals {
        rows(context, element)?
    } else {
        level(context, element)?
    };
    let Some((arrivals_ns, end_ns)) = rate.arrivals_ns() else {
        let text = format!(
            "the thread group has more than {ARRIVALS_MAX} arrivals, or pauses too long at a rate of 0"
        );
        let finding = element.locate(Diagnostic::error("unsupported-setting", text));
        context
            .findings
            .add_unsupported(finding.with_hint("use the command line: --arrivals 'even(RATE/s) for TIME'"));
        return None;
    };
    warn_about_spacing(context, element, &rate);
    let limit = context.at_start(element, "ConcurrencyLimit").parse::<i64>().unwrap_or(0);
    let no_free_user = match u32::try_from(limit) {
        Ok(0) | Err(_) => NoFreeUser::Grow(u32::MAX),
        Ok(limit) => NoFreeUser::GrowOrDrop(limit),
    };
    Some(OpenWorkload {
        process: ArrivalProcess::from_times(element.name(), arrivals_ns, end_ns),
        groups: vec![(index, 1.0)],
        no_free_user,
        users: None,
        seed: None,
        ends_with_schedule: false,
    })
}

/// Warns about the way in which the plugin spaces arrivals.
fn warn_about_spacing(context: &mut Context<'_>, element: Element<'_>, rate: &Rate) {
    let spaced = "the arrivals of the plugin are evenly spaced, not random: queues are shorter than with a Poisson process \
                  of the same rate";
    let finding = element.locate(Diagnostic::warning("even-arrivals", spaced));
    context.findings.add(finding.with_hint("for a Poisson process: --arrivals 'poisson(RATE/s) for TIME'"));
    if let Rate::Level { ramp_up_s, steps: 0.0, .. } = rate
        && *ramp_up_s > 0.0
    {
        let text = format!(
            "the plugin generates no arrivals during a ramp-up without steps ({ramp_up_s} s), and neither does this run"
        );
        let finding = element.locate(Diagnostic::warning("ramp-without-arrivals", text));
        context
            .findings
            .add(finding.with_hint("give the ramp steps, or use the Free-Form Arrivals Thread Group"));
    }
}

fn level<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Rate> {
    let unit = f64::from(unit_s(element));
    let target: i32 = match element.property("TargetLevel") {
        Some(_) => context.at_start(element, "TargetLevel").trim().parse().unwrap_or(0),
        None => 1,
    };
    let steps = match context.at_start(element, "Steps").trim() {
        "" => 0.0,
        text => match text.parse::<i64>() {
            Ok(steps) => steps as f64,
            Err(_) => return invalid(context, element, "Steps"),
        },
    };
    let mut seconds = |name: &str, default: &str| {
        let text = match element.property(name) {
            Some(_) => context.at_start(element, name),
            None => default.to_owned(),
        };
        match text.trim() {
            "" => Some(0.0),
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Some((number * unit + 0.5).floor()),
                _ => invalid(context, element, name),
            },
        }
    };
    let (ramp_up_s, hold_s) = (seconds("RampUp", "")?, seconds("Hold", "1")?);
    Some(Rate::Level { target_per_s: f64::from(target) / unit, ramp_up_s, steps, hold_s })
}

fn rows<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Rate> {
    let unit = f64::from(unit_s(element));
    let mut rows = Vec::new();
    for row in element.collection("Schedule").into_iter().flat_map(Property::items) {
        let cells: Vec<Property<'p>> = row.items().collect();
        let [from, to, time, ..] = cells.as_slice() else {
            let text = format!("a row of the Free-Form Arrivals Thread Group has {} cells", cells.len());
            let finding = row.locate(Diagnostic::error("invalid-value", text));
            context.findings.add(finding.with_hint("a row has a start rate, an end rate and a duration"));
            return None;
        };
        let mut number = |cell: &Property<'p>| {
            let text = context.text_at_start(cell.text().unwrap_or(""), *cell);
            // As in JMeter, a text that is not a number is read as 0.
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).unwrap_or(0.0)
        };
        let (from, to, time) = (number(from), number(to), number(time));
        if time > 0.0 {
            rows.push((from / unit, to / unit, time * unit));
        }
    }
    if rows.is_empty() {
        context.findings.warn(
            element,
            "no-schedule",
            "the thread group has no schedule: nothing will be sent",
        );
    }
    Some(Rate::Rows(rows))
}

fn invalid<T>(context: &mut Context<'_>, element: Element<'_>, name: &str) -> Option<T> {
    let finding = Diagnostic::error("invalid-value", format!("{name} of the thread group is not a number"));
    context.findings.add_at(element, name, finding);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(rate: &Rate) -> (Vec<u64>, u64) {
        let (all, end) = rate.arrivals_ns().unwrap();
        (all.into_iter().map(|ns| ns / 1_000_000).collect(), end / 1_000_000)
    }

    #[test]
    fn arrivals_within_a_step_are_evenly_spaced() {
        let rate = Rate::Level { target_per_s: 8.0, ramp_up_s: 2.0, steps: 2.0, hold_s: 0.5 };
        let (all, end) = ms(&rate);
        assert_eq!(all[..7], [0, 250, 500, 750, 1_000, 1_125, 1_250]);
        // At the very end of the ramp the plugin counts one step too many: 12 per second.
        assert_eq!(all[12..], [2_000, 2_083, 2_208, 2_333, 2_458]);
        assert_eq!(end, 2_583);
    }

    #[test]
    fn a_ramp_without_steps_has_no_arrivals() {
        let rate = Rate::Level { target_per_s: 10.0, ramp_up_s: 1.0, steps: 0.0, hold_s: 0.4 };
        assert_eq!(ms(&rate), (vec![1_200, 1_300], 1_400));
    }

    #[test]
    fn each_interval_depends_on_the_rate_at_the_previous_arrival() {
        let rate = Rate::Rows(vec![(0.0, 10.0, 2.0), (10.0, 10.0, 1.0)]);
        let (all, end) = ms(&rate);
        // 1/s at 0.2 s: an interval of one second; 6/s at 1.2 s.
        assert_eq!(all[..3], [200, 1_200, 1_366]);
        assert!(end > 3_000 && end < 3_101, "{end}");
        assert_eq!(ms(&Rate::Rows(vec![(2.0, 2.0, 1.0), (-1.0, 2.0, 5.0)])), (vec![0, 500, 1_000], 1_500));
        assert_eq!(ms(&Rate::Rows(Vec::new())), (Vec::new(), 0));
    }

    #[test]
    fn computing_no_arrivals_or_too_many_arrivals_ends() {
        let rate = Rate::Level { target_per_s: 0.0, ramp_up_s: 1.0, steps: 0.0, hold_s: 1.0 };
        assert_eq!(ms(&rate).0, Vec::<u64>::new());
        let many = Rate::Level { target_per_s: 1e6, ramp_up_s: 0.0, steps: 0.0, hold_s: 1e6 };
        assert_eq!(many.arrivals_ns(), None);
    }
}
