//! Pre-processors and post-processors.

use std::sync::Arc;

use busyhour_engine::queues::{PopIntoVariable, PutIntoQueue};
use busyhour_plan::Element;
use busyhour_processors::{RawRequestSource, RawRequestSourceSettings, Refusal};
use busyhour_program::element::Processor;

use crate::context::Context;
use crate::elements::processors::{PostProcessorClass, PreProcessorClass};
use crate::{extractors, scripts, steps};

type ProcessorResult = Result<Arc<dyn Processor>, Refusal>;

/// Compiles a pre-processor; `None` if it is rejected or is not executed as a pre-processor.
pub(crate) fn pre_processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: PreProcessorClass,
) -> Option<Arc<dyn Processor>> {
    if let Some(known) = context.parts.processors.get(&element.id()) {
        return known.clone();
    }
    let compiled: ProcessorResult = match class {
        PreProcessorClass::UserParameters => return steps::user_parameters(context, element),
        // The HTTP sampler applies these itself.
        PreProcessorClass::LinkParser
        | PreProcessorClass::UrlRewriting
        | PreProcessorClass::RegexUserParameters => return None,
        // A Sample Timeout interrupts all samplers of its group.
        PreProcessorClass::SampleTimeout => return None,
        PreProcessorClass::PopFromQueue => Ok(Arc::new(PopIntoVariable {
            queue: context.text(element, "FifoName"),
            variable: context.text(element, "Variable"),
            timeout_s: context.text(element, "Timeout"),
        })),
        PreProcessorClass::RawDataSource => Ok(Arc::new(raw_request_source(context, element))),
        PreProcessorClass::Script(source) => {
            scripts::pre_processor(context, element, source).map(|processor| Arc::new(processor) as _)
        }
    };
    store(context, element, compiled)
}

/// Compiles a post-processor; `None` if it is rejected or is not executed as a post-processor.
pub(crate) fn post_processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: PostProcessorClass,
) -> Option<Arc<dyn Processor>> {
    if let Some(known) = context.parts.processors.get(&element.id()) {
        return known.clone();
    }
    let compiled: ProcessorResult = match class {
        PostProcessorClass::Regex => extractors::regex_extractor(context, element),
        PostProcessorClass::Json => extractors::json_extractor(context, element),
        PostProcessorClass::Boundary => extractors::boundary_extractor(context, element),
        // A Result Status Action Handler is compiled with its sampler, as the action after a failure.
        PostProcessorClass::ResultAction => return None,
        PostProcessorClass::PutIntoQueue => Ok(Arc::new(PutIntoQueue {
            queue: context.text(element, "FifoName"),
            value: context.text(element, "Value"),
        })),
        PostProcessorClass::XPath => extractors::xpath_extractor(context, element),
        PostProcessorClass::XPath2 => extractors::xpath2_extractor(context, element),
        PostProcessorClass::Css => extractors::css_extractor(context, element),
        PostProcessorClass::JmesPath => extractors::jmes_extractor(context, element),
        PostProcessorClass::PluginJsonPath => extractors::plugin_json_extractor(context, element),
        PostProcessorClass::Debug => Ok(extractors::debug_post_processor(context, element)),
        PostProcessorClass::Script(source) => {
            scripts::post_processor(context, element, source).map(|processor| Arc::new(processor) as _)
        }
    };
    store(context, element, compiled)
}

/// Stores a compiled element, or reports why it is rejected.
fn store(
    context: &mut Context<'_>,
    element: Element<'_>,
    compiled: ProcessorResult,
) -> Option<Arc<dyn Processor>> {
    let compiled = compiled.map_err(|refusal| context.findings.refuse(element, &refusal)).ok();
    context.parts.processors.insert(element.id(), compiled.clone());
    compiled
}

fn raw_request_source<'p>(context: &mut Context<'p>, element: Element<'p>) -> RawRequestSource {
    let source = RawRequestSource::new(RawRequestSourceSettings {
        file_name: context.text(element, "filename"),
        variable: context.text(element, "variable_name"),
        rewinds: context.flag(element, "rewind", false),
        hex: context.flag(element, "isHex", false),
    });
    if let Some(name) = source.missing_file() {
        let message =
            format!("the file {name:?} cannot be read; its variable is not set until the file exists");
        context.findings.warn(element, "missing-file", message);
    }
    source
}
