//! Property files to which a plan refers (Property File Reader).

use std::path::Path;
use std::sync::Arc;

use busyhour_limits::files::read_regular;
use busyhour_plan::Element;
use busyhour_program::run::JmeterProperties;

use crate::context::Context;
use crate::elements::config::ConfigClass;
use crate::elements::{Role, role};

const PATH: &str = "propFilePath";

/// The maximum size of a file in bytes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Sets the properties of the files to which the plan refers. Returns a copy of the properties before this change, or `None` if
/// the plan refers to no files. User defined variables need the copy, because JMeter evaluates them before it reads the files.
pub(crate) fn read(context: &mut Context<'_>) -> Option<Arc<JmeterProperties>> {
    let is_reader = |element: &Element<'_>| {
        role(*element) == Role::Config(ConfigClass::PropertyReader) && element.is_active()
    };
    let readers: Vec<_> = context.plan.elements().filter(is_reader).collect();
    if readers.is_empty() {
        return None;
    }
    let properties = Arc::clone(&context.options.properties);
    let before = Arc::new(JmeterProperties::new(properties.all()));
    for element in readers {
        let path = context.at_start(element, PATH);
        if path.trim().is_empty() {
            continue;
        }
        match content(&context.options.base_dir.join(&path)) {
            Ok(text) => {
                for (name, value) in busyhour_java::parse_properties(&text) {
                    properties.set(&name, &value);
                }
            }
            Err(error) => {
                let message = format!(
                    "the file {path:?} cannot be read: {error}; like the plugin, the plan runs without its properties"
                );
                context.findings.warn(element, "missing-file", message);
            }
        }
    }
    Some(before)
}

fn content(path: &Path) -> std::io::Result<String> {
    // Java reads properties files as ISO-8859-1.
    Ok(read_regular(path, BYTES_MAX)?.into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use busyhour_http::TlsPolicy;

    use super::*;
    use crate::options::Options;

    /// A plan with a user defined variable that reads a property, and a reader of this file.
    fn plan(path: &str) -> String {
        format!(
            "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testclass=\"TestPlan\" testname=\"p\"><elementProp \
             name=\"TestPlan.user_defined_variables\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\"><elementProp \
             name=\"early\" elementType=\"Argument\"><stringProp name=\"Argument.name\">early</stringProp><stringProp \
             name=\"Argument.value\">${{__P(threads,unset)}}</stringProp></elementProp></collectionProp></elementProp></TestPlan><hashTree>\
             <com.tag.jmeter.ext.config.PropertyReader testclass=\"com.tag.jmeter.ext.config.PropertyReader\" testname=\"r\"><stringProp \
             name=\"propFilePath\">{path}</stringProp></com.tag.jmeter.ext.config.PropertyReader><hashTree/></hashTree></hashTree>\
             </jmeterTestPlan>"
        )
    }

    fn compiled(path: &str, base_dir: &Path) -> (Arc<JmeterProperties>, crate::Compiled, Vec<String>) {
        let properties = Arc::new(JmeterProperties::new([("env".to_owned(), "test".to_owned())]));
        let options = Options {
            properties: Arc::clone(&properties),
            base_dir: base_dir.to_owned(),
            allow_unsupported: false,
            tls: TlsPolicy::AcceptAny,
            proxy: None,
            request_deadline: None,
            open: None,
        };
        let (plan, _) = busyhour_plan::parse(plan(path).as_bytes(), "plan.jmx");
        let (compiled, findings) = crate::compile(&plan, &options);
        (
            properties,
            compiled.unwrap(),
            findings.into_iter().map(|finding| finding.code.to_string()).collect(),
        )
    }

    #[test]
    fn properties_are_set_and_variables_do_not_see_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("test.properties"), "threads = 7\nname=caf\\u00e9\n").unwrap();
        let (properties, compiled, findings) = compiled("${__P(env)}.properties", folder.path());
        assert_eq!(findings, ["no-thread-group"]);
        assert_eq!(
            (properties.get("threads"), properties.get("name")),
            (Some("7".into()), Some("café".into()))
        );
        let clock = busyhour_program::clock::Clock::start();
        let started = crate::start(compiled, 1, clock, &properties, Box::new(|_, _| {}));
        assert_eq!(started.shared.properties.get("threads").as_deref(), Some("7"));
        assert!(properties.is_read("env"));
    }

    #[test]
    fn a_missing_file_is_reported_and_sets_nothing() {
        let (properties, _, findings) = compiled("missing.properties", Path::new("."));
        assert_eq!(properties.all().len(), 1);
        assert!(findings.contains(&"missing-file".to_owned()), "{findings:?}");
    }
}
