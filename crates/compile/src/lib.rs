//! From a test plan as written to a program the engine walks.
//!
//! JMeter's scoping rules are applied once, here: each sampler gets the list of what stands around it, variables
//! become slots, functions are parsed. What cannot be done as JMeter does it is refused with its place in the plan.

mod backends;
mod condition;
mod config;
mod context;
mod controllers;
mod crowds;
mod documents;
mod groups;
mod http;
mod http_properties;
mod keystore;
mod known;
mod lint;
mod listeners;
mod load_profile;
mod managers;
mod modules;
mod numbers;
mod open;
mod other_samplers;
mod outline;
mod plugin_arrivals;
mod processors;
mod rate_timers;
mod refused;
mod samplers;
mod scope;
mod start;
mod steps;
mod support;
mod think;
mod timers;
mod websocket;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_engine::open::OpenWorkload;
use busyhour_engine::program::{DetailWish, Group};
use busyhour_engine::run::Properties;
use busyhour_engine::symbols::Symbols;
use busyhour_engine::template::Template;
use busyhour_http::TlsPolicy;
use busyhour_plan::TestPlan;
use busyhour_record::{Labels, SaveConfig, Which};
use busyhour_samplers::AnySampler;

pub use backends::{BackendKind, BackendListener};
pub use busyhour_functions::{
    ALLOW_UNSUPPORTED_PROPERTY, PLAN_DIRECTORY_PROPERTY, PLAN_NAME_PROPERTY, plan_directory,
};
pub use config::SettingError;
pub use lint::lint;
pub use open::{OpenOptions, USERS_MAX, no_free_user};
pub use outline::{OutlineNode, outline};
pub use start::{Started, start};
pub use support::{Supported, SupportedFunction, supported, supported_functions};
pub use think::think_law;

/// What compiling needs to know besides the plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// JMeter's properties, those of the command line included.
    pub properties: Arc<Properties>,
    /// Directory of the plan: relative file names are looked up there first.
    pub base_dir: PathBuf,
    /// What is not supported becomes a warning and is left out.
    pub allow_unsupported: bool,
    /// Which servers are trusted.
    pub tls: TlsPolicy,
    /// The proxy of the command line.
    pub proxy: Option<ProxyOption>,
    /// Longest time of one HTTP request; `None`: no limit, as in JMeter.
    pub request_deadline: Option<Duration>,
    /// Arrivals of the command line: they take the place of the main groups' own users.
    pub open: Option<OpenOptions>,
}

/// The proxy flags of JMeter's command line.
#[derive(Clone, Debug, Default)]
pub struct ProxyOption {
    /// `-H`
    pub host: String,
    /// `-P`
    pub port: u16,
    /// `-u`; empty: no credentials.
    pub user: String,
    /// `-a`
    pub password: String,
    /// `-N`: hosts reached without it, separated by `|`.
    pub no_proxy: Vec<String>,
}

/// A listener's result file, before its name is rendered.
#[derive(Clone, Debug)]
pub(crate) struct ListenerFile {
    pub(crate) path: Template,
    pub(crate) config: SaveConfig,
    pub(crate) which: Which,
}

/// Name and number of a thread group, before the name is rendered.
#[derive(Clone, Debug)]
pub(crate) struct GroupLabel {
    pub(crate) name: Template,
    /// What the names of its threads have behind the name.
    pub(crate) thread_suffix: &'static str,
    pub(crate) number: u32,
}

/// A program that has not started: user defined variables are not evaluated yet.
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
    pub(crate) listeners: Vec<ListenerFile>,
    pub(crate) listener_sets: Vec<Vec<usize>>,
    pub(crate) backends: Vec<backends::BackendTemplate>,
    pub(crate) detail_wishes: Vec<Option<DetailWish>>,
    pub(crate) functional_mode: bool,
    /// The plan's folder.
    pub(crate) base_dir: PathBuf,
    pub(crate) variables: Vec<start::VariableSet>,
    pub(crate) plan_name: String,
}

impl Compiled {
    /// Number of thread groups that will run.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Whether the plan is in functional test mode: XML files show data and what was sent.
    pub fn functional_mode(&self) -> bool {
        self.functional_mode
    }

    /// Name of the test plan.
    pub fn plan_name(&self) -> &str {
        &self.plan_name
    }
}

/// Compiles a plan. The program is there unless a diagnostic is an error.
pub fn compile(plan: &TestPlan, options: &Options) -> (Option<Compiled>, Vec<Diagnostic>) {
    let (assembled, findings) = modules::assemble(plan, options);
    let plan = assembled.as_ref().unwrap_or(plan);
    let mut context = context::Context::new(plan, options);
    for finding in findings {
        match finding.left_out {
            true if finding.diagnostic.severity == Severity::Error => {
                context.unsupported(*finding.diagnostic)
            }
            _ => context.tell(*finding.diagnostic),
        }
    }
    keystore::configure(&mut context);
    let compiled = groups::compile_plan(&mut context);
    let mut diagnostics = context.into_diagnostics();
    diagnostics.extend(numbers::check(plan));
    let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    (compiled.filter(|_| !refused), diagnostics)
}

/// Compiles the plan's elements once each, however many samplers they stand around.
pub(crate) type Once<T> = HashMap<busyhour_plan::ElementId, Option<Arc<T>>>;
