//! Lines, and parts of lines, that options other than `-XX:+PrintGCDetails` print.

use std::borrow::Cow;

use crate::event::Collector;
use crate::log::LogBuilder;
use crate::size::amount;
use crate::stamp::leading;

/// The starts of lines without events, without blanks before them.
const DETAILS: &[&str] = &[
    // -XX:+PrintHeapAtGC
    "{Heap",
    "Heap",
    "}",
    "def new generation",
    "PSYoungGen",
    "par new generation",
    "adaptive size par new generation",
    "adaptive-size par new generation",
    "eden",
    "from",
    "to ",
    "ParOldGen",
    "PSOldGen",
    "object",
    "PSPermGen",
    "tenured generation",
    "the space",
    "ro space",
    "rw space",
    "compacting perm gen",
    "concurrent mark-sweep generation",
    "concurrent-mark-sweep perm gen",
    "adaptive-size concurrent-mark-sweep",
    "garbage-first heap",
    "region size",
    "Metaspace",
    "data space",
    "class space",
    "No shared spaces configured",
    "[0x",
    "total",
    // -XX:+PrintTenuringDistribution
    "Desired survivor",
    "- age",
    // Times and lines of other options.
    "[Times",
    ", [Metaspace",
    "[Last Exec",
    "[Total Exec",
    "[Inspected",
    "[Deduplicated",
    "[Table]",
    "[Queue]",
    "[Unloading class",
    "GC locker:",
    "CommandLine flags",
    "Memory:",
    "OpenJDK",
    "Java HotSpot",
    "/proc/meminfo",
    "GC log file",
    "GC log rotation",
    // -XX:PrintCMSStatistics
    "CMS:",
    "Finished",
    "(cardTable:",
    "(Survivor:",
    "CMSCollector",
    "time_until_cms_gen_full",
    "free",
    "contiguous_available",
    "promotion_rate",
    "cms_allocation_rate",
    "occupancy",
    "initiating",
    "cms_time_since",
    "metadata initialized",
    // -XX:+PrintFLSStatistics
    "Statistics",
    "-------",
    "Total Free Space",
    "Max   Chunk Size",
    "Number of Blocks",
    "Av.  Block  Size",
    "Tree      Height",
    "Before GC:",
    "After GC:",
    "size[",
    "TLAB",
    "demand",
    "Large block",
    // -XX:+PrintAdaptiveSizePolicy
    "AdaptiveSize",
    "PSAdaptiveSize",
    "CMSAdaptiveSize",
    "avg_survived_padded_avg",
    "Adjusting",
    // Details of G1 whose event is missing.
    "[Parallel Time",
    "[GC Worker",
    "[Ext Root",
    "[Update RS",
    "[Processed Buffers",
    "[Scan RS",
    "[Object Copy",
    "[Termination",
    "[Other",
    "[Clear CT",
    "[Code Root",
    "[Root Region",
    "Mark stack is full",
    "Setting abort in",
    // Shenandoah
    "Trigger:",
    "Free:",
    "Using ",
    "Pacer for",
    "Collectable Garbage",
    "Immediate Garbage",
    "Adaptive CSet",
    "Regions:",
    "Humongous object threshold",
    "Max TLAB size",
    "GC threads",
    "Heuristics ergonomically",
    "Shenandoah",
    "Initialize Shenandoah",
    "Reference processing",
    "Soft Max Heap Size",
];

/// From one of these texts on, the rest of a line does not belong to its event.
const CUTS: [&str; 10] = [
    "{Heap before",
    "Heap before gc",
    "Heap after",
    "Before GC:",
    "After GC:",
    "CMS: Large",
    "TLAB: gc thread",
    "size[",
    "Mark stack is full",
    "Setting abort in",
];

/// Whether a line has no event, only details or settings.
pub(crate) fn is_detail(line: &str) -> bool {
    let text = leading(line).1;
    DETAILS.iter().any(|start| text.starts_with(start))
        || text.contains("GC log file")
        || text.contains("GC log rotation")
}

