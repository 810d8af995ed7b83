//! Plots of a log's arrivals, compared with a Poisson process.

mod figure;
mod scale;

use busyhour_analysis::{CellCounts, WebLogTables};
use busyhour_results::LogReport;
use maud::{Markup, PreEscaped, html};

use crate::terminal_text::printable;
use figure::{Figure, Layer, Mark};

/// Maximum number of bars of a plot.
const BARS_MAX: usize = 70;

/// The axis extends at least to the mean gap times this factor. One in 1,100 exponential gaps is longer.
const MEANS_SHOWN: f64 = 7.0;

/// The axis extends at most to the mean gap times this factor.
const MEANS_MOST: f64 = 30.0;

/// Between these two factors, the axis ends at a value that at most one in this number of gaps exceeds. Pauses between
/// bursts are therefore visible.
const BEYOND_ONE_IN: u64 = 200;

/// A file with plots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlotFile {
    /// Name of the file.
    pub name: String,
    /// Contents of the file.
    pub contents: String,
}

/// The plots of `logs`: one SVG file per plot, and `arrivals.html` with all plots. The files have no external references.
#[must_use]
pub fn arrival_plots(logs: &[LogReport]) -> Vec<PlotFile> {
    let mut files = Vec::new();
    let mut stems = Vec::new();
    let mut sections: Vec<Markup> = Vec::new();
    for log in logs {
        let stem = stem(&log.name, &mut stems);
        let figures = figures(&log.tables);
        for (kind, figure, _) in &figures {
            let of = format!("{stem} · {}", rate(log));
            files.push(PlotFile { name: format!("{stem}-{kind}.svg"), contents: figure.svg(&of) });
        }
        sections.push(html! {
            h1 { (printable(&log.name)) }
            "\n"
            p.sub { (subtitle(log)) }
            "\n"
            @for verdict in &log.verdicts {
                p {
                    @if let Some(of) = &verdict.of { (printable(&of.to_string())) ": " }
                    (printable(&verdict.line))
                }
                "\n"
            }
            @for (_, figure, note) in &figures {
                section { h2 { (printable(&figure.title)) } (figure.inline()) p.note { (printable(note)) } }
                "\n"
            }
        });
    }
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Arrivals – Busyhour" }
                style { (PreEscaped(include_str!("arrival_plots/style.css"))) (PreEscaped(PAGE_STYLE)) }
            }
            body { main { "\n" @for section in &sections { (section) } } }
        }
        "\n"
    };
    files.push(PlotFile { name: "arrivals.html".into(), contents: page.into_string() });
    files
}

/// Additional styles of the page with all plots.
const PAGE_STYLE: &str = ".bar{stroke:none;fill:var(--a);fill-opacity:.38}\
    .level{stroke:var(--soft);stroke-dasharray:5 4}.dot{stroke:none}section+h1{margin-top:40px}";

/// The common beginning of a log's file names: the name of the log without characters that are unsuitable for files, and
/// different from the names in `before`.
fn stem(name: &str, before: &mut Vec<String>) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    let last = last.rsplit_once('.').map_or(last, |(stem, _)| if stem.is_empty() { last } else { stem });
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let plain: String = last.chars().map(safe).collect();
    let mut stem = plain.clone();
    let mut number = 1;
    while before.contains(&stem) {
        number += 1;
        stem = format!("{plain}-{number}");
    }
    before.push(stem.clone());
    stem
}

fn subtitle(log: &LogReport) -> String {
    let cv = log.tables.inter_arrival.last().and_then(|gaps| gaps.cv);
    cv.map_or_else(|| rate(log), |cv| format!("{} · coefficient of variation {cv:.2}", rate(log)))
}

/// The number of arrivals, and the arrivals per second.
fn rate(log: &LogReport) -> String {
    let arrivals = crate::numbers::counted(log.tables.selected, "arrival");
    let per_s = log.tables.inter_arrival.last().and_then(|gaps| gaps.per_s);
    per_s.map_or_else(|| arrivals.clone(), |per_s| format!("{arrivals} · {per_s:.2} per second"))
}

