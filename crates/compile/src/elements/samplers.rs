//! Samplers.

use super::descriptor::Descriptor;
use super::script_source::{self as source, ScriptSource};

/// The kinds of samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SamplerClass {
    /// An HTTP request.
    Http,
    /// A request of BlazeMeter's HTTP/2 plugin, which has the properties of JMeter's own HTTP Request.
    Http2,
    /// Shows variables and properties.
    Debug,
    /// Runs a script.
    Script(&'static ScriptSource),
    /// Pauses, stops, or leaves loops.
    FlowControl,
    /// Runs one of JMeter's own Java classes.
    Java,
    /// Runs a process.
    System,
    /// Sends a text over TCP.
    Tcp,
    /// Sends a UDP packet.
    Udp,
    /// Sends a text unchanged over TCP.
    RawHttp,
    /// Returns a configured result without a request.
    Dummy,
    /// One of the WebSocket samplers.
    WebSocket(WebSocketClass),
    /// Runs its children at the same time.
    Parallel,
    /// Sets variables.
    SetVariables,
}

/// The WebSocket samplers of Peter Doornbosch's plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebSocketClass {
    /// Opens a connection.
    Open,
    /// Sends a frame and reads one.
    RequestResponse,
    /// Reads a frame.
    Read,
    /// Sends a frame.
    Write,
    /// Sends a ping or pong, or both.
    PingPong,
    /// Closes the connection.
    Close,
}

const SCRIPTS: &str =
    "Groovy, BeanShell, JEXL and JavaScript; scripts that need more than common JDK classes are refused";

/// The numeric properties of HTTP requests and their defaults.
pub(crate) const HTTP_NUMBERS: &[&str] =
    &["HTTPSampler.port", "HTTPSampler.connect_timeout", "HTTPSampler.response_timeout"];

