//! The elements of which the conformance plans are made, with JMeter's usual properties.

use super::jmx::{Node, Value};

/// An `Arguments` of these items.
pub fn arguments(items: Vec<(String, Value)>) -> Value {
    Value::Element("Arguments", vec![("Arguments.arguments".into(), Value::List(items))])
}

/// One of them, as `arguments` takes it.
pub fn argument(name: &str, value: &str) -> (String, Value) {
    let properties = [("Argument.name", name), ("Argument.value", value), ("Argument.metadata", "=")];
    let properties = properties.map(|(key, value)| (key.to_owned(), value.into())).to_vec();
    (name.to_owned(), Value::Element("Argument", properties))
}

/// A list of texts; JMeter names such entries by their hash, which nothing reads.
pub fn texts(items: &[&str]) -> Value {
    Value::List(items.iter().map(|&item| (hash(item), item.into())).collect())
}

/// Java's hash of a string, which names entries of a list.
fn hash(text: &str) -> String {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
        .to_string()
}

/// A test plan whose HTTP requests go to the stand-in, by defaults at its top.
pub fn plan<const N: usize>(children: [Node; N]) -> Node {
    bare_plan([defaults("HTTP Request Defaults")
        .set("HTTPSampler.domain", "${__P(HOST)}")
        .set("HTTPSampler.port", "${__P(PORT)}")])
    .with(children)
}

/// A test plan without defaults.
pub fn bare_plan<const N: usize>(children: [Node; N]) -> Node {
    Node::new("TestPlan", "TestPlanGui", "Test Plan")
        .set("TestPlan.functional_mode", false)
        .set("TestPlan.serialize_threadgroups", false)
        .set("TestPlan.user_defined_variables", arguments(Vec::new()))
        .with(children)
}

/// A variable of the test plan itself.
pub fn plan_variable(plan: Node, name: &str, value: &str) -> Node {
    plan.push("TestPlan.user_defined_variables", "Arguments.arguments", argument(name, value))
}

fn any_group(tag: &'static str, gui: &'static str, name: &str) -> Node {
    let controller = vec![
        ("LoopController.continue_forever".into(), false.into()),
        ("LoopController.loops".into(), "1".into()),
        ("TestElement.name".into(), "Loop Controller".into()),
    ];
    Node::new(tag, gui, name)
        .set("ThreadGroup.on_sample_error", "continue")
        .set("ThreadGroup.main_controller", Value::Element("LoopController", controller))
        .set("ThreadGroup.num_threads", "1")
        .set("ThreadGroup.ramp_time", "0")
        .set("ThreadGroup.scheduler", false)
        .set("ThreadGroup.duration", "")
        .set("ThreadGroup.delay", "")
        .set("ThreadGroup.same_user_on_next_iteration", true)
}

/// A thread group of one thread and one loop.
pub fn group(name: &str) -> Node {
    any_group("ThreadGroup", "ThreadGroupGui", name)
}

/// A thread group of one thread with that many loops.
pub fn loops(name: &str, loops: &str) -> Node {
    looped(group(name), loops)
}

/// Sets the loops of a thread group; `-1` is forever.
pub fn looped(group: Node, loops: &str) -> Node {
    let controller = vec![
        ("LoopController.continue_forever".into(), false.into()),
        ("LoopController.loops".into(), loops.into()),
        ("TestElement.name".into(), "Loop Controller".into()),
    ];
    group.set("ThreadGroup.main_controller", Value::Element("LoopController", controller))
}

/// A thread group that runs before the others.
pub fn setup_group(name: &str) -> Node {
    any_group("SetupThreadGroup", "SetupThreadGroupGui", name)
}

/// A thread group that runs after the others.
pub fn teardown_group(name: &str) -> Node {
    any_group("PostThreadGroup", "PostThreadGroupGui", name)
}