/// The plots for which the tables contain data: a word for the file's name, the plot, and a note on it.
fn figures(tables: &WebLogTables) -> Vec<(&'static str, Figure, String)> {
    let mut figures = Vec::new();
    figures.extend(gaps(tables).map(|(figure, note)| ("gaps", figure, note)));
    figures.extend(counts(tables).map(|(figure, note)| ("counts", figure, note)));
    figures.extend(by_threads(tables).map(|(figure, note)| ("cov-by-threads", figure, note)));
    figures
}

/// The histogram of gaps, with the exponential distribution of the same mean.
fn gaps(tables: &WebLogTables) -> Option<(Figure, String)> {
    let histogram = tables.gap_histogram.as_ref()?;
    let mean_ms = tables.inter_arrival.last()?.mean.filter(|mean| *mean > 0.0)?;
    let n = histogram.cells.iter().sum::<u64>() + histogram.beyond;
    let cell_ms = histogram.cell_ms;
    // If the width of a cell is one step of the clock, cell c contains only the value c, and the axis begins with the first
    // value.
    let fine = (cell_ms - tables.tick_ms).abs() < 1e-9 * cell_ms;
    let mut bars = histogram.cells.clone();
    if !fine {
        // In other histograms, cell 0 has no width, so its count is added to the next cell.
        let zero = bars.remove(0);
        match bars.first_mut() {
            Some(first) => *first += zero,
            None => bars.push(zero),
        }
    }
    // Leaves a small margin after the last bar.
    let shown = cells_shown(&bars, n, cell_ms / mean_ms).min(bars.len() + bars.len() / 20);
    bars.resize(shown, 0);
    let together = bars.len().div_ceil(BARS_MAX);
    let width_ms = cell_ms * together as f64;
    let percent = |count: f64| count * 100.0 / n as f64;
    let points: Vec<(f64, f64)> = (0..)
        .zip(bars.chunks(together))
        .map(|(at, cells)| ((f64::from(at) + 0.5) * width_ms, percent(cells.iter().sum::<u64>() as f64)))
        .collect();
    let last = if fine { tables.tick_ms } else { 0.0 };
    let below = |ms: f64| exponential_below(ms - last, mean_ms, tables.tick_ms);
    let mut before = 0.0;
    let curve = (1..=points.len())
        .map(|at| {
            // The last bar may combine fewer cells.
            let upto = below((at as f64 * width_ms).min(bars.len() as f64 * cell_ms));
            let share = upto - std::mem::replace(&mut before, upto);
            ((at as f64 - 0.5) * width_ms, share * 100.0)
        })
        .collect();
    let x_to = points.len() as f64 * width_ms;
    let seen: u64 = bars.iter().sum();
    let note = format!(
        "{:.2} % of the gaps are longer than shown, {:.2} % for the exponential. Bars above the curve on the left and \
         right indicate bursts with pauses between them. Bars above the curve in the middle indicate arrivals that are too even.",
        percent((n - seen) as f64),
        100.0 - before * 100.0
    );
    let name =
        if tables.tick_ms >= 1.0 { "exponential, stamped in whole ms" } else { "exponential of this mean" };
    let figure = Figure {
        title: "Gaps between arrivals".into(),
        measure: tables.inter_arrival.last()?.cv.map(|cv| format!("CoV {cv:.2}")),
        x_title: "gap, ms",
        y_title: "% of gaps",
        x_from: 0.0,
        x_to,
        x_whole: false,
        layers: vec![
            Layer { name: "this log".into(), class: "", mark: Mark::Bars(width_ms), points },
            Layer { name: name.into(), class: "b", mark: Mark::Line, points: curve },
        ],
        level: None,
    };
    Some((figure, note))
}

/// The number of `cells` that are drawn. A cell is `cell_means` times the mean gap wide; `n` is the number of all gaps.
fn cells_shown(cells: &[u64], n: u64, cell_means: f64) -> usize {
    let mut longer = n;
    let enough = cells.iter().position(|gaps| {
        longer -= gaps;
        longer <= n / BEYOND_ONE_IN
    });
    let enough = enough.map_or(cells.len(), |at| at + 1 + at / 20);
    let of_means = |means: f64| ((means / cell_means).ceil() as usize).max(1);
    enough.clamp(of_means(MEANS_SHOWN), of_means(MEANS_MOST))
}

