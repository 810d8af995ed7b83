//! The definitions of the terms on the page: listed at its end and shown where a term occurs.

use busyhour_analysis::Summary;
use maud::{Markup, html};

use super::markup::Section;

/// Anchor, displayed term and definition, sorted alphabetically by term.
const TERMS: &[(&str, &str, &str)] = &[
    (
        "users",
        "active users",
        "Users that have started and not ended, including users that think. In an open load, these are the sessions in \
      progress. They are counted at the end of each second.",
    ),
    (
        "apdex",
        "APDEX",
        "Application Performance Index: (satisfied + tolerating / 2) / all requests. A request is satisfied or \
      tolerating according to its response time; a failed one is neither. 1 is best, 0 is worst.",
    ),
    (
        "arrivals",
        "arrivals",
        "The moments at which sessions (open load) or requests (closed load) started. The verdict compares the \
      rate, the coefficient of variation (CoV) of the gaps, the dispersion of counts and the share of short gaps with those of the \
      schedule. A closed load has no requested arrivals. Its arrivals are compared with those of many independent users, \
      whose requests approach a Poisson process (CoV 1).",
    ),
    (
        "changed",
        "changed",
        "Changes made from the live page or the terminal during the run. The verdict on arrivals \
      uses the changed rate and excludes pauses. Marks in the plots show when the changes were made.",
    ),
    (
        "completed",
        "completed",
        "Requests whose response ended, successful or failed. Transactions, redirects and embedded resources \
      are not counted as requests.",
    ),
    (
        "cov",
        "CoV",
        "Coefficient of variation: standard deviation divided by mean. For gaps between arrivals, it is 1 for a Poisson process, \
      0 for constant gaps, and more than 1 for bursts.",
    ),
    (
        "failed",
        "failed",
        "Completed requests that were not successful: no response, a response code of 400 or more, or a failed \
      assertion.",
    ),
    (
        "generator",
        "generator",
        "The machine and the program that generated the load. When one of its cores is busy nearly all the \
      time, or writing results delays users, the measured times include delays of the generator.",
    ),
    (
        "heat",
        "heat map",
        "Time is on the horizontal axis and response time on the vertical, logarithmic axis; the colour of a cell \
      shows how many requests ended there. It shows what percentiles hide: several groups of times, and single slow requests.",
    ),
    (
        "explanation",
        "explanation",
        "The observed cause that goes with slow requests. Requests are compared at times with and without each cause; shifting \
      the times of the cause shows how strong the association would be by chance. The finding is an association, not a proof.",
    ),
    (
        "incident",
        "incident",
        "A part of the run whose 95th percentile is at least 1.5 times the usual one (1.3 times if it is long), in which at \
      least three times as many requests failed as usual, or in which at most two thirds as many requests ended although \
      the load was the same. The usual state is the best state that lasted for some time. Incidents are shaded in the plots.",
    ),
    ("max", "longest", "The largest time, exact."),
    ("mean", "mean", "The sum of all times divided by their number, exact."),
    (
        "window",
        "measured part",
        "The part of the run that tables and verdicts cover: the requests that started in it. Plots show the \
      whole run, with the excluded parts shaded.",
    ),
    (
        "p25",
        "25th percentile (p25)",
        "One time in four was no longer than this. From here to the 75th percentile is the interquartile range, the middle half of \
      the times.",
    ),
    ("p50", "median (p50)", "Half of the times were no longer than this."),
    (
        "offered",
        "offered",
        "Arrivals of an open load whose scheduled time was reached, whether or not a user was free. Each should \
      begin one session.",
    ),
    (
        "p75",
        "75th percentile (p75)",
        "Three times in four were no longer than this: the upper end of the interquartile range.",
    ),
    ("p90", "p90", "90 % of the times were no longer than this."),
    ("p95", "p95", "95 % of the times were no longer than this."),
    ("p99", "p99", "99 % of the times were no longer than this."),
    (
        "p999",
        "p99.9",
        "99.9 % of the times were no longer than this; with fewer than 10,000 requests it depends on fewer than ten of them.",
    ),
    (
        "rate",
        "rate",
        "Completed requests divided by the seconds from the first start to the last end in the run.",
    ),
    ("received", "received", "Bytes of responses including headers, counted as in JMeter."),
    (
        "requested",
        "requested",
        "The load that the plan or the command line specifies: the arrival process of an open load, the number of \
      users of a closed one.",
    ),
    (
        "response",
        "response time",
        "From the intended start of a request until its response ended: the time that a user arriving at that \
      moment would have waited. It includes the time that the request waited for a late generator or a free user.",
    ),
    ("sent", "sent", "Bytes of requests including headers."),
    (
        "service",
        "service time",
        "From the actual start of a request until its response ended. JMeter's elapsed time is the same in \
      whole milliseconds.",
    ),
    ("min", "shortest", "The smallest time, exact."),
    (
        "started",
        "started",
        "For an open load, the sessions that a user began: each is one pass through a thread group, with one or more requests. \
      For any other load, and in plots over time, the requests that were started.",
    ),
    (
        "think",
        "think time",
        "The time between a response and the user's next request. Where the plan does not specify it, it follows from \
      Little's law: users divided by rate, minus the service time.",
    ),
    (
        "thresholds",
        "thresholds",
        "Conditions that the run has to meet. Each shows the measured value, over the run or in the worst \
      window. A threshold without anything to measure fails unless it ends in \", if any\".",
    ),
];

/// The definitions as a list.
pub(super) fn definitions() -> Markup {
    html! {
        dl.glossary {
            @for (id, term, definition) in TERMS {
                div { dt { (term) } dd id={ "def-" (id) } { (definition) } }
            }
        }
    }
}

/// The definitions as the last section of a report.
pub(super) fn glossary(summary: &Summary) -> Section {
    let error = summary.percentile_error * 100.0;
    let body = html! {
        (definitions())
        @if error > 0.0 {
            p.note {
                "Percentiles are read from histograms of all requests, within " (error) " % of a measured time; they are \
                 neither interpolated nor averaged."
            }
        }
    };
    Section { id: "glossary", title: "Definitions", body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_columns::all_columns;

    #[test]
    fn the_terms_of_all_columns_are_defined() {
        let terms: Vec<&str> = all_columns().filter_map(|column| column.page).map(|(_, term)| term).collect();
        assert!(terms.contains(&"p95") && terms.contains(&"apdex"), "{terms:?}");
        for term in terms {
            assert!(TERMS.iter().any(|(id, ..)| *id == term), "no definition of the column term {term}");
        }
    }

    #[test]
    fn terms_are_defined_once() {
        for (at, (id, ..)) in TERMS.iter().enumerate() {
            assert!(TERMS[..at].iter().all(|(other, ..)| other != id), "two definitions of {id}");
        }
    }
}
