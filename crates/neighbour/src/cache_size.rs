//! The size of the last-level caches of cores, from sysfs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cores::CoreList;

/// The directory with a directory for each core.
pub(crate) const CORES_DIR: &str = "/sys/devices/system/cpu";

/// The maximum number of caches of one core that are read.
const CACHES_MAX: usize = 16;

/// The size of a core's caches is not known.
#[derive(Debug, thiserror::Error)]
#[error("the size of the last-level cache is unavailable: {} has no cache with a size", .dir.display())]
pub struct UnknownCacheSize {
    /// The directory that was read.
    pub dir: PathBuf,
}

/// Bytes in the last-level caches of the cores together. A cache that several of the cores share counts once.
pub(crate) fn last_level_bytes(cores_dir: &Path, cores: &CoreList) -> Result<u64, UnknownCacheSize> {
    // The key is the list of the cores that share the cache.
    let mut caches: BTreeMap<String, u64> = BTreeMap::new();
    for core in cores.cores() {
        let dir = cores_dir.join(format!("cpu{core}/cache"));
        let (sharing, bytes) = last_level(&dir).ok_or(UnknownCacheSize { dir })?;
        // Without the list, each core is taken to have its own cache.
        caches.insert(sharing.unwrap_or_else(|| core.to_string()), bytes);
    }
    Ok(caches.values().sum())
}

/// The cache of the highest level in a core's directory: the cores that share it, and its size.
fn last_level(dir: &Path) -> Option<(Option<String>, u64)> {
    let caches = (0..CACHES_MAX).filter_map(|index| {
        let read = |file: &str| {
            let text = std::fs::read_to_string(dir.join(format!("index{index}")).join(file)).ok()?;
            Some(text.trim().to_owned())
        };
        let level: u32 = read("level")?.parse().ok()?;
        let is_for_data = read("type").is_none_or(|kind| kind != "Instruction");
        let bytes = parse_size(&read("size")?)?;
        is_for_data.then(|| (level, read("shared_cpu_list"), bytes))
    });
    caches.max_by_key(|(level, _, _)| *level).map(|(_, sharing, bytes)| (sharing, bytes))
}

/// Parses a size of sysfs: `32768K`.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, 'K') => (&text[..at], 10),
        (at, 'M') => (&text[..at], 20),
        (at, 'G') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the directory of one cache.
    fn write_cache(root: &Path, core: usize, index: usize, files: [(&str, &str); 4]) {
        let dir = root.join(format!("cpu{core}/cache/index{index}"));
        std::fs::create_dir_all(&dir).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(dir.join(name), format!("{text}\n")).unwrap());
    }

    fn cache<'a>(level: &'a str, kind: &'a str, size: &'a str, sharing: &'a str) -> [(&'a str, &'a str); 4] {
        [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", sharing)]
    }

    #[test]
    fn shared_caches_count_once() {
        let root = tempfile::tempdir().unwrap();
        for core in 0..4 {
            let own = core.to_string();
            write_cache(root.path(), core, 0, cache("1", "Data", "32K", &own));
            write_cache(root.path(), core, 1, cache("1", "Instruction", "64K", &own));
            let sharing = if core < 2 { "0-1" } else { "2-3" };
            write_cache(root.path(), core, 3, cache("3", "Unified", "8M", sharing));
        }
        let bytes = |cores: &str| last_level_bytes(root.path(), &cores.parse().unwrap()).unwrap();
        assert_eq!(
            (bytes("0"), bytes("0-1"), bytes("1,2"), bytes("0-3")),
            (8 << 20, 8 << 20, 16 << 20, 16 << 20)
        );
    }

    #[test]
    fn a_core_without_caches_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        write_cache(root.path(), 0, 0, cache("2", "Unified", "512K", "0"));
        write_cache(root.path(), 1, 0, cache("2", "Unified", "", "1"));
        let bytes = |cores: &str| last_level_bytes(root.path(), &cores.parse().unwrap());
        assert_eq!(bytes("0").unwrap(), 512 << 10);
        for cores in ["1", "0,2"] {
            assert!(bytes(cores).unwrap_err().to_string().contains("is unavailable: "), "{cores}");
        }
    }

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in [("32768K", 32 << 20), ("8M", 8 << 20), ("1G", 1 << 30), ("4096", 4096)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        assert!(
            ["", "K", "0K", "-1K", "x", "99999999999999999999G"]
                .iter()
                .all(|text| parse_size(text).is_none())
        );
    }
}
