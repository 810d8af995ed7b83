//! Test plans generated from bytes, and the properties that hold for each of them. The plans contain all controllers,
//! fragments, modules and included files, nested functions in all texts, and samplers that need no network.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use busyhour_compile::{Options, compile, start};
use busyhour_diagnostic::has_errors;
use busyhour_engine::runner;
use busyhour_http::TlsPolicy;
use busyhour_program::clock::Clock;
use busyhour_program::run::JmeterProperties;
use busyhour_record::{Recorder, RecorderConfig};

/// The time after which a run is stopped: plans may loop forever.
const RUN_MAX: Duration = Duration::from_millis(60);

/// Functions of JMeter and its plugins, with their minimum and maximum number of arguments. Functions that write files
/// are omitted.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("__BeanShell", 1, 2),
    ("__char", 1, 5),
    ("__changeCase", 1, 3),
    ("__counter", 1, 2),
    ("__CSVRead", 2, 2),
    ("__dateTimeConvert", 3, 4),
    ("__digest", 2, 5),
    ("__escapeHtml", 1, 1),
    ("__escapeOroRegexpChars", 1, 2),
    ("__escapeXml", 1, 1),
    ("__eval", 1, 1),
    ("__evalVar", 1, 1),
    ("__FileToString", 1, 3),
    ("__groovy", 1, 2),
    ("__intSum", 2, 5),
    ("__isPropDefined", 1, 1),
    ("__isVarDefined", 1, 1),
    ("__javaScript", 1, 2),
    ("__jexl2", 1, 2),
    ("__jexl3", 1, 2),
    ("__logn", 1, 3),
    ("__longSum", 2, 5),
    ("__P", 1, 2),
    ("__property", 1, 3),
    ("__Random", 2, 3),
    ("__RandomDate", 3, 5),
    ("__RandomFromMultipleVars", 1, 2),
    ("__RandomString", 1, 3),
    ("__regexFunction", 2, 7),
    ("__samplerName", 0, 1),
    ("__setProperty", 2, 3),
    ("__split", 2, 3),
    ("__StringFromFile", 1, 4),
    ("__TestPlanName", 0, 0),
    ("__threadGroupName", 0, 0),
    ("__threadNum", 0, 0),
    ("__time", 0, 2),
    ("__timeShift", 4, 5),
    ("__unescape", 1, 1),
    ("__unescapeHtml", 1, 1),
    ("__urldecode", 1, 1),
    ("__urlencode", 1, 1),
    ("__UUID", 0, 0),
    ("__V", 1, 2),
    ("__XPath", 2, 2),
    ("__base64Decode", 1, 2),
    ("__base64Encode", 1, 2),
    ("__caseFormat", 1, 3),
    ("__chooseRandom", 3, 5),
    ("__doubleSum", 2, 5),
    ("__fifoGet", 1, 2),
    ("__fifoPop", 1, 2),
    ("__fifoPut", 2, 2),
    ("__fifoSize", 1, 2),
    ("__if", 4, 5),
    ("__isDefined", 1, 5),
    ("__iterationNum", 0, 0),
    ("__lowercase", 1, 2),
    ("__MD5", 1, 2),
    ("__strLen", 1, 2),
    ("__strReplace", 3, 5),
    ("__strReplaceRegex", 3, 5),
    ("__substring", 3, 5),
    ("__uppercase", 1, 2),
    ("__unknown", 0, 2),
];

const WORDS: &[&str] = &[
    "1",
    "0",
    "-1",
    "2",
    "3",
    "2147483647",
    "99999999999999999999",
    "0.5",
    "true",
    "false",
    "TRUE",
    "",
    " ",
    "a",
    "v",
    "w",
    "v_1",
    "a,b",
    "a\\,b",
    "\\",
    "$",
    "${",
    "}",
    "${v}",
    "${w}",
    "${v_${n}}",
    "${__V(v_${n})}",
    "data.csv",
    "part0.jmx",
    "part1.jmx",
    "no-such-file",
    "yyyy-MM-dd",
    "P1D",
    "/r/a/text()",
    "a(b*)c",
    "(",
    "$1$",
    "ü€",
    "&lt;",
    "%41",
    "SHA-256",
    "1+1",
    "vars.get('v')",
    "LAST",
    "null",
];

