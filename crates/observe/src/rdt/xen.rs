//! Output of Xen's `xl psr-hwinfo`, `xl psr-cmt-show` and `xl psr-cat-show`.

use std::collections::BTreeMap;

/// The usage of a domain (virtual machine), one value per socket.
#[derive(Clone, Debug, PartialEq)]
pub struct XenMonitoringRow {
    /// The name of the domain.
    pub name: String,
    /// The number of the domain.
    pub id: u32,
    /// One value per socket, in the order of the sockets: bytes of cache, or bytes/s of memory traffic. If `xl` could not read some
    /// counters, values are missing at the end.
    pub values: Vec<f64>,
}

/// The table of `xl psr-cmt-show`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XenMonitoringTable {
    /// The number of identifiers (RMIDs), which limits the number of monitored domains.
    pub rmids: Option<u32>,
    /// Numbers of the sockets.
    pub sockets: Vec<u32>,
    /// Sizes of the caches in bytes, for the monitor type `cache-occupancy`.
    pub cache_bytes: Vec<f64>,
    /// The domains that are monitored.
    pub domains: Vec<XenMonitoringRow>,
    /// The number of lines that cannot be read.
    pub bad_lines: u64,
}

/// Parses the output of `xl psr-cmt-show cache-occupancy`, `total-mem-bandwidth` or `local-mem-bandwidth`.
#[must_use]
pub fn parse_cmt_show(text: &str) -> XenMonitoringTable {
    let mut table = XenMonitoringTable::default();
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if let Some(rmids) = line.strip_prefix("Total RMID:") {
            table.rmids = rmids.trim().parse().ok();
        } else if let Some(rest) = line.strip_prefix("Total L3 Cache Size") {
            table.cache_bytes = quantities(rest).map(|(values, _)| values).unwrap_or_default();
        } else if line.starts_with("Name ") && line.contains("Socket") {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let sockets = words.windows(2).filter(|pair| pair[0] == "Socket");
            table.sockets = sockets.filter_map(|pair| pair[1].parse().ok()).collect();
        } else {
            match row(line) {
                Some(row) => table.domains.push(row),
                None => table.bad_lines += 1,
            }
        }
    }
    table
}

/// Parses a row: the name of a domain (which may contain blanks), its number, and quantities.
fn row(line: &str) -> Option<XenMonitoringRow> {
    let (values, before) = quantities(line)?;
    let (name, id) = before.trim_end().rsplit_once(|c: char| c.is_ascii_whitespace())?;
    Some(XenMonitoringRow { name: name.trim().to_owned(), id: id.parse().ok()?, values })
}

/// The quantities at the end of a line, `12 KB  34 KB` or `56 KB/s`, in bytes, and the text before them.
fn quantities(line: &str) -> Option<(Vec<f64>, &str)> {
    let mut values = Vec::new();
    let mut rest = line.trim_end();
    while let Some(before) = rest.strip_suffix("KB/s").or_else(|| rest.strip_suffix("KB")) {
        let before = before.trim_end();
        let at = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        values.push(before.get(at..)?.parse::<f64>().ok()? * 1024.0);
        rest = before.get(..at)?.trim_end();
    }
    values.reverse();
    Some((values, rest))
}

/// Values of `xl psr-hwinfo` or of the head of `xl psr-cat-show`, one map per socket or feature: `CBM length` → `20`.
#[must_use]
pub fn parse_pairs(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut sections: Vec<BTreeMap<String, String>> = Vec::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim(), value.trim());
        if value.is_empty() || name == "Socket ID" {
            sections.push(BTreeMap::new());
        }
        if value.is_empty() {
            continue;
        }
        if sections.is_empty() {
            sections.push(BTreeMap::new());
        }
        if let Some(section) = sections.last_mut() {
            section.insert(name.to_owned(), value.to_owned());
        }
    }
    sections.retain(|section| !section.is_empty());
    sections
}

/// The allocation of a domain on one socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XenCacheAllocation {
    /// The socket.
    pub socket: u32,
    /// The number of the domain.
    pub id: u32,
    /// The name of the domain.
    pub name: String,
    /// The mask of ways. With code and data prioritisation, the mask for code followed by the mask for data.
    pub masks: Vec<u64>,
}

