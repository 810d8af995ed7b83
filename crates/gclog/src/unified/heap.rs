//! Lines with sizes: `gc,heap` and `gc,metaspace`.

use super::open::OpenCollections;
use crate::log::{LineClass, LogBuilder};
use crate::size::{SizeChange, amount, change, number};

/// The names of young and of old generations before their sizes.
const YOUNG: [&str; 3] = ["DefNew", "PSYoungGen", "ParNew"];
const OLD: [&str; 3] = ["Tenured", "ParOldGen", "CMS"];

/// The names of the regions of G1.
const YOUNG_REGIONS: [&str; 2] = ["Eden regions", "Survivor regions"];
const OLD_REGIONS: [&str; 3] = ["Old regions", "Humongous regions", "Archive regions"];

/// Reads a line with sizes.
pub(crate) fn line(
    open: &mut OpenCollections,
    gc_id: Option<u64>,
    text: &str,
    log: &mut LogBuilder,
) -> LineClass {
    let text = text.trim_start();
    let Some((name, rest)) = text.split_once(':') else { return LineClass::Detail };
    let rest = rest.trim_start();
    if let Some(kib) = region_size(name, rest) {
        open.region_kib = Some(kib);
        return LineClass::Detail;
    }
    if name == "Max Capacity" {
        // ZGC: the heap may grow up to this size.
        if let Some((kib, _)) = amount(rest) {
            log.heap_max(kib);
        }
        return LineClass::Detail;
    }
    let Some(id) = gc_id else { return LineClass::Detail };
    if name == "Capacity" {
        open.of(id).capacity_kib = relocate_end(rest);
    } else if YOUNG.contains(&name) {
        let Some((sizes, _)) = change(rest) else { return LineClass::Damaged };
        open.of(id).young = Some(sizes);
    } else if OLD.contains(&name) {
        let Some((sizes, _)) = change(rest) else { return LineClass::Damaged };
        open.of(id).old = Some(sizes);
    } else if name == "Metaspace" {
        // ZGC prints `0M used, …` without the size before.
        if let Some((sizes, _)) = change(rest) {
            open.of(id).metaspace = Some(sizes);
        }
    } else if YOUNG_REGIONS.contains(&name) {
        let Some(regions) = regions(rest) else { return LineClass::Damaged };
        if let Some(region_kib) = open.region_kib {
            open.of(id).add_young(regions.sizes(region_kib));
        }
    } else if OLD_REGIONS.contains(&name) {
        let Some(regions) = regions(rest) else { return LineClass::Damaged };
        if let Some(region_kib) = open.region_kib {
            open.of(id).add_old(regions.sizes(region_kib));
        }
    }
    LineClass::Detail
}

/// `Heap Region Size: 1M`, in JDK 9 to 15 `Heap region size: 1M`.
fn region_size(name: &str, rest: &str) -> Option<i64> {
    name.eq_ignore_ascii_case("heap region size").then(|| amount(rest))?.map(|(kib, _)| kib)
}

/// Numbers of regions before and after a collection, and the largest number after it.
struct Regions {
    before: f64,
    after: f64,
    capacity: Option<f64>,
}

impl Regions {
    /// The sizes of the regions, each of `region_kib` KiB.
    fn sizes(&self, region_kib: i64) -> SizeChange {
        let kib = |regions: f64| (regions * region_kib as f64) as i64;
        SizeChange {
            before_kib: kib(self.before),
            after_kib: kib(self.after),
            capacity_kib: self.capacity.map(kib),
        }
    }
}

/// Reads `6->0(9)`.
fn regions(text: &str) -> Option<Regions> {
    let (before, rest) = number(text)?;
    let (after, rest) = number(rest.strip_prefix("->")?)?;
    let capacity = rest.strip_prefix('(').and_then(number).map(|(regions, _)| regions);
    Some(Regions { before, after, capacity })
}

/// The fourth column of a table of ZGC, `Relocate End`: `96M (100%)  96M (100%)  96M (100%)  96M (100%) …`.
fn relocate_end(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut kib = None;
    for _ in 0..4 {
        let (value, after) = amount(rest.trim_start())?;
        kib = Some(value);
        rest = after.split_once(')')?.1;
    }
    kib
}
