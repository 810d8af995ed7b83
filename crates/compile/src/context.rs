//! The state that is shared while a plan is compiled, and the conversion of properties to templates and values.

use std::sync::Arc;

use busyhour_diagnostic::{Diagnostic, Needs};
use busyhour_functions::{Problem, ProblemKind};
use busyhour_plan::{Element, Property, TestPlan};
use busyhour_program::clock::Clock;
use busyhour_program::result::Retention;
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::symbols::Symbols;
use busyhour_program::template::{Segment, Template};
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_sample::Labels;

use crate::at_start::TextsAtStart;
use crate::findings::Findings;
use crate::http_properties;
use crate::options::Options;
use crate::outputs::Outputs;
use crate::parts::Parts;
use crate::variables::VariableSet;

/// The state that is shared while a plan is compiled.
pub(crate) struct Context<'p> {
    pub(crate) plan: &'p TestPlan,
    pub(crate) options: &'p Options,
    /// The problems of the plan.
    pub(crate) findings: Findings,
    /// Names of variables and states of elements.
    pub(crate) symbols: Symbols,
    /// Labels without variables, which do not change from sample to sample.
    pub(crate) labels: Labels,
    /// Result files and metrics.
    pub(crate) outputs: Outputs,
    /// Elements that several samplers share.
    pub(crate) parts: Parts,
    /// The settings of the group that is being compiled.
    pub(crate) group: GroupContext,
    /// The data that elements of the plan may read in addition to their own sample.
    pub(crate) reads: Reads,
    /// Texts of scripts that are evaluated when the test starts.
    pub(crate) at_start: TextsAtStart,
    /// The plan's user defined variables, for values that are needed before the plan runs.
    pub(crate) plan_variables: Vec<VariableSet>,
    /// Whether the texts being parsed belong to a request. A function in such a text that throws an exception fails the
    /// sample.
    pub(crate) in_request: bool,
    /// A user without a run, for values that are needed during compilation.
    user: UserState,
}

/// The settings of the group that is being compiled.
#[derive(Debug, Default)]
pub(crate) struct GroupContext {
    /// Whether a schedule starts the group's sessions.
    pub(crate) is_open: bool,
    /// The time limits of the group's Sample Timeouts, in milliseconds.
    pub(crate) sample_timeouts: Arc<[Template]>,
}

/// The data of users and of earlier results that elements may read. Reads by functions are recorded in the symbols.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// The parts of the previous sample's result.
    pub(crate) previous_result: Retention,
    /// Whether elements may read any variable, by a name that is not known during compilation.
    pub(crate) any_variable: bool,
}

impl Reads {
    /// Adds the parts of the previous result that an element reads.
    pub(crate) fn add_previous_result(&mut self, reads: Retention) {
        self.previous_result = self.previous_result.union(reads);
    }
}

impl<'p> Context<'p> {
    pub(crate) fn new(plan: &'p TestPlan, options: &'p Options) -> Self {
        let properties = &options.properties;
        let (http, about_http) = http_properties::shared(options);
        let functional_mode = plan.roots().any(|root| root.boolean("TestPlan.functional_mode") == Some(true));
        // No plan has more groups than elements.
        let groups_max = plan.roots().flat_map(Element::descendants).count();
        Self {
            plan,
            options,
            findings: Findings::new(options.allow_unsupported, about_http),
            symbols: Symbols::default(),
            labels: Labels::new(),
            outputs: Outputs::new(properties, functional_mode),
            parts: Parts::new(http, &options.base_dir, groups_max),
            group: GroupContext::default(),
            reads: Reads::default(),
            at_start: TextsAtStart::default(),
            plan_variables: Vec::new(),
            in_request: false,
            user: detached_user(properties, Names::default(), 0),
        }
    }

    /// The text of a property as a template; empty if the property is missing.
    pub(crate) fn text(&mut self, element: Element<'p>, name: &str) -> Template {
        self.text_or(element, name, "")
    }

    /// The text of a property as a template; `default` if the property is missing.
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