/// Reads choices from bytes; after the last byte, every choice is the first option.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    /// A text that contains functions, some of them nested.
    fn text(&mut self, depth: u32) -> String {
        match self.byte() % 5 {
            0..=1 => self.one_of(WORDS).to_owned(),
            2 if depth < 4 => self.text(depth + 1) + &self.text(depth + 1),
            _ if depth < 4 => {
                let (name, least, most) = FUNCTIONS[self.below(FUNCTIONS.len())];
                // Rarely one argument too many.
                let count = least + self.below(most - least + 1) + usize::from(self.byte() == 9);
                let arguments: Vec<String> = (0..count).map(|_| self.text(depth + 1)).collect();
                let end = if self.byte() == 7 { "" } else { "}" };
                format!("${{{name}({}){end}", arguments.join(","))
            }
            _ => "x".to_owned(),
        }
    }

    /// The same text escaped as the content of an element.
    fn content(&mut self) -> String {
        self.text(0).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    }

    /// A number, or a text in place of a number.
    fn number(&mut self) -> String {
        if self.byte().is_multiple_of(4) {
            self.content()
        } else {
            self.one_of(&["1", "2", "3", "0", "-1", ""]).to_owned()
        }
    }

    fn flag(&mut self) -> &'static str {
        if self.byte().is_multiple_of(2) { "true" } else { "false" }
    }
}

fn property(kind: &str, name: &str, value: &str) -> String {
    format!("<{kind}Prop name=\"{name}\">{value}</{kind}Prop>")
}

fn element(class: &str, name: &str, properties: &str, children: &str) -> String {
    format!(
        "<{class} guiclass=\"X\" testclass=\"{class}\" testname=\"{name}\">{properties}</{class}><hashTree>{children}</hashTree>\n"
    )
}

