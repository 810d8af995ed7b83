//! The Debug PostProcessor: adds a sub-result whose body lists variables and properties.

use busyhour_program::element::Processor;
use busyhour_program::result::SampleResult;
use busyhour_program::user::UserState;
use busyhour_sample::{ActiveUsers, DataType, SampleContent, SampleOutcome, SampleSizes, SampleTimes};

use crate::debug::{DebugSamplerSettings, debug_sampler_text};

/// Settings of a debug post-processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct DebugPostProcessorSettings {
    /// `displaySamplerProperties`. The list of the sampler's properties is always empty.
    pub sampler_properties: bool,
    /// `displayJMeterVariables`, `displayJMeterProperties` and `displaySystemProperties`.
    pub shown: DebugSamplerSettings,
}

/// The debug post-processor.
#[derive(Debug)]
pub struct DebugPostProcessor {
    settings: DebugPostProcessorSettings,
}

impl DebugPostProcessor {
    /// Creates the post-processor from its settings.
    pub fn new(settings: DebugPostProcessorSettings) -> Self {
        Self { settings }
    }
}

impl Processor for DebugPostProcessor {
    fn process(&self, user: &mut UserState) {
        if !user.has_result {
            return;
        }
        let mut text = String::new();
        let mut request = String::new();
        if self.settings.sampler_properties {
            request.push_str("SamplerProperties\n");
            text.push_str("SamplerProperties:\n\n");
        }
        text.push_str(&debug_sampler_text(user, self.settings.shown));
        request.push_str(&self.settings.shown.request());
        let now = user.now();
        let parent = &mut user.result;
        let sub = SampleResult {
            label: format!("{}-{}", parent.label, parent.sub_results.len()),
            times: SampleTimes { intended: now, start: now, end: now, ..SampleTimes::default() },
            users: ActiveUsers { group: parent.users.group, all: parent.users.all },
            outcome: SampleOutcome::new("200".to_owned(), "OK".to_owned(), true),
            content: SampleContent { data_type: DataType::Text, ..SampleContent::default() },
            sizes: SampleSizes { body_bytes: text.len() as u64, ..SampleSizes::default() },
            body: text.into_bytes(),
            request_data: request,
            ..SampleResult::default()
        };
        parent.sizes.body_bytes += sub.sizes.body_bytes;
        parent.sub_results.push(sub);
    }
}
