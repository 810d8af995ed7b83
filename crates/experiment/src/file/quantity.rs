//! Values in the notation of the file: times, percentages, lists of cores, masks.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

/// Units of time as (name, multiplier, divisor) to convert to seconds. The divisor avoids rounding errors.
const UNITS: [(&str, f64, f64); 7] = [
    ("ns", 1.0, 1e9),
    ("us", 1.0, 1e6),
    ("µs", 1.0, 1e6),
    ("ms", 1.0, 1e3),
    ("s", 1.0, 1.0),
    ("min", 60.0, 1.0),
    ("h", 3_600.0, 1.0),
];

/// The largest number of a core.
const CORE_MAX: u32 = 8_191;

/// Why a value cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text is not a time.
    #[error(
        "{0:?} is not a time; write a number with one of the units ns, us, ms, s, min and h, such as \"90s\""
    )]
    Time(String),
    /// The text is not a percentage.
    #[error("{0:?} is not a percentage from 0% to 100%, such as \"5%\"")]
    Percent(String),
    /// The text is not a list of cores.
    #[error("{0:?} is not a list of cores, such as \"0-3,8\"")]
    Cores(String),
    /// A core has too large a number.
    #[error("{0:?} contains a core above {CORE_MAX}")]
    CoreTooLarge(String),
    /// The text is not a size.
    #[error("{0:?} is not a size; write a number of bytes with k, m or g, such as \"512m\"")]
    Size(String),
    /// The text is not a mask.
    #[error("{0:?} is not a mask of cache ways; write a hexadecimal number, such as \"0x3\"")]
    Mask(String),
    /// The mask has gaps.
    #[error(
        "the mask {0:?} is not contiguous; the hardware accepts only masks whose bits are adjacent, such as \"0xc\""
    )]
    MaskWithGaps(String),
}

/// A time such as `"90s"` or `"2min"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Duration {
    text: String,
    seconds: f64,
}

impl Duration {
    /// The time in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl TryFrom<String> for Duration {
    type Error = QuantityError;

    fn try_from(text: String) -> Result<Duration, QuantityError> {
        let digits = text.trim_end_matches(char::is_alphabetic);
        let unit = &text[digits.len()..];
        let seconds = UNITS
            .iter()
            .find(|(name, ..)| *name == unit)
            .and_then(|(_, multiplier, divisor)| Some(number(digits.trim_end())? * multiplier / divisor));
        match seconds {
            Some(seconds) => Ok(Duration { text, seconds }),
            None => Err(QuantityError::Time(text)),
        }
    }
}

impl From<Duration> for String {
    fn from(duration: Duration) -> String {
        duration.text
    }
}

/// A percentage such as `"5%"`, from 0 to 100.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub struct Percent {
    text: String,
    share: f64,
}

impl Percent {
    /// The share, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Percent, D::Error> {
        deserializer.deserialize_any(PercentVisitor)
    }
}

/// Reads a percentage, and explains numbers without a unit.
struct PercentVisitor;

impl Visitor<'_> for PercentVisitor {
    type Value = Percent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a percentage as text, such as \"5%\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Percent, E> {
        Percent::try_from(text.to_owned()).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Percent, E> {
        let percent = if number.abs() <= 1.0 { 100.0 * number } else { number };
        // A product such as 100 × 0.29 has a rounding error.
        let percent = (percent * 1e6).round() / 1e6;
        Err(E::custom(format!("{number} has no unit: write a percentage as text, such as \"{percent}%\"")))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Percent, E> {
        Err(E::custom(format!("{number} has no unit: write a percentage as text, such as \"{number}%\"")))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Percent, E> {
        Err(E::custom(format!("{number} has no unit: write a percentage as text, such as \"{number}%\"")))
    }
}

impl TryFrom<String> for Percent {
    type Error = QuantityError;

    fn try_from(text: String) -> Result<Percent, QuantityError> {
        let percent = text.strip_suffix('%').and_then(|digits| number(digits.trim_end()));
        match percent.filter(|percent| *percent <= 100.0) {
            Some(percent) => Ok(Percent { text, share: percent / 100.0 }),
            None => Err(QuantityError::Percent(text)),
        }
    }
}

impl From<Percent> for String {
    fn from(percent: Percent) -> String {
        percent.text
    }
}

/// A list of cores such as `"0-3,8"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct CoreList {
    text: String,
    cores: Vec<u32>,
}

impl CoreList {
    /// The numbers of the cores, ascending and without repetitions.
    #[must_use]
    pub fn cores(&self) -> &[u32] {
        &self.cores
    }
}

impl TryFrom<String> for CoreList {
    type Error = QuantityError;

    fn try_from(text: String) -> Result<CoreList, QuantityError> {
        let mut is_listed = vec![false; CORE_MAX as usize + 1];
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Some(first), Some(last)) = (core(first), core(last)) else {
                return Err(QuantityError::Cores(text));
            };
            if last > CORE_MAX {
                return Err(QuantityError::CoreTooLarge(text));
            }
            if first > last {
                return Err(QuantityError::Cores(text));
            }
            is_listed[first as usize..=last as usize].fill(true);
        }
        let cores = (0..=CORE_MAX).filter(|core| is_listed[*core as usize]).collect();
        Ok(CoreList { text, cores })
    }
}

