//! What is supported, in one table: the compiler goes by it and `check --supported` prints it.

use busyhour_plan::Element;

use crate::listeners;

/// The part an element plays in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A thread group.
    Group,
    /// A fragment nobody runs by itself.
    Fragment,
    /// A controller.
    Controller,
    /// A sampler.
    Sampler,
    /// A timer.
    Timer,
    /// A config element the samplers in its scope ask for.
    Config,
    /// Steps with each pass of its controller.
    Step,
    /// A pre-processor.
    PreProcessor,
    /// A post-processor.
    PostProcessor,
    /// An assertion.
    Assertion,
    /// A listener that may write a file.
    Listener,
    /// A listener that does more than write rows.
    Hearer,
    /// A listener whose effect is left out.
    SilentListener,
    /// Something with no effect in a run, and why.
    Inert(&'static str),
    /// Not supported.
    Unsupported,
}

/// One supported element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supported {
    /// `thread group`, `controller`, …
    pub kind: &'static str,
    /// JMeter's name of the class.
    pub class: &'static str,
    /// JMeter's name in its menus.
    pub name: &'static str,
    /// What is left out; may be empty.
    pub note: &'static str,
}

/// Class, name in the menus, role, note.
const ELEMENTS: &[(&str, &str, Role, &str)] = &[
    ("ThreadGroup", "Thread Group", Role::Group, ""),
    ("SetupThreadGroup", "setUp Thread Group", Role::Group, ""),
    ("PostThreadGroup", "tearDown Thread Group", Role::Group, ""),
    (
        "OpenModelThreadGroup",
        "Open Model Thread Group",
        Role::Group,
        "a request under way at the end of the schedule is finished, not interrupted",
    ),
    (crate::crowds::ULTIMATE, "Ultimate Thread Group (jmeter-plugins)", Role::Group, ""),
    (crate::crowds::STEPPING, "Stepping Thread Group (jmeter-plugins)", Role::Group, ""),
    (
        crate::crowds::CONCURRENCY,
        "Concurrency Thread Group (jmeter-plugins)",
        Role::Group,
        "without the file in which it writes its starts",
    ),
    (
        crate::plugin_arrivals::ARRIVALS,
        "Arrivals Thread Group (jmeter-plugins)",
        Role::Group,
        "its rate is fixed when the test starts; without the file in which it writes its arrivals",
    ),
    (
        crate::plugin_arrivals::FREE_FORM,
        "Free-Form Arrivals Thread Group (jmeter-plugins)",
        Role::Group,
        "its rate is fixed when the test starts; without the file in which it writes its arrivals",
    ),
    ("LoopController", "Loop Controller", Role::Controller, ""),
    ("GenericController", "Simple Controller", Role::Controller, ""),
    ("RecordingController", "Recording Controller", Role::Controller, ""),
    ("IfController", "If Controller", Role::Controller, "JavaScript conditions run in QuickJS, without Java"),
    ("WhileController", "While Controller", Role::Controller, ""),
    ("ForeachController", "ForEach Controller", Role::Controller, ""),
    ("OnceOnlyController", "Once Only Controller", Role::Controller, ""),
    ("InterleaveControl", "Interleave Controller", Role::Controller, ""),
    ("RandomController", "Random Controller", Role::Controller, ""),
    ("RandomOrderController", "Random Order Controller", Role::Controller, ""),
    ("SwitchController", "Switch Controller", Role::Controller, ""),
    ("RunTime", "Runtime Controller", Role::Controller, ""),
    ("ModuleController", "Module Controller", Role::Controller, ""),
    ("IncludeController", "Include Controller", Role::Controller, ""),
    (
        "CriticalSectionController",
        "Critical Section Controller",
        Role::Controller,
        "who waits longest is next",
    ),
    (crate::controllers::PARAMETERIZED, "Parameterized Controller (jmeter-plugins)", Role::Controller, ""),
    (crate::controllers::WEIGHTED, "Weighted Switch Controller (BlazeMeter)", Role::Controller, ""),
    ("ThroughputController", "Throughput Controller", Role::Controller, ""),
    ("TransactionController", "Transaction Controller", Role::Controller, ""),
    (
        "HTTPSamplerProxy",
        "HTTP Request",
        Role::Sampler,
        "HTTP/1.1; content encodings that Java and the web know by the same name",
    ),
    ("DebugSampler", "Debug Sampler", Role::Sampler, ""),
    ("JSR223Sampler", "JSR223 Sampler", Role::Sampler, ""),
    ("BeanShellSampler", "BeanShell Sampler", Role::Sampler, ""),
    ("BSFSampler", "BSF Sampler", Role::Sampler, ""),
    ("TestAction", "Flow Control Action", Role::Sampler, ""),
    ("JavaSampler", "Java Request", Role::Sampler, "JMeter's own JavaTest and SleepTest"),
    ("SystemSampler", "OS Process Sampler", Role::Sampler, ""),
    ("TCPSampler", "TCP Sampler", Role::Sampler, "JMeter's own three clients; UTF-8"),
    (
        crate::other_samplers::UDP,
        "UDP Request (jmeter-plugins)",
        Role::Sampler,
        "texts and hexadecimal digits, no DNS",
    ),
    (
        crate::other_samplers::RAW_HTTP,
        "HTTP Raw Request (jmeter-plugins)",
        Role::Sampler,
        "a failed sample's response is its exception without the stack trace",
    ),
    (crate::other_samplers::DUMMY, "Dummy Sampler (jmeter-plugins)", Role::Sampler, ""),
    (
        "eu.luminis.jmeter.wssampler.OpenWebSocketSampler",
        "WebSocket Open Connection (by Peter Doornbosch)",
        Role::Sampler,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler",
        "WebSocket request-response Sampler (by Peter Doornbosch)",
        Role::Sampler,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler",
        "WebSocket Single Read Sampler (by Peter Doornbosch)",
        Role::Sampler,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler",
        "WebSocket Single Write Sampler (by Peter Doornbosch)",
        Role::Sampler,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.PingPongSampler",
        "WebSocket Ping/Pong (by Peter Doornbosch)",
        Role::Sampler,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.CloseWebSocketSampler",
        "WebSocket Close (by Peter Doornbosch)",
        Role::Sampler,
        "",
    ),
    (
        crate::samplers::PARALLEL,
        "Parallel Controller (BlazeMeter)",
        Role::Sampler,
        "what a branch does to variables and cookies is seen by the others when it has ended; its threads have the user's \
         name; each branch has a cache of its own",
    ),
    (crate::samplers::SET_VARIABLES, "Set Variables Action (jmeter-plugins)", Role::Sampler, ""),
    ("SyncTimer", "Synchronizing Timer", Role::Timer, "ends its wait when the run is stopped"),
    ("ConstantTimer", "Constant Timer", Role::Timer, ""),
    ("UniformRandomTimer", "Uniform Random Timer", Role::Timer, ""),
    ("GaussianRandomTimer", "Gaussian Random Timer", Role::Timer, ""),
    ("PoissonRandomTimer", "Poisson Random Timer", Role::Timer, ""),
    ("ConstantThroughputTimer", "Constant Throughput Timer", Role::Timer, ""),
    ("PreciseThroughputTimer", "Precise Throughput Timer", Role::Timer, ""),
    (
        crate::rate_timers::SHAPING,
        "Throughput Shaping Timer (jmeter-plugins)",
        Role::Timer,
        "its seconds count from its first sample, not by the wall clock; its properties (NAME_rps, …) are set where the plan names them",
    ),
    ("Arguments", "User Defined Variables", Role::Config, ""),
    ("HeaderManager", "HTTP Header Manager", Role::Config, ""),
    (
        "CookieManager",
        "HTTP Cookie Manager",
        Role::Config,
        "RFC 6265 and RFC 2109; other policies are taken for the first",
    ),
    ("CacheManager", "HTTP Cache Manager", Role::Config, ""),
    ("AuthManager", "HTTP Authorization Manager", Role::Config, "Basic and Digest"),
    (
        "DNSCacheManager",
        "DNS Cache Manager",
        Role::Config,
        "its own servers are asked by UDP for IPv4 addresses",
    ),
    (
        crate::keystore::KEYSTORE,
        "Keystore Configuration",
        Role::Config,
        "JKS and PKCS#12 (`-Djavax.net.ssl.keyStore=FILE`); keys for RSA, ECDSA and Ed25519",
    ),
    ("JavaConfig", "Java Request Defaults", Role::Config, ""),
    (
        "eu.luminis.jmeter.wssampler.PingFrameFilter",
        "WebSocket Ping/Pong Frame Filter (by Peter Doornbosch)",
        Role::Config,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.TextFrameFilter",
        "WebSocket Text Frame Filter (by Peter Doornbosch)",
        Role::Config,
        "",
    ),
    (
        "eu.luminis.jmeter.wssampler.BinaryFrameFilter",
        "WebSocket Binary Frame Filter (by Peter Doornbosch)",
        Role::Config,
        "",
    ),
    ("CounterConfig", "Counter", Role::Step, ""),
    ("RandomVariableConfig", "Random Variable", Role::Step, ""),
    ("CSVDataSet", "CSV Data Set Config", Role::Step, ""),
    (
        crate::steps::RANDOM_CSV,
        "Random CSV Data Set Config (BlazeMeter)",
        Role::Step,
        "all users share its rows, as in the plugin, also where it says that each has a list of its own",
    ),
    (crate::start::VARIABLES_FROM_CSV, "Variables From CSV File (jmeter-plugins)", Role::Config, ""),
    ("UserParameters", "User Parameters", Role::PreProcessor, ""),
    ("AnchorModifier", "HTML Link Parser", Role::PreProcessor, "pages are read as browsers do, not as JTidy"),
    ("URLRewritingModifier", "HTTP URL Re-writing Modifier", Role::PreProcessor, ""),
    ("RegExUserParameters", "RegEx User Parameters", Role::PreProcessor, ""),
    ("SampleTimeout", "Sample Timeout", Role::PreProcessor, "interrupts HTTP and TCP requests, and pauses"),
    (
        "kg.apc.jmeter.modifiers.FifoPopPreProcessor",
        "Inter-Thread Communication PreProcessor (jmeter-plugins)",
        Role::PreProcessor,
        "",
    ),
    (
        crate::processors::RAW_REQUEST_SOURCE,
        "Raw Data Source PreProcessor (jmeter-plugins)",
        Role::PreProcessor,
        "",
    ),
    ("JSR223PreProcessor", "JSR223 PreProcessor", Role::PreProcessor, ""),
    ("BeanShellPreProcessor", "BeanShell PreProcessor", Role::PreProcessor, ""),
    ("BSFPreProcessor", "BSF PreProcessor", Role::PreProcessor, ""),
    ("JSR223PostProcessor", "JSR223 PostProcessor", Role::PostProcessor, ""),
    ("BeanShellPostProcessor", "BeanShell PostProcessor", Role::PostProcessor, ""),
    ("BSFPostProcessor", "BSF PostProcessor", Role::PostProcessor, ""),
    ("JSR223Assertion", "JSR223 Assertion", Role::Assertion, ""),
    ("BeanShellAssertion", "BeanShell Assertion", Role::Assertion, ""),
    ("BSFAssertion", "BSF Assertion", Role::Assertion, ""),
    ("JSR223Timer", "JSR223 Timer", Role::Timer, ""),
    ("BeanShellTimer", "BeanShell Timer", Role::Timer, ""),
    ("BSFTimer", "BSF Timer", Role::Timer, ""),
    ("JSR223Listener", "JSR223 Listener", Role::Hearer, ""),
    ("BeanShellListener", "BeanShell Listener", Role::Hearer, ""),
    ("BSFListener", "BSF Listener", Role::Hearer, ""),
    ("RegexExtractor", "Regular Expression Extractor", Role::PostProcessor, ""),
    ("JSONPostProcessor", "JSON Extractor", Role::PostProcessor, ""),
    ("BoundaryExtractor", "Boundary Extractor", Role::PostProcessor, ""),
    ("ResultAction", "Result Status Action Handler", Role::PostProcessor, ""),
    (
        "kg.apc.jmeter.modifiers.FifoPutPostProcessor",
        "Inter-Thread Communication PostProcessor (jmeter-plugins)",
        Role::PostProcessor,
        "a value for a full queue is lost at once",
    ),
    ("XPathExtractor", "XPath Extractor", Role::PostProcessor, ""),
    ("XPath2Extractor", "XPath2 Extractor", Role::PostProcessor, ""),
    ("HtmlExtractor", "CSS Selector Extractor", Role::PostProcessor, ""),
    ("JMESPathExtractor", "JSON JMESPath Extractor", Role::PostProcessor, ""),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
        "JSON Path Extractor (jmeter-plugins)",
        Role::PostProcessor,
        "not from YAML",
    ),
    ("DebugPostProcessor", "Debug PostProcessor", Role::PostProcessor, ""),
    ("ResponseAssertion", "Response Assertion", Role::Assertion, ""),
    ("DurationAssertion", "Duration Assertion", Role::Assertion, ""),
    ("JSONPathAssertion", "JSON Assertion", Role::Assertion, ""),
    ("SizeAssertion", "Size Assertion", Role::Assertion, ""),
    (
        listeners::FLEXIBLE,
        "Flexible File Writer (jmeter-plugins)",
        Role::Listener,
        "rows longer than its buffer are written, too",
    ),
    ("XPathAssertion", "XPath Assertion", Role::Assertion, ""),
    ("XPath2Assertion", "XPath2 Assertion", Role::Assertion, ""),
    ("JMESPathAssertion", "JSON JMESPath Assertion", Role::Assertion, ""),
    ("CompareAssertion", "Compare Assertion", Role::Assertion, ""),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
        "JSON Path Assertion (jmeter-plugins)",
        Role::Assertion,
        "not from YAML",
    ),
    ("XMLAssertion", "XML Assertion", Role::Assertion, ""),
    ("XMLSchemaAssertion", "XML Schema Assertion", Role::Assertion, ""),
    ("MD5HexAssertion", "MD5Hex Assertion", Role::Assertion, ""),
    (
        crate::listeners::AUTO_STOP,
        "AutoStop Listener (jmeter-plugins)",
        Role::Hearer,
        "the samples of transactions that are no parents do not count",
    ),
    ("ResultSaver", "Save Responses to a file", Role::Hearer, ""),
    ("ResultCollector", "Simple Data Writer and all listeners of its kind", Role::Listener, ""),
];

