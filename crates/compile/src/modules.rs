//! Module and Include Controllers. Before compilation, their children are replaced by copies of the elements to which
//! the controllers refer, as in JMeter.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_limits::files::read_regular;
use busyhour_plan::{AssemblyError, Below, Element, ElementId, TestPlan};

use crate::elements::controllers::ControllerClass;
use crate::elements::others::TEST_PLAN;
use crate::elements::{Role, role};
use crate::options::Options;

/// The role of Module Controllers.
const MODULE: Role = Role::Controller(ControllerClass::Module);
/// The role of Include Controllers.
const INCLUDE: Role = Role::Controller(ControllerClass::Include);

/// The JMeter property with the prefix of the names of included files.
const PREFIX_PROPERTY: &str = "includecontroller.prefix";

/// The maximum number of included files, including files included by other included files.
const FILES_MAX: usize = 1_000;
/// The maximum size of these files together, in bytes.
const FILES_BYTES_MAX: usize = 64 << 20;

/// A problem with a Module or Include Controller.
#[derive(Clone)]
pub(crate) struct Finding {
    pub(crate) diagnostic: Box<Diagnostic>,
    /// Whether JMeter continues without the element.
    pub(crate) left_out: bool,
}

impl Finding {
    fn new(diagnostic: Diagnostic, left_out: bool) -> Self {
        Self { diagnostic: Box::new(diagnostic), left_out }
    }
}

/// Replaces the children of Module and Include Controllers. Returns no plan if `plan` has neither, or if the modules and
/// included files contain each other.
pub(crate) fn assemble(plan: &TestPlan, options: &Options) -> (Option<TestPlan>, Vec<Finding>) {
    if !plan.elements().any(|element| matches!(role(element), MODULE | INCLUDE)) {
        return (None, Vec::new());
    }
    let mut library = plan.clone();
    let mut files = Files { options, known: HashMap::new(), bytes: 0, included: HashMap::new() };
    files.load(&mut library);
    let mut findings = Vec::new();
    let own_elements = plan.len();
    let below = &mut |element: Element<'_>, active: bool| {
        let role = role(element);
        let copies = match role {
            INCLUDE => files.included.get(&element.id()).cloned(),
            MODULE if element.id().index() < own_elements => Some(match target(plan, element) {
                Some(target) => Ok(vec![target]),
                None => Err(no_target(element)),
            }),
            // JMeter does not follow the modules of an included file.
            MODULE => Some(Err(not_followed(element))),
            _ => None,
        };
        match copies {
            None => Below::AsWritten,
            Some(Ok(of)) => Below::Copies { of, enabled: role == MODULE },
            Some(Err(finding)) => {
                if active {
                    findings.push(finding);
                }
                Below::Copies { of: Vec::new(), enabled: false }
            }
        }
    };
    match library.assembled(below) {
        Ok(assembled) => (Some(assembled), findings),
        Err(error) => {
            let (AssemblyError::Endless(id) | AssemblyError::TooLarge(id)) = error;
            let finding = Diagnostic::error(
                "endless-module",
                format!("the modules and included files of the plan contain each other: {error}"),
            );
            let hint = "JMeter fails, too; disable one of the controllers that refer to each other";
            let diagnostic = library.element(id).locate(finding).with_hint(hint);
            findings.push(Finding::new(diagnostic, false));
            (None, findings)
        }
    }
}

/// The element to which a Module Controller's path refers. The path consists of the names of the elements, starting at the
/// root; if several elements match, the last one is used.
fn target(plan: &TestPlan, module: Element<'_>) -> Option<ElementId> {
    let path: Vec<&str> = module
        .collection("ModuleController.node_path")?
        .items()
        .map(|item| item.text().unwrap_or(""))
        .collect();
    // The first name is that of JMeter's own root, above the test plan.
    let mut found = None;
    for root in plan.roots().filter(|root| root.kind() == TEST_PLAN) {
        search(root, path.get(1..)?, &mut found);
    }
    found
}

fn search(element: Element<'_>, path: &[&str], found: &mut Option<ElementId>) {
    if role(element) == MODULE || path.first() != Some(&element.name()) {
        return;
    }
    if path.len() == 1 {
        *found = Some(element.id());
    }
    for child in element.children() {
        search(child, &path[1..], found);
    }
}

