//! Creates a short version of a real plan that runs without external effects in JMeter and in Busyhour.
//!
//! The short version has few users and loops and no pauses. Elements that write files or connect to other servers are
//! removed, missing data files are generated, and HttpClient replaces Java's own HTTP client. Everything else is
//! unchanged.

use anyhow::anyhow;
use std::path::Path;

use busyhour_plan::{Element, TestPlan, parse};

use super::edits::Edits;
use super::groups::{self, LOOPS_MAX, exceeds};

/// The maximum delay that is not removed.
const DELAY_MS_MAX: u64 = 50;
/// The port of the stand-in, for samplers without a proxy.
const STAND_IN_PORT: &str = "${__P(PORT)}";
/// The number of lines of a generated data file.
const DATA_LINES: usize = 5;

/// A plan that ends after a short time.
#[derive(Debug)]
pub(super) struct Bounded {
    pub(super) text: Vec<u8>,
    /// Generated data files: name and content.
    pub(super) files: Vec<(String, String)>,
}

/// Elements that cannot be run here: the start of the class, and the reason.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("com.blazemeter.jmeter.threads.arrivals.FreeForm", "the load of this thread group cannot be limited"),
    ("SystemSampler", "starts programs"),
    ("TCPSampler", "connects to servers other than HTTP servers"),
    ("AccessLogSampler", "connects to servers other than HTTP servers"),
    ("JMeter.plugins.functional.samplers.websocket", "connects to servers other than HTTP servers"),
    ("kg.apc.jmeter.samplers.UDP", "connects to servers other than HTTP servers"),
];

/// Classes of elements that only display, write or send results.
const LISTENERS: [&str; 9] = [
    "ResultCollector",
    "BackendListener",
    "ResultSaver",
    "Summariser",
    "Visualizer",
    "PerfMonCollector",
    "AutoStop",
    "StatusLogger",
    "FlexibleFileWriter",
];

/// Texts in plans whose users share data, so that the result depends on their order.
const SHARED: [&str; 10] = [
    "<CSVDataSet",
    "CSVDataSet\"",
    "CounterConfig",
    "perThread\">false",
    "__counter(FALSE",
    "__StringFromFile",
    "__CSVRead",
    "__setProperty",
    "props.put",
    "RandomCSV",
];

/// Limits the load of a plan in `folder`.
///
/// # Errors
/// The reason why the plan cannot be run here.
pub(super) fn bounded(source: &[u8], folder: &Path) -> anyhow::Result<Bounded> {
    let (plan, _) = parse(source, "plan.jmx");
    for element in plan.elements().filter(|element| element.is_active()) {
        if let Some((_, why)) = UNSUPPORTED.iter().find(|(class, _)| element.kind().starts_with(class)) {
            return Err(anyhow!(*why));
        }
    }
    let reduced = remove_elements(&plan);
    let (mut plan, findings) = parse(reduced.as_bytes(), "plan.jmx");
    if findings.iter().any(|finding| finding.is_error()) {
        return Err(anyhow!("could not be shortened"));
    }
    let single_user = SHARED.iter().any(|word| plan.source().contains(word));
    let ids: Vec<_> = plan.elements().filter(|element| element.is_active()).map(Element::id).collect();
    let mut files = Vec::new();
    for id in ids {
        let edits = edits(plan.element(id), single_user, folder, &mut files);
        edits.apply(&mut plan, id)?;
    }
    Ok(Bounded { text: plan.write(), files })
}

fn edits(element: Element<'_>, single_user: bool, folder: &Path, files: &mut Vec<(String, String)>) -> Edits {
    let mut edits = Edits::default();
    let over = |name: &str, limit: u64| exceeds(element.text(name), limit);
    groups::edits(element, single_user, &mut edits);
    match element.kind() {
        "TestPlan" if single_user => edits.set("TestPlan.serialize_threadgroups", "true"),
        "LoopController" if over("LoopController.loops", LOOPS_MAX) => {
            edits.set("LoopController.loops", LOOPS_MAX.to_string());
        }
        "ConstantTimer" | "UniformRandomTimer" | "GaussianRandomTimer" | "PoissonRandomTimer"
            if over("ConstantTimer.delay", DELAY_MS_MAX) || over("RandomTimer.range", DELAY_MS_MAX) =>
        {
            edits.set("TestElement.enabled", "false");
        }
        "ConstantThroughputTimer"
        | "PreciseThroughputTimer"
        | "SyncTimer"
        | "BeanShellTimer"
        | "JSR223Timer"
        | "kg.apc.jmeter.timers.VariableThroughputTimer" => {
            edits.set("TestElement.enabled", "false");
        }
        "TestAction" if over("ActionProcessor.duration", DELAY_MS_MAX) => {
            edits.set("ActionProcessor.duration", "1");
        }
        "RunTime" => edits.set("RunTime.seconds", "1"),
        // Samples should not be interrupted because the machine is busy.
        "SampleTimeout" => edits.set("InterruptTimer.timeout", "60000"),
        "kg.apc.jmeter.samplers.HTTPRawSampler" => {
            edits.set("hostname", "127.0.0.1");
            edits.set("port", STAND_IN_PORT);
        }
        kind if kind.starts_with("eu.luminis.jmeter.wssampler.") && element.text("server").is_some() => {
            // This sampler does not use the proxy; the stand-in's WebSockets have this path.
            for (name, text) in
                [("server", "127.0.0.1"), ("port", STAND_IN_PORT), ("path", "/ws"), ("TLS", "false")]
            {
                edits.set(name, text);
            }
        }
        "DurationAssertion" => edits.set("DurationAssertion.duration", "60000"),
        "CSVDataSet" => data_set(element, folder, files, &mut edits),
        "HTTPSamplerProxy" | "ConfigTestElement" => {
            for name in ["HTTPSampler.proxyHost", "HTTPSampler.proxyPort", "HTTPSampler.ipSource"] {
                if element.text(name).is_some_and(|text| !text.is_empty()) {
                    edits.set(name, "");
                }
            }
            // Java's own HTTP client writes other headers, which Busyhour does not reproduce; the requests are the
            // same.
            if element.text("HTTPSampler.implementation").is_some_and(|text| text == "Java") {
                edits.set("HTTPSampler.implementation", "HttpClient4");
            }
            if element.text("HTTPSampler.concurrentDwn").is_some() {
                edits.set("HTTPSampler.concurrentDwn", "false");
            }
            uploads(element, folder, files, &mut edits);
        }
        _ => {}
    }
    edits
}