/// The probability that an exponential gap with this mean is at most `ms` if both its timestamps are truncated to multiples of
/// `tick_ms`. With τ the tick, m the mean and d = ⌊x/τ⌋, this is the mean of 1 − e^(−(d+1−u)τ/m) over u in \[0, 1\], which is 1
/// − m/τ · e^(−dτ/m) · (1 − e^(−τ/m)).
fn exponential_below(ms: f64, mean_ms: f64, tick_ms: f64) -> f64 {
    let tick = tick_ms / mean_ms;
    // (1 − e^(−τ/m)) / (τ/m). `exp_m1` avoids the loss of precision for small ticks.
    let factor = if tick > 0.0 { -(-tick).exp_m1() / tick } else { 1.0 };
    let steps = (ms / tick_ms * (1.0 + 1e-12)).floor();
    1.0 - factor * (-steps * tick).exp()
}

/// The counts with the cell width that shows the shape of the distribution best: their mean is closest to 10.
fn best_width(tables: &WebLogTables) -> Option<&CellCounts> {
    let distance = |counts: &&CellCounts| ((counts.mean.max(1e-9) / 10.0).ln().abs() * 1e6) as u64;
    tables.counts.iter().filter(|counts| counts.mean > 0.0).min_by_key(distance)
}

/// The counts per cell, with the Poisson distribution of the same mean.
fn counts(tables: &WebLogTables) -> Option<(Figure, String)> {
    let counts = best_width(tables)?;
    let spread = counts.mean.sqrt() * 5.0;
    let least = counts.frequencies.first()?.count.min((counts.mean - spread).max(0.0) as u64);
    let most = counts.frequencies.last()?.count.max((counts.mean + spread).ceil() as u64);
    // A few cells with very high counts would compress the rest of the plot.
    let most = most.min((counts.mean + 4.0 * spread).ceil() as u64 + 10);
    let together = (most - least + 1).div_ceil(BARS_MAX as u64);
    let places = (most - least + 1).div_ceil(together) as usize;
    let mut bars = vec![0u64; places];
    let mut beyond = 0;
    for frequency in &counts.frequencies {
        match bars.get_mut(((frequency.count - least) / together) as usize) {
            Some(bar) => *bar += frequency.cells,
            None => beyond += frequency.cells,
        }
    }
    let x = |at: usize| least as f64 + at as f64 * together as f64 + (together - 1) as f64 / 2.0;
    let percent = |cells: u64| cells as f64 * 100.0 / counts.cells as f64;
    let points = bars.iter().enumerate().map(|(at, cells)| (x(at), percent(*cells))).collect();
    let poisson = poisson(counts.mean, most + together);
    let curve = (0..places)
        .map(|at| {
            let from = (least + at as u64 * together) as usize;
            let share: f64 = poisson.iter().skip(from).take(together as usize).sum();
            (x(at), share * 100.0)
        })
        .collect();
    let half = together as f64 / 2.0;
    let width = if counts.width_s < 1.0 {
        format!("{} ms", counts.width_s * 1e3)
    } else {
        format!("{} s", counts.width_s)
    };
    let mut note = format!(
        "{} cells of {width}; {:.2} arrivals in a cell on average.",
        crate::numbers::thousands(counts.cells),
        counts.mean
    );
    if let Some(dispersion) = counts.dispersion {
        note += &format!(" Index of dispersion {dispersion:.2}; 1 for a Poisson process, 0 when even.");
    }
    if beyond > 0 {
        note += &format!(" {beyond} cells with more arrivals are not shown.");
    }
    let figure = Figure {
        title: format!("Arrivals per {width}"),
        measure: counts.dispersion.map(|dispersion| format!("index of dispersion {dispersion:.2}")),
        x_title: "arrivals in a cell",
        y_title: "% of cells",
        x_from: least as f64 - half,
        x_to: x(places - 1) + half,
        x_whole: true,
        layers: vec![
            Layer { name: "this log".into(), class: "", mark: Mark::Bars(together as f64), points },
            Layer { name: "Poisson of this mean".into(), class: "b", mark: Mark::Dots, points: curve },
        ],
        level: None,
    };
    Some((figure, note))
}

