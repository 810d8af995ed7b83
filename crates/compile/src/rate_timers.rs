//! Timers that hand out starts from a schedule.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::element::Timer;
use busyhour_engine::precise::PreciseThroughput;
use busyhour_plan::Element;

use crate::context::Context;

/// JMeter's Precise Throughput Timer.
pub(crate) fn precise<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    // A setting that is missing is 0, as in JMeter.
    for (name, wrong) in [
        ("throughput", "without a throughput above 0 no sample would ever start"),
        ("throughputPeriod", "a throughput is so many samples in a period, which lasts a second or more"),
        ("duration", "a schedule that lasts no time has no starts"),
    ] {
        let text = element.text(name).unwrap_or("0").trim();
        if !text.contains("${") && !text.parse::<f64>().is_ok_and(|number| number > 0.0) {
            let message = format!("the Precise Throughput Timer has no starts to give: {name} is {text:?}");
            let finding = Diagnostic::error("invalid-value", message).with_hint(wrong);
            context.tell(match element.property(name) {
                Some(property) => property.locate(finding),
                None => element.locate(finding),
            });
            return None;
        }
    }
    if !matches!(element.text("batchThreadDelay").map(str::trim), None | Some("" | "0")) {
        let message = "JMeter does not use batchThreadDelay, and neither does this run: the samples of a batch begin \
                       together";
        context.warn(element, "setting-without-effect", message);
    }
    if element.text("batchSize").is_none_or(|text| text.trim().parse().is_ok_and(|size: i64| size < 1)) {
        let message = "batchSize is below 1: as in JMeter all samples belong to the first batch, and nothing sets a rate";
        context.warn(element, "batch-without-end", message);
    }
    let duration_s = context.now(element.text("duration").unwrap_or("0"));
    let message = format!(
        "the Precise Throughput Timer gives each window of {duration_s} s a fixed number of starts at random times, as \
         in JMeter: their counts vary less than those of a Poisson process"
    );
    context.warn(element, "fixed-count-arrivals", message);
    // Each timer is compiled once.
    let timer = u32::try_from(context.timers.len()).unwrap_or(u32::MAX);
    Some(Arc::new(PreciseThroughput {
        throughput: context.text_or(element, "throughput", "0"),
        period_s: context.text_or(element, "throughputPeriod", "0"),
        duration_s: context.text_or(element, "duration", "0"),
        batch_size: context.text_or(element, "batchSize", "0"),
        random_seed: context.text_or(element, "randomSeed", "0"),
        schedules: Arc::clone(&context.schedules_precise),
        timer,
    }))
}
