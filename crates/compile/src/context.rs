//! What is shared while a plan is being compiled.

use std::collections::HashMap;
use std::sync::Arc;

use busyhour_diagnostic::{Diagnostic, Needs, Severity};
use busyhour_engine::clock::Clock;
use busyhour_engine::delays::SharedSchedule;
use busyhour_engine::element::{Assertion, IterationStep, Processor, Timer};
use busyhour_engine::precise::PreciseSchedules;
use busyhour_engine::program::DetailWish;
use busyhour_engine::result::Keep;
use busyhour_engine::run::{GroupShared, Properties, RunShared};
use busyhour_engine::symbols::Symbols;
use busyhour_engine::template::{Segment, Template};
use busyhour_engine::user::{StateId, UserState};
use busyhour_engine::variables::Names;
use busyhour_functions::{Problem, ProblemKind};
use busyhour_http::auth::AuthManager;
use busyhour_http::cache::CacheManager;
use busyhour_http::cookies::CookieManager;
use busyhour_http::dns::DnsManager;
use busyhour_http::{Proxy, SharedHttp};
use busyhour_plan::{Element, Property, TestPlan};
use busyhour_processors::{CsvFiles, Refusal, RefusalKind};
use busyhour_record::{Labels, SaveConfig};

use crate::backends::BackendTemplate;
use crate::{ListenerFile, Once, Options, http_properties, listeners, refused};

pub(crate) struct Context<'p> {
    pub(crate) plan: &'p TestPlan,
    pub(crate) options: &'p Options,
    pub(crate) symbols: Symbols,
    pub(crate) labels: Labels,
    pub(crate) listeners: Vec<ListenerFile>,
    pub(crate) listener_sets: Vec<Vec<usize>>,
    /// Listeners that send metrics elsewhere.
    pub(crate) backends: Vec<BackendTemplate>,
    /// How the main log is written, as the properties say.
    pub(crate) main_log: SaveConfig,
    /// The plan is in functional test mode.
    pub(crate) functional_mode: bool,
    pub(crate) listener_ids: HashMap<busyhour_plan::ElementId, Option<usize>>,
    pub(crate) shared_http: Arc<SharedHttp>,
    /// The texts at hand belong to a request: a function that throws fails its sample.
    pub(crate) in_request: bool,
    pub(crate) csv_files: Arc<CsvFiles>,
    pub(crate) timers: Once<dyn Timer>,
    pub(crate) processors: Once<dyn Processor>,
    pub(crate) assertions: Once<dyn Assertion>,
    pub(crate) steps: Once<dyn IterationStep>,
    pub(crate) cookies: Once<CookieManager>,
    pub(crate) caches: Once<CacheManager>,
    pub(crate) auths: Once<AuthManager>,
    pub(crate) dns: Once<DnsManager>,
    /// Where each HTTP URL Re-writing Modifier keeps its value.
    pub(crate) kept_values: HashMap<busyhour_plan::ElementId, StateId>,
    pub(crate) schedule_all: Arc<SharedSchedule>,
    pub(crate) schedules: Arc<[SharedSchedule]>,
    pub(crate) schedules_precise: Arc<PreciseSchedules>,
    /// What every sample keeps, because a script of the plan may look at it.
    pub(crate) keep: Keep,
    /// Somebody may look at the loops' own counters (`__jm__<name>__idx`).
    pub(crate) shows_indices: bool,
    /// The group being compiled is walked by sessions that begin by schedule.
    pub(crate) in_open_group: bool,
    /// The time limits of the group's Sample Timeouts, in milliseconds.
    pub(crate) sample_timeouts: Arc<[Template]>,
    /// The plan's user defined variables, for what is needed before it runs.
    pub(crate) plan_variables: Vec<crate::start::VariableSet>,
    told: std::collections::HashSet<(usize, String)>,
    diagnostics: Vec<Diagnostic>,
    /// A user without a run, for values that are needed now.
    user: UserState,
}

