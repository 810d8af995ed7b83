//! Lines of the file `schemata`: `L3:0=fffff;1=ff`, `MB:0=100`.

use std::fmt;
use std::str::FromStr;

/// The allocation of a resource to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemataLine {
    /// The resource: `L3`, `L3CODE`, `L2`, `MB`.
    pub resource: String,
    /// Numbers of domains (caches or sockets), with the mask in hexadecimal digits or the value for each.
    pub domains: Vec<(u32, String)>,
}

/// A line of `schemata` is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not RESOURCE:DOMAIN=VALUE;…")]
pub struct SchemaError(pub String);

impl FromStr for SchemataLine {
    type Err = SchemaError;

    fn from_str(line: &str) -> Result<Self, SchemaError> {
        let failed = || SchemaError(line.trim().chars().take(80).collect());
        let (resource, domains) = line.trim().split_once(':').ok_or_else(failed)?;
        let domain = |text: &str| {
            let (number, value) = text.split_once('=')?;
            let value = value.trim();
            (!value.is_empty()).then_some((number.trim().parse().ok()?, value.to_owned()))
        };
        let domains = domains.split(';').map(|text| domain(text).ok_or_else(failed));
        Ok(SchemataLine { resource: resource.trim().to_owned(), domains: domains.collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for SchemataLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.resource)?;
        for (at, (number, value)) in self.domains.iter().enumerate() {
            write!(f, "{}{number}={value}", if at > 0 { ";" } else { "" })?;
        }
        Ok(())
    }
}

/// All lines of the file. Empty lines are skipped.
///
/// # Errors
/// A line is malformed.
pub fn parse_schemata(text: &str) -> Result<Vec<SchemataLine>, SchemaError> {
    text.lines().filter(|line| !line.trim().is_empty()).map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_written() {
        let schemata = parse_schemata("    MB:0=100;1= 90\n    L3:0=fffff;1=3\n\n").unwrap();
        let lines: Vec<String> = schemata.iter().map(SchemataLine::to_string).collect();
        assert_eq!(lines, ["MB:0=100;1=90", "L3:0=fffff;1=3"]);
        for line in ["L3", "L3:", "L3:0", "L3:x=1", "L3:0="] {
            assert_eq!(
                line.parse::<SchemataLine>().unwrap_err().to_string(),
                format!("`{line}` is not RESOURCE:DOMAIN=VALUE;…")
            );
        }
    }
}