/// Generates the file of a CSV Data Set if it is missing.
fn data_set(element: Element<'_>, folder: &Path, files: &mut Vec<(String, String)>, edits: &mut Edits) {
    let name = element.text("filename").unwrap_or("");
    if exists(name, folder) {
        edits.set("filename", folder.join(name).display().to_string());
        return;
    }
    let delimiter = match element.text("delimiter").unwrap_or(",") {
        "\\t" => "\t",
        "" => ",",
        other => other,
    };
    let columns = element.text("variableNames").unwrap_or("").split(',').count();
    let mut content = String::new();
    for line in 0..=DATA_LINES {
        let fields: Vec<_> = (1..=columns).map(|column| format!("c{column}r{line}")).collect();
        content.push_str(&fields.join(delimiter));
        content.push('\n');
    }
    let name = format!("data-{}.csv", files.len() + 1);
    edits.set("filename", &*name);
    files.push((name, content));
}

/// Generates the files of uploads if they are missing.
fn uploads(element: Element<'_>, folder: &Path, files: &mut Vec<(String, String)>, edits: &mut Edits) {
    let Some(list) =
        element.element("HTTPsampler.Files").and_then(|files| files.property("HTTPFileArgs.files"))
    else {
        return;
    };
    for path in list.items().filter_map(|file| file.property("File.path")) {
        let name = path.text().unwrap_or("");
        if name.is_empty() {
            continue;
        }
        if exists(name, folder) {
            edits.value(path.id(), folder.join(name).display().to_string());
            continue;
        }
        let generated = format!("upload-{}.txt", files.len() + 1);
        edits.value(path.id(), generated.clone());
        files.push((generated, "an upload\n".to_owned()));
    }
}

fn exists(name: &str, folder: &Path) -> bool {
    !name.is_empty() && !name.contains("${") && folder.join(name).is_file()
}

/// The plan's text without disabled elements, listeners and the workbench.
fn remove_elements(plan: &TestPlan) -> String {
    // A Module Controller can run disabled elements.
    let has_modules = plan.elements().any(|element| element.kind() == "ModuleController");
    let is_removed = |element: &Element<'_>| {
        let kind = element.kind();
        (!has_modules && !element.enabled())
            || kind == "WorkBench"
            || LISTENERS.iter().any(|end| kind.ends_with(end))
            || kind.contains(".vizualizers.")
    };
    let source = plan.source();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for element in plan.elements().filter(is_removed) {
        let span = element.span();
        // The content of a removed element is removed with it.
        if span.offset >= at {
            out.push_str(&source[at..span.offset]);
            at = tree_end(source, span.offset + span.len);
        }
    }
    out.push_str(&source[at..]);
    out
}

