//! Sizes of generations.

use super::tree::Node;
use crate::event::{EventKind, GenerationSizes};
use crate::log::sum;
use crate::size::{SizeChange, change};

/// The pause of CMS that the log prints in place of the name of the old generation.
pub(crate) fn is_old_mark(name: &str) -> Option<EventKind> {
    match name {
        "CMS-initial-mark" | "ASCMS-initial-mark" => Some(EventKind::InitialMark),
        "CMS-remark" | "ASCMS-remark" => Some(EventKind::Remark),
        _ => None,
    }
}

/// Adds the sizes of a node that is a generation.
pub(crate) fn generation_sizes(node: &Node<'_>, spaces: &mut GenerationSizes) {
    let Some(sizes) = node.sizes else { return };
    let place = match node.name() {
        "DefNew" | "ParNew" | "ASParNew" | "PSYoungGen" => &mut spaces.young,
        "Tenured" | "CMS" | "ASCMS" | "ParOldGen" | "PSOldGen" | "Train" | "Train MSC" => &mut spaces.old,
        "Perm" | "PSPermGen" | "CMS Perm" | "Metaspace" => &mut spaces.metaspace,
        name if is_old_mark(name).is_some() => &mut spaces.old,
        _ => return,
    };
    *place = sum(*place, Some(sizes));
}

/// The content of a line after an event of G1.
#[derive(Debug, PartialEq)]
pub(crate) enum DetailLine {
    /// With sizes.
    SizeChange { heap: SizeChange, spaces: Option<GenerationSizes> },
    /// With sizes that cannot be read.
    Damaged,
    /// Without sizes.
    Other,
}

/// Reads a line after an event of G1:
/// `[Eden: 8192K(8192K)->0B(8192K) Survivors: 0B->8192K Heap: 8192K(16M)->7895K(16M)]`, up to JDK 7u1
/// `[ 8192K->8128K(64M)]`.
pub(crate) fn detail_line(line: &str) -> DetailLine {
    let text = line.trim_start();
    if text.contains("[Eden:") {
        return regions(text).map_or(DetailLine::Damaged, |(heap, spaces)| DetailLine::SizeChange {
            heap,
            spaces: Some(spaces),
        });
    }
    let inner = text.strip_prefix('[').unwrap_or(text).trim_start();
    match change(inner) {
        Some((heap, rest)) if heap.capacity_kib.is_some() && rest.starts_with(']') => {
            DetailLine::SizeChange { heap, spaces: None }
        }
        _ => DetailLine::Other,
    }
}

fn regions(text: &str) -> Option<(SizeChange, GenerationSizes)> {
    let after = |name: &str| Some(change(text.split_once(name)?.1.trim_start())?.0);
    let (eden, survivors, heap) = (after("Eden:")?, after("Survivors:")?, after("Heap:")?);
    // The space for survivors is as large as what is used after the collection.
    let survivors = SizeChange { capacity_kib: Some(survivors.after_kib), ..survivors };
    let spaces = GenerationSizes {
        young: Some(eden.plus(&survivors)),
        old: None,
        metaspace: after("Metaspace:"),
        collected_only: true,
    };
    Some((heap, spaces))
}
