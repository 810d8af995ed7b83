//! Versions of Java.

use std::fmt;

/// The version of a Java runtime: its text and its feature release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaVersion {
    text: String,
    feature: u32,
}

impl JavaVersion {
    /// Reads a version as `java.version` states it: `1.8.0_392`, `11.0.13`, `25-ea`. `None` if it does not start with a number.
    ///
    /// The counter `sun.rt.jvmVersion` cannot be used instead: HotSpot of JDK 8 calls itself version 25.
    #[must_use]
    pub fn parse(text: &str) -> Option<JavaVersion> {
        let mut numbers = text.split(|char: char| !char.is_ascii_digit());
        let first: u32 = numbers.next()?.parse().ok()?;
        let feature = if first == 1 { numbers.next()?.parse().ok()? } else { first };
        Some(JavaVersion { text: text.to_owned(), feature })
    }

    /// The feature release: 8, 11, 17.
    #[must_use]
    pub fn feature(&self) -> u32 {
        self.feature
    }
}

impl fmt::Display for JavaVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_releases_are_read() {
        let feature = |text| JavaVersion::parse(text).map(|version| version.feature());
        assert_eq!(feature("1.8.0_392"), Some(8));
        assert_eq!(feature("11.0.13"), Some(11));
        assert_eq!(feature("25"), Some(25));
        assert_eq!(feature("26-ea"), Some(26));
        assert_eq!(feature("1"), None);
        assert_eq!(feature(""), None);
        assert_eq!(feature("unknown"), None);
        assert_eq!(feature("99999999999"), None);
    }
}