impl Choices<'_> {
    fn children(&mut self, depth: u32) -> String {
        (0..=self.byte() % 3).map(|_| self.node(depth + 1)).collect()
    }

    fn node(&mut self, depth: u32) -> String {
        if depth > 5 || self.byte().is_multiple_of(3) {
            return self.leaf();
        }
        let name = self.content();
        let (class, properties) = match self.byte() % 18 {
            0 => ("LoopController", property("string", "LoopController.loops", &self.number())),
            1 => ("GenericController", String::new()),
            2 => {
                let condition = property("string", "IfController.condition", &self.content());
                let all = property("bool", "IfController.evaluateAll", self.flag());
                (
                    "IfController",
                    condition + &all + &property("bool", "IfController.useExpression", self.flag()),
                )
            }
            3 => ("WhileController", property("string", "WhileController.condition", &self.content())),
            4 => {
                let input = property("string", "ForeachController.inputVal", &self.content());
                ("ForeachController", input + &property("string", "ForeachController.returnVal", "w"))
            }
            5 => ("OnceOnlyController", String::new()),
            6 => {
                let style = property("int", "InterleaveControl.style", self.one_of(&["0", "1", "2"]));
                (
                    "InterleaveControl",
                    style + &property("bool", "InterleaveControl.accrossThreads", self.flag()),
                )
            }
            7 => ("RandomController", property("int", "InterleaveControl.style", self.one_of(&["0", "1"]))),
            8 => ("RandomOrderController", String::new()),
            9 => ("SwitchController", property("string", "SwitchController.value", &self.content())),
            10 => ("RunTime", property("string", "RunTime.seconds", self.one_of(&["0", "", "x"]))),
            11 => {
                let path: String = (0..=self.byte() % 3)
                    .map(|at| {
                        property(
                            "string",
                            &format!("{at}"),
                            self.one_of(&["Plan", "group", "fragment", "x", ""]),
                        )
                    })
                    .collect();
                (
                    "ModuleController",
                    format!("<collectionProp name=\"ModuleController.node_path\">{path}</collectionProp>"),
                )
            }
            12 => {
                let file = self.one_of(&[
                    "part0.jmx",
                    "part1.jmx",
                    "plan.jmx",
                    "no-such-file.jmx",
                    "${v}",
                    "data.csv",
                ]);
                ("IncludeController", property("string", "IncludeController.includepath", file))
            }
            13 => (
                "CriticalSectionController",
                property("string", "CriticalSectionController.lockName", &self.content()),
            ),
            14 => {
                let style = property("int", "ThroughputController.style", self.one_of(&["0", "1"]));
                let most = property("int", "ThroughputController.maxThroughput", &self.number());
                (
                    "ThroughputController",
                    style + &most + &property("bool", "ThroughputController.perThread", self.flag()),
                )
            }
            15 => {
                let parent = property("bool", "TransactionController.parent", self.flag());
                (
                    "TransactionController",
                    parent + &property("bool", "TransactionController.includeTimers", self.flag()),
                )
            }
            16 => (
                "com.blazemeter.jmeter.controller.ParallelSampler",
                property("bool", "PARENT_SAMPLE", self.flag()),
            ),
            _ => ("com.blazemeter.jmeter.control.WeightedSwitchController", String::new()),
        };
        let children = self.children(depth);
        element(class, &name, &properties, &children)
    }

    fn leaf(&mut self) -> String {
        let name = self.content();
        match self.byte() % 16 {
            0..=4 => element("DebugSampler", &name, "", ""),
            5 => {
                let class = "kg.apc.jmeter.samplers.DummySampler";
                let properties = property("bool", "SUCCESFULL", self.flag())
                    + &property("string", "RESPONSE_DATA", &self.content())
                    + &property("string", "RESPONSE_CODE", &self.content());
                element(class, &name, &properties, "")
            }
            6 => {
                let action =
                    property("int", "ActionProcessor.action", self.one_of(&["1", "2", "3", "4", "5"]));
                element("TestAction", &name, &(action + &property("int", "ActionProcessor.target", "0")), "")
            }
            7 => {
                let language = self.one_of(&["groovy", "javascript", "beanshell"]);
                let script = self.one_of(&[
                    "vars.put('v', '1')",
                    "prev",
                    "throw new Exception('x')",
                    "1 +",
                    "SampleResult.setIgnore()",
                ]);
                let properties =
                    property("string", "scriptLanguage", language) + &property("string", "script", script);
                element(
                    self.one_of(&["JSR223Sampler", "JSR223PostProcessor", "JSR223PreProcessor"]),
                    &name,
                    &properties,
                    "",
                )
            }
            8 => element(
                "ConstantTimer",
                &name,
                &property("string", "ConstantTimer.delay", self.one_of(&["0", "1", "x"])),
                "",
            ),
            9 => {
                let properties = property("string", "CounterConfig.name", self.one_of(&["v", "n", ""]))
                    + &property("string", "CounterConfig.start", &self.number())
                    + &property("string", "CounterConfig.end", &self.number());
                element("CounterConfig", &name, &properties, "")
            }
            10 => {
                let properties =
                    property(
                        "string",
                        "filename",
                        self.one_of(&["data.csv", "empty.csv", "no-such-file", "${v}"]),
                    ) + &property("string", "variableNames", self.one_of(&["", "v,w", "v", ",,"]))
                        + &property("string", "delimiter", self.one_of(&[",", "", "\\t", ";;"]))
                        + &property("bool", "quotedData", self.flag())
                        + &property("bool", "recycle", self.flag())
                        + &property("bool", "stopThread", self.flag());
                element("CSVDataSet", &name, &properties, "")
            }
            11 => {
                let properties = property("string", "RegexExtractor.refname", self.one_of(&["v", "n", ""]))
                    + &property("string", "RegexExtractor.regex", &self.content())
                    + &property("string", "RegexExtractor.template", &self.content())
                    + &property("string", "RegexExtractor.match_number", &self.number());
                element("RegexExtractor", &name, &properties, "")
            }
            12 => {
                let tests = property("string", "1", &self.content());
                let properties =
                    format!("<collectionProp name=\"Asserion.test_strings\">{tests}</collectionProp>")
                        + &property("string", "Assertion.test_field", "Assertion.response_data")
                        + &property(
                            "int",
                            "Assertion.test_type",
                            self.one_of(&["1", "2", "8", "16", "6", "33"]),
                        );
                element("ResponseAssertion", &name, &properties, "")
            }
            13 => element(
                "ResultAction",
                &name,
                &property("int", "OnError.action", self.one_of(&["0", "1", "4", "5", "6"])),
                "",
            ),
            14 => {
                let variable = property("string", "Argument.name", self.one_of(&["v", "w", "v_1", "n"]))
                    + &property("string", "Argument.value", &self.content());
                let variable =
                    format!("<elementProp name=\"a\" elementType=\"Argument\">{variable}</elementProp>");
                element(
                    "Arguments",
                    &name,
                    &format!("<collectionProp name=\"Arguments.arguments\">{variable}</collectionProp>"),
                    "",
                )
            }
            _ => element("DebugPostProcessor", &name, "", ""),
        }
    }

    fn group(&mut self) -> String {
        let main = property("bool", "LoopController.continue_forever", "false")
            + &property("string", "LoopController.loops", &self.number());
        let mut properties = format!(
            "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">{main}</elementProp>"
        );
        let on_error = self.one_of(&["continue", "startnextloop", "stopthread", "stoptest", "stoptestnow"]);
        properties += &property("string", "ThreadGroup.on_sample_error", on_error);
        properties += &property("string", "ThreadGroup.num_threads", self.one_of(&["1", "2", "0", "${v}"]));
        properties += &property("string", "ThreadGroup.ramp_time", "0");
        properties += &property("bool", "ThreadGroup.same_user_on_next_iteration", self.flag());
        let class = self.one_of(&[
            "ThreadGroup",
            "ThreadGroup",
            "ThreadGroup",
            "SetupThreadGroup",
            "PostThreadGroup",
        ]);
        let children = self.children(0);
        element(class, "group", &properties, &children)
    }
}

