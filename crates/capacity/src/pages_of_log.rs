//! Measures the load in a log in pages.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use busyhour_analysis::{LogTableRow, LogWindow, TOTAL, WebLog, WebLogOptions};
use busyhour_queueing::web_users::{ObjectLoad, PageLoad, WebLoad};
use busyhour_results::{Log, LogFacts};

use crate::error::CapacityError;
use crate::page_map::PageMap;

/// Maximum number of labels that a message contains.
const LABELS_LISTED: usize = 8;

/// The measured load of one log.
#[derive(Debug)]
pub struct MeasuredWebLoad {
    /// The path of the log.
    pub path: PathBuf,
    /// Number of requests for objects of pages.
    pub requests: u64,
    /// The load, measured in pages.
    pub load: WebLoad,
    /// Warnings about data that are missing in the log.
    pub warnings: Vec<String>,
}

/// Measures the requests of a log, or of a part of it, that belong to pages.
pub fn measure_pages(
    path: &Path,
    map: &PageMap,
    window: Option<LogWindow>,
) -> Result<MeasuredWebLoad, CapacityError> {
    let log = Log::open(path)?;
    let options = WebLogOptions { window, ..WebLogOptions::default() };
    // For each label number: whether the label belongs to a page. `None` if that has not been determined yet.
    let mut is_mapped: Vec<Option<bool>> = Vec::new();
    let (found, facts) = log.scan_in_order(
        || WebLog::new(options.clone(), log.form().tick_ns()),
        |into, row, labels| {
            let at = row.label as usize;
            if is_mapped.len() <= at {
                is_mapped.resize(at + 1, None);
            }
            let counts = *is_mapped[at].get_or_insert_with(|| map.has(labels.name(row.label)));
            into.add(row, counts);
        },
        &mut |_| {},
    )?;
    let mut warnings = skipped_rows(&facts);
    refuse_unknown(&facts, map)?;
    let tables = found.finish(&facts.labels);
    let total = tables.response_time.last().filter(|row| row.label == TOTAL && row.n > 0);
    let total = total.ok_or("no request of any page starts in the window")?;
    let rate_per_s = total.per_s.ok_or("all requests have a duration of 0, so the rate is unknown")?;
    let rows: HashMap<&str, &LogTableRow> = tables
        .response_time
        .iter()
        .take(tables.response_time.len() - 1)
        .map(|row| (row.label.as_str(), row))
        .collect();
    let object = |name: &String| {
        let Some(row) = rows.get(name.as_str()) else { return ObjectLoad::default() };
        ObjectLoad { requests: row.n, responses_s: row.mean.unwrap_or(0.0) * row.n as f64 / 1_000.0 }
    };
    let pages: Vec<PageLoad> = map
        .pages
        .iter()
        .map(|page| PageLoad { objects: page.objects.iter().map(object).collect(), visits: page.visits })
        .collect();
    let load =
        WebLoad::from_pages(&pages, rate_per_s).ok_or("no request of any page starts in the window")?;
    if load.page_response_s.is_none() {
        let objects = map.pages.iter().flat_map(|page| &page.objects).map(String::as_str);
        let never: Vec<&str> = objects.filter(|name| !rows.contains_key(name)).collect();
        warnings.push(format!(
            "the log has no requests for {}; the response time of a page is unknown",
            never.join(", ")
        ));
    }
    Ok(MeasuredWebLoad { path: path.to_owned(), requests: total.n, load, warnings })
}

fn refuse_unknown(facts: &LogFacts, map: &PageMap) -> Result<(), CapacityError> {
    let unknown = map.unknown(&facts.labels);
    if unknown.is_empty() {
        return Ok(());
    }
    let some: Vec<String> = unknown.iter().take(LABELS_LISTED).map(|label| format!("{label:?}")).collect();
    let more = match unknown.len().saturating_sub(LABELS_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(format!(
        "these objects belong to no page of the mapping: {}{more}; add them to a page, or to ignore = […]",
        some.join(", ")
    )
    .into())
}

fn skipped_rows(facts: &LogFacts) -> Vec<String> {
    let bad = (facts.bad_rows > 0).then(|| format!("skipped {} rows that cannot be read", facts.bad_rows));
    let cut = facts.cut_off.then(|| "skipped the last row, which is cut off".to_owned());
    bad.into_iter().chain(cut).collect()
}
