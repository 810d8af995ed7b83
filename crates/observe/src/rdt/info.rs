//! The capabilities of the hardware: the directory `info` of resctrl.

use std::collections::BTreeMap;

/// The content of the directory `info`, by name, because newer kernels have more resources, files and events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RdtInfo {
    /// Resources that can be allocated, by name: `L3`, `L3CODE`, `L3DATA`, `L2`, `MB`.
    pub resources: BTreeMap<String, ResourceInfo>,
    /// Resources that can be monitored, by name without `_MON`: `L3`, `PERF_PKG`.
    pub monitors: BTreeMap<String, MonitorInfo>,
}

/// The files of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceInfo {
    /// Contents by name of the file, without white space at the ends.
    pub files: BTreeMap<String, String>,
}

impl ResourceInfo {
    /// A decimal number.
    #[must_use]
    pub fn number(&self, file: &str) -> Option<u64> {
        self.files.get(file)?.parse().ok()
    }

    /// A bit mask in hexadecimal digits.
    #[must_use]
    pub fn mask(&self, file: &str) -> Option<u64> {
        let text = self.files.get(file)?;
        u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
    }

    /// The largest number of control groups, the default group included.
    #[must_use]
    pub fn closids(&self) -> Option<u64> {
        self.number("num_closids")
    }

    /// The mask with all ways of a cache.
    #[must_use]
    pub fn full_mask(&self) -> Option<u64> {
        self.mask("cbm_mask")
    }
}

/// A resource that can be monitored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorInfo {
    /// Names of the events that groups count: `llc_occupancy`, `mbm_total_bytes`, `core_energy`.
    pub events: Vec<String>,
    /// The number of groups that can be monitored, the default group included.
    pub rmids: Option<u64>,
    /// The identifier of a removed group is reused when the group's cache occupancy falls below this number of bytes.
    pub max_threshold_occupancy: Option<u64>,
    /// The mode in which counters are assigned to groups, such as `mbm_event` or `default`; `None` on kernels without modes.
    pub assign_mode: Option<String>,
}

impl MonitorInfo {
    /// Builds the description from the files of a directory `info/*_MON`.
    #[must_use]
    pub fn of_files(files: &BTreeMap<String, String>) -> Self {
        let number = |file: &str| files.get(file)?.parse().ok();
        let events = files.get("mon_features").map_or("", String::as_str);
        // The mode in use is in brackets.
        let modes = files.get("mbm_assign_mode").map_or("", String::as_str);
        let assign_mode = modes
            .split_ascii_whitespace()
            .find_map(|mode| mode.strip_prefix('[')?.strip_suffix(']'))
            .map(str::to_owned);
        Self {
            // `mbm_total_bytes_config` means that `mbm_total_bytes` can be configured; it is not an event.
            events: events
                .split_ascii_whitespace()
                .filter(|event| !event.ends_with("_config"))
                .map(str::to_owned)
                .collect(),
            rmids: number("num_rmids"),
            max_threshold_occupancy: number("max_threshold_occupancy"),
            assign_mode,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_by_name() {
        let files = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let l3 = ResourceInfo { files: files(&[("num_closids", "16"), ("cbm_mask", "fffff"), ("new", "x")]) };
        assert_eq!((l3.closids(), l3.full_mask(), l3.number("new")), (Some(16), Some(0xf_ffff), None));
        let monitor = MonitorInfo::of_files(&files(&[
            ("mon_features", "llc_occupancy\nmbm_total_bytes\nmbm_total_bytes_config"),
            ("num_rmids", "160"),
            ("mbm_assign_mode", "[mbm_event]\ndefault"),
        ]));
        assert_eq!(monitor.events, ["llc_occupancy", "mbm_total_bytes"]);
        assert_eq!((monitor.rmids, monitor.assign_mode.as_deref()), (Some(160), Some("mbm_event")));
    }
}
