//! The obstacles to running a plan, and their requirements.

use std::fmt;

/// The requirement for removing an obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// A feature that Busyhour does not support yet.
    Busyhour,
    /// An element of an unsupported plugin.
    Plugin,
    /// A protocol other than HTTP, WebSocket and TCP.
    Protocol,
    /// A JVM: Java classes, drivers, scripts that only Java's interpreters can run.
    Java,
    /// A mistake in the plan, which JMeter reports at the start or during the run.
    Mistake,
    /// A data file of the plan that is missing here.
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

/// An obstacle to running a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) need: Need,
    pub(super) name: String,
}

impl Item {
    /// The obstacle in an error of `busyhour check`: its code, its message, and what support would require.
    pub(super) fn from_error(code: &str, message: &str, needs: Option<&str>) -> Self {
        // The position in a script is not relevant.
        let message = message.split(" (column ").next().unwrap_or(message);
        let message = message.split(" (line ").next().unwrap_or(message);
        let message = message.strip_prefix("the element ").unwrap_or(message);
        if code == "missing-file" || code == "no-included-file" {
            return Self { need: Need::File, name: "a missing file".into() };
        }
        let need = match needs {
            Some("java") => Need::Java,
            Some("protocol") => Need::Protocol,
            Some("plugin") => Need::Plugin,
            // JMeter does not start such plans either.
            _ if code.starts_with("invalid-") || matches!(code, "no-module" | "no-fragment") => Need::Mistake,
            _ => Need::Busyhour,
        };
        let name = match message.split_once("cannot be run: ") {
            _ if code == "no-module" => "a Module Controller without a target",
            // Scripts occur in many elements, but only a few features of scripts are missing.
            Some((_, what)) if code == "refused-element" => {
                return Self { need, name: format!("script: {what}") };
            }
            _ => message
                .strip_suffix(" is not supported")
                .filter(|_| code == "unsupported-element")
                .unwrap_or(message),
        };
        Self { need, name: name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_mapped_to_needs() {
        let refused = "the element BeanShellSampler has a script with what cannot be run: `IsSuccess` is not supported (column 1)";
        for (code, message, needs, need, name) in [
            (
                "unsupported-element",
                "the element JDBCSampler is not supported",
                Some("java"),
                Need::Java,
                "JDBCSampler",
            ),
            (
                "unsupported-element",
                "the element a.b.C is not supported",
                Some("plugin"),
                Need::Plugin,
                "a.b.C",
            ),
            (
                "unsupported-element",
                "the element SwitchController is not supported",
                None,
                Need::Busyhour,
                "SwitchController",
            ),
            (
                "unsupported-element",
                "the element FTPSampler is not supported",
                Some("protocol"),
                Need::Protocol,
                "FTPSampler",
            ),
            ("refused-element", refused, Some("java"), Need::Java, "script: `IsSuccess` is not supported"),
            ("missing-file", "the file a cannot be read", None, Need::File, "a missing file"),
            (
                "unsupported-function",
                "__groovy: `a.b` is not supported (column 1)",
                Some("java"),
                Need::Java,
                "__groovy: `a.b` is not supported",
            ),
            ("unsupported-setting", "no digests", None, Need::Busyhour, "no digests"),
            ("invalid-element", "the element X has no name", None, Need::Mistake, "X has no name"),
            (
                "no-module",
                "the Module Controller's target is not in the plan: A",
                None,
                Need::Mistake,
                "a Module Controller without a target",
            ),
        ] {
            assert_eq!(Item::from_error(code, message, needs), Item { need, name: name.into() }, "{message}");
        }
    }
}