/// The part an element plays.
pub(crate) fn role(element: Element<'_>) -> Role {
    let kind = element.kind();
    if kind == "ConfigTestElement" {
        return match element.gui_kind() {
            "HttpDefaultsGui" | "TCPConfigGui" | "LoginConfigGui" => Role::Config,
            _ => Role::Inert("is for other protocols and has no effect here"),
        };
    }
    if let Some((.., role, _)) = ELEMENTS.iter().find(|(class, ..)| *class == kind) {
        return *role;
    }
    if crate::refused::is_one(kind) {
        return Role::Unsupported;
    }
    match kind {
        "TestPlan" => Role::Inert("stands where a test plan cannot stand"),
        "TestFragmentController" => Role::Fragment,
        "HTTPSampler" | "HTTPSampler2" => Role::Sampler,
        crate::http::HTTP2 => Role::Sampler,
        "WorkBench" | "ProxyControl" | "HttpMirrorControl" | "PropertyControl" | "PropertyDisplay" => {
            Role::Inert("has no part in a run without a window")
        }
        "Summariser" => Role::Inert("is left out: every run prints its summary lines"),
        "BackendListener" => Role::SilentListener,
        kind if kind.ends_with("ResultCollector") => Role::Listener,
        kind if is_listener_by_name(kind) => Role::SilentListener,
        _ => Role::Unsupported,
    }
}

