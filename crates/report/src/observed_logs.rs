//! The logs and the garbage-collection logs of an observation, for the terminal.

use busyhour_diagnostic::printable;
use busyhour_gclog::GcSummary;
use busyhour_results::{LogRecord, LogTemplate, SystemRecord};

use crate::gc_words::{gc_collector, gc_live_memory, gc_pause_ms};
use crate::log_words::log_entries;
use crate::numbers::{counted, thousands};
use crate::terminal_text::{Look, cut};

/// Maximum number of templates of problems that are listed per log.
const TEMPLATES_MAX: usize = 3;

/// Maximum length of a template if the output has no width.
const TEMPLATE_CHARS: usize = 160;

/// A block for each log and each garbage-collection log; empty if there are none. Lines end with `\n`.
#[must_use]
pub fn observed_logs_text(record: &SystemRecord, look: Look) -> String {
    let logs = record.logs.iter().map(|log| log_text(log, look));
    let gc_logs = record.gc_logs.iter().map(|log| gc_text(&log.name, &log.summary));
    logs.chain(gc_logs).collect()
}

fn log_text(log: &LogRecord, look: Look) -> String {
    let problems = match log.matching {
        0 => "no problem".to_owned(),
        count => {
            format!("{} of them {}", thousands(count), if count == 1 { "a problem" } else { "problems" })
        }
    };
    let mut text = format!("{}: {}, {problems}\n", printable(&log.name), log_entries(log.entries));
    let width = look.width.unwrap_or(TEMPLATE_CHARS);
    for LogTemplate { text: template, count, .. } in log.templates.iter().take(TEMPLATES_MAX) {
        let line = format!("  {} × {}", thousands(*count), printable(template));
        text += &format!("{}\n", cut(&line, width));
    }
    let further = log.templates.len().saturating_sub(TEMPLATES_MAX) as u64 + log.templates_further;
    if further > 0 {
        text += &format!("  and {}\n", counted(further, "further template"));
    }
    text
}

fn gc_text(name: &str, summary: &GcSummary) -> String {
    let pauses = match &summary.statistics.pauses {
        Some(pauses) => format!(
            "{}, {} ms in total, the longest {} ms",
            counted(pauses.n as u64, "pause"),
            gc_pause_ms(pauses.sum_s),
            gc_pause_ms(pauses.max_s)
        ),
        None => "no pause".to_owned(),
    };
    let name = printable(name);
    format!("{name}: {}: {pauses}\n  {}\n", gc_collector(summary), gc_live_memory(&summary.leak))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_its_most_frequent_problems() {
        let template = |text: &str, count| LogTemplate {
            text: text.into(),
            severity: Some("error"),
            example: text.into(),
            count,
            first_s: None,
            last_s: None,
            per_s: Vec::new(),
        };
        let mut log = LogRecord {
            name: "log:server.log".into(),
            query: String::new(),
            lines: 3_000_000,
            entries: 2_999_896,
            matching: 3_002,
            without_time: 0,
            templates: vec![
                template("order <*> failed", 3_000),
                template("no room", 1),
                template("late", 1),
                template("x", 1),
            ],
            templates_further: 1,
            traces: Vec::new(),
            traces_further: 0,
        };
        let look = Look { width: Some(24), colour: false };
        assert_eq!(
            log_text(&log, look),
            "log:server.log: 2,999,896 entries, 3,002 of them problems\n  3,000 × order <*> fai…\n  1 × no room\n  1 × late\n  \
             and 2 further templates\n"
        );
        log.matching = 0;
        log.templates.clear();
        log.templates_further = 0;
        assert_eq!(log_text(&log, look), "log:server.log: 2,999,896 entries, no problem\n");
    }
}
