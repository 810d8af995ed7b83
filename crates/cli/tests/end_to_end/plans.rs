//! Builds test plans.

/// A string property.
pub(crate) fn text(name: &str, value: &str) -> String {
    let value = value.replace('&', "&amp;").replace('<', "&lt;");
    format!("<stringProp name=\"{name}\">{value}</stringProp>\n")
}

/// An element with its properties and the elements below it.
pub(crate) fn element(class: &str, name: &str, properties: &str, below: &str) -> String {
    format!(
        "<{class} guiclass=\"{class}Gui\" testclass=\"{class}\" testname=\"{name}\">\n{properties}</{class}>\n<hashTree>\n{below}</hashTree>\n"
    )
}

/// A complete plan with these groups.
pub(crate) fn plan(groups: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n\
         <hashTree>\n{}</hashTree>\n</jmeterTestPlan>\n",
        element("TestPlan", "Plan", "", groups)
    )
}

/// A thread group without ramp-up; `loops` -1 means infinite.
pub(crate) fn group(users: &str, loops: &str, below: &str) -> String {
    named_group("Group", users, loops, below)
}

/// A thread group with a name.
pub(crate) fn named_group(name: &str, users: &str, loops: &str, below: &str) -> String {
    let properties = format!(
        "{}{}{}<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\n\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\n{}</elementProp>\n",
        text("ThreadGroup.on_sample_error", "continue"),
        text("ThreadGroup.num_threads", users),
        text("ThreadGroup.ramp_time", "0"),
        text("LoopController.loops", loops),
    );
    element("ThreadGroup", name, &properties, below)
}

/// A GET request; host and port come from the properties HOST and PORT.
pub(crate) fn get(name: &str, path: &str) -> String {
    get_with(name, path, "", "")
}

/// A GET request with additional properties and child elements.
pub(crate) fn get_with(name: &str, path: &str, more: &str, below: &str) -> String {
    let properties = [
        text("HTTPSampler.domain", "${__P(HOST,127.0.0.1)}"),
        text("HTTPSampler.port", "${__P(PORT)}"),
        text("HTTPSampler.protocol", "http"),
        text("HTTPSampler.path", path),
        text("HTTPSampler.method", "GET"),
        "<boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>\n".into(),
        "<boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>\n".into(),
        more.to_owned(),
    ]
    .concat();
    element("HTTPSamplerProxy", name, &properties, below)
}
