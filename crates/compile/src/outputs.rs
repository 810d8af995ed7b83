//! The outputs of samples besides the run's own record: result files and metrics.

use std::collections::HashMap;

use busyhour_plan::ElementId;
use busyhour_program::result::Retention;
use busyhour_program::result::ShownDetails;
use busyhour_program::run::JmeterProperties;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::{JtlColumn, SampleFilter, SaveConfig};

use crate::perfmon::PerfMonTemplate;
use crate::save_settings;

/// A listener's result file, before its name is rendered.
#[derive(Clone, Debug)]
pub(crate) struct ListenerFile {
    pub(crate) path: Template,
    pub(crate) config: SaveConfig,
    pub(crate) filter: SampleFilter,
}

/// A backend listener of the plan, which receives all samples of the run, wherever it is in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendListener {
    /// Its name in the plan.
    pub name: String,
    /// The kind of client.
    pub kind: BackendKind,
    /// Its parameters; each name is JMeter's.
    pub arguments: Vec<(String, String)>,
    /// Seconds between two sets of metrics, if a property sets them.
    pub send_interval_s: Option<u64>,
}

/// JMeter's clients for time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// `GraphiteBackendListenerClient`
    Graphite,
    /// `InfluxdbBackendListenerClient`
    Influx,
}

/// A backend listener before its parameters are evaluated.
#[derive(Debug, Clone)]
pub(crate) struct BackendTemplate {
    pub(crate) name: String,
    pub(crate) kind: BackendKind,
    pub(crate) arguments: Vec<(Template, Template)>,
    pub(crate) send_interval_s: Option<u64>,
}

impl BackendTemplate {
    /// Evaluates the parameters as at the start of the test.
    pub(crate) fn at_start(&self, user: &mut UserState) -> BackendListener {
        let texts = |(name, value): &(Template, Template), user: &mut UserState| {
            (name.text(user).into_owned(), value.text(user).into_owned())
        };
        BackendListener {
            name: self.name.clone(),
            kind: self.kind,
            arguments: self.arguments.iter().map(|argument| texts(argument, user)).collect(),
            send_interval_s: self.send_interval_s,
        }
    }
}

/// The outputs of a plan while it is being compiled.
pub(crate) struct Outputs {
    /// The format of the main log, as the properties determine it.
    main_log: SaveConfig,
    /// Whether the plan is in functional test mode.
    pub(crate) functional_mode: bool,
    files: Vec<ListenerFile>,
    /// The file that each listener writes; `None` if it writes none.
    file_of: HashMap<ElementId, Option<usize>>,
    /// The distinct sets of files to which samplers write. The first set is empty.
    sets: Vec<Vec<usize>>,
    /// Listeners that send metrics elsewhere.
    pub(crate) backends: Vec<BackendTemplate>,
    /// Listeners that fetch values from agents.
    pub(crate) perfmon: Vec<PerfMonTemplate>,
}

/// The outputs of a compiled plan.
#[derive(Debug)]
pub(crate) struct CompiledOutputs {
    pub(crate) files: Vec<ListenerFile>,
    pub(crate) sets: Vec<Vec<usize>>,
    pub(crate) backends: Vec<BackendTemplate>,
    pub(crate) perfmon: Vec<PerfMonTemplate>,
    /// For each set, the details that its files and the main log contain besides rows. Empty if none contains any.
    pub(crate) shown_details: Vec<Option<ShownDetails>>,
    pub(crate) functional_mode: bool,
}

impl Outputs {
    /// Creates the outputs before any element is compiled.
    pub(crate) fn new(properties: &JmeterProperties, functional_mode: bool) -> Self {
        let mut main_log = save_settings::save_config(properties).unwrap_or_default();
        main_log.in_functional_mode(functional_mode);
        Self {
            main_log,
            functional_mode,
            files: Vec::new(),
            file_of: HashMap::new(),
            sets: vec![Vec::new()],
            backends: Vec::new(),
            perfmon: Vec::new(),
        }
    }

    /// The file of a listener, if the listener has been compiled.
    pub(crate) fn known_file(&self, listener: ElementId) -> Option<Option<usize>> {
        self.file_of.get(&listener).copied()
    }

    /// Adds the file of a listener; returns its number.
    pub(crate) fn add_file(&mut self, listener: ElementId, file: Option<ListenerFile>) -> Option<usize> {
        let number = file.map(|file| {
            self.files.push(file);
            self.files.len() - 1
        });
        self.file_of.insert(listener, number);
        number
    }

    /// The number of the set that consists of these files; a new set is added if necessary.
    pub(crate) fn set(&mut self, files: Vec<usize>) -> u32 {
        let at = match self.sets.iter().position(|set| *set == files) {
            Some(at) => at,
            None => {
                self.sets.push(files);
                self.sets.len() - 1
            }
        };
        u32::try_from(at).unwrap_or(0)
    }

    /// The parts of a result that these files and the main log need.
    pub(crate) fn retention_for(&self, files: &[usize]) -> Retention {
        let files = files.iter().map(|at| retention_for(&self.files[*at].config));
        files.fold(retention_for(&self.main_log), Retention::union)
    }

    /// Returns the outputs of the compiled plan.
    pub(crate) fn finish(self) -> CompiledOutputs {
        let shown_details = self.shown_details();
        let Self { functional_mode, files, sets, backends, perfmon, .. } = self;
        CompiledOutputs { files, sets, backends, perfmon, shown_details, functional_mode }
    }

    fn shown_details(&self) -> Vec<Option<ShownDetails>> {
        let main = details_shown_by(&self.main_log);
        let of_set = |set: &Vec<usize>| {
            let details = set.iter().filter_map(|at| details_shown_by(&self.files[*at].config));
            details.chain(main).reduce(ShownDetails::union)
        };
        let details: Vec<_> = self.sets.iter().map(of_set).collect();
        if details.iter().all(Option::is_none) { Vec::new() } else { details }
    }
}

/// The details that a file contains besides rows, if any.
fn details_shown_by(config: &SaveConfig) -> Option<ShownDetails> {
    if let Some(columns) = &config.columns {
        Some(ShownDetails { body: columns.shows_body(), body_on_error: false })
    } else if config.xml {
        Some(ShownDetails { body: config.response_data, body_on_error: config.response_data_on_error })
    } else {
        config.shown.has(JtlColumn::FileName).then(ShownDetails::default)
    }
}

/// The parts of a result that a file needs.
fn retention_for(config: &SaveConfig) -> Retention {
    if let Some(columns) = &config.columns {
        return Retention {
            body: columns.shows_body(),
            response_headers: columns.shows_response_headers(),
            request: columns.shows_request(),
            protocol_detail: false,
        };
    }
    // If the headers contain no charset, the page is searched for one.
    let page = config.shown.has(JtlColumn::Encoding);
    if !config.xml {
        return Retention { body: page, ..Retention::default() };
    }
    let on_error = config.response_data_on_error;
    Retention {
        body: config.response_data || on_error || page,
        response_headers: config.response_headers,
        request: config.request_headers || config.sampler_data || on_error,
        protocol_detail: true,
    }
}