/// Whether the class of a plugin reads like a listener that only shows, sends or writes something.
fn is_listener_by_name(class: &str) -> bool {
    const ENDS: [&str; 10] = [
        "Listener",
        "Visualizer",
        "Visualiser",
        "Reporter",
        "ResultSaver",
        "Monitor",
        "Collector",
        "FileWriter",
        "Uploader",
        "StatusLogger",
    ];
    ENDS.iter().any(|end| class.ends_with(end))
        || class.contains(".vizualizers.")
        || class.contains(".visualizers.")
}

/// The supported elements, in the order of JMeter's menus.
pub fn supported() -> Vec<Supported> {
    ELEMENTS
        .iter()
        .map(|(class, name, role, note)| {
            let kind = match role {
                Role::Group => "thread group",
                Role::Controller => "controller",
                Role::Sampler => "sampler",
                Role::Timer => "timer",
                Role::Config | Role::Step => "config element",
                Role::PreProcessor => "pre-processor",
                Role::PostProcessor => "post-processor",
                Role::Assertion => "assertion",
                _ => "listener",
            };
            let own = busyhour_processors::supported().iter().find(|known| known.kind == *class);
            let note = if note.is_empty() { own.map_or("", |known| known.note) } else { note };
            Supported { kind, class, name, note }
        })
        .collect()
}

/// One supported function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupportedFunction {
    /// Name with its arguments.
    pub call: String,
    /// What it gives.
    pub description: String,
    /// In what it differs from JMeter; may be empty.
    pub note: String,
}

/// The supported functions.
pub fn supported_functions() -> Vec<SupportedFunction> {
    busyhour_functions::supported()
        .iter()
        .map(|function| SupportedFunction {
            call: if function.arguments.is_empty() {
                function.name.to_owned()
            } else {
                format!("{}({})", function.name, function.arguments)
            },
            description: function.description.to_owned(),
            note: function.note.to_owned(),
        })
        .collect()
}