/// HTTP request defaults.
pub fn defaults(name: &str) -> Node {
    Node::new("ConfigTestElement", "HttpDefaultsGui", name)
        .set("HTTPsampler.Arguments", arguments(Vec::new()))
}

/// A GET of a path; the label is the name.
pub fn get(name: &str, path: &str) -> Node {
    Node::new("HTTPSamplerProxy", "HttpTestSampleGui", name)
        .set("HTTPSampler.postBodyRaw", false)
        .set("HTTPsampler.Arguments", arguments(Vec::new()))
        .set("HTTPSampler.path", path)
        .set("HTTPSampler.method", "GET")
        .set("HTTPSampler.follow_redirects", true)
        .set("HTTPSampler.auto_redirects", false)
        .set("HTTPSampler.use_keepalive", true)
}

/// A request with a method.
pub fn request(method: &str, name: &str, path: &str) -> Node {
    get(name, path).set("HTTPSampler.method", method)
}

/// Adds an argument to a sampler or to defaults.
pub fn arg(sampler: Node, name: &str, value: &str, encode: bool) -> Node {
    let properties = vec![
        ("HTTPArgument.always_encode".into(), encode.into()),
        ("Argument.value".into(), value.into()),
        ("Argument.metadata".into(), "=".into()),
        ("HTTPArgument.use_equals".into(), true.into()),
        ("Argument.name".into(), name.into()),
    ];
    sampler.push(
        "HTTPsampler.Arguments",
        "Arguments.arguments",
        (name.into(), Value::Element("HTTPArgument", properties)),
    )
}

/// A request with a raw body.
pub fn raw(method: &str, name: &str, path: &str, body: &str) -> Node {
    let properties = vec![
        ("HTTPArgument.always_encode".into(), false.into()),
        ("Argument.value".into(), body.into()),
        ("Argument.metadata".into(), "=".into()),
    ];
    request(method, name, path).set("HTTPSampler.postBodyRaw", true).push(
        "HTTPsampler.Arguments",
        "Arguments.arguments",
        (String::new(), Value::Element("HTTPArgument", properties)),
    )
}

/// Adds files to upload to a sampler: path, parameter name, content type.
pub fn files(sampler: Node, files: &[(&str, &str, &str)]) -> Node {
    let items = files.iter().map(|(path, parameter, kind)| {
        let properties = [("File.path", path), ("File.paramname", parameter), ("File.mimetype", kind)];
        let properties = properties.map(|(key, value)| (key.to_owned(), (*value).into())).to_vec();
        ((*path).to_owned(), Value::Element("HTTPFileArg", properties))
    });
    let list = ("HTTPFileArgs.files".to_owned(), Value::List(items.collect()));
    sampler.set("HTTPsampler.Files", Value::Element("HTTPFileArgs", vec![list]))
}

/// A header manager.
pub fn headers(name: &str, headers: &[(&str, &str)]) -> Node {
    let items = headers.iter().map(|(name, value)| {
        let properties =
            vec![("Header.name".into(), (*name).into()), ("Header.value".into(), (*value).into())];
        (String::new(), Value::Element("Header", properties))
    });
    Node::new("HeaderManager", "HeaderPanel", name).set("HeaderManager.headers", Value::List(items.collect()))
}

/// A cookie manager with cookies of its own: name, value, domain, path.
pub fn cookies(name: &str, cookies: &[(&str, &str, &str, &str)]) -> Node {
    let items = cookies.iter().map(|(name, value, domain, path)| {
        let properties = vec![
            ("Cookie.value".into(), (*value).into()),
            ("Cookie.domain".into(), (*domain).into()),
            ("Cookie.path".into(), (*path).into()),
            ("Cookie.secure".into(), false.into()),
            ("Cookie.expires".into(), 0_i64.into()),
            ("Cookie.path_specified".into(), true.into()),
            ("Cookie.domain_specified".into(), true.into()),
        ];
        ((*name).to_owned(), named_element("Cookie", name, properties))
    });
    Node::new("CookieManager", "CookiePanel", name)
        .set("CookieManager.cookies", Value::List(items.collect()))
        .set("CookieManager.clearEachIteration", false)
        .set("CookieManager.controlledByThreadGroup", false)
}

