//! What keeps a plan from running, and what it would take.

use std::fmt;

/// What it would take for a plan to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Something that Busyhour itself does not do yet.
    Busyhour,
    /// An element of a plugin that Busyhour does not know.
    Plugin,
    /// Another protocol than HTTP, WebSocket, TCP.
    Protocol,
    /// A Java machine: Java classes, drivers, scripts that only Java's interpreters can run.
    Java,
    /// A mistake in the plan, which JMeter meets only when it comes to it.
    Mistake,
    /// A file that the plan reads and that is not in this place.
    File,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busyhour => "Busyhour",
            Self::Plugin => "a plugin",
            Self::Protocol => "another protocol",
            Self::Java => "Java",
            Self::Mistake => "a mistake in the plan",
            Self::File => "a data file",
        })
    }
}

/// Something that keeps a plan from running.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) need: Need,
    pub(super) name: String,
}

/// Elements that call Java classes or drivers; with their beginnings, as JDBC has six.
const JAVA: [&str; 21] = [
    "AccessLogSampler",
    "JDBC",
    "JMSSampler",
    "PublisherSampler",
    "SubscriberSampler",
    "JUnitSampler",
    "JavaSampler",
    "MongoScriptSampler",
    "MongoSourceElement",
    "BoltSampler",
    "BoltConnectionElement",
    "com.atlantbh.jmeter.plugins.hbase",
    "com.atlantbh.jmeter.plugins.hadoop",
    "com.googlecode.jmeter.plugins.webdriver",
    "com.blazemeter.jmeter.xmpp",
    "kg.apc.jmeter.config.redis",
    "com.di.jmeter",
    "com.github.johrstrom",
    "nl.nn.adapterframework",
    "net.xmeter",
    "co.signal",
];

/// Elements that script; the languages that run natively are not for want of Java.
const SCRIPTED: [&str; 3] = ["JSR223", "BeanShell", "BSF"];

const PROTOCOL: [&str; 8] = [
    "FTPSampler",
    "LDAPSampler",
    "LDAPExtSampler",
    "MailReaderSampler",
    "SmtpSampler",
    "SMIMEAssertion",
    "AjpSampler",
    "kg.apc.jmeter.samplers.UDPSampler",
];

impl Item {
    /// What an error of `busyhour check` stands for.
    pub(super) fn of(code: &str, message: &str) -> Self {
        // Where in a script something stands does not tell one thing from another.
        let message = message.split(" (column ").next().unwrap_or(message);
        let message = message.split(" (line ").next().unwrap_or(message);
        let said = message.strip_prefix("the element ").unwrap_or(message);
        let (kind, rest) = said.split_once(' ').unwrap_or((said, ""));
        let begins = |names: &[&str]| names.iter().any(|name| kind.starts_with(name));
        if code == "missing-file" {
            return Self { need: Need::File, name: "a file that is not there".into() };
        }
        if code.starts_with("invalid-") {
            return Self { need: Need::Mistake, name: said.to_owned() };
        }
        if code == "unsupported-function" {
            let scripted = ["__groovy:", "__BeanShell:"].iter().any(|name| message.starts_with(name));
            let need = if scripted { Need::Java } else { Need::Busyhour };
            return Self { need, name: message.to_owned() };
        }
        if code != "unsupported-element" && code != "refused-element" {
            return Self { need: Need::Busyhour, name: message.to_owned() };
        }
        let native = ["javascript", "ecmascript", "jexl"].iter().any(|language| rest.contains(language));
        let need = if begins(&JAVA) || (begins(&SCRIPTED) && code == "refused-element" && !native) {
            Need::Java
        } else if begins(&PROTOCOL) {
            Need::Protocol
        } else if kind.contains('.') {
            Need::Plugin
        } else {
            Need::Busyhour
        };
        let name = match rest {
            "is not supported" | "" => kind.to_owned(),
            // The places of scripts are many, what they lack is not.
            rest => match rest.split_once("cannot be run: ") {
                Some((_, what)) => format!("script: {what}"),
                None => said.to_owned(),
            },
        };
        Self { need, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_has_its_need() {
        let refused = "the element BeanShellSampler has a script with what cannot be run: `IsSuccess` is not supported (column 1)";
        for (code, message, need, name) in [
            ("unsupported-element", "the element JDBCSampler is not supported", Need::Java, "JDBCSampler"),
            ("unsupported-element", "the element a.b.C is not supported", Need::Plugin, "a.b.C"),
            (
                "unsupported-element",
                "the element SwitchController is not supported",
                Need::Busyhour,
                "SwitchController",
            ),
            ("unsupported-element", "the element FTPSampler is not supported", Need::Protocol, "FTPSampler"),
            ("refused-element", refused, Need::Java, "script: `IsSuccess` is not supported"),
            (
                "refused-element",
                "the element JSR223Sampler is written in jexl2",
                Need::Busyhour,
                "JSR223Sampler is written in jexl2",
            ),
            ("missing-file", "the file a cannot be read", Need::File, "a file that is not there"),
            (
                "unsupported-function",
                "__groovy: `a.b` is not supported (column 1)",
                Need::Java,
                "__groovy: `a.b` is not supported",
            ),
            ("unsupported-setting", "no digests", Need::Busyhour, "no digests"),
            ("invalid-element", "the element X has no name", Need::Mistake, "X has no name"),
        ] {
            assert_eq!(Item::of(code, message), Item { need, name: name.into() }, "{message}");
        }
    }
}