/// Parses the output of `xl psr-cat-show`. Rows whose mask `xl` could not read are left out.
#[must_use]
pub fn parse_cat_show(text: &str) -> Vec<XenCacheAllocation> {
    let mut socket = 0;
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(number) = line.strip_prefix("Socket ID").and_then(|rest| rest.trim().strip_prefix(':')) {
            socket = number.trim().parse().unwrap_or_default();
        } else if let Some((id, name, masks)) = cat_row(line) {
            rows.push(XenCacheAllocation { socket, id, name, masks });
        }
    }
    rows
}

fn cat_row(line: &str) -> Option<(u32, String, Vec<u64>)> {
    let (id, mut rest) = line.trim().split_once(|c: char| c.is_ascii_whitespace())?;
    let id = id.parse().ok()?;
    let mut masks = Vec::new();
    while let Some((before, mask)) = rest.trim_end().rsplit_once(|c: char| c.is_ascii_whitespace()) {
        let Some(mask) = mask.strip_prefix("0x").and_then(|mask| u64::from_str_radix(mask, 16).ok()) else {
            break;
        };
        masks.push(mask);
        rest = before;
    }
    masks.reverse();
    (!masks.is_empty()).then(|| (id, rest.trim().to_owned(), masks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_of_two_sockets() {
        // The format follows the source code of xl. The values are those of a VM that reads or writes memory continuously.
        let text = format!(
            "Total RMID: 87\n{:<40} {:>5}{:>14} {}{:>14} {}\n{:<46}{:>13} KB{:>13} KB\n{:<40} {:>5}{:>13} KB{:>13} KB\n{:<40} {:>5}{:>13} KB\n",
            "Name",
            "ID",
            "Socket",
            0,
            "Socket",
            1,
            "Total L3 Cache Size",
            56320,
            56320,
            "stream vm",
            2,
            54560,
            0,
            "bzip2",
            11,
            1584
        );
        let table = parse_cmt_show(&text);
        assert_eq!((table.rmids, &table.sockets[..], table.bad_lines), (Some(87), &[0, 1][..], 0));
        assert_eq!(table.cache_bytes, [57_671_680.0, 57_671_680.0]);
        let expected = [
            XenMonitoringRow { name: "stream vm".into(), id: 2, values: vec![54_560.0 * 1024.0, 0.0] },
            XenMonitoringRow { name: "bzip2".into(), id: 11, values: vec![1_622_016.0] },
        ];
        assert_eq!(table.domains, expected);
    }

    #[test]
    fn bandwidth_is_in_bytes_per_second() {
        let text = format!(
            "Total RMID: 87\n{:<40} {:>5}{:>14} {}\n{:<40} {:>5}{:>11} KB/s\nno row\n",
            "Name", "ID", "Socket", 0, "stream", 2, 27_888_621
        );
        let table = parse_cmt_show(&text);
        assert_eq!(table.domains[0].values, [27_888_621.0 * 1024.0]);
        assert_eq!(table.bad_lines, 1);
        assert_eq!(parse_cmt_show("CMT is disabled in the system\n").domains, []);
    }

    #[test]
    fn hardware_and_masks_are_parsed() {
        let text = "Cache Monitoring Technology (CMT):\nEnabled         : 1\nTotal RMID      : 87\nSupported monitor types:\n\
            cache-occupancy\nCache Allocation Technology (CAT):\nSocket ID       : 0\nL3 Cache        : 56320KB\n\
            CBM length      : 20\nDefault CBM     : 0xfffff\n";
        let sections = parse_pairs(text);
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[0]["Total RMID"], "87");
        assert_eq!(sections[1]["Default CBM"], "0xfffff");

        let text = "Socket ID       : 1\nL3 Cache        : 56320KB\nDefault CBM     : 0xfffff\n\
            \x20  ID                     NAME             CBM\n    0                 Domain-0         0xfffff\n\
            \x20   2                   web vm             0x3\n    3                      bad           error\n";
        let expected = [
            XenCacheAllocation { socket: 1, id: 0, name: "Domain-0".into(), masks: vec![0xf_ffff] },
            XenCacheAllocation { socket: 1, id: 2, name: "web vm".into(), masks: vec![3] },
        ];
        assert_eq!(parse_cat_show(text), expected);
    }
}