/// The end of the `hashTree` that follows `from`; `from` if there is none.
fn tree_end(source: &str, from: usize) -> usize {
    let rest = &source[from..];
    if !rest.trim_start().starts_with("<hashTree") {
        return from;
    }
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = rest[at..].find("hashTree") {
        let place = at + found;
        let Some(end) = rest[place..].find('>').map(|end| place + end + 1) else { return from };
        if rest[..place].ends_with("</") {
            depth = depth.saturating_sub(1);
        } else if rest[..place].ends_with('<') && !rest[..end].ends_with("/>") {
            depth += 1;
        } else if !rest[..place].ends_with('<') {
            at = end;
            continue;
        }
        if depth == 0 {
            return from + end;
        }
        at = end;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<jmeterTestPlan version="1.2"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="P"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G">
<stringProp name="ThreadGroup.num_threads">${__P(users,50)}</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">true</boolProp><intProp name="LoopController.loops">-1</intProp>
</elementProp></ThreadGroup><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="T"><stringProp name="ConstantTimer.delay">3000</stringProp></ConstantTimer><hashTree/>
<GenericController guiclass="x" testclass="GenericController" testname="off" enabled="false"/><hashTree><a guiclass="b"/><hashTree/></hashTree>
<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="D"><stringProp name="filename">${dir}/u.csv</stringProp><stringProp name="variableNames">a,b</stringProp></CSVDataSet><hashTree/>
</hashTree>
<ResultCollector guiclass="ViewResultsFullVisualizer" testclass="ResultCollector" testname="L"/><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#;

    #[test]
    fn plans_are_shortened() {
        let bounded = bounded(PLAN.as_bytes(), Path::new("/nowhere")).unwrap();
        let text = String::from_utf8(bounded.text).unwrap();
        assert!(!text.contains("ResultCollector") && !text.contains("\"off\""), "{text}");
        let (plan, findings) = parse(text.as_bytes(), "p");
        assert!(findings.is_empty(), "{findings:?}");
        let group = plan.elements().find(|element| element.kind() == "ThreadGroup").unwrap();
        // The users share the data file, so that only one may run.
        assert_eq!(group.text("ThreadGroup.num_threads"), Some("1"));
        let main = group.element("ThreadGroup.main_controller").unwrap();
        assert_eq!(main.item_text("LoopController.loops"), Some("2"));
        assert!(!plan.elements().find(|element| element.kind() == "ConstantTimer").unwrap().enabled());
        assert_eq!(bounded.files.len(), 1);
        assert!(bounded.files[0].1.starts_with("c1r0,c2r0\nc1r1,c2r1\n"));
    }

    /// The plan with a thread group of another class and additional properties.
    fn with_group(class: &str, more: &str) -> String {
        let begin =
            format!("<{class} guiclass=\"ThreadGroupGui\" testclass=\"{class}\" testname=\"G\">{more}");
        let old = "<ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\" testname=\"G\">";
        PLAN.replace(old, &begin).replace("</ThreadGroup>", &format!("</{class}>"))
    }

    #[test]
    fn thread_groups_of_plugins_are_limited() {
        let rows = "<collectionProp name=\"ultimatethreadgroupdata\">\
            <collectionProp name=\"1\"><stringProp name=\"1\">100</stringProp><stringProp name=\"2\">7</stringProp>\
            <stringProp name=\"2\">15</stringProp><stringProp name=\"3\">${hold}</stringProp><stringProp name=\"2\">9</stringProp></collectionProp>\
            <collectionProp name=\"2\"><stringProp name=\"1\">50</stringProp><stringProp name=\"2\">7</stringProp>\
            <stringProp name=\"2\">15</stringProp><stringProp name=\"3\">60</stringProp><stringProp name=\"2\">9</stringProp></collectionProp>\
            </collectionProp>";
        let ultimate = with_group("kg.apc.jmeter.threads.UltimateThreadGroup", rows);
        let bounded_plan = bounded(ultimate.as_bytes(), Path::new("/nowhere")).unwrap();
        let (plan, _) = parse(&bounded_plan.text, "p");
        let group = plan.elements().find(|element| element.kind().ends_with("UltimateThreadGroup")).unwrap();
        let rows = group.collection("ultimatethreadgroupdata").unwrap().items();
        let cells: Vec<Vec<_>> =
            rows.map(|row| row.items().filter_map(|cell| cell.text()).collect()).collect();
        assert_eq!(cells, [["1", "0", "0", "30", "0"], ["0", "0", "0", "30", "0"]]);
        let main = group.element("ThreadGroup.main_controller").unwrap();
        assert_eq!(main.item_text("LoopController.loops"), Some("2"));

        let open = with_group("OpenModelThreadGroup", "");
        let text = String::from_utf8(bounded(open.as_bytes(), Path::new("/")).unwrap().text).unwrap();
        assert!(text.contains("rate(4/s) even_arrivals(1 s)"), "{text}");
    }

    #[test]
    fn samplers_without_a_proxy_connect_to_the_stand_in() {
        let open = "<eu.luminis.jmeter.wssampler.OpenWebSocketSampler guiclass=\"g\" testname=\"o\"><boolProp name=\"TLS\">true</boolProp>\
            <stringProp name=\"server\">example.org</stringProp><stringProp name=\"port\">443</stringProp><stringProp name=\"path\">/</stringProp>\
            </eu.luminis.jmeter.wssampler.OpenWebSocketSampler><hashTree/><ConstantTimer ";
        let plan = PLAN.replacen("<ConstantTimer ", open, 1);
        let text = String::from_utf8(bounded(plan.as_bytes(), Path::new("/nowhere")).unwrap().text).unwrap();
        assert!(!text.contains("example.org") && text.contains("\"port\">${__P(PORT)}<"), "{text}");
        assert!(text.contains("\"TLS\">false<"), "{text}");
    }

    #[test]
    fn groups_that_cannot_be_limited_are_rejected() {
        let free = with_group("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", "");
        assert!(
            bounded(free.as_bytes(), Path::new("/")).unwrap_err().to_string().contains("cannot be limited")
        );
    }
}