impl<'p> Context<'p> {
    pub(crate) fn new(plan: &'p TestPlan, options: &'p Options) -> Self {
        let properties = &options.properties;
        let (mut http, told_of_http) = http_properties::shared(properties, &options.base_dir, options.tls);
        http.request_deadline = options.request_deadline;
        if let Some(proxy) = &options.proxy {
            http.proxy = Some(Proxy {
                host: Template::literal(&proxy.host),
                port: Template::literal(&proxy.port.to_string()),
                user: Template::literal(&proxy.user),
                password: Template::literal(&proxy.password),
            });
            http.no_proxy.clone_from(&proxy.no_proxy);
        }
        let groups = plan.roots().flat_map(Element::descendants).count();
        let functional_mode = plan.roots().any(|root| root.boolean("TestPlan.functional_mode") == Some(true));
        Self {
            plan,
            options,
            symbols: Symbols::default(),
            labels: Labels::new(),
            listeners: Vec::new(),
            listener_sets: vec![Vec::new()],
            backends: Vec::new(),
            main_log: {
                let mut config = crate::config::save_config(properties).unwrap_or_default();
                config.in_functional_mode(functional_mode);
                config
            },
            functional_mode,
            listener_ids: HashMap::new(),
            shared_http: Arc::new(http),
            in_request: false,
            csv_files: Arc::new(CsvFiles::new(options.base_dir.clone())),
            timers: HashMap::new(),
            processors: HashMap::new(),
            assertions: HashMap::new(),
            steps: HashMap::new(),
            cookies: HashMap::new(),
            caches: HashMap::new(),
            auths: HashMap::new(),
            dns: HashMap::new(),
            kept_values: HashMap::new(),
            schedule_all: Arc::default(),
            schedules: (0..groups).map(|_| SharedSchedule::default()).collect(),
            schedules_precise: Arc::new(PreciseSchedules::new(groups)),
            keep: kept_for_scripts(plan),
            // A property may name one too: `sample_variables`, or what `__eval` finds behind `__P`.
            shows_indices: ["__jm__", "Debug", "vars"].iter().any(|word| plan.source().contains(word))
                || properties.all().iter().any(|(_, value)| value.contains("__jm__")),
            in_open_group: false,
            sample_timeouts: Arc::default(),
            plan_variables: Vec::new(),
            told: std::collections::HashSet::new(),
            diagnostics: told_of_http,
            user: detached_user(properties),
        }
    }

    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.diagnostics
            .sort_by_key(|diagnostic| (diagnostic.severity, diagnostic.span.map(|span| span.offset)));
        self.diagnostics
    }

    pub(crate) fn tell(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.span.map_or(0, |span| span.offset), diagnostic.message.clone());
        // An element inside several scopes is looked at several times and complained about once.
        if self.told.insert(key) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Something that works in JMeter and not here: refused, or left out with a warning if the user wants that.
    pub(crate) fn unsupported(&mut self, diagnostic: Diagnostic) {
        let mut diagnostic = diagnostic;
        if self.options.allow_unsupported {
            diagnostic.severity = Severity::Warning;
            diagnostic.hint = Some("left out of the run because of --allow-unsupported".into());
        }
        self.tell(diagnostic);
    }

    /// An element that is not supported.
    pub(crate) fn unsupported_element(&mut self, element: Element<'_>) {
        let kind = if element.kind().is_empty() { element.tag() } else { element.kind() };
        let finding =
            Diagnostic::error("unsupported-element", format!("the element {kind} is not supported"));
        let (needs, why) = refused::why(kind);
        let hint = match why {
            "" => "disable the element, or run with --allow-unsupported".to_owned(),
            why => format!("{why}; --allow-unsupported runs the plan without it"),
        };
        self.unsupported(element.locate(finding).with_hint(hint).with_needs(needs));
    }

    /// A setting of a supported element that is not supported.
    pub(crate) fn unsupported_setting(&mut self, element: Element<'_>, property: &str, what: &str) {
        self.refuse_setting(element, property, Diagnostic::error("unsupported-setting", what));
    }

    /// A setting of a supported element for which there would have to be a Java machine.
    pub(crate) fn setting_needs_java(&mut self, element: Element<'_>, property: &str, what: &str) {
        let finding = Diagnostic::error("unsupported-setting", what).with_needs(Needs::Java);
        self.refuse_setting(element, property, finding);
    }

    fn refuse_setting(&mut self, element: Element<'_>, property: &str, finding: Diagnostic) {
        let finding = match element.property(property) {
            Some(property) => property.locate(finding),
            None => element.locate(finding),
        };
        self.unsupported(
            finding.with_hint("change the setting, or run with --allow-unsupported to do without it"),
        );
    }

    /// Something worth knowing that keeps nothing from running.
    pub(crate) fn warn(&mut self, element: Element<'_>, code: &'static str, message: impl Into<String>) {
        self.tell(element.locate(Diagnostic::warning(code, message.into())));
    }

    /// The text of a property as a template; missing: empty.
    pub(crate) fn text(&mut self, element: Element<'p>, name: &str) -> Template {
        self.text_or(element, name, "")
    }

    /// The text of a property as a template.
    pub(crate) fn text_or(&mut self, element: Element<'p>, name: &str, default: &str) -> Template {
        match element.property(name) {
            Some(property) => match property.text() {
                Some(text) => self.parse(text, property),
                None => Template::literal(default),
            },
            None => Template::literal(default),
        }
    }

    /// The text of an item of a property as a template.
    pub(crate) fn item(&mut self, property: Property<'p>, name: &str) -> Template {
        match property.property(name) {
            Some(item) => self.parse(item.text().unwrap_or(""), item),
            None => Template::literal(""),
        }
    }

    /// A text with variables and functions that stands in `property`.
    pub(crate) fn parse(&mut self, text: &str, property: Property<'p>) -> Template {
        if busyhour_functions::call_left_as_text(text).is_some() {
            let message = "JMeter 5.6.3 has no function __jexl and uses the text ${__jexl(…)} as it is";
            let finding = Diagnostic::warning("unknown-function", message);
            self.tell(property.locate(finding.with_hint("write __jexl3 or __jexl2")));
        }
        let parsed = if self.in_request {
            busyhour_functions::parse_in_request(text, &mut self.symbols).map(|(template, problems)| {
                for problem in problems {
                    let message = format!("{}: JMeter fails each such sample", problem.message);
                    let warning = Diagnostic::warning("failing-function", message).with_hint(problem.hint);
                    self.tell(property.locate(warning));
                }
                template
            })
        } else {
            busyhour_functions::parse(text, &mut self.symbols)
        };
        match parsed {
            Ok(template) => as_written(template, text),
            Err(problems) => {
                for problem in problems {
                    let finding = finding(&problem);
                    let located = property.locate(finding);
                    self.report(located, problem.kind);
                }
                Template::literal(text)
            }
        }
    }

    /// The element's name as a template.
    pub(crate) fn name(&mut self, element: Element<'p>) -> Template {
        match busyhour_functions::parse(element.name(), &mut self.symbols) {
            Ok(template) => as_written(template, element.name()),
            Err(problems) => {
                for problem in problems {
                    let located = element.locate(finding(&problem));
                    self.report(located, problem.kind);
                }
                Template::literal(element.name())
            }
        }
    }

    fn report(&mut self, finding: Diagnostic, kind: ProblemKind) {
        match kind {
            ProblemKind::Unsupported | ProblemKind::NeedsJava => self.unsupported(finding),
            ProblemKind::Invalid | ProblemKind::FailsSample => self.tell(finding),
        }
    }

    /// Reports what an element's own compiler refuses.
    pub(crate) fn refuse(&mut self, element: Element<'_>, refusal: &Refusal) {
        let message = format!("the element {} {}", element.kind(), refusal.message);
        // A mistake of the plan's is told from what is only not supported.
        let code = match refusal.kind {
            RefusalKind::Unsupported | RefusalKind::NeedsJava => "refused-element",
            RefusalKind::MissingFile => "missing-file",
            RefusalKind::Invalid => "invalid-element",
        };
        let mut finding = element.locate(Diagnostic::error(code, message));
        if refusal.kind == RefusalKind::NeedsJava {
            finding = finding.with_needs(Needs::Java);
        }
        if let Some(hint) = refusal.hint {
            finding = finding.with_hint(hint);
        }
        match refusal.kind {
            RefusalKind::Unsupported | RefusalKind::NeedsJava => self.unsupported(finding),
            RefusalKind::MissingFile | RefusalKind::Invalid => self.tell(finding),
        }
    }

    /// A truth value; one that is computed (`${__P(x)}`) is computed now, from properties.
    pub(crate) fn flag(&mut self, element: Element<'p>, name: &str, default: bool) -> bool {
        let Some(property) = element.property(name) else { return default };
        match property.text() {
            Some(text) if text.contains("${") => self.now(text).eq_ignore_ascii_case("true"),
            Some(text) if text.trim().is_empty() => default,
            _ => property.boolean().unwrap_or(default),
        }
    }

    /// A whole number that is needed now.
    pub(crate) fn number(&mut self, element: Element<'p>, name: &str, default: i64) -> i64 {
        let Some(text) = element.text(name) else { return default };
        if text.trim().is_empty() {
            return default;
        }
        let value = self.now(text);
        match value.trim().parse() {
            Ok(number) => number,
            Err(_) => {
                let finding = Diagnostic::warning("invalid-number", format!("{value:?} is no whole number"));
                let finding = finding.with_hint(format!("JMeter takes {default} here, and so does this run"));
                if let Some(property) = element.property(name) {
                    self.tell(property.locate(finding));
                }
                default
            }
        }
    }

    /// What a text is now, before the run: functions of properties are computed, variables stay as they are.
    pub(crate) fn now(&mut self, text: &str) -> String {
        busyhour_functions::evaluate_text(text, &mut self.user)
    }

    /// What these listeners' files and the main log need of a result.
    pub(crate) fn kept_for_files(&self, files: &[usize]) -> Keep {
        let files = files.iter().map(|at| listeners::keep(&self.listeners[*at].config));
        files.fold(listeners::keep(&self.main_log), Keep::union)
    }

    /// By set of listeners: what they and the main log show beyond rows. Empty: nobody does.
    pub(crate) fn detail_wishes(&self) -> Vec<Option<DetailWish>> {
        let main = listeners::wish(&self.main_log);
        let of_set = |set: &Vec<usize>| {
            let wishes = set.iter().filter_map(|at| listeners::wish(&self.listeners[*at].config));
            wishes.chain(main).reduce(DetailWish::union)
        };
        let wishes: Vec<_> = self.listener_sets.iter().map(of_set).collect();
        if wishes.iter().all(Option::is_none) { Vec::new() } else { wishes }
    }

    /// What a property is when the test starts, the plan's own variables included; missing: empty. Empty, too, what
    /// cannot be parsed, which is told.
    pub(crate) fn at_start(&mut self, element: Element<'p>, name: &str) -> String {
        match element.property(name) {
            Some(property) => self.text_at_start(property.text().unwrap_or(""), property),
            None => String::new(),
        }
    }

    /// A user without variables.
    pub(crate) fn user_at_start(&self) -> UserState {
        user_with(&self.options.properties, self.symbols.names.clone(), self.symbols.state_count())
    }

    /// What a text that stands in `property` is when the test starts.
    pub(crate) fn text_at_start(&mut self, text: &str, property: Property<'p>) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        let template = self.parse(text, property);
        let mut user = self.user_at_start();
        for set in &self.plan_variables {
            set.evaluate(&mut user);
        }
        template.text(&mut user).into_owned()
    }

    /// Number of the set of listeners with these files.
    pub(crate) fn listener_set(&mut self, files: Vec<usize>) -> u32 {
        let at = match self.listener_sets.iter().position(|set| *set == files) {
            Some(at) => at,
            None => {
                self.listener_sets.push(files);
                self.listener_sets.len() - 1
            }
        };
        u32::try_from(at).unwrap_or(0)
    }
}

