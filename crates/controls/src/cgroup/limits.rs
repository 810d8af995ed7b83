//! Limits of a group, and the files of both cgroup versions that set them.

use std::collections::BTreeSet;
use std::fmt;

use crate::error::ControlError;

/// The shortest and longest period of a CPU quota in µs.
const PERIODS_US: std::ops::RangeInclusive<u64> = 1_000..=1_000_000;

/// The smallest quota in µs.
const QUOTA_US_MIN: u64 = 1_000;

/// The smallest memory limit.
const MEMORY_BYTES_MIN: u64 = 1 << 20;

/// The largest number of a CPU or of a NUMA node.
const NUMBER_MAX: u32 = 65_535;

/// CPU time per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// CPU time in µs.
    pub quota_us: u64,
    /// The period in µs.
    pub period_us: u64,
}

/// Limits of a block device. `None` means that this program sets no such limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoMax {
    /// The device: `8:0`.
    pub device: String,
    /// Bytes/s read.
    pub read_bytes: Option<u64>,
    /// Bytes/s written.
    pub write_bytes: Option<u64>,
    /// Reads/s.
    pub reads: Option<u64>,
    /// Writes/s.
    pub writes: Option<u64>,
}

impl IoMax {
    /// The limits with their names in version 2 and their files in version 1.
    fn values(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let all = [
            ("rbps", "blkio.throttle.read_bps_device", self.read_bytes),
            ("wbps", "blkio.throttle.write_bps_device", self.write_bytes),
            ("riops", "blkio.throttle.read_iops_device", self.reads),
            ("wiops", "blkio.throttle.write_iops_device", self.writes),
        ];
        all.into_iter().filter_map(|(name, file, value)| Some((name, file, value?)))
    }
}

/// Limits of a group. `None` and empty lists leave a limit as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupLimits {
    /// CPU time per period.
    pub cpu_quota: Option<CpuQuota>,
    /// The CPUs: `0-1,3`.
    pub cpus: Option<String>,
    /// The NUMA nodes whose memory is used: `0`.
    pub memory_nodes: Option<String>,
    /// The share of CPU time against other groups, 1–10,000, by default 100.
    pub cpu_weight: Option<u32>,
    /// Memory in bytes.
    pub memory_max: Option<u64>,
    /// The share of disk time against other groups, 1–10,000 (1–1,000 in version 1), by default 100.
    pub io_weight: Option<u32>,
    /// Limits of block devices.
    pub io_max: Vec<IoMax>,
}

/// A setting of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The controller, as named in version 2.
    pub(crate) controller: &'static str,
    /// Files that can contain it; the first one that exists is used.
    pub(crate) files: &'static [&'static str],
    /// The new value.
    pub(crate) value: String,
    /// How the text that restores the value is derived from the content of the file.
    pub(crate) restore: Restore,
}

/// How the text that restores a value is derived from the content of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restore {
    /// The content.
    Content,
    /// The line of the device, or a line without limits if there is none.
    Device {
        /// The device.
        device: String,
        /// The limits of a device without limits.
        unlimited: &'static str,
    },
}

impl Restore {
    /// The text that restores the value.
    pub(crate) fn text(&self, content: &str) -> String {
        match self {
            Self::Content => content.trim_end().to_owned(),
            Self::Device { device, unlimited } => {
                let is_device = |line: &&str| line.split(' ').next() == Some(device);
                let line = content.lines().find(is_device).map(|line| complete(line, unlimited));
                line.unwrap_or_else(|| format!("{device} {unlimited}"))
            }
        }
    }
}

/// Adds the limits that the kernel omits because they are not set.
fn complete(line: &str, unlimited: &str) -> String {
    let mut line = line.trim_end().to_owned();
    for word in unlimited.split(' ') {
        if let Some((name, _)) = word.split_once('=').filter(|(name, _)| !line.contains(&format!(" {name}=")))
        {
            line.push_str(&format!(" {name}=max"));
        }
    }
    line
}