/// The samplers.
pub(crate) const ELEMENTS: &[Descriptor<SamplerClass>] = &[
    Descriptor::new("HTTPSamplerProxy", "HTTP Request", SamplerClass::Http).note("HTTP/1.1; character encodings with the same name in Java and on the web").numbers(HTTP_NUMBERS).properties(&["File.mimetype", "File.paramname", "File.path", "HTTPArgument.always_encode", "HTTPArgument.content_type", "HTTPArgument.encoded_name", "HTTPArgument.encoded_value", "HTTPArgument.use_equals", "HTTPFileArgs.files", "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", "HTTPSampler.CONTENT_TYPE", "HTTPSampler.DO_MULTIPART_POST", "HTTPSampler.FILE_FIELD", "HTTPSampler.FILE_NAME", "HTTPSampler.URL", "HTTPSampler.auth_manager", "HTTPSampler.auto_redirects", "HTTPSampler.cache_manager", "HTTPSampler.concurrentDwn", "HTTPSampler.concurrentPool", "HTTPSampler.contentEncoding", "HTTPSampler.cookie_manager", "HTTPSampler.dns_cache_manager", "HTTPSampler.domain", "HTTPSampler.embedded_url_exclude_re", "HTTPSampler.embedded_url_re", "HTTPSampler.encoded_path", "HTTPSampler.follow_redirects", "HTTPSampler.header_manager", "HTTPSampler.image_parser", "HTTPSampler.implementation", "HTTPSampler.ipSource", "HTTPSampler.ipSourceType", "HTTPSampler.keystore_configuration", "HTTPSampler.md5", "HTTPSampler.method", "HTTPSampler.mimetype", "HTTPSampler.monitor", "HTTPSampler.path", "HTTPSampler.postBodyRaw", "HTTPSampler.protocol", "HTTPSampler.proxyHost", "HTTPSampler.proxyPass", "HTTPSampler.proxyPort", "HTTPSampler.proxyScheme", "HTTPSampler.proxyUser", "HTTPSampler.sample_timeout", "HTTPSampler.use_keepalive", "HTTPsampler.Arguments", "HTTPsampler.Files"]),
    Descriptor::new("DebugSampler", "Debug Sampler", SamplerClass::Debug).note("system properties are empty"),
    Descriptor::new("JSR223Sampler", "JSR223 Sampler", SamplerClass::Script(&source::JSR223)).note(SCRIPTS),
    Descriptor::new("BeanShellSampler", "BeanShell Sampler", SamplerClass::Script(&source::BEANSHELL_SAMPLER)).note(SCRIPTS).properties(&["BeanShellSampler.filename", "BeanShellSampler.parameters", "BeanShellSampler.query", "BeanShellSampler.resetInterpreter"]),
    Descriptor::new("BSFSampler", "BSF Sampler", SamplerClass::Script(&source::BSF)).note(SCRIPTS).properties(&["BSFSampler.filename", "BSFSampler.language", "BSFSampler.parameters", "BSFSampler.query"]),
    Descriptor::new("TestAction", "Flow Control Action", SamplerClass::FlowControl).numbers(&["ActionProcessor.duration"]).properties(&["ActionProcessor.action", "ActionProcessor.target"]),
    Descriptor::new("JavaSampler", "Java Request", SamplerClass::Java).note("only JMeter's JavaTest and SleepTest"),
    Descriptor::new("SystemSampler", "OS Process Sampler", SamplerClass::System).properties(&["SystemSampler.arguments", "SystemSampler.checkReturnCode", "SystemSampler.command", "SystemSampler.directory", "SystemSampler.environment", "SystemSampler.expectedReturnCode", "SystemSampler.stderr", "SystemSampler.stdin", "SystemSampler.stdout", "SystemSampler.timeout"]),
    Descriptor::new("TCPSampler", "TCP Sampler", SamplerClass::Tcp).note("JMeter's three clients; UTF-8").properties(&["TCPSampler.EolByte", "TCPSampler.classname", "TCPSampler.closeConnection", "TCPSampler.ctimeout", "TCPSampler.filename", "TCPSampler.nodelay", "TCPSampler.port", "TCPSampler.reUseConnection", "TCPSampler.request", "TCPSampler.server", "TCPSampler.soLinger", "TCPSampler.timeout"]),
    Descriptor::new("kg.apc.jmeter.samplers.UDPSampler", "UDP Request (jmeter-plugins)", SamplerClass::Udp).note("text and hexadecimal data; DNS is not supported"),
    Descriptor::new("kg.apc.jmeter.samplers.HTTPRawSampler", "HTTP Raw Request (jmeter-plugins)", SamplerClass::RawHttp).note("the response of a failed sample is the exception without the stack trace"),
    Descriptor::new("kg.apc.jmeter.samplers.DummySampler", "Dummy Sampler (jmeter-plugins)", SamplerClass::Dummy),
    Descriptor::new("eu.luminis.jmeter.wssampler.OpenWebSocketSampler", "WebSocket Open Connection (by Peter Doornbosch)", SamplerClass::WebSocket(WebSocketClass::Open)),
    Descriptor::new("eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler", "WebSocket request-response Sampler (by Peter Doornbosch)", SamplerClass::WebSocket(WebSocketClass::RequestResponse)),
    Descriptor::new("eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler", "WebSocket Single Read Sampler (by Peter Doornbosch)", SamplerClass::WebSocket(WebSocketClass::Read)),
    Descriptor::new("eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler", "WebSocket Single Write Sampler (by Peter Doornbosch)", SamplerClass::WebSocket(WebSocketClass::Write)),
    Descriptor::new("eu.luminis.jmeter.wssampler.PingPongSampler", "WebSocket Ping/Pong (by Peter Doornbosch)", SamplerClass::WebSocket(WebSocketClass::PingPong)),
    Descriptor::new("eu.luminis.jmeter.wssampler.CloseWebSocketSampler", "WebSocket Close (by Peter Doornbosch)", SamplerClass::WebSocket(WebSocketClass::Close)),
    Descriptor::new("com.blazemeter.jmeter.controller.ParallelSampler", "Parallel Controller (BlazeMeter)", SamplerClass::Parallel).note("changes of variables and cookies become visible to other branches when the branch ends; branches have the thread name of their user and a separate cache"),
    Descriptor::new("kg.apc.jmeter.control.sampler.SetVariablesAction", "Set Variables Action (jmeter-plugins)", SamplerClass::SetVariables),
    Descriptor::new("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler", "HTTP2 Request (BlazeMeter)", SamplerClass::Http2).unlisted(),
];