/// An element property whose own name matters (`TestElement.name`).
fn named_element(kind: &'static str, name: &str, mut properties: Vec<(String, Value)>) -> Value {
    properties.push(("TestElement.name".into(), name.into()));
    Value::Element(kind, properties)
}

/// A cache manager.
pub fn cache(name: &str) -> Node {
    Node::new("CacheManager", "CacheManagerGui", name)
        .set("clearEachIteration", false)
        .set("useExpires", true)
        .set("CacheManager.controlledByThread", false)
}

/// An authorization manager: URL, user, password, domain, realm.
pub fn authorization(name: &str, entries: &[[&str; 5]]) -> Node {
    let keys = ["url", "username", "password", "domain", "realm"];
    let items = entries.iter().map(|entry| {
        let properties =
            keys.iter().zip(entry).map(|(key, value)| (format!("Authorization.{key}"), (*value).into()));
        (String::new(), Value::Element("Authorization", properties.collect()))
    });
    Node::new("AuthManager", "AuthPanel", name)
        .set("AuthManager.auth_list", Value::List(items.collect()))
        .set("AuthManager.controlledByThreadGroup", false)
}

/// User Defined Variables.
pub fn variables(name: &str, variables: &[(&str, &str)]) -> Node {
    let items = variables.iter().map(|(name, value)| argument(name, value)).collect();
    Node::new("Arguments", "ArgumentsPanel", name).set("Arguments.arguments", Value::List(items))
}

/// A controller of that class and GUI.
pub fn controller(tag: &'static str, gui: &'static str, name: &str) -> Node {
    Node::new(tag, gui, name)
}

/// A Simple Controller.
pub fn simple(name: &str) -> Node {
    controller("GenericController", "LogicControllerGui", name)
}

/// A Loop Controller.
pub fn loop_controller(name: &str, loops: &str) -> Node {
    controller("LoopController", "LoopControlPanel", name)
        .set("LoopController.continue_forever", true)
        .set("LoopController.loops", loops)
}

/// An If Controller over an expression.
pub fn if_expression(name: &str, condition: &str) -> Node {
    controller("IfController", "IfControllerPanel", name)
        .set("IfController.condition", condition)
        .set("IfController.evaluateAll", false)
        .set("IfController.useExpression", true)
}

/// An If Controller over JavaScript.
pub fn if_script(name: &str, condition: &str) -> Node {
    if_expression(name, condition).set("IfController.useExpression", false)
}

/// A While Controller.
pub fn while_controller(name: &str, condition: &str) -> Node {
    controller("WhileController", "WhileControllerGui", name).set("WhileController.condition", condition)
}

/// A ForEach Controller over `input_1`, `input_2`, ….
pub fn for_each(name: &str, input: &str, output: &str) -> Node {
    controller("ForeachController", "ForeachControlPanel", name)
        .set("ForeachController.inputVal", input)
        .set("ForeachController.returnVal", output)
        .set("ForeachController.useSeparator", true)
}

/// A Once Only Controller.
pub fn once(name: &str) -> Node {
    controller("OnceOnlyController", "OnceOnlyControllerGui", name)
}

/// A Transaction Controller.
pub fn transaction(name: &str, parent: bool, include_timers: bool) -> Node {
    controller("TransactionController", "TransactionControllerGui", name)
        .set("TransactionController.parent", parent)
        .set("TransactionController.includeTimers", include_timers)
}

