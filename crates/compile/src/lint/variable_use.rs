//! How elements use variables: the names they set, refer to and read.

use std::collections::HashSet;
use std::path::Path;

use busyhour_plan::{Element, Property};

use super::properties::each_property;
use super::references::{Reference, calls, is_word, references};
use super::script_variables::{ScriptVariables, variables_of_script};
use crate::elements::config::{ConfigClass, StepClass};
use crate::elements::controllers::ControllerClass;
use crate::elements::others::TEST_PLAN;
use crate::elements::processors::{PostProcessorClass, PreProcessorClass};
use crate::elements::samplers::SamplerClass;
use crate::elements::{Role, role};

/// The variables that a set of elements uses.
#[derive(Default)]
pub(super) struct VariableUse<'p> {
    /// The names that the elements set.
    pub(super) sets: HashSet<String>,
    /// Whether they may set variables whose names are not in the plan.
    pub(super) sets_any: bool,
    /// The names that user defined variables set, for all users.
    pub(super) sets_for_all: HashSet<String>,
    /// The names that extractors set, with the property that contains the name.
    pub(super) extracts: Vec<(String, Property<'p>)>,
    /// References in texts, with their positions.
    pub(super) refers: Vec<(String, Place<'p>)>,
    /// Names that are read by references, scripts, functions and elements.
    pub(super) reads: HashSet<String>,
    /// Whether they may read variables whose names are not in the plan.
    pub(super) reads_any: bool,
    /// Whether they run elements of other parts of the plan.
    pub(super) runs_others: bool,
}

/// The position of a reference.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Property(Property<'p>),
    /// In the name of an element.
    Name(Element<'p>),
}

/// Properties that contain the bare name of a variable, and the texts of conditions.
const BARE_NAMES: [&str; 8] = [
    "ForeachController.inputVal",
    "Scope.variable",
    "RegExUserParameters.regex_ref_name",
    "VARIABLE",
    "clientCertAliasVarName",
    "IfController.condition",
    "WhileController.condition",
    "SwitchController.value",
];

/// The property with the name of the variable in which Save Responses to a file stores the file name of a response. For the
/// file of a sub-result, its number is appended to the variable's name.
const FILE_VARIABLE: &str = "FileSaver.variablename";

/// Maximum number of sub-results of a sample for which a variable is assumed to exist.
const FILES_MAX: u32 = 100;

/// Properties with comments and descriptions, in which references are not replaced.
const COMMENTS: [&str; 3] = ["TestPlan.comments", "Argument.desc", "Argument.metadata"];

/// Functions that evaluate a text, which may name any variable.
const OF_TEXTS: [&str; 2] = ["__eval", "__evalVar"];

/// Functions whose first argument is one or several names of variables.
const OF_NAMES: [&str; 2] = ["__V", "__RandomFromMultipleVars"];

/// Functions that run scripts.
const OF_SCRIPTS: [&str; 5] = ["__groovy", "__BeanShell", "__javaScript", "__jexl2", "__jexl3"];

impl<'p> VariableUse<'p> {
    /// Adds the variable use of an element; `base_dir` is the folder of the plan.
    pub(super) fn add(&mut self, element: Element<'p>, base_dir: &Path) {
        let role = role(element);
        self.add_own(element, role, base_dir);
        let script = role.script_source();
        for reference in references(element.name()) {
            self.refer(reference, Place::Name(element));
        }
        let of_plugin = matches!(role, Role::Unsupported(_));
        each_property(element, &mut |property| {
            let name = property.written_name();
            let Some(text) = property.text().filter(|_| !COMMENTS.contains(&name)) else { return };
            match script {
                Some(source) if name == source.script => self.add_script(text, property),
                Some(source) if name == source.filename => self.mark_any(!text.trim().is_empty()),
                _ => {
                    for reference in references(text) {
                        self.refer(reference, Place::Property(property));
                    }
                }
            }
            if name == FILE_VARIABLE && !text.is_empty() {
                self.set(text);
                self.sets.extend((0..FILES_MAX).map(|number| format!("{text}{number}")));
            }
            if BARE_NAMES.contains(&name) || of_plugin {
                self.reads.extend(words(text).into_iter().map(str::to_owned));
                self.add_script_variables(variables_of_script(text));
            }
            self.add_calls(text);
        });
    }

    /// If `does` is true, records that any variable may be set and read.
    fn mark_any(&mut self, does: bool) {
        self.sets_any |= does;
        self.reads_any |= does;
    }

    fn refer(&mut self, reference: Reference<'_>, place: Place<'p>) {
        if let Reference::Variable(name) = reference {
            self.reads.insert(name.to_owned());
            self.refers.push((name.to_owned(), place));
        }
    }

    /// Adds the variable use of a script. Its `${…}` references may belong to the script language itself.
    fn add_script(&mut self, script: &str, property: Property<'p>) {
        let bare = without_references(script);
        let own = words(&bare);
        // `${sample.label}` refers to `sample`, which the script itself defines.
        let is_own = |name: &str| {
            let object = name.split('.').next().unwrap_or(name);
            own.contains(object) || OF_INTERPRETERS.contains(&object)
        };
        for reference in references(script) {
            match reference {
                Reference::Variable(name) if is_own(name) => {
                    self.reads.insert(name.to_owned());
                }
                other => self.refer(other, Place::Property(property)),
            }
        }
        self.add_script_variables(variables_of_script(script));
    }

    fn add_script_variables(&mut self, script: ScriptVariables) {
        self.sets.extend(script.sets);
        self.reads.extend(script.reads);
        self.sets_any |= script.sets_any;
        self.reads_any |= script.reads_any;
    }

    /// Adds the variable use of the functions in a text. Any argument may be the name of a variable that the function sets.
    fn add_calls(&mut self, text: &str) {
        for (name, arguments) in calls(text) {
            let bare = without_references(arguments);
            let names = words(&bare);
            self.reads.extend(names.iter().map(|name| (*name).to_owned()));
            self.sets.extend(names.into_iter().map(str::to_owned));
            if OF_TEXTS.contains(&name) {
                self.mark_any(true);
            }
            if OF_NAMES.contains(&name) && arguments.contains("${") {
                self.reads_any = true;
            }
            if OF_SCRIPTS.contains(&name) {
                self.add_script_variables(variables_of_script(arguments));
            }
        }
    }

    /// Adds the names that the element sets through its settings.
    fn add_own(&mut self, element: Element<'p>, role: Role, base_dir: &Path) {
        if element.kind() == TEST_PLAN {
            let list = element.element("TestPlan.user_defined_variables");
            return self.set_arguments(list.and_then(|list| list.property("Arguments.arguments")), true);
        }
        match role {
            Role::Config(ConfigClass::UserVariables) => {
                self.set_arguments(element.property("Arguments.arguments"), true);
            }
            Role::Config(ConfigClass::VariablesFromCsv) => self.sets_any = true,
            Role::Controller(ControllerClass::Parameterized) | Role::Sampler(SamplerClass::SetVariables) => {
                each_property(element, &mut |property| {
                    if property.written_name() == "Argument.name" {
                        self.set(property.text().unwrap_or_default());
                    }
                });
            }
            Role::Controller(ControllerClass::Include) => {
                self.mark_any(true);
                self.runs_others = true;
            }
            Role::Controller(ControllerClass::Module) => self.runs_others = true,
            Role::Controller(ControllerClass::ForEach) => {
                self.set_named(element, "ForeachController.returnVal")
            }
            Role::Step(StepClass::Counter) => self.set_named(element, "CounterConfig.name"),
            Role::Step(StepClass::RandomVariable) => self.set_named(element, "variableName"),
            Role::Step(StepClass::CsvDataSet | StepClass::RandomCsvDataSet) => {
                self.set_columns(element, base_dir)
            }
            Role::PreProcessor(PreProcessorClass::UserParameters) => {
                let names = element.property("UserParameters.names");
                for name in names.into_iter().flat_map(Property::items) {
                    self.set(name.text().unwrap_or_default());
                }
            }
            Role::PreProcessor(PreProcessorClass::PopFromQueue) => self.set_named(element, "Variable"),
            Role::PreProcessor(PreProcessorClass::RawDataSource) => self.set_named(element, "variable_name"),
            Role::PostProcessor(class) => self.add_post_processor(element, class),
            // The Debug Sampler outputs all variables.
            Role::Sampler(SamplerClass::Debug) => self.reads_any = true,
            Role::Sampler(SamplerClass::Java) => {
                let class = element.text("classname").unwrap_or_default();
                self.mark_any(!class.starts_with("org.apache.jmeter.protocol.java.test."));
            }
            Role::Unsupported(_) => self.add_unsupported(element),
            _ => {}
        }
    }

    fn add_post_processor(&mut self, element: Element<'p>, class: PostProcessorClass) {
        let name = match class {
            PostProcessorClass::Regex => "RegexExtractor.refname",
            PostProcessorClass::Json => "JSONPostProcessor.referenceNames",
            PostProcessorClass::Boundary => "BoundaryExtractor.refname",
            PostProcessorClass::XPath => "XPathExtractor.refname",
            PostProcessorClass::XPath2 => "XPathExtractor2.refname",
            PostProcessorClass::Css => "HtmlExtractor.refname",
            PostProcessorClass::JmesPath => "JMESExtractor.referenceName",
            PostProcessorClass::PluginJsonPath => "VAR",
            PostProcessorClass::Debug => {
                self.reads_any = true;
                return;
            }
            PostProcessorClass::ResultAction
            | PostProcessorClass::PutIntoQueue
            | PostProcessorClass::Script(_) => return,
        };
        let Some(property) = element.property(name) else { return };
        let text = property.text().unwrap_or_default();
        let several = class == PostProcessorClass::Json;
        for name in text.split(|c| several && c == ';').map(str::trim).filter(|name| !name.is_empty()) {
            self.set(name);
            if !name.contains("${") {
                self.extracts.push((name.to_owned(), property));
            }
        }
    }

    /// Adds the names that JDBC elements and elements of unknown plugins may set. JMeter's other unsupported elements
    /// set none.
    fn add_unsupported(&mut self, element: Element<'p>) {
        if element.kind().starts_with("JDBC") {
            let names = ["variableNames", "resultVariable"].into_iter().filter_map(|name| element.text(name));
            for name in names.flat_map(|names| names.split(',')) {
                self.set(name.trim());
            }
        } else {
            self.mark_any(element.kind().contains('.'));
        }
    }

    /// Adds the column names of a file: those of the element, or those in the file's first line.
    fn set_columns(&mut self, element: Element<'p>, base_dir: &Path) {
        let names = element.text("variableNames").unwrap_or_default();
        if !names.trim().is_empty() {
            return names.split(',').for_each(|name| self.set(name.trim()));
        }
        let delimiter = element.text("delimiter").unwrap_or(",");
        let delimiter = if delimiter == "\\t" { "\t" } else { delimiter };
        match first_line(element.text("filename").unwrap_or_default(), base_dir) {
            Some(line) if !delimiter.is_empty() && !delimiter.contains("${") => {
                line.split(delimiter).for_each(|name| self.set(name.trim().trim_matches('"')));
            }
            _ => self.sets_any = true,
        }
    }

    fn set_arguments(&mut self, list: Option<Property<'p>>, for_all: bool) {
        for item in list.into_iter().flat_map(Property::items) {
            let name = item.item_text("Argument.name").unwrap_or_else(|| item.name());
            self.set(name);
            if for_all {
                self.sets_for_all.insert(name.to_owned());
            }
        }
    }

    fn set_named(&mut self, element: Element<'p>, property: &str) {
        self.set(element.text(property).unwrap_or_default().trim());
    }

    fn set(&mut self, name: &str) {
        if name.contains("${") {
            self.sets_any = true;
        } else if !name.is_empty() {
            self.sets.insert(name.to_owned());
        }
    }
}

/// Names that script interpreters bind. `${name}` in a Groovy or JavaScript text may refer to such a name instead of a variable
/// of the plan.
const OF_INTERPRETERS: [&str; 14] = [
    "vars",
    "props",
    "ctx",
    "prev",
    "log",
    "sampler",
    "args",
    "Parameters",
    "Label",
    "FileName",
    "OUT",
    "SampleResult",
    "it",
    "AssertionResult",
];

/// The first line of a file in the plan's folder, if it can be read.
fn first_line(name: &str, base_dir: &Path) -> Option<String> {
    use std::io::{BufRead as _, BufReader, Read as _};
    const BYTES_MAX: u64 = 64 * 1024;
    let path = base_dir.join(name.trim());
    if name.contains("${") || !std::fs::metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut line = Vec::new();
    BufReader::new(std::fs::File::open(path).ok()?.take(BYTES_MAX)).read_until(b'\n', &mut line).ok()?;
    let text = String::from_utf8_lossy(&line);
    Some(text.trim_start_matches('\u{feff}').trim_end().to_owned())
}

/// Removes the references to variables from a text.
fn without_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied_to = 0;
    for reference in references(text) {
        if let Reference::Variable(name) = reference {
            let begin = name.as_ptr() as usize - text.as_ptr() as usize;
            out.push_str(&text[copied_to..begin - 2]);
            out.push(' ');
            copied_to = begin + name.len() + 1;
        }
    }
    out.push_str(&text[copied_to..]);
    out
}

/// The words of a text. Words with points, hyphens or `#` are included both as a whole and in parts.
fn words(text: &str) -> HashSet<&str> {
    let long = text.split(|c: char| !(is_word(c) || matches!(c, '.' | '-' | '#')));
    let short = text.split(|c: char| !is_word(c));
    long.chain(short).filter(|word| !word.is_empty()).collect()
}
