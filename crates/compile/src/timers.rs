//! Timers.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::barrier::SynchronizingTimer;
use busyhour_engine::delays::{ConstantThroughput, Draw, ThinkTime, ThroughputMode};
use busyhour_engine::element::Timer;
use busyhour_engine::template::Template;
use busyhour_plan::Element;

use crate::context::Context;
use crate::{open, processors, rate_timers, think};

/// Timers that set a rate instead of a pause: what sets the rate of a group whose sessions begin by schedule is that
/// schedule.
const RATE_TIMERS: [&str; 3] = ["ConstantThroughputTimer", "PreciseThroughputTimer", rate_timers::SHAPING];

/// The timer an element is.
pub(crate) fn timer<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    if context.in_open_group && RATE_TIMERS.contains(&element.kind()) {
        open::rate_timer(context, element);
        return None;
    }
    if let Some(known) = context.timers.get(&element.id()) {
        return known.clone();
    }
    let made: Option<Arc<dyn Timer>> = match element.kind() {
        "ConstantThroughputTimer" => constant_throughput(context, element),
        "PreciseThroughputTimer" => rate_timers::precise(context, element),
        rate_timers::SHAPING => rate_timers::shaping(context, element),
        "SyncTimer" => synchronizing(context, element),
        "JSR223Timer" | "BSFTimer" | "BeanShellTimer" => processors::script_timer(context, element),
        kind => match think::native(context, element) {
            Some(think) => think,
            None => {
                let draw = match kind {
                    "UniformRandomTimer" => Draw::Uniform,
                    "GaussianRandomTimer" => Draw::Gaussian,
                    "PoissonRandomTimer" => Draw::Poisson,
                    _ => Draw::Constant,
                };
                let offset_ms = context.text_or(element, "ConstantTimer.delay", "0");
                let range_ms = context.text_or(element, "RandomTimer.range", "0");
                let factor = context.options.properties.number("timer.factor", 1.0);
                Some(Arc::new(ThinkTime { draw, offset_ms, range_ms, factor }))
            }
        },
    };
    context.timers.insert(element.id(), made.clone());
    made
}

fn synchronizing<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    let group_size = context.text_or(element, "groupSize", "0");
    let timeout_ms = context.text_or(element, "timeoutInMs", "0");
    let number = |template: &Template| template.as_literal().and_then(|text| text.trim().parse::<i64>().ok());
    let mut refuse = |property: &str, what: &str, hint: &str| {
        let finding = Diagnostic::error("invalid-value", what).with_hint(hint);
        let located = match element.property(property) {
            Some(property) => property.locate(finding),
            None => element.locate(finding),
        };
        context.tell(located);
    };
    if number(&group_size).is_some_and(|size| size < 0) {
        refuse("groupSize", "fewer than no users cannot meet", "JMeter's test fails to start then");
        return None;
    }
    if number(&timeout_ms).is_some_and(|ms| ms < 0) {
        refuse("timeoutInMs", "a wait cannot be shorter than nothing", "0 waits as long as it takes");
        return None;
    }
    if number(&group_size) == Some(0) && context.in_open_group {
        let finding = Diagnostic::error(
            "unsupported-setting",
            "the users of a group whose sessions begin by schedule have no number that could be waited for",
        );
        context.unsupported(element.locate(finding).with_hint("say how many users are to meet: groupSize"));
        return None;
    }
    Some(Arc::new(SynchronizingTimer::new(element.name().to_owned(), group_size, timeout_ms)))
}

fn constant_throughput<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    let mode = match element.text("calcMode").unwrap_or("0").trim() {
        "0" | "" => ThroughputMode::ThisThreadOnly,
        "1" => ThroughputMode::AllActive,
        "2" => ThroughputMode::ActiveInGroup,
        "3" => ThroughputMode::AllActiveShared,
        "4" => ThroughputMode::ActiveInGroupShared,
        // Older plans hold the text of the list box.
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
            let finding = Diagnostic::error("invalid-value", format!("the way to count {text:?} is unknown"));
            let finding = finding.with_hint("calcMode is a number from 0 to 4");
            if let Some(property) = element.property("calcMode") {
                context.tell(property.locate(finding));
            }
            return None;
        }
    };
    let per_minute = match element.property("throughput").and_then(|property| property.text()) {
        Some(_) => context.text(element, "throughput"),
        None => Template::literal("60"),
    };
    Some(Arc::new(ConstantThroughput {
        per_minute,
        mode,
        shared_all: Arc::clone(&context.schedule_all),
        shared_group: Arc::clone(&context.schedules),
        state: context.symbols.state(),
    }))
}
