//! Listeners: those with a file name write it.

use busyhour_plan::Element;
use busyhour_record::{SaveConfig, Which};

use crate::ListenerFile;
use crate::config;
use crate::context::Context;

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
    let mut config =
        config::save_config(&context.options.properties).unwrap_or_else(|_| SaveConfig::default());
    if let Some(object) = element.object("saveConfig") {
        let fields: Vec<_> = object.items().map(|field| (field.tag(), field.text().unwrap_or(""))).collect();
        config = SaveConfig::for_listener(&config, fields);
    }
    if config.xml {
        context.warn(
            element,
            "xml-results",
            format!(
                "{} is to be written as XML, which is not supported yet: the listener writes no file",
                path.source()
            ),
        );
        return None;
    }
    let which = if context.flag(element, "ResultCollector.error_logging", false) {
        Which::Errors
    } else if context.flag(element, "ResultCollector.success_only_logging", false) {
        Which::Successes
    } else {
        Which::All
    };
    Some(ListenerFile { path, config, which })
}