/// JMeter touches only texts with a variable or function in them: elsewhere even backslashes stay as they are.
fn as_written(template: Template, text: &str) -> Template {
    let touched = template.segments().iter().any(|segment| !matches!(segment, Segment::Text(_)));
    if touched { template } else { Template::literal(text) }
}

fn finding(problem: &Problem) -> Diagnostic {
    let code = match problem.kind {
        ProblemKind::Unsupported | ProblemKind::NeedsJava => "unsupported-function",
        ProblemKind::Invalid | ProblemKind::FailsSample => "invalid-function",
    };
    let needs = (problem.kind == ProblemKind::NeedsJava).then_some(Needs::Java);
    let finding = Diagnostic::error(code, problem.message.clone()).with_needs(needs);
    if problem.hint.is_empty() { finding } else { finding.with_hint(problem.hint.clone()) }
}

/// A user outside of any run, that sees properties and nothing else.
pub(crate) fn detached_user(properties: &Arc<Properties>) -> UserState {
    user_with(properties, Names::default(), 0)
}

/// The same with variables of these names, and elements' states.
fn user_with(properties: &Arc<Properties>, names: Names, states: u32) -> UserState {
    let group = GroupShared::new(String::new(), 1, Vec::new());
    let run = RunShared::new(
        0,
        Clock::start(),
        Arc::clone(properties),
        Arc::new(names),
        vec![group],
        states,
        Box::new(|_, _| {}),
    );
    UserState::new(Arc::new(run), None, 0, 0)
}

/// Scripts may look at the previous result through `prev`, from anywhere in the plan; where one does, everything is
/// kept.
fn kept_for_scripts(plan: &TestPlan) -> Keep {
    let source = plan.source();
    let mentions = |word: &str| source.contains(word);
    Keep {
        body: [
            "getResponseData",
            "responseData",
            "__regexFunction",
            "<URLRewritingModifier",
            "<AnchorModifier",
        ]
        .iter()
        .any(|word| mentions(word)),
        response_headers: mentions("getResponseHeaders") || mentions("responseHeaders}"),
        request: mentions("getRequestHeaders") || mentions("getSamplerData"),
        http: false,
    }
}