/// A document around elements.
fn document(inner: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>{inner}\
         </hashTree></jmeterTestPlan>\n"
    )
}

/// A plan and the two parts that it may include.
struct Files {
    plan: String,
    parts: [String; 2],
}

fn files(bytes: &[u8]) -> Files {
    let mut choices = Choices(bytes);
    let mut inner = String::new();
    for _ in 0..=choices.byte() % 2 {
        inner += &choices.group();
    }
    if choices.byte() % 2 == 0 {
        let children = choices.children(1);
        inner += &element("TestFragmentController", "fragment", "", &children);
    }
    let parts = [(); 2].map(|()| {
        let children = choices.children(2);
        document(&element("TestFragmentController", "part", "", &children))
    });
    let mut variables = String::new();
    for (name, value) in [("v", choices.content()), ("n", "1".into()), ("v_1", choices.content())] {
        let both = property("string", "Argument.name", name) + &property("string", "Argument.value", &value);
        let _ =
            write!(variables, "<elementProp name=\"{name}\" elementType=\"Argument\">{both}</elementProp>");
    }
    let variables = format!(
        "<elementProp name=\"TestPlan.user_defined_variables\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">\
         {variables}</collectionProp></elementProp>"
    );
    Files { plan: document(&element("TestPlan", "Plan", &variables, &inner)), parts }
}

/// Writes the generated plan and its parts into a directory, checks the plan, and runs it if it is accepted. There must
/// be no panic, no user that ends with an internal error, and consistent counts.
///
/// # Panics
/// If one of these conditions is violated.
pub fn check(bytes: &[u8], directory: &Path) {
    let files = files(bytes);
    let write =
        |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("a file in the directory");
    write("plan.jmx", &files.plan);
    for (at, part) in files.parts.iter().enumerate() {
        write(&format!("part{at}.jmx"), part);
    }
    write("data.csv", "v,w\n1,a\n2,\"b\nc\"\n,\n");
    write("empty.csv", "");
    check_plan(&files.plan, directory.to_owned());
}

fn check_plan(text: &str, directory: PathBuf) {
    let (plan, findings) = busyhour_plan::parse(text.as_bytes(), "plan.jmx");
    if has_errors(&findings) {
        return;
    }
    let properties = Arc::new(JmeterProperties::default());
    let options = Options {
        properties: Arc::clone(&properties),
        base_dir: directory,
        allow_unsupported: allows_unsupported(text),
        tls: TlsPolicy::default(),
        proxy: None,
        request_deadline: None,
        open: None,
    };
    let (compiled, findings) = compile(&plan, &options);
    assert_eq!(compiled.is_none(), has_errors(&findings), "{findings:?}\n{text}");
    let Some(compiled) = compiled else { return };
    let started = start(compiled, 1, Clock::start(), &properties, Box::new(|_, _| ()));
    let config = RecorderConfig {
        names: started.names.clone(),
        labels: started.labels.clone(),
        writers: 1,
        ..RecorderConfig::default()
    };
    let (recorder, writers) = Recorder::start(config).expect("a recorder");
    let (done, ended) = channel::<()>();
    let shared = Arc::clone(&started.shared);
    let guard = std::thread::spawn(move || {
        if ended.recv_timeout(RUN_MAX) == Err(RecvTimeoutError::Timeout) {
            shared.force_end();
        }
    });
    let report = runner::run(&started.program, &started.shared, &started.labels, writers).expect("a run");
    drop(done);
    guard.join().expect("the guard");
    let totals = recorder.finish();
    assert!(report.cores.iter().all(|core| core.died == 0 && core.lost == 0), "{report:?}\n{text}");
    assert!(totals.total.errors <= totals.total.samples, "{text}");
    let users = &started.shared;
    assert_eq!(users.active.load(Ordering::Relaxed), 0, "users that are still active\n{text}");
    let (begun, finished) = (users.started.load(Ordering::Relaxed), users.finished.load(Ordering::Relaxed));
    // A forced end drops users that are busy.
    assert!(
        finished <= begun && (finished == begun || users.is_forced(report.end)),
        "{begun} {finished}\n{text}"
    );
}

/// Half of the plans run although they contain unsupported elements.
fn allows_unsupported(text: &str) -> bool {
    text.len().is_multiple_of(2)
}