    /// Parses a text of `property`, which may contain variables and functions.
    pub(crate) fn parse(&mut self, text: &str, property: Property<'p>) -> Template {
        if busyhour_functions::call_left_as_text(text).is_some() {
            let message = "JMeter 5.6.3 has no function __jexl and leaves the text ${__jexl(…)} unchanged";
            let finding = Diagnostic::warning("unknown-function", message);
            self.findings.add(property.locate(finding.with_hint("write __jexl3 or __jexl2")));
        }
        let parsed = if self.in_request {
            busyhour_functions::parse_in_request(text, &mut self.symbols).map(|(template, problems)| {
                for problem in problems {
                    let message = format!("{}: JMeter fails each such sample", problem.message);
                    let warning = Diagnostic::warning("failing-function", message).with_hint(problem.hint);
                    self.findings.add(property.locate(warning));
                }
                template
            })
        } else {
            busyhour_functions::parse(text, &mut self.symbols)
        };
        for message in std::mem::take(&mut self.symbols.warnings) {
            self.findings.add(property.locate(Diagnostic::warning("failing-function", message)));
        }
        match parsed {
            Ok(template) => as_written(template, text),
            Err(problems) => {
                for problem in problems {
                    self.add_problem(property.locate(finding(&problem)), problem.kind);
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
                    self.add_problem(element.locate(finding(&problem)), problem.kind);
                }
                Template::literal(element.name())
            }
        }
    }

    fn add_problem(&mut self, finding: Diagnostic, kind: ProblemKind) {
        match kind {
            ProblemKind::Unsupported | ProblemKind::NeedsJava => self.findings.add_unsupported(finding),
            ProblemKind::Invalid | ProblemKind::FailsSample => self.findings.add(finding),
        }
    }

    /// A Boolean property. An expression (`${__P(x)}`, `${x}`) is evaluated now, from properties and user defined
    /// variables.
    pub(crate) fn flag(&mut self, element: Element<'p>, name: &str, default: bool) -> bool {
        let Some(property) = element.property(name) else { return default };
        match property.text() {
            Some(text) if text.contains("${") => {
                self.text_at_start(text, property).eq_ignore_ascii_case("true")
            }
            Some(text) if text.trim().is_empty() => default,
            _ => property.boolean().unwrap_or(default),
        }
    }

    /// The Boolean value of an item of a property, evaluated like [`Self::flag`]; false if it is missing.
    pub(crate) fn item_flag(&mut self, property: Property<'p>, name: &str) -> bool {
        let Some(item) = property.property(name) else { return false };
        match item.text() {
            Some(text) if text.contains("${") => self.text_at_start(text, item).eq_ignore_ascii_case("true"),
            _ => item.boolean().unwrap_or(false),
        }
    }

    /// An integer property, which is evaluated now.
    pub(crate) fn number(&mut self, element: Element<'p>, name: &str, default: i64) -> i64 {
        let Some(text) = element.text(name) else { return default };
        if text.trim().is_empty() {
            return default;
        }
        let value = self.now(text);
        match value.trim().parse() {
            Ok(number) => number,
            Err(_) => {
                let finding = Diagnostic::warning("invalid-number", format!("{value:?} is not an integer"));
                let finding = finding.with_hint(format!("JMeter uses {default} here, and so does this run"));
                if let Some(property) = element.property(name) {
                    self.findings.add(property.locate(finding));
                }
                default
            }
        }
    }

    /// Evaluates a text now, before the run: functions such as `__P` are evaluated, references to variables are
    /// left unchanged.
    pub(crate) fn now(&mut self, text: &str) -> String {
        busyhour_functions::evaluate_text(text, &mut self.user)
    }

    /// The text of a property at the start of the test, with the plan's own variables replaced; empty if the property is
    /// missing. An invalid text is reported and returned unchanged.
    pub(crate) fn at_start(&mut self, element: Element<'p>, name: &str) -> String {
        match element.property(name) {
            Some(property) => self.text_at_start(property.text().unwrap_or(""), property),
            None => String::new(),
        }
    }

    /// A user at the start of the test, before the plan's variables are set.
    pub(crate) fn user_at_start(&self) -> UserState {
        detached_user(&self.options.properties, self.symbols.names.clone(), self.symbols.state_count())
    }

    /// Evaluates a text of `property` with the variables at the start of the test.
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
}

/// If a text has no variables and no functions, returns it as written: JMeter does not process such a text, so even its
/// backslashes are unchanged.
fn as_written(template: Template, text: &str) -> Template {
    let has_references = template.segments().iter().any(|segment| !matches!(segment, Segment::Text(_)));
    if has_references { template } else { Template::literal(text) }
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

/// A user outside of any run, with these properties, names of variables, and number of element states.
fn detached_user(properties: &Arc<JmeterProperties>, names: Names, states: u32) -> UserState {
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
