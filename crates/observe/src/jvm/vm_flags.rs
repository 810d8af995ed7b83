//! The flags of a JVM.

/// A flag of a JVM (`-XX:NAME=VALUE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmFlag {
    /// Its name.
    pub name: String,
    /// Its type, such as `bool`, `uintx` or `ccstr`.
    pub kind: String,
    /// Its value, as the JVM writes it; empty for a text that is not set.
    pub value: String,
    /// Where the value comes from: `default`, `command line`, `ergonomic`, `management`. JDK 8 only states whether it
    /// is the default (`default`) or not (`None`).
    pub origin: Option<String>,
}

/// Why flags cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer contains no flags")]
pub struct VmFlagsError;

impl VmFlag {
    /// Reads the output of `VM.flags -all` or `java -XX:+PrintFlagsFinal` of JDK 8 to 25. Lines without a flag are skipped.
    ///
    /// # Errors
    /// There is no flag at all.
    pub fn parse_all(text: &str) -> Result<Vec<VmFlag>, VmFlagsError> {
        let flags: Vec<VmFlag> = text.lines().filter_map(VmFlag::parse).collect();
        if flags.is_empty() { Err(VmFlagsError) } else { Ok(flags) }
    }

    /// Reads `   size_t MaxHeapSize   = 67108864   {product} {command line}`. In JDK 8, `:=` means that the value is not the default.
    fn parse(line: &str) -> Option<VmFlag> {
        let (left, right) = line.split_once('=')?;
        let is_changed = left.ends_with(':');
        let mut words = left.trim_end_matches(':').split_whitespace();
        let (kind, name) = (words.next()?, words.next()?);
        if words.next().is_some() {
            return None;
        }
        // The value may contain braces, so the groups are split off from the end of the line.
        let (value, last) = last_group(right)?;
        let (value, origin) = match last_group(value) {
            Some((value, _category)) => (value, Some(last)),
            None => (value, (!is_changed).then_some("default")),
        };
        Some(VmFlag {
            name: name.to_owned(),
            kind: kind.to_owned(),
            value: value.trim().to_owned(),
            origin: origin.map(str::to_owned),
        })
    }
}

/// Splits `text {group}` into text and group.
fn last_group(text: &str) -> Option<(&str, &str)> {
    text.trim_end().strip_suffix('}')?.rsplit_once('{')
}