/// A Throughput Controller: style 1 is percent, 0 total executions.
pub fn throughput(name: &str, style: i32, value: &str, per_user: bool) -> Node {
    let node = controller("ThroughputController", "ThroughputControllerGui", name)
        .set("ThroughputController.style", style)
        .set("ThroughputController.perThread", per_user);
    if style == 1 {
        let value = Value::Float(value.to_owned());
        return node
            .set("ThroughputController.maxThroughput", 1)
            .set("ThroughputController.percentThroughput", value);
    }
    node.set("ThroughputController.maxThroughput", value)
        .set("ThroughputController.percentThroughput", Value::Float("100.0".to_owned()))
}

/// A Flow Control Action: action 0 stop, 1 pause, 2 stop now, 3 restart loop, 4 start next, 5 break; target 0 thread, 2 test.
pub fn action(name: &str, action: i32, target: i32, duration: &str) -> Node {
    Node::new("TestAction", "TestActionGui", name)
        .set("ActionProcessor.action", action)
        .set("ActionProcessor.target", target)
        .set("ActionProcessor.duration", duration)
}

/// A Constant Timer.
pub fn constant_timer(name: &str, delay: &str) -> Node {
    Node::new("ConstantTimer", "ConstantTimerGui", name).set("ConstantTimer.delay", delay)
}

/// A Counter.
pub fn counter(name: &str, start: &str, end: &str, step: &str, variable: &str) -> Node {
    Node::new("CounterConfig", "CounterConfigGui", name)
        .set("CounterConfig.start", start)
        .set("CounterConfig.end", end)
        .set("CounterConfig.incr", step)
        .set("CounterConfig.name", variable)
        .set("CounterConfig.format", "")
        .set("CounterConfig.per_user", true)
        .set("CounterConfig.reset_on_tg_iteration", false)
}

/// A CSV Data Set.
pub fn csv(name: &str, file: &str, variables: &str) -> Node {
    Node::new("CSVDataSet", "TestBeanGUI", name)
        .set("delimiter", ",")
        .set("fileEncoding", "UTF-8")
        .set("filename", file)
        .set("ignoreFirstLine", false)
        .set("quotedData", false)
        .set("recycle", true)
        .set("shareMode", "shareMode.all")
        .set("stopThread", false)
        .set("variableNames", variables)
}

/// User Parameters: names, and one row of values per user.
pub fn user_parameters(name: &str, names: &[&str], users: &[&[&str]], per_iteration: bool) -> Node {
    let users = users.iter().enumerate().map(|(at, values)| (at.to_string(), texts(values))).collect();
    Node::new("UserParameters", "UserParametersGui", name)
        .set("UserParameters.names", texts(names))
        .set("UserParameters.thread_values", Value::List(users))
        .set("UserParameters.per_iteration", per_iteration)
}

/// A Response Assertion. Test types: 1 matches, 2 contains, 8 equals, 16 substring; plus 4 not, 32 or.
pub fn response_assertion(name: &str, field: &str, test_type: i32, patterns: &[&str]) -> Node {
    Node::new("ResponseAssertion", "AssertionGui", name)
        // The misspelling is JMeter's.
        .set("Asserion.test_strings", texts(patterns))
        .set("Assertion.custom_message", "")
        .set("Assertion.test_field", format!("Assertion.{field}"))
        .set("Assertion.assume_success", false)
        .set("Assertion.test_type", test_type)
}

/// A Duration Assertion.
pub fn duration_assertion(name: &str, ms: &str) -> Node {
    Node::new("DurationAssertion", "DurationAssertionGui", name).set("DurationAssertion.duration", ms)
}

/// A Size Assertion. Operators: 1 =, 2 !=, 3 >, 4 <, 5 >=, 6 <=.
pub fn size_assertion(name: &str, field: &str, size: &str, operator: i32) -> Node {
    Node::new("SizeAssertion", "SizeAssertionGui", name)
        .set("Assertion.test_field", format!("SizeAssertion.{field}"))
        .set("SizeAssertion.size", size)
        .set("SizeAssertion.operator", operator)
}

