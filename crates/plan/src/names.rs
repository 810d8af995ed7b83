//! JMeter's names: short names of classes, and names that later releases changed.
//!
//! This module reproduces the way in which JMeter's reader converts names when it loads a plan, according to
//! `saveservice.properties` and `upgrade.properties` of release 5.6.3.

mod classes;

const PACKAGE: &str = "org.apache.jmeter.";

/// The short name that JMeter writes for a class, given a full or short name. A name without a short form is returned
/// unchanged.
pub(crate) fn short_class(written: &str) -> &str {
    let Some(class) = written.strip_prefix(PACKAGE) else {
        return match written {
            "HTTPSampler" | "HTTPSampler2" => "HTTPSamplerProxy",
            "HttpTestSampleGui2" => "HttpTestSampleGui",
            _ => written,
        };
    };
    match class {
        "protocol.jdbc.config.DataSourceElement" => "JDBCDataSource",
        "assertions.SMIMEAssertionTestElement" => "SMIMEAssertion",
        "assertions.Assertion" => "ResponseAssertion",
        // The sampler classes that `HTTPSamplerProxy` wraps; old releases wrote them by their full names.
        "protocol.http.sampler.HTTPSampler" | "protocol.http.sampler.HTTPSamplerFull" => "HTTPSamplerProxy",
        _ if classes::CLASSES.binary_search(&class).is_ok() => last_part(class),
        _ => written,
    }
}

fn last_part(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// The current short name of an element's class.
pub(crate) fn element_kind<'a>(written: &'a str, gui_class: &str) -> &'a str {
    if written == "org.apache.jmeter.protocol.http.sampler.HTTPSampler2" {
        return "ConfigTestElement";
    }
    match short_class(written) {
        // Old files identify JDBC configurations only by the GUI class.
        "ConfigTestElement" if matches!(last_part(gui_class), "DbConfigGui" | "PoolConfigGui") => {
            "JDBCDataSource"
        }
        // JMeter has removed these elements. When it loads them, they become a config element without effect.
        "UserParameterModifier"
        | "WebServiceSampler"
        | "ParamModifier"
        | "ParamMask"
        | "SoapSampler"
        | "MonitorStats" => "ConfigTestElement",
        short => short,
    }
}

/// The current short name of a GUI class.
pub(crate) fn gui_kind(written: &str) -> &str {
    match last_part(written.strip_prefix(PACKAGE).unwrap_or(written)) {
        "UrlConfigGui" => "HttpDefaultsGui",
        "ConstantThroughputTimerGui"
        | "JdbcTestSampleGui"
        | "DbConfigGui"
        | "PoolConfigGui"
        | "AccessLogSamplerGui"
        | "BSFSamplerGui" => "TestBeanGUI",
        "JMSConfigGui" => "JMSSamplerGui",
        "SqlConfigGui"
        | "JndiDefaultsGui"
        | "UserParameterModifierGui"
        | "GraphAccumVisualizer"
        | "WebServiceSamplerGui"
        | "ParamModifierGui"
        | "SplineVisualizer"
        | "DistributionGraphVisualizer"
        | "MonitorHealthVisualizer"
        | "SoapSamplerGui" => "ObsoleteGui",
        _ => short_class(written),
    }
}

/// The current name of a property that may have an outdated one.
///
/// `kind_of_owner` is called only for names that depend on it.
pub(crate) fn property_name<'a, 'k>(kind_of_owner: impl FnOnce() -> &'k str, written: &'a str) -> &'a str {
    // The names are compared first, because few of them match and finding the element's class requires a search.
    let (kind, present) = match written {
        "ConstantThroughputTimer.throughput" => ("ConstantThroughputTimer", "throughput"),
        "JDBCSampler.query" => {
            let applies = matches!(kind_of_owner(), "JDBCSampler" | "JDBCDataSource" | "ConfigTestElement");
            return if applies { "query" } else { written };
        }
        "JDBCSampler.url" => ("JDBCDataSource", "dbUrl"),
        "JDBCSampler.driver" => ("JDBCDataSource", "driver"),
        "JDBCSampler.maxuse" => ("JDBCDataSource", "poolMax"),
        "ConfigTestElement.username" => ("JDBCDataSource", "username"),
        "ConfigTestElement.password" => ("JDBCDataSource", "password"),
        "AccessLogSampler.log_file" => ("AccessLogSampler", "logFile"),
        "AccessLogSampler.parser_class_name" => ("AccessLogSampler", "parserClassName"),
        "HTTPSampler.port" => ("AccessLogSampler", "portString"),
        "HTTPSampler.domain" => ("AccessLogSampler", "domain"),
        "HTTPSampler.image_parser" => ("AccessLogSampler", "imageParsing"),
        "BSFSampler.filename" => ("BSFSampler", "filename"),
        "BSFSampler.language" => ("BSFSampler", "scriptLanguage"),
        "BSFSampler.parameters" => ("BSFSampler", "parameters"),
        "BSFSampler.query" => ("BSFSampler", "script"),
        _ => return written,
    };
    if kind_of_owner() == kind { present } else { written }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(classes::CLASSES.is_sorted());
        assert!(classes::CLASSES.len() > 200);
    }

    #[test]
    fn aliases_and_full_names_resolve_to_the_short_name() {
        for (written, kind) in [
            ("HTTPSamplerProxy", "HTTPSamplerProxy"),
            ("HTTPSampler", "HTTPSamplerProxy"),
            ("HTTPSampler2", "HTTPSamplerProxy"),
            ("org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy", "HTTPSamplerProxy"),
            ("org.apache.jmeter.protocol.http.sampler.HTTPSampler", "HTTPSamplerProxy"),
            ("org.apache.jmeter.protocol.http.sampler.HTTPSampler2", "ConfigTestElement"),
            ("org.apache.jmeter.threads.ThreadGroup", "ThreadGroup"),
            ("org.apache.jmeter.protocol.jdbc.config.DataSourceElement", "JDBCDataSource"),
            ("org.apache.jmeter.of.somebody.Else", "org.apache.jmeter.of.somebody.Else"),
            ("kg.apc.jmeter.threads.UltimateThreadGroup", "kg.apc.jmeter.threads.UltimateThreadGroup"),
            ("SoapSampler", "ConfigTestElement"),
        ] {
            assert_eq!(element_kind(written, ""), kind, "{written}");
        }
        let old = "org.apache.jmeter.protocol.jdbc.config.gui.DbConfigGui";
        assert_eq!(element_kind("ConfigTestElement", old), "JDBCDataSource");
        assert_eq!(gui_kind("org.apache.jmeter.protocol.http.config.gui.UrlConfigGui"), "HttpDefaultsGui");
        assert_eq!(gui_kind("HttpDefaultsGui"), "HttpDefaultsGui");
    }
}