impl From<CoreList> for String {
    fn from(list: CoreList) -> String {
        list.text
    }
}

/// A mask of cache ways such as `"0x3"`. Its bits are adjacent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct WayMask {
    text: String,
    bits: u64,
}

impl WayMask {
    /// The bits of the mask.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }
}

impl TryFrom<String> for WayMask {
    type Error = QuantityError;

    fn try_from(text: String) -> Result<WayMask, QuantityError> {
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bits = u64::from_str_radix(digits, 16).ok().filter(|bits| *bits > 0 && is_hexadecimal);
        let Some(bits) = bits else { return Err(QuantityError::Mask(text)) };
        let shifted = bits >> bits.trailing_zeros();
        if shifted & shifted.wrapping_add(1) == 0 {
            Ok(WayMask { text, bits })
        } else {
            Err(QuantityError::MaskWithGaps(text))
        }
    }
}

impl From<WayMask> for String {
    fn from(mask: WayMask) -> String {
        mask.text
    }
}

/// A size such as `"512m"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ByteSize {
    text: String,
    bytes: u64,
}

impl ByteSize {
    /// The number of bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl TryFrom<String> for ByteSize {
    type Error = QuantityError;

    fn try_from(text: String) -> Result<ByteSize, QuantityError> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
            "" => Some(0),
            "k" => Some(10),
            "m" => Some(20),
            "g" => Some(30),
            _ => None,
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse::<u64>().ok().filter(|number| is_number && *number > 0);
        let bytes = number.zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
        match bytes {
            Some(bytes) => Ok(ByteSize { text, bytes }),
            None => Err(QuantityError::Size(text)),
        }
    }
}

impl From<ByteSize> for String {
    fn from(size: ByteSize) -> String {
        size.text
    }
}

fn core(text: &str) -> Option<u32> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // A number with too many digits is also too large.
    Some(text.parse().unwrap_or(u32::MAX))
}

/// A decimal number that is at least 0. Words such as "inf", and exponents, are not numbers.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_decimal = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|value: &f64| is_decimal && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text: &str| Duration::try_from(text.to_owned()).map(|time| time.seconds());
        for (text, expected) in
            [("90s", 90.0), ("2min", 120.0), ("1.5 h", 5_400.0), ("700ms", 0.7), ("5µs", 5e-6)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "90", "-5s", "5 parsecs", "infs", "1e3s", "nans"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| ByteSize::try_from(text.to_owned()).map(|size| size.bytes());
        assert_eq!((bytes("512m"), bytes("2G"), bytes("4096")), (Ok(512 << 20), Ok(2 << 30), Ok(4_096)));
        for text in ["", "m", "0", "-1m", "1.5g", "1t", "99999999999g"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentages_are_shares() {
        let share = |text: &str| Percent::try_from(text.to_owned()).map(|percent| percent.share());
        assert_eq!((share("5%"), share("100 %"), share("0%")), (Ok(0.05), Ok(1.0), Ok(0.0)));
        assert!(share("5").is_err() && share("101%").is_err() && share("-1%").is_err());
    }

    #[test]
    fn a_percentage_without_a_unit_is_explained() {
        let read = |text: &str| {
            let table: std::collections::BTreeMap<String, Percent> =
                toml::from_str(text).map_err(|error| error.message().to_owned())?;
            Ok(table["intensity"].share())
        };
        assert_eq!(read("intensity = \"30%\""), Ok::<f64, String>(0.3));
        for (number, percent) in [("0.3", "30%"), ("0.29", "29%"), ("30", "30%"), ("1.5", "1.5%")] {
            let error = read(&format!("intensity = {number}")).unwrap_err();
            assert!(error.contains(&format!("such as \"{percent}\"")), "{error}");
        }
        assert!(read("intensity = \"0.3\"").unwrap_err().contains("is not a percentage"));
    }

    #[test]
    fn cores_are_listed_once_and_in_order() {
        let cores = |text: &str| CoreList::try_from(text.to_owned()).map(|list| list.cores);
        assert_eq!(cores("8, 0-2,1"), Ok(vec![0, 1, 2, 8]));
        for text in ["", "3-1", "a", "0-", "0,,1", "-1", "0-99999999999", "9000"] {
            assert!(cores(text).is_err(), "{text}");
        }
    }

    #[test]
    fn masks_are_contiguous() {
        let bits = |text: &str| WayMask::try_from(text.to_owned()).map(|mask| mask.bits);
        assert_eq!(
            (bits("0x3"), bits("fffff"), bits("0xffffffffffffffff")),
            (Ok(3), Ok(0xfffff), Ok(u64::MAX))
        );
        assert_eq!(bits("0x5"), Err(QuantityError::MaskWithGaps("0x5".to_owned())));
        assert!(bits("0x0").is_err() && bits("0x").is_err() && bits("-1").is_err() && bits("+1").is_err());
    }
}
