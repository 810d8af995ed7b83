//! The Debug Sampler.

use std::sync::Arc;

use busyhour_engine::Nanos;
use busyhour_engine::program::ImmediateSampler;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;
use busyhour_plan::Element;
use busyhour_record::DataType;

use crate::context::Context;

#[derive(Debug)]
struct DebugSampler(DebugSamplerSettings);

impl ImmediateSampler for DebugSampler {
    fn sample(&self, user: &mut UserState, label: &Template, intended: Nanos) {
        // The text shows the variables as they are before the sample.
        let text = debug_sampler_text(user, &self.0);
        user.begin_result(label, intended);
        let result = &mut user.result;
        result.code.push_str("200");
        result.message.push_str("OK");
        result.data_type = DataType::Text;
        result.body_bytes = text.len() as u64;
        result.body = text.into_bytes();
        result.success = true;
        user.result.end = user.now();
    }
}

/// The debug sampler an element is.
pub(crate) fn sampler<'p>(context: &mut Context<'p>, element: Element<'p>) -> Arc<dyn ImmediateSampler> {
    Arc::new(DebugSampler(DebugSamplerSettings {
        properties: context.flag(element, "displayJMeterProperties", false),
        variables: context.flag(element, "displayJMeterVariables", true),
        system_properties: context.flag(element, "displaySystemProperties", false),
    }))
}

#[derive(Debug)]
#[allow(dead_code)]
struct DebugSamplerSettings {
    properties: bool,
    variables: bool,
    system_properties: bool,
}
fn debug_sampler_text(_user: &mut UserState, _settings: &DebugSamplerSettings) -> String {
    String::new()
}
