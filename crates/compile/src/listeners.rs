//! Compiles listeners: result files, and listeners that process samples.

use std::sync::Arc;

use busyhour_plan::Element;
use busyhour_processors::{
    AutoStop, AutoStopLimit, AutoStopSettings, Refusal, SaveResponses, SaveResponsesSettings,
};
use busyhour_program::element::Processor;
use busyhour_record::{CustomColumns, JtlColumn, SampleFilter, SaveConfig};

use crate::context::Context;
use crate::elements::listeners::{ResultFileClass, SampleListenerClass};
use crate::outputs::ListenerFile;
use crate::{save_settings, scripts};

/// The index of the result file that a listener writes, if it writes one.
pub(crate) fn result_file<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: ResultFileClass,
) -> Option<usize> {
    if let Some(known) = context.outputs.known_file(element.id()) {
        return known;
    }
    let file = listener_file(context, element, class);
    context.outputs.add_file(element.id(), file)
}

fn listener_file<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: ResultFileClass,
) -> Option<ListenerFile> {
    if element.text("filename").is_none_or(|name| name.trim().is_empty()) {
        return None;
    }
    let path = context.text(element, "filename");
    match class {
        ResultFileClass::Columns => {
            let config = columns(context, element);
            return Some(ListenerFile { path, config, filter: SampleFilter::All });
        }
        ResultFileClass::MailCollector => {
            context.findings.warn(element, "silent-listener", "no mail is sent");
        }
        ResultFileClass::Collector | ResultFileClass::PluginCollector => {}
    }
    let mut config = save_config_of(context, element, class == ResultFileClass::PluginCollector);
    config.in_functional_mode(context.outputs.functional_mode);
    let filter = if context.flag(element, "ResultCollector.error_logging", false) {
        SampleFilter::Errors
    } else if context.flag(element, "ResultCollector.success_only_logging", false) {
        SampleFilter::Successes
    } else {
        SampleFilter::All
    };
    Some(ListenerFile { path, config, filter })
}

/// The save configuration of a listener. The listeners of jmeter-plugins always save the numbers of users.
pub(crate) fn save_config_of<'p>(
    context: &Context<'p>,
    element: Element<'p>,
    is_of_plugin: bool,
) -> SaveConfig {
    let mut config = save_settings::save_config(&context.options.properties).unwrap_or_default();
    if let Some(object) = element.object("saveConfig") {
        let fields: Vec<_> = object.items().map(|field| (field.tag(), field.text().unwrap_or(""))).collect();
        config = SaveConfig::for_listener(&config, fields);
    }
    if is_of_plugin {
        config.shown.set(JtlColumn::ThreadCounts, true);
    }
    config
}

/// The columns of a Flexible File Writer.
fn columns<'p>(context: &mut Context<'p>, element: Element<'p>) -> SaveConfig {
    let mut text = |name: &str| context.now(element.text(name).unwrap_or_default());
    let columns = CustomColumns {
        columns: text("columns"),
        header: text("header"),
        footer: text("footer"),
        overwrite: text("overwrite").eq_ignore_ascii_case("true"),
    };
    SaveConfig { columns: Some(Box::new(columns)), ..SaveConfig::default() }
}

/// Compiles a listener that processes samples; `None` if it is rejected.
pub(crate) fn sample_listener<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: SampleListenerClass,
) -> Option<Arc<dyn Processor>> {
    if let Some(known) = context.parts.processors.get(&element.id()) {
        return known.clone();
    }
    let compiled: Result<Arc<dyn Processor>, Refusal> = match class {
        SampleListenerClass::SaveResponses => Ok(Arc::new(save_responses(context, element))),
        SampleListenerClass::AutoStop => Ok(Arc::new(auto_stop(context, element))),
        SampleListenerClass::Script(source) => {
            scripts::listener(context, element, source).map(|compiled| Arc::new(compiled) as _)
        }
    };
    let compiled = compiled.map_err(|refusal| context.findings.refuse(element, &refusal)).ok();
    context.parts.processors.insert(element.id(), compiled.clone());
    compiled
}

fn save_responses<'p>(context: &mut Context<'p>, element: Element<'p>) -> SaveResponses {
    SaveResponses::new(SaveResponsesSettings {
        file_name: context.text(element, "FileSaver.filename"),
        variable: context.text(element, "FileSaver.variablename"),
        errors_only: context.flag(element, "FileSaver.errorsonly", false),
        successes_only: context.flag(element, "FileSaver.successonly", false),
        without_number: context.flag(element, "FileSaver.skipautonumber", false),
        without_suffix: context.flag(element, "FileSaver.skipsuffix", false),
        with_start: context.flag(element, "FileSaver.addTimstamp", false),
        digits_min: usize::try_from(context.number(element, "FileSaver.numberPadLen", 0))
            .unwrap_or(0)
            .min(64),
        without_transactions: context.flag(element, "FileSaver.ignoreTC", true),
        base_prefix: save_settings::base_prefix(&context.options.properties),
        base_dir: context.options.base_dir.clone(),
    })
}

fn auto_stop<'p>(context: &mut Context<'p>, element: Element<'p>) -> AutoStop {
    let mut limit = |name: &str, seconds: &str| AutoStopLimit {
        limit: context.text(element, name),
        seconds: context.text(element, seconds),
    };
    AutoStop::new(AutoStopSettings {
        response_time: limit("avg_response_time", "avg_response_time_length"),
        latency: limit("avg_response_latency", "avg_response_latency_length"),
        error_rate: limit("error_rate", "error_rate_length"),
        percentile_time: limit("percentile_response_time", "percentile_response_time_secs"),
        percentile: context.text(element, "percentile_value"),
    })
}