fn no_target(module: Element<'_>) -> Finding {
    let path: Vec<&str> = module
        .collection("ModuleController.node_path")
        .into_iter()
        .flat_map(|path| path.items())
        .map(|item| item.text().unwrap_or(""))
        .skip(1)
        .collect();
    let message = match path.as_slice() {
        [] => "the Module Controller has no selected controller".to_owned(),
        path => format!("the Module Controller's target is not in the plan: {}", path.join(" > ")),
    };
    let hint = "JMeter does not start the test either; was an element on the path renamed?";
    let diagnostic = module.locate(Diagnostic::error("no-module", message)).with_hint(hint);
    Finding::new(diagnostic, false)
}

fn not_followed(module: Element<'_>) -> Finding {
    let message = "a Module Controller of an included file runs nothing, as in JMeter";
    let diagnostic = module.locate(Diagnostic::warning("module-in-included-file", message));
    Finding::new(diagnostic, true)
}

/// The included files.
struct Files<'o> {
    options: &'o Options,
    /// The elements to include from each file; `None` for a file without a Test Fragment. Such a file is listed so that it
    /// is not read again, because it may include itself.
    known: HashMap<PathBuf, Option<Vec<ElementId>>>,
    /// The total size of these files in bytes.
    bytes: usize,
    /// The elements that replace the children of each Include Controller.
    included: HashMap<ElementId, Result<Vec<ElementId>, Finding>>,
}

impl Files<'_> {
    /// Reads all included files, including files included by other included files.
    fn load(&mut self, library: &mut TestPlan) {
        loop {
            let next = library
                .elements()
                .find(|element| role(*element) == INCLUDE && !self.included.contains_key(&element.id()));
            let Some(include) = next.map(|element| element.id()) else { return };
            let found = self.include(library, include);
            self.included.insert(include, found);
        }
    }

    fn include(&mut self, library: &mut TestPlan, include: ElementId) -> Result<Vec<ElementId>, Finding> {
        let element = library.element(include);
        let name = element.text("IncludeController.includepath").unwrap_or("").to_owned();
        let name = name.as_str();
        if name.is_empty() {
            return Ok(element.children().map(Element::id).collect());
        }
        let path = self.path(name);
        let no_fragment = |library: &TestPlan| {
            let message = format!("the included file {name} has no Test Fragment in its test plan");
            let hint =
                "JMeter does not start the test either; put the elements to be included into a Test Fragment";
            let finding = Diagnostic::error("no-fragment", message);
            let diagnostic = library.element(include).locate(finding).with_hint(hint);
            Finding::new(diagnostic, false)
        };
        if let Some(known) = self.known.get(&path) {
            return known.clone().ok_or_else(|| no_fragment(library));
        }
        let failed = |why: String| {
            let message = format!("the file {name} of the Include Controller cannot be included: {why}");
            let hint = "JMeter would continue without it; correct the name, or disable the element";
            let diagnostic = element.locate(Diagnostic::error("no-included-file", message)).with_hint(hint);
            Finding::new(diagnostic, true)
        };
        if self.known.len() >= FILES_MAX {
            return Err(failed(format!("more than {FILES_MAX} files")));
        }
        let bytes = read_regular(&path, FILES_BYTES_MAX as u64).map_err(|error| failed(error.to_string()))?;
        if self.bytes + bytes.len() > FILES_BYTES_MAX {
            return Err(failed(format!(
                "the included files together have more than {} MiB",
                FILES_BYTES_MAX >> 20
            )));
        }
        self.bytes += bytes.len();
        let (plan, findings) = busyhour_plan::parse(&bytes, path.display().to_string().as_str());
        if let Some(error) = findings.into_iter().find(|finding| finding.severity == Severity::Error) {
            return Err(Finding::new(error, false));
        }
        let roots = library.absorb(&plan);
        let fragment = fragment(library, &roots);
        self.known.insert(path, fragment.clone());
        fragment.ok_or_else(|| no_fragment(library))
    }

    /// The path of an included file. JMeter searches the working directory for the name with the prefix, then the plan's
    /// directory for the name without the prefix.
    fn path(&self, name: &str) -> PathBuf {
        let prefix = self.options.properties.get(PREFIX_PROPERTY).unwrap_or_default();
        let named = format!("{prefix}{name}");
        let named = Path::new(named.trim());
        if named.exists() || named.is_absolute() {
            return named.to_owned();
        }
        self.options.base_dir.join(name)
    }
}