/// The Poisson probabilities of 0 to `most` for this mean.
fn poisson(mean: f64, most: u64) -> Vec<f64> {
    // Computed with logarithms, because e^(−mean) may be too small for a float.
    let mut log = -mean;
    (0..=most)
        .map(|k| {
            if k > 0 {
                log += (mean / k as f64).ln();
            }
            log.exp()
        })
        .collect()
}

/// The coefficient of variation over the number of threads whose arrivals are counted.
fn by_threads(tables: &WebLogTables) -> Option<(Figure, String)> {
    let points: Vec<(f64, f64)> =
        tables.by_threads.iter().filter_map(|row| Some((f64::from(row.threads), row.cov?))).collect();
    let most = points.last()?.0;
    let note = "The arrivals of many independent threads with long pauses form a Poisson process, whatever one thread \
                does alone: the coefficient of variation approaches 1. A value above 1 indicates bursts of requests.";
    let figure = Figure {
        title: "Coefficient of variation by thread-group size".into(),
        measure: None,
        x_title: "threads counted",
        y_title: "sd / mean of gaps",
        x_from: 0.0,
        x_to: most,
        x_whole: true,
        layers: vec![Layer { name: "this log".into(), class: "a", mark: Mark::Dots, points }],
        level: Some((1.0, "Poisson")),
    };
    Some((figure, note.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_of_truncated_times_is_a_distribution() {
        // To first order, half of a tick divided by the mean is the share of gaps of 0.
        assert!((exponential_below(0.0, 1000.0, 1.0) - 0.0005).abs() < 1e-6);
        assert!((exponential_below(1e6, 1000.0, 1.0) - 1.0).abs() < 1e-12);
        for ms in [0.5, 3.0, 40.0] {
            let plain = 1.0 - f64::exp(-ms / 10.0);
            assert!((exponential_below(ms, 10.0, 1e-6) - plain).abs() < 1e-6);
        }
        // The mean is that of the original gaps: truncated timestamps do not drift.
        let mean: f64 = (0..2000).map(|d| 1.0 - exponential_below(f64::from(d), 7.3, 1.0)).sum();
        assert!((mean - 7.3).abs() < 1e-9);
    }

    #[test]
    fn pauses_between_bursts_are_shown() {
        // Cells of a hundredth of the mean: nine in ten gaps are short, the others are ten times the mean.
        let mut cells = vec![0; 1_001];
        (cells[0], cells[1_000]) = (900, 100);
        assert_eq!(cells_shown(&cells, 1_000, 0.01), 1_051);
        // One very long gap in a thousand does not compress the plot of the others.
        (cells[0], cells[1_000]) = (999, 1);
        assert_eq!(cells_shown(&cells, 1_000, 0.01), 700);
        assert_eq!(cells_shown(&[10], 1_000, 0.01), 700);
        assert_eq!(cells_shown(&[0; 10_000], 1_000, 0.01), 3_000);
        assert_eq!(cells_shown(&[5], 5, 1e9), 1);
    }

    #[test]
    fn poisson_probabilities_add_up() {
        for mean in [0.2, 9.5, 2_000.0] {
            let all = poisson(mean, (mean + 20.0 * f64::sqrt(mean) + 20.0) as u64);
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let weighted: f64 = all.iter().zip(0u32..).map(|(p, k)| p * f64::from(k)).sum();
            assert!((weighted - mean).abs() < 1e-6 * mean);
        }
    }

    #[test]
    fn files_have_distinct_names() {
        let mut before = Vec::new();
        let names = ["a/run 1.jtl", "b/run 1.jtl", "runs/x/", ".jtl"].map(|name| stem(name, &mut before));
        assert_eq!(names, ["run-1", "run-1-2", "x", ".jtl"]);
    }
}
