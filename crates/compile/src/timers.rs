//! Compiles timers.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::barrier::SynchronizingTimer;
use busyhour_engine::delays::{ConstantThroughput, Draw, ThinkTime, ThroughputMode};
use busyhour_plan::Element;
use busyhour_program::element::Timer;
use busyhour_program::template::Template;

use crate::context::Context;
use crate::elements::timers::TimerClass;
use crate::{open, rate_timers, scripts, think};

/// Compiles a timer; `None` if it is rejected.
pub(crate) fn timer<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: TimerClass,
) -> Option<Arc<dyn Timer>> {
    // If a schedule starts the sessions of a group, only the schedule sets the rate.
    if context.group.is_open && class.rate_timer().is_some() {
        open::report_rate_timer(context, element);
        return None;
    }
    if let Some(known) = context.parts.timers.get(&element.id()) {
        return known.clone();
    }
    let compiled: Option<Arc<dyn Timer>> = match class {
        TimerClass::ConstantThroughput => constant_throughput(context, element),
        TimerClass::PreciseThroughput => rate_timers::precise(context, element),
        TimerClass::ThroughputShaping => rate_timers::shaping(context, element),
        TimerClass::Synchronizing => synchronizing(context, element),
        TimerClass::Script(source) => match scripts::timer(context, element, source) {
            Ok(timer) => Some(Arc::new(timer)),
            Err(refusal) => {
                context.findings.refuse(element, &refusal);
                None
            }
        },
        TimerClass::Constant => pause(context, element, Draw::Constant),
        TimerClass::UniformRandom => pause(context, element, Draw::Uniform),
        TimerClass::GaussianRandom => pause(context, element, Draw::Gaussian),
        TimerClass::PoissonRandom => pause(context, element, Draw::Poisson),
    };
    if compiled.is_some() {
        context.parts.rate_timers.extend(class.rate_timer());
    }
    context.parts.timers.insert(element.id(), compiled.clone());
    compiled
}

/// Compiles a timer whose pauses are drawn from `draw`, or from the distribution in the property `busyhour.think` if the timer
/// has one.
fn pause<'p>(context: &mut Context<'p>, element: Element<'p>, draw: Draw) -> Option<Arc<dyn Timer>> {
    if let Some(think) = think::native(context, element) {
        return think;
    }
    let offset_ms = context.text_or(element, "ConstantTimer.delay", "0");
    let range_ms = context.text_or(element, "RandomTimer.range", "0");
    let factor = context.options.properties.number("timer.factor", 1.0);
    Some(Arc::new(ThinkTime { draw, offset_ms, range_ms, factor }))
}

fn synchronizing<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    let group_size = context.text_or(element, "groupSize", "0");
    let timeout_ms = context.text_or(element, "timeoutInMs", "0");
    let number = |template: &Template| template.as_literal().and_then(|text| text.trim().parse::<i64>().ok());
    let mut refuse = |property: &str, what: &str, hint: &str| {
        let finding = Diagnostic::error("invalid-value", what).with_hint(hint);
        context.findings.add_at(element, property, finding);
    };
    if number(&group_size).is_some_and(|size| size < 0) {
        refuse("groupSize", "the group size cannot be negative", "JMeter does not start such a test");
        return None;
    }
    if number(&timeout_ms).is_some_and(|ms| ms < 0) {
        refuse("timeoutInMs", "the timeout cannot be negative", "0 waits without a time limit");
        return None;
    }
    if number(&group_size) == Some(0) && context.group.is_open {
        let finding = Diagnostic::error(
            "unsupported-setting",
            "a group whose sessions are started by a schedule has no fixed number of users to wait for",
        );
        context
            .findings
            .add_unsupported(element.locate(finding).with_hint("set the number of users: groupSize"));
        return None;
    }
    Some(Arc::new(SynchronizingTimer::new(element.name().to_owned(), group_size, timeout_ms)))
}

fn constant_throughput<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    let mode = throughput_mode(context, element)?;
    let per_minute = match element.property("throughput").and_then(|property| property.text()) {
        Some(_) => context.text(element, "throughput"),
        None => Template::literal("60"),
    };
    Some(Arc::new(ConstantThroughput {
        per_minute,
        mode,
        shared_all: Arc::clone(&context.parts.schedules.all),
        shared_group: Arc::clone(&context.parts.schedules.by_group),
        state: context.symbols.state(),
    }))
}

/// The calculation mode of a Constant Throughput Timer: whose samples it counts.
fn throughput_mode<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<ThroughputMode> {
    Some(match element.text("calcMode").unwrap_or("0").trim() {
        "0" | "" => ThroughputMode::ThisThreadOnly,
        "1" => ThroughputMode::AllActive,
        "2" => ThroughputMode::ActiveInGroup,
        "3" => ThroughputMode::AllActiveShared,
        "4" => ThroughputMode::ActiveInGroupShared,
        // Older plans contain the text of the list box instead of its index.
        text if text.eq_ignore_ascii_case("this thread only") => ThroughputMode::ThisThreadOnly,
        text if text.eq_ignore_ascii_case("all active threads") => ThroughputMode::AllActive,
        text if text.eq_ignore_ascii_case("all active threads in current thread group") => {
            ThroughputMode::ActiveInGroup
        }
        text if text.eq_ignore_ascii_case("all active threads (shared)") => ThroughputMode::AllActiveShared,
        text if text.eq_ignore_ascii_case("all active threads in current thread group (shared)") => {
            ThroughputMode::ActiveInGroupShared
        }
        text => {
            let finding =
                Diagnostic::error("invalid-value", format!("the calculation mode {text:?} is unknown"));
            let finding = finding.with_hint("calcMode is a number from 0 to 4");
            if let Some(property) = element.property("calcMode") {
                context.findings.add(property.locate(finding));
            }
            return None;
        }
    })
}