/// The children of the first Test Fragment of an included file, directly below its test plan.
fn fragment(library: &TestPlan, roots: &[ElementId]) -> Option<Vec<ElementId>> {
    for &id in roots {
        let root = library.element(id);
        if root.kind() == TEST_PLAN {
            let children: Vec<ElementId> = root.children().map(Element::id).collect();
            return fragment(library, &children);
        }
        if role(root) == Role::Fragment {
            return Some(root.children().map(Element::id).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> String {
        format!("<stringProp name=\"1\">{text}</stringProp>")
    }

    fn plan(module_path: &[&str]) -> TestPlan {
        let path: String = module_path.iter().map(|name| named(name)).collect();
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\
             <TestFragmentController testname=\"F\" enabled=\"false\"/><hashTree>\
               <GenericController testname=\"twice\"/><hashTree><DebugSampler testname=\"first\"/><hashTree/></hashTree>\
               <GenericController testname=\"twice\"/><hashTree><DebugSampler testname=\"second\"/><hashTree/></hashTree>\
             </hashTree>\
             <ModuleController testname=\"M\"><collectionProp name=\"ModuleController.node_path\">{path}</collectionProp></ModuleController><hashTree/>\
             </hashTree></hashTree></jmeterTestPlan>"
        );
        busyhour_plan::parse(text.as_bytes(), "plan.jmx").0
    }

    fn options() -> Options {
        Options {
            properties: std::sync::Arc::default(),
            base_dir: PathBuf::new(),
            allow_unsupported: false,
            tls: busyhour_http::TlsPolicy::default(),
            proxy: None,
            request_deadline: None,
            open: None,
        }
    }

    fn below_module(plan: &TestPlan) -> Vec<String> {
        let module = plan.elements().find(|element| element.name() == "M").unwrap();
        module.descendants().map(|element| element.name().to_owned()).collect()
    }

    #[test]
    fn the_last_of_several_matching_targets_is_used() {
        let (assembled, findings) = assemble(&plan(&["root", "P", "F", "twice"]), &options());
        assert!(findings.is_empty());
        assert_eq!(below_module(&assembled.unwrap()), ["twice", "second"]);
        let (assembled, _) = assemble(&plan(&["root", "P", "F"]), &options());
        let assembled = assembled.unwrap();
        let copy = assembled.elements().rfind(|element| element.name() == "F").unwrap();
        assert!(copy.is_active(), "a disabled target runs");
    }

    #[test]
    fn files_that_include_themselves_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let included = |name: &str| {
            format!(
                "<IncludeController testname=\"I\"><stringProp name=\"IncludeController.includepath\">{name}\
                 </stringProp></IncludeController><hashTree/>"
            )
        };
        let text = |inner: &str| {
            format!(
                "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>{inner}</hashTree></hashTree></jmeterTestPlan>"
            )
        };
        let fragment =
            |inner: &str| format!("<TestFragmentController testname=\"F\"/><hashTree>{inner}</hashTree>");
        let files = [
            ("bare.jmx", text(&included("bare.jmx").repeat(3))),
            (
                "fragment.jmx",
                text(&(fragment(&included("fragment.jmx").repeat(2)) + &included("fragment.jmx"))),
            ),
            ("one.jmx", text(&fragment(&included("two.jmx").repeat(2)))),
            ("two.jmx", text(&fragment(&included("./one.jmx").repeat(2)))),
        ];
        for (name, text) in &files {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let options = Options { base_dir: folder.path().to_owned(), ..options() };
        for (name, text) in &files {
            let (plan, _) = busyhour_plan::parse(text.as_bytes(), *name);
            let (_, findings) = assemble(&plan, &options);
            let codes: Vec<&str> = findings.iter().map(|finding| finding.diagnostic.code).collect();
            let expected = if *name == "bare.jmx" { vec!["no-fragment"; 3] } else { vec!["endless-module"] };
            assert_eq!(codes, expected, "{name}");
        }
    }

    #[test]
    fn a_path_without_target_or_to_a_module_is_rejected() {
        for path in [&["root", "P", "G"][..], &["root", "P", "M"], &["root"], &[]] {
            let (_, findings) = assemble(&plan(path), &options());
            assert_eq!(findings.len(), 1, "{path:?}");
            assert_eq!(findings[0].diagnostic.code, "no-module");
            assert!(!findings[0].left_out);
        }
    }
}
