//! File systems on local disks, and the disks' requests from `/proc/diskstats`.

use std::collections::HashSet;
use std::path::PathBuf;

use super::super::measure::PerfMonMeasure;
use super::super::request::{DiskField, MetricUnit};
use super::snapshot::{MetricError, SystemCounters, in_unit, missing, read_text};

/// Bytes of a sector in `/proc/diskstats`, independent of the size of the disk's own sectors.
const SECTOR: f64 = 512.0;

/// A mounted file system.
struct Mount {
    /// `major:minor` of its device.
    device: String,
    path: PathBuf,
}

pub(super) fn measure(
    snapshot: &SystemCounters<'_>,
    field: DiskField,
    file_system: Option<&str>,
    unit: MetricUnit,
) -> Result<PerfMonMeasure, MetricError> {
    let mounts = mounts(snapshot, file_system)?;
    match field {
        DiskField::Queue
        | DiskField::ReadBytes
        | DiskField::Reads
        | DiskField::Service
        | DiskField::WriteBytes
        | DiskField::Writes => requests(snapshot, field, &mounts, unit),
        _ => space(field, &mounts, unit),
    }
}

/// The file system mounted at a path, or all on local devices, each device once.
fn mounts(snapshot: &SystemCounters<'_>, wanted: Option<&str>) -> Result<Vec<Mount>, MetricError> {
    let path = snapshot.proc("self/mountinfo");
    let text = read_text(&path)?;
    let mut seen = HashSet::new();
    let mut mounts = Vec::new();
    for line in text.lines() {
        // ID, parent, device, root, mount point, options, …, `-`, type, source.
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let mut columns = before.split(' ').skip(2);
        let (Some(device), Some(at)) = (columns.next(), columns.nth(1)) else { continue };
        let at = unescaped(at);
        let is_wanted = match wanted {
            Some(wanted) => at == wanted,
            None => after.split(' ').nth(1).is_some_and(|source| source.starts_with("/dev/")),
        };
        if !is_wanted {
            continue;
        }
        if wanted.is_some() {
            // The file system that was mounted last at this path hides the others.
            mounts.clear();
            seen.clear();
        }
        if seen.insert(device.to_owned()) {
            mounts.push(Mount { device: device.to_owned(), path: PathBuf::from(at) });
        }
    }
    if mounts.is_empty() {
        return Err(MetricError::NoPart(match wanted {
            Some(wanted) => {
                format!("file system mounted at `{}`", wanted.chars().take(80).collect::<String>())
            }
            None => "file system on a local disk".to_owned(),
        }));
    }
    Ok(mounts)
}

/// Decodes a path in which spaces, tabs, line ends and backslashes are written as octal escapes.
fn unescaped(text: &str) -> String {
    let mut decoded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                decoded.push(char::from(code));
                rest = &after[3..];
            }
            None => {
                decoded.push('\\');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

/// Sums of the disks' counters.
fn requests(
    snapshot: &SystemCounters<'_>,
    field: DiskField,
    mounts: &[Mount],
    unit: MetricUnit,
) -> Result<PerfMonMeasure, MetricError> {
    let path = snapshot.proc("diskstats");
    let text = read_text(&path)?;
    let devices: HashSet<&str> = mounts.iter().map(|mount| mount.device.as_str()).collect();
    let mut sums = [0.0; 11];
    let mut found = false;
    for line in text.lines() {
        let mut columns = line.split_ascii_whitespace();
        let (Some(major), Some(minor), Some(_)) = (columns.next(), columns.next(), columns.next()) else {
            continue;
        };
        if !devices.contains(format!("{major}:{minor}").as_str()) {
            continue;
        }
        found = true;
        for sum in &mut sums {
            let number = columns.next().and_then(|number| number.parse::<f64>().ok());
            *sum += number.ok_or_else(|| missing(&path, "11 numbers of a disk"))?;
        }
    }
    if !found {
        return Err(missing(&path, "disk of this file system"));
    }
    let [reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, _, _, weighted_ms] = sums;
    let size = |sectors: f64| PerfMonMeasure::Counter(in_unit(sectors * SECTOR, unit, false));
    Ok(match field {
        DiskField::Reads => PerfMonMeasure::Counter(reads),
        DiskField::Writes => PerfMonMeasure::Counter(writes),
        DiskField::ReadBytes => size(sectors_read),
        DiskField::WriteBytes => size(sectors_written),
        DiskField::Service => {
            PerfMonMeasure::Quotient { part: read_ms + write_ms, whole: reads + writes, scale: 1.0 }
        }
        // ms of requests per ms: the mean number of requests in progress.
        _ => PerfMonMeasure::PerSecond { counter: weighted_ms, scale: 1e-3 },
    })
}

/// Sums of the file systems' sizes. The number of files is not divided by a unit.
fn space(field: DiskField, mounts: &[Mount], unit: MetricUnit) -> Result<PerfMonMeasure, MetricError> {
    let (mut total, mut free, mut available, mut files, mut free_files) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for mount in mounts {
        let status = rustix::fs::statvfs(&mount.path)
            .map_err(|error| MetricError::Read { path: mount.path.clone(), source: error.into() })?;
        let block = status.f_frsize as f64;
        total += status.f_blocks as f64 * block;
        free += status.f_bfree as f64 * block;
        available += status.f_bavail as f64 * block;
        files += status.f_files as f64;
        free_files += status.f_ffree as f64;
    }
    let size = |bytes| in_unit(bytes, unit, true);
    let used = total - free;
    Ok(PerfMonMeasure::Value(match field {
        DiskField::Available => size(available),
        DiskField::Free => size(free),
        DiskField::Total => size(total),
        DiskField::Used => size(used),
        DiskField::Files => files,
        DiskField::FreeFiles => free_files,
        _ => 100.0 * used / (used + available),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_mounts_are_unescaped() {
        assert_eq!(unescaped("/a\\040b\\134\\x\\04"), "/a b\\\\x\\04");
    }
}
