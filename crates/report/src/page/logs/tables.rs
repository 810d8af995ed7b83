//! Tables of bursts, rules and severities, and the explanation of terms.

use busyhour_logs::{CountedBurst, EntrySeverity, RuleCounts};
use maud::{Markup, html};

use super::super::columns::{TableColumn, sortable_table};
use super::super::markup::scrolling;
use super::content::LogPage;
use crate::numbers::{counted, duration, percent, thousands};
use crate::terminal_text::shown_text;

/// Maximum number of bursts that are listed: the largest ones.
const BURSTS_MAX: usize = 50;

/// Maximum number of rules that are listed: those with the most entries.
const RULES_MAX: usize = 50;

/// Maximum number of characters of a template and of a rule.
const TEXT_MAX: usize = 200;

/// The bursts, or why they are unavailable.
pub(super) fn bursts(page: &LogPage<'_>) -> Markup {
    let bursts = match page.bursts {
        Ok(bursts) => bursts,
        Err(reason) => return html! { p { "Bursts of this log are unavailable: " (reason) "." } },
    };
    let mut shown: Vec<&CountedBurst> = bursts.iter().collect();
    shown.sort_by_key(|burst| std::cmp::Reverse(burst.burst.entries));
    shown.truncate(BURSTS_MAX);
    shown.sort_by_key(|burst| burst.burst.from_s);
    type Cells<'a> = TableColumn<'a, &'a CountedBurst>;
    let columns = [
        Cells::text("from", |one| page.log.time_of_day(one.burst.from_s, page.zone)),
        Cells::number("length", |one| duration(f64::from(one.burst.to_s - one.burst.from_s))),
        Cells::number("problems", |one| thousands(one.burst.entries)),
        Cells::number("before, at most in 10 s", |one| thousands(one.burst.usual_max)),
        Cells::words("most frequent template", |one| match &one.template {
            Some((text, count)) => html! { (thousands(*count)) " × " code { (shown_text(text, TEXT_MAX)) } },
            None => html! { "–" },
        }),
    ];
    html! {
        @if shown.is_empty() {
            p { "There is no time with clearly more problems than in the 15 minutes before." }
        } @else {
            p { "Times with clearly more problems than in the 15 minutes before. Some are chance: a reason to look, not a proof." }
            (scrolling("Bursts", sortable_table("Bursts", &columns, &shown)))
            @if bursts.len() > shown.len() {
                p.note { (counted((bursts.len() - shown.len()) as u64, "smaller burst")) "." }
            }
        }
    }
}

/// The number of problems by rule, and the number of entries by severity.
pub(super) fn rules(page: &LogPage<'_>) -> Markup {
    let counts = &page.log.counts;
    let share = |count: u64, of: u64| percent(100.0 * count as f64 / of.max(1) as f64);
    let mut rules: Vec<&RuleCounts> = counts.rules.iter().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.count));
    rules.truncate(RULES_MAX);
    type Rules<'a> = TableColumn<'a, &'a RuleCounts>;
    let rule_columns = [
        Rules::text("rule", |one| html! { code { (shown_text(&one.rule.to_string(), TEXT_MAX)) } }),
        Rules::number("problems", |one| thousands(one.count)),
        Rules::number("share %", |one| share(one.count, counts.matching)),
    ];
    let severities: Vec<(Option<EntrySeverity>, u64)> =
        page.log.severities.iter().rev().map(|(severity, count)| (*severity, *count)).collect();
    type Severities<'a> = TableColumn<'a, (Option<EntrySeverity>, u64)>;
    let severity_columns = [
        Severities::text("severity", |(severity, _)| {
            severity.map_or_else(|| "not stated".to_owned(), |severity| severity.to_string())
        }),
        Severities::number("entries", |(_, count)| thousands(*count)),
        Severities::number("share %", |(_, count)| share(*count, page.log.entries_in_time())),
    ];
    html! {
        p { "An entry that satisfies at least one rule is a problem. It counts for each rule that it satisfies." }
        (scrolling("Problems by rule", sortable_table("Problems by rule", &rule_columns, &rules)))
        @if counts.rules.len() > rules.len() {
            p.note { (counted((counts.rules.len() - rules.len()) as u64, "further rule")) "." }
        }
        h3 { "All entries by severity" }
        (scrolling("Severities", sortable_table("All entries by severity", &severity_columns, &severities)))
    }
}

pub(super) fn glossary(page: &LogPage<'_>) -> Markup {
    let entry = |term: &str, words: &str| html! { dt { (term) } dd { (words) } };
    html! {
        dl.pairs {
            dt { "problem" }
            dd { "An entry that a rule selects: " code { (shown_text(&page.log.counts.query, 2 * TEXT_MAX)) } "." }
            (entry("template", "The messages that differ only in values, which are replaced by <*>."))
            (entry("stack trace", "Entries with the same exceptions and methods are counted together, whatever their line numbers."))
            (entry(
                "burst",
                "A time in which the problems of ten seconds exceed those of any ten seconds in the 15 minutes before by a margin.",
            ))
            @if page.baseline.is_some() {
                (entry(
                    "significant",
                    "The rate rose, at a false discovery rate of 5 % over all templates. A template that the baseline lacks need not \
                     be significant: it may be rare, or have occurred in a single burst.",
                ))
            }
        }
    }
}
