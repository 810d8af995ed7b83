//! Listeners.

use super::descriptor::Descriptor;
use super::script_source::{self as source, ScriptSource};

/// The kinds of listeners that write a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFileClass {
    /// Rows or XML according to the save configuration.
    Collector,
    /// Like `Collector`, for the listeners of jmeter-plugins, which always save the numbers of users.
    PluginCollector,
    /// Like `Collector`, for the mail visualizer. No mail is sent.
    MailCollector,
    /// Columns that the plan configures.
    Columns,
}

/// The listeners that process samples instead of writing rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleListenerClass {
    /// Stops the test when limits are exceeded.
    AutoStop,
    /// Saves each response to a separate file.
    SaveResponses,
    /// Runs a script.
    Script(&'static ScriptSource),
}

const SCRIPTS: &str =
    "Groovy, BeanShell, JEXL and JavaScript; scripts that need more than common JDK classes are refused";

/// The listeners that process samples.
pub(crate) const SAMPLE_LISTENERS: &[Descriptor<SampleListenerClass>] = &[
    Descriptor::new("JSR223Listener", "JSR223 Listener", SampleListenerClass::Script(&source::JSR223))
        .note(SCRIPTS),
    Descriptor::new(
        "BeanShellListener",
        "BeanShell Listener",
        SampleListenerClass::Script(&source::BEANSHELL),
    )
    .note(SCRIPTS),
    Descriptor::new("BSFListener", "BSF Listener", SampleListenerClass::Script(&source::BSF)).note(SCRIPTS),
    Descriptor::new(
        "kg.apc.jmeter.reporters.AutoStop",
        "AutoStop Listener (jmeter-plugins)",
        SampleListenerClass::AutoStop,
    )
    .note("samples of transactions without a parent sample are not counted"),
    Descriptor::new("ResultSaver", "Save Responses to a file", SampleListenerClass::SaveResponses)
        .properties(&[
            "FileSaver.addTimstamp",
            "FileSaver.errorsonly",
            "FileSaver.filename",
            "FileSaver.ignoreTC",
            "FileSaver.numberPadLen",
            "FileSaver.skipautonumber",
            "FileSaver.skipsuffix",
            "FileSaver.successonly",
            "FileSaver.variablename",
        ]),
];

/// The listeners that write a file.
pub(crate) const RESULT_FILES: &[Descriptor<ResultFileClass>] = &[
    Descriptor::new(
        "kg.apc.jmeter.reporters.FlexibleFileWriter",
        "Flexible File Writer (jmeter-plugins)",
        ResultFileClass::Columns,
    )
    .note("rows longer than its buffer are written as well"),
    Descriptor::new(
        "ResultCollector",
        "Simple Data Writer and all listeners of its kind",
        ResultFileClass::Collector,
    )
    .properties(&["ResultCollector.error_logging", "ResultCollector.success_only_logging"]),
    Descriptor::new("MailerResultCollector", "Mailer Visualizer", ResultFileClass::MailCollector).unlisted(),
];