/// A JSON path assertion.
pub fn json_assertion(name: &str, path: &str, expected: Option<&str>, regex: bool) -> Node {
    Node::new("JSONPathAssertion", "JSONPathAssertionGui", name)
        .set("JSON_PATH", path)
        .set("EXPECTED_VALUE", expected.unwrap_or_default())
        .set("JSONVALIDATION", expected.is_some())
        .set("EXPECT_NULL", false)
        .set("INVERT", false)
        .set("ISREGEX", regex)
}

/// A Regular Expression Extractor over the body.
pub fn regex(variable: &str, pattern: &str, template: &str, matched: &str, default: &str) -> Node {
    Node::new("RegexExtractor", "RegexExtractorGui", variable)
        .set("RegexExtractor.useHeaders", "false")
        .set("RegexExtractor.refname", variable)
        .set("RegexExtractor.regex", pattern)
        .set("RegexExtractor.template", template)
        .set("RegexExtractor.default", default)
        .set("RegexExtractor.match_number", matched)
        .set("RegexExtractor.default_empty_value", false)
}

/// A Boundary Extractor over the body.
pub fn boundary(variable: &str, left: &str, right: &str, matched: &str, default: &str) -> Node {
    Node::new("BoundaryExtractor", "BoundaryExtractorGui", variable)
        .set("BoundaryExtractor.useHeaders", "false")
        .set("BoundaryExtractor.refname", variable)
        .set("BoundaryExtractor.lboundary", left)
        .set("BoundaryExtractor.rboundary", right)
        .set("BoundaryExtractor.default", default)
        .set("BoundaryExtractor.match_number", matched)
        .set("BoundaryExtractor.default_empty_value", false)
}

/// A JSON Extractor.
pub fn json(variables: &str, paths: &str, matches: &str, defaults: &str) -> Node {
    Node::new("JSONPostProcessor", "JSONPostProcessorGui", variables)
        .set("JSONPostProcessor.referenceNames", variables)
        .set("JSONPostProcessor.jsonPathExprs", paths)
        .set("JSONPostProcessor.match_numbers", matches)
        .set("JSONPostProcessor.defaultValues", defaults)
}

/// A Debug Sampler.
pub fn debug(name: &str) -> Node {
    Node::new("DebugSampler", "TestBeanGUI", name)
        .set("displayJMeterProperties", false)
        .set("displayJMeterVariables", true)
        .set("displaySystemProperties", false)
}

/// What the listeners of a new plan save.
const SAVED: [(&str, bool); 26] = [
    ("time", true),
    ("latency", true),
    ("timestamp", true),
    ("success", true),
    ("label", true),
    ("code", true),
    ("message", true),
    ("threadName", true),
    ("dataType", true),
    ("encoding", false),
    ("assertions", true),
    ("subresults", true),
    ("responseData", false),
    ("samplerData", false),
    ("xml", false),
    ("fieldNames", true),
    ("responseHeaders", false),
    ("requestHeaders", false),
    ("responseDataOnError", false),
    ("saveAssertionResultsFailureMessage", true),
    ("bytes", true),
    ("sentBytes", true),
    ("url", true),
    ("threadCounts", true),
    ("idleTime", true),
    ("connectTime", true),
];

/// A listener that writes to a file in the output folder (to none, if the name is blank); `changed` are the flags
/// of its save configuration that differ from those of a new listener.
pub fn listener(gui: &'static str, name: &str, file: &str, changed: &[(&'static str, bool)]) -> Node {
    let mut flags = SAVED.to_vec();
    for &(flag, on) in changed {
        match flags.iter_mut().find(|(name, _)| *name == flag) {
            Some(slot) => slot.1 = on,
            None => flags.push((flag, on)),
        }
    }
    Node::new("ResultCollector", gui, name)
        .set("ResultCollector.error_logging", false)
        .set("saveConfig", Value::SaveConfig(flags))
        .set("filename", if file.is_empty() { String::new() } else { format!("${{__P(OUT)}}/{file}") })
}