/// Reads the settings of a line without events.
pub(crate) fn facts(line: &str, log: &mut LogBuilder) {
    if let Some(flags) = line.strip_prefix("CommandLine flags:") {
        for flag in flags.split_whitespace() {
            let collector = match flag {
                "-XX:+UseSerialGC" => Collector::Serial,
                "-XX:+UseParallelGC" | "-XX:+UseParallelOldGC" => Collector::Parallel,
                "-XX:+UseConcMarkSweepGC" => Collector::Cms,
                "-XX:+UseG1GC" => Collector::G1,
                "-XX:+UseShenandoahGC" => Collector::Shenandoah,
                _ => {
                    if let Some(bytes) = flag.strip_prefix("-XX:MaxHeapSize=")
                        && let Some((kib, "")) = amount(&format!("{bytes}B"))
                    {
                        log.heap_max(kib);
                    }
                    continue;
                }
            };
            log.collector(collector);
        }
    }
    if (line.starts_with("OpenJDK") || line.starts_with("Java HotSpot"))
        && let Some((_, version)) = line.split_once("JRE (")
    {
        let version = version.split(')').next().unwrap_or_default();
        log.log.jvm_version.get_or_insert_with(|| version.chars().take(64).collect());
    }
}

/// A line without the parts that other options print into it.
pub(crate) fn without(line: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(line);
    for mark in CUTS {
        if let Some(at) = text.find(mark) {
            text = cut(&text, at, text.len());
        }
    }
    text = without_ergonomics(text);
    text = without_tenuring(text);
    text = without_adaptive_sizes(text);
    text
}

fn cut(text: &str, from: usize, to: usize) -> Cow<'static, str> {
    Cow::Owned(format!("{}{}", &text[..from], &text[to..]))
}

/// `0.5: [G1Ergonomics (CSet Construction) start choosing CSet, …]` inside a line.
fn without_ergonomics(mut text: Cow<'_, str>) -> Cow<'_, str> {
    for _ in 0..64 {
        let Some(at) = text.find("[G1Ergonomics") else { break };
        let end = text[at..].find(']').map_or(text.len(), |end| at + end + 1);
        // The stamp of the removed part is also removed.
        let before = text[..at].trim_end();
        let stamp = before.rfind(|last: char| !(last.is_ascii_digit() || matches!(last, '.' | ',' | ':')));
        let from = match stamp {
            Some(last) => last + text[last..].chars().next().map_or(1, char::len_utf8),
            None => 0,
        };
        text = cut(&text, from.min(at), end);
    }
    text
}

/// `Desired survivor size 3342336 bytes, new threshold 1 (max 32) - age   1:  6684672 bytes,  6684672 total` inside a line.
fn without_tenuring(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(at) = text.find("Desired survivor size") else { return text };
    let rest = &text[at..];
    let mut end = match rest.find("(max ").and_then(|max| Some(max + rest[max..].find(')')? + 1)) {
        Some(end) => end,
        None => rest.len(),
    };
    while let Some(age) = rest[end..].trim_start().strip_prefix("- age") {
        end = match age.find(" total") {
            Some(total) => rest.len() - age.len() + total + " total".len(),
            None => rest.len(),
        };
    }
    cut(&text, at, at + end)
}

/// `AdaptiveSizePolicy::…` inside a line, up to the next bracket.
fn without_adaptive_sizes(text: Cow<'_, str>) -> Cow<'_, str> {
    let names = ["PSAdaptiveSize", "CMSAdaptiveSize", "AdaptiveSize"];
    let Some(at) = names.iter().find_map(|name| text.find(name)) else { return text };
    let end = text[at..].find('[').map_or(text.len(), |end| at + end);
    cut(&text, at, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_other_options_are_removed() {
        for (line, expected) in [
            (
                "1.0: [GC pause (young) 1.0: [G1Ergonomics (CSet) x, y] 1.1: [G1Ergonomics z]",
                "1.0: [GC pause (young)  ",
            ),
            (
                "[GCDesired survivor size 1 bytes, new threshold 7 (max 2) [PSYoungGen: 1K",
                "[GC [PSYoungGen: 1K",
            ),
            (
                "[GC Desired survivor size 3 bytes, new threshold 1 (max 32) - age   1:  6 bytes,  6 total 5K->2K(7K), 1.0 secs]",
                "[GC  5K->2K(7K), 1.0 secs]",
            ),
            ("0.1: [GCAdaptiveSizePolicy::x  overflow: trueAdaptiveSizeStart: 0.1 collection: 1", "0.1: [GC"),
            ("0.2: [GCAdaptiveSizePolicy::x  overflow: true [PSYoungGen: 1K", "0.2: [GC[PSYoungGen: 1K"),
            ("1.1: [GC 1.1: [ParNewBefore GC:", "1.1: [GC 1.1: [ParNew"),
            ("[GC [YG occupancy: 1 K (2 K)]{Heap before GC invocations=1:", "[GC [YG occupancy: 1 K (2 K)]"),
        ] {
            assert_eq!(without(line), expected, "{line}");
        }
    }
}
