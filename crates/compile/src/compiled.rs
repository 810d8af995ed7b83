//! A compiled plan that has not started.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use busyhour_http::SharedHttp;
use busyhour_program::group::Group;
use busyhour_program::open::OpenWorkload;
use busyhour_program::run::JmeterProperties;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_sample::Labels;
use busyhour_samplers::AnySampler;

use crate::at_start::TextsAtStart;
use crate::outputs::CompiledOutputs;
use crate::targets::PlanTargets;
use crate::variables::VariableSet;

/// The name and number of a thread group before the name is rendered.
#[derive(Clone, Debug)]
pub(crate) struct GroupLabel {
    pub(crate) name: Template,
    /// The suffix that the names of its threads have after the group's name.
    pub(crate) thread_suffix: &'static str,
    pub(crate) number: u32,
}

/// A program that has not started: the user defined variables are not yet evaluated.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) groups: Vec<Group<AnySampler>>,
    pub(crate) open: Vec<OpenWorkload>,
    pub(crate) group_labels: Vec<GroupLabel>,
    pub(crate) serialize_groups: bool,
    pub(crate) tear_down_on_stop: bool,
    pub(crate) sample_variables: Vec<String>,
    pub(crate) symbols: Symbols,
    pub(crate) labels: Labels,
    pub(crate) outputs: CompiledOutputs,
    /// The plan's folder.
    pub(crate) base_dir: PathBuf,
    pub(crate) variables: Vec<VariableSet>,
    /// The properties before the plan's property files were read, if there are such files.
    pub(crate) properties_before_files: Option<Arc<JmeterProperties>>,
    pub(crate) at_start: TextsAtStart,
    /// The state that all HTTP samplers share.
    pub(crate) http: Arc<SharedHttp>,
    pub(crate) plan_name: String,
    pub(crate) rate_timers: BTreeSet<&'static str>,
    pub(crate) targets: PlanTargets,
}

impl Compiled {
    /// Number of thread groups that will run.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Whether the plan is in functional test mode: XML files contain response data and sent data.
    pub fn functional_mode(&self) -> bool {
        self.outputs.functional_mode
    }

    /// JMeter's names of the timers that set a rate.
    pub fn rate_timers(&self) -> impl Iterator<Item = &'static str> {
        self.rate_timers.iter().copied()
    }

    /// Name of the test plan.
    pub fn plan_name(&self) -> &str {
        &self.plan_name
    }
}
