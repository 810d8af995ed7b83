//! Listeners: those with a file name write it.

use std::sync::Arc;

use busyhour_engine::element::Processor;
use busyhour_engine::program::DetailWish;
use busyhour_engine::result::Keep;
use busyhour_engine::run::Properties;
use busyhour_plan::Element;
use busyhour_processors::{AutoStop, AutoStopLimit, AutoStopSettings, SaveResponses, SaveResponsesSettings};
use busyhour_record::{ColumnsFile, SaveConfig, Which};

use crate::ListenerFile;
use crate::config;
use crate::context::Context;
use crate::processors;

/// The writer of columns of jmeter-plugins.
pub(crate) const FLEXIBLE: &str = "kg.apc.jmeter.reporters.FlexibleFileWriter";

/// Class of the jmeter-plugins' AutoStop listener.
pub(crate) const AUTO_STOP: &str = "kg.apc.jmeter.reporters.AutoStop";

/// Index of the result file an element writes, if it writes one.
pub(crate) fn file<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<usize> {
    if let Some(known) = context.listener_ids.get(&element.id()) {
        return *known;
    }
    let made = make(context, element);
    let id = made.map(|made| {
        context.listeners.push(made);
        context.listeners.len() - 1
    });
    context.listener_ids.insert(element.id(), id);
    id
}

fn make<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<ListenerFile> {
    if element.text("filename").is_none_or(|name| name.trim().is_empty()) {
        return None;
    }
    let path = context.text(element, "filename");
    if element.kind() == FLEXIBLE {
        let mut text = |name: &str| context.now(element.text(name).unwrap_or_default());
        let columns = ColumnsFile {
            columns: text("columns"),
            header: text("header"),
            footer: text("footer"),
            overwrite: text("overwrite").eq_ignore_ascii_case("true"),
        };
        let config = SaveConfig { columns: Some(Box::new(columns)), ..SaveConfig::default() };
        return Some(ListenerFile { path, config, which: Which::All });
    }
    if element.kind() == "MailerResultCollector" {
        context.warn(element, "silent-listener", "no mail is sent");
    }
    let mut config =
        config::save_config(&context.options.properties).unwrap_or_else(|_| SaveConfig::default());
    if let Some(object) = element.object("saveConfig") {
        let fields: Vec<_> = object.items().map(|field| (field.tag(), field.text().unwrap_or(""))).collect();
        config = SaveConfig::for_listener(&config, fields);
    }
    if element.kind().starts_with("kg.apc.") {
        // The listeners of jmeter-plugins want these whatever was saved.
        config.thread_counts = true;
    }
    config.in_functional_mode(context.functional_mode);
    let which = if context.flag(element, "ResultCollector.error_logging", false) {
        Which::Errors
    } else if context.flag(element, "ResultCollector.success_only_logging", false) {
        Which::Successes
    } else {
        Which::All
    };
    Some(ListenerFile { path, config, which })
}

/// The listener an element is that does more than write rows.
pub(crate) fn hearer<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Processor>> {
    if let Some(known) = context.processors.get(&element.id()) {
        return known.clone();
    }
    let made: Arc<dyn Processor> = match element.kind() {
        "JSR223Listener" | "BSFListener" | "BeanShellListener" => {
            return processors::processor(context, element);
        }
        "ResultSaver" => Arc::new(SaveResponses::new(SaveResponsesSettings {
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
            base_prefix: base_prefix(&context.options.properties),
            base_dir: context.options.base_dir.clone(),
        })),
        AUTO_STOP => {
            let mut limit = |name: &str, seconds: &str| AutoStopLimit {
                limit: context.text(element, name),
                seconds: context.text(element, seconds),
            };
            Arc::new(AutoStop::new(AutoStopSettings {
                response_time: limit("avg_response_time", "avg_response_time_length"),
                latency: limit("avg_response_latency", "avg_response_latency_length"),
                error_rate: limit("error_rate", "error_rate_length"),
                percentile_time: limit("percentile_response_time", "percentile_response_time_secs"),
                percentile: context.text(element, "percentile_value"),
            }))
        }
        _ => return None,
    };
    context.processors.insert(element.id(), Some(Arc::clone(&made)));
    Some(made)
}

/// How file names begin that are looked up in the plan's folder.
pub(crate) fn base_prefix(properties: &Properties) -> String {
    properties.get("jmeter.save.saveservice.base_prefix").unwrap_or_else(|| "~/".into())
}

/// What a file shows beyond rows, if anything.
pub(crate) fn wish(config: &SaveConfig) -> Option<DetailWish> {
    if let Some(columns) = &config.columns {
        Some(DetailWish { body: columns.shows_body(), body_on_error: false })
    } else if config.xml {
        Some(DetailWish { body: config.response_data, body_on_error: config.response_data_on_error })
    } else {
        config.file_name.then(DetailWish::default)
    }
}

/// What a file needs of a result.
pub(crate) fn keep(config: &SaveConfig) -> Keep {
    if let Some(columns) = &config.columns {
        return Keep {
            body: columns.shows_body(),
            response_headers: columns.shows_response_headers(),
            request: columns.shows_request(),
            http: false,
        };
    }
    // Without a charset in the headers the encoding is looked for in the page.
    let page = config.encoding;
    if !config.xml {
        return Keep { body: page, ..Keep::default() };
    }
    let on_error = config.response_data_on_error;
    Keep {
        body: config.response_data || on_error || page,
        response_headers: config.response_headers,
        request: config.request_headers || config.sampler_data || on_error,
        http: true,
    }
}
