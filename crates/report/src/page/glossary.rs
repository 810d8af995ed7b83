//! What every term of the page means: at its end, and where the term stands.

use std::fmt::Write as _;

use busyhour_analysis::Summary;

use super::markup::{Section, escape};

/// Terms by the name of their place, in the order of the alphabet.
const TERMS: &[(&str, &str, &str)] = &[
    (
        "apdex",
        "APDEX",
        "Application Performance Index: (satisfied + tolerating / 2) / all, where a request satisfies or is \
      tolerated by its response time, and a failed one does neither. 1 is best, 0 is worst.",
    ),
    (
        "arrivals",
        "arrivals",
        "The moments at which sessions (open load) or requests (closed load) started. The verdict compares the \
      coefficient of variation (CoV) of their gaps, the dispersion of their counts and the share of short gaps with those of the \
      process that was asked for; for a closed load with those of many independent users, who arrive like a Poisson process \
      (CoV 1).",
    ),
    (
        "asked",
        "asked",
        "The load as the plan or the command line described it: the arrival process of an open load, the number of \
      users of a closed one.",
    ),
    (
        "changed",
        "changed",
        "What somebody did to the run while it went on, from the live page or the terminal. The verdict on arrivals \
      takes it as asked for: the rate as it was changed, pauses left out. Marks in the plots show when.",
    ),
    (
        "completed",
        "completed",
        "Requests whose response ended, good and failed ones. Transactions, redirects and embedded resources \
      are not counted as requests.",
    ),
    (
        "cov",
        "CoV",
        "Coefficient of variation: standard deviation over mean. Of gaps between arrivals it is 1 for a Poisson process, \
      0 for a metronome, and more than 1 where arrivals come in bunches.",
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
        "The machine and the program that made the load. When one of its cores is busy nearly all the \
      time, or its recorder holds users back, the times it measures are partly its own.",
    ),
    (
        "heat",
        "heat map",
        "Time runs to the right and response time upwards, on a logarithmic scale; the tint of a cell says how many \
      requests ended there. It shows what percentiles hide: several groups of times, and single slow requests.",
    ),
    ("max", "longest", "The largest time, exactly."),
    ("mean", "mean", "The sum of all times over their number, exactly."),
    (
        "window",
        "measured part",
        "The part of the run that tables and verdicts are of: requests that started in it. Plots show the \
      whole run, what is left out shaded.",
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
        "Arrivals of an open load whose time in the schedule came, whether or not a user was free for them. Each is meant to \
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
        "99.9 % of the times were no longer than this; with fewer than 10,000 requests it rests on a handful.",
    ),
    (
        "rate",
        "rate",
        "Completed requests over the time from the first start to the last end of the run, in seconds.",
    ),
    ("received", "received", "Bytes of responses with their headers, as JMeter counts them."),
    (
        "response",
        "response time",
        "From the moment at which a request was meant to start until its response ended: what a user \
      would have waited who came at that moment. It holds the time that the request waited for a late generator or a free user.",
    ),
    ("sent", "sent", "Bytes of requests with their headers."),
    (
        "service",
        "service time",
        "From the moment at which a request did start until its response ended. JMeter's elapsed time is \
      this, in whole milliseconds.",
    ),
    ("min", "shortest", "The smallest time, exactly."),
    (
        "started",
        "started",
        "Of an open load the sessions that a user took up: each is one pass through a thread group, of one request or of many. \
      Of any other load, and in plots over time, requests that were begun.",
    ),
    (
        "think",
        "think time",
        "The time between a response and the user's next request. Where the plan does not tell it, it is what \
      Little's law leaves: users over rate, less the service time.",
    ),
    (
        "thresholds",
        "thresholds",
        "Conditions on the run, given with it. Each says what was seen: over the run, or in the window that was worst by it. One \
         that could not be measured is not kept, unless it says that it need not be.",
    ),
];

/// The definitions as a list.
pub(super) fn definitions() -> String {
    let mut body = String::from("<dl class=\"glossary\">");
    for (id, term, definition) in TERMS {
        let _ = write!(
            body,
            "<div><dt>{}</dt><dd id=\"def-{id}\">{}</dd></div>",
            escape(term),
            escape(definition)
        );
    }
    body + "</dl>"
}

/// The section of definitions.
pub(super) fn glossary(summary: &Summary) -> Section {
    let mut body = definitions();
    let error = summary.percentile_error * 100.0;
    if error > 0.0 {
        let _ = write!(
            body,
            "<p class=\"note\">Percentiles are read from histograms over all requests, which keep them within {error} % of a \
             measured time; they are neither interpolated nor averaged.</p>"
        );
    }
    Section { id: "glossary", title: "Definitions", body }
}