impl CgroupLimits {
    /// Checks the limits as far as this is possible without the machine.
    ///
    /// # Errors
    /// A limit is out of range.
    pub fn check(&self) -> Result<(), ControlError> {
        if let Some(CpuQuota { quota_us, period_us }) = self.cpu_quota
            && (quota_us < QUOTA_US_MIN || !PERIODS_US.contains(&period_us))
        {
            return Err(ControlError::invalid(format!(
                "the CPU quota of {quota_us} µs in {period_us} µs is not allowed: at least 1,000 µs in 1,000 to 1,000,000 µs"
            )));
        }
        for (name, weight) in [("CPU", self.cpu_weight), ("I/O", self.io_weight)] {
            if let Some(weight) = weight.filter(|weight| !(1..=10_000).contains(weight)) {
                return Err(ControlError::invalid(format!(
                    "the {name} weight {weight} is not between 1 and 10,000"
                )));
            }
        }
        if self.memory_max.is_some_and(|bytes| bytes < MEMORY_BYTES_MIN) {
            return Err(ControlError::invalid("the memory limit must be at least 1 MiB"));
        }
        for list in [&self.cpus, &self.memory_nodes].into_iter().flatten() {
            if parse_list(list).is_none() {
                return Err(ControlError::invalid(format!("{list:?} is not a list such as 0-1,3")));
            }
        }
        for limit in &self.io_max {
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_device = limit
                .device
                .split_once(':')
                .is_some_and(|(major, minor)| is_number(major) && is_number(minor));
            if !is_device {
                return Err(ControlError::invalid(format!(
                    "{:?} is not the number of a block device such as 8:0 (`lsblk` lists them)",
                    limit.device
                )));
            }
            if limit.values().next().is_none() || limit.values().any(|(_, _, value)| value == 0) {
                return Err(ControlError::invalid(format!(
                    "the I/O limits of {} need at least one value above 0, and no 0",
                    limit.device
                )));
            }
        }
        Ok(())
    }

    /// The controllers that the limits need.
    pub(crate) fn controllers(&self) -> Vec<&'static str> {
        let mut controllers: Vec<&str> =
            self.settings(true).iter().map(|setting| setting.controller).collect();
        controllers.dedup();
        controllers
    }

    /// The settings in version 2 or 1.
    pub(crate) fn settings(&self, is_unified: bool) -> Vec<Setting> {
        let setting =
            |controller, files, value| Setting { controller, files, value, restore: Restore::Content };
        let mut settings = Vec::new();
        if let Some(CpuQuota { quota_us, period_us }) = self.cpu_quota {
            if is_unified {
                settings.push(setting("cpu", &["cpu.max"], format!("{quota_us} {period_us}")));
            } else {
                settings.push(setting("cpu", &["cpu.cfs_period_us"], period_us.to_string()));
                settings.push(setting("cpu", &["cpu.cfs_quota_us"], quota_us.to_string()));
            }
        }
        if let Some(weight) = self.cpu_weight {
            if is_unified {
                settings.push(setting("cpu", &["cpu.weight"], weight.to_string()));
            } else {
                // The default is 1,024 in version 1 and 100 in version 2.
                let shares = (u64::from(weight) * 1_024 / 100).clamp(2, 262_144);
                settings.push(setting("cpu", &["cpu.shares"], shares.to_string()));
            }
        }
        if let Some(nodes) = &self.memory_nodes {
            settings.push(setting("cpuset", &["cpuset.mems"], nodes.clone()));
        }
        if let Some(cpus) = &self.cpus {
            settings.push(setting("cpuset", &["cpuset.cpus"], cpus.clone()));
        }
        if let Some(bytes) = self.memory_max {
            let files: &[&str] = if is_unified { &["memory.max"] } else { &["memory.limit_in_bytes"] };
            settings.push(setting("memory", files, bytes.to_string()));
        }
        if let Some(weight) = self.io_weight {
            let files: &[&str] = if is_unified {
                &["io.weight", "io.bfq.weight"]
            } else {
                &["blkio.weight", "blkio.bfq.weight"]
            };
            let value = if is_unified { weight } else { weight.min(1_000) };
            settings.push(setting("io", files, value.to_string()));
        }
        settings.extend(self.io_max.iter().flat_map(|limit| io_settings(limit, is_unified)));
        settings
    }
}

fn io_settings(limit: &IoMax, is_unified: bool) -> Vec<Setting> {
    let device = &limit.device;
    if is_unified {
        let values: Vec<String> = limit.values().map(|(name, _, value)| format!("{name}={value}")).collect();
        let unlimited = "rbps=max wbps=max riops=max wiops=max";
        let restore = Restore::Device { device: device.clone(), unlimited };
        let value = format!("{device} {}", values.join(" "));
        return vec![Setting { controller: "io", files: &["io.max"], value, restore }];
    }
    let of_file = |(_, file, value)| {
        let restore = Restore::Device { device: device.clone(), unlimited: "0" };
        Setting { controller: "io", files: v1_file(file), value: format!("{device} {value}"), restore }
    };
    limit.values().map(of_file).collect()
}

/// The list with one file.
fn v1_file(file: &str) -> &'static [&'static str] {
    match file {
        "blkio.throttle.read_bps_device" => &["blkio.throttle.read_bps_device"],
        "blkio.throttle.write_bps_device" => &["blkio.throttle.write_bps_device"],
        "blkio.throttle.read_iops_device" => &["blkio.throttle.read_iops_device"],
        _ => &["blkio.throttle.write_iops_device"],
    }
}

/// The numbers of a list of numbers and ranges: `0-1,3`.
pub(crate) fn parse_list(text: &str) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number =
            |text: &str| text.parse().ok().filter(|number| *number <= NUMBER_MAX && !text.contains('+'));
        let (first, last): (u32, u32) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

impl fmt::Display for CgroupLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.settings(true);
        let texts = settings.iter().map(|setting| format!("{} {}", setting.files[0], setting.value));
        f.write_str(&texts.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_out_of_range_are_refused() {
        let quota = |quota_us, period_us| CgroupLimits {
            cpu_quota: Some(CpuQuota { quota_us, period_us }),
            ..CgroupLimits::default()
        };
        assert!(quota(50_000, 100_000).check().is_ok());
        assert!(quota(999, 100_000).check().is_err());
        assert!(quota(5_000, 2_000_000).check().is_err());
        for (list, is_valid) in
            [("0-1,3", true), ("2", true), ("", false), ("3-1", false), ("0,", false), ("+1", false)]
        {
            let limits = CgroupLimits { cpus: Some(list.to_owned()), ..CgroupLimits::default() };
            assert_eq!(limits.check().is_ok(), is_valid, "{list}");
        }
        let io = |device: &str, reads| CgroupLimits {
            io_max: vec![IoMax { device: device.to_owned(), reads, ..IoMax::default() }],
            ..CgroupLimits::default()
        };
        assert!(io("8:0", Some(5)).check().is_ok());
        assert!(io("8:0", None).check().is_err() && io("8:0", Some(0)).check().is_err());
        assert!(io("sda", Some(5)).check().is_err());
        assert!(CgroupLimits { io_weight: Some(10_001), ..CgroupLimits::default() }.check().is_err());
    }

    #[test]
    fn limits_of_a_device_are_restored_alone() {
        let restore =
            Restore::Device { device: "8:0".to_owned(), unlimited: "rbps=max wbps=max riops=max wiops=max" };
        assert_eq!(restore.text("8:16 rbps=5 wbps=max\n"), "8:0 rbps=max wbps=max riops=max wiops=max");
        assert_eq!(
            restore.text("8:16 rbps=5\n8:0 rbps=7 wbps=max\n"),
            "8:0 rbps=7 wbps=max riops=max wiops=max"
        );
        let old = Restore::Device { device: "8:0".to_owned(), unlimited: "0" };
        assert_eq!((old.text("8:0 77\n"), old.text("")), ("8:0 77".to_owned(), "8:0 0".to_owned()));
        assert_eq!(Restore::Content.text("max 100000\n"), "max 100000");
    }
}
