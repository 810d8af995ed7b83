//! Which lines of an experiment are plotted: interactions, doses, and distributions of response times.

use busyhour_experiment::{
    ExperimentReport, ReportedResponse, ReportedTrial, ResponseScale, TrialOutcome, TrialQuantile,
    level_number,
};

use super::line_plot::{LINES_MAX, Line, LinePlot, Point};
use crate::experiment_tables::with_unit;

/// Largest number of plots of pairs of factors.
const PAIRS_MAX: usize = 6;

/// The plots of pairs of factors of a full factorial, and of the numeric factors of other designs.
pub(super) fn factor_plots(report: &ExperimentReport, response: &ReportedResponse) -> Vec<LinePlot> {
    let levels: usize = report.factors.iter().map(|factor| factor.levels.len()).product();
    let count = report.factors.len();
    if count >= 2 && report.case_names.len() == levels {
        let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
        return pairs.take(PAIRS_MAX).map(|pair| interaction_plot(report, response, pair)).collect();
    }
    dose_plots(report, response)
}

/// The number of a level, or its place in the list.
fn places(levels: &[String]) -> (Vec<f64>, bool) {
    let numbers: Option<Vec<f64>> = levels.iter().map(|name| level_number(name)).collect();
    match numbers {
        // Levels that are far from each other, such as 50 to 2,000 users, are placed evenly.
        Some(numbers) if is_even(&numbers) => (numbers, true),
        numbers => ((0..levels.len()).map(|at| at as f64).collect(), numbers.is_some()),
    }
}

/// Whether the distances of the numbers differ by at most a factor of 3.
fn is_even(numbers: &[f64]) -> bool {
    let gaps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let smallest = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    smallest > 0.0 && gaps.iter().all(|gap| *gap <= 3.0 * smallest)
}

/// One line for each level of the factor with fewer levels, over the levels of the other one, averaged over all further factors.
fn interaction_plot(
    report: &ExperimentReport,
    response: &ReportedResponse,
    (one, other): (usize, usize),
) -> LinePlot {
    let count = |at: usize| report.factors[at].levels.len();
    let (across, along) = if count(other) > count(one) { (one, other) } else { (other, one) };
    let (xs, _) = places(&report.factors[along].levels);
    let scale = response.analysis.scale;
    let line = |level: usize, name: &String| {
        let points = xs.iter().enumerate().filter_map(|(at, x)| {
            let of_pair = response.analysis.cases.iter().filter(|case| {
                let levels = report.case_levels.get(case.case as usize - 1);
                levels.is_some_and(|levels| {
                    levels.get(across) == Some(&level) && levels.get(along) == Some(&at)
                })
            });
            let cases: Vec<_> = of_pair.collect();
            let interval = cases.first().filter(|_| cases.len() == 1).and_then(|case| case.interval);
            let values: Option<Vec<f64>> = cases.iter().map(|case| case.value).collect();
            let value = mean(&values?, scale)?;
            Some(Point { x: *x, value, interval: interval.map(|interval| (interval.low, interval.high)) })
        });
        Line { name: format!("{}={name}", report.factors[across].name), points: points.collect() }
    };
    LinePlot {
        x_title: report.factors[along].name.clone(),
        x_labels: labels(&xs, &report.factors[along].levels),
        y_title: with_unit(response),
        is_logarithmic: false,
        starts_at_zero: false,
        lines: report.factors[across]
            .levels
            .iter()
            .enumerate()
            .map(|(level, name)| line(level, name))
            .collect(),
        note: match report.factors.len() {
            2 => " with 95 % intervals of the means.".to_owned(),
            _ => ", averaged over all other factors.".to_owned(),
        } + if count(across) > LINES_MAX { " Further lines are omitted." } else { "" },
    }
}

fn labels(xs: &[f64], names: &[String]) -> Vec<(f64, String)> {
    xs.iter().copied().zip(names.iter().cloned()).collect()
}

/// The mean on the scale of the analysis: for ratios, the geometric mean.
fn mean(values: &[f64], scale: ResponseScale) -> Option<f64> {
    let on_scale: Option<Vec<f64>> = values.iter().map(|value| scale.to_scale(*value)).collect();
    let on_scale = on_scale.filter(|values| !values.is_empty())?;
    Some(scale.from_scale(on_scale.iter().sum::<f64>() / on_scale.len() as f64))
}

/// A line for each numeric factor with at least three levels; the other factors have their base levels. Factors with the same
/// levels share a plot.
fn dose_plots(report: &ExperimentReport, response: &ReportedResponse) -> Vec<LinePlot> {
    let mut plots: Vec<(&[String], LinePlot)> = Vec::new();
    let base = report.case_levels.get((report.base_case as usize).wrapping_sub(1));
    let Some(base) = base else { return Vec::new() };
    for (at, factor) in report.factors.iter().enumerate() {
        let (xs, is_numeric) = places(&factor.levels);
        if !is_numeric || factor.levels.len() < 3 {
            continue;
        }
        let points = xs.iter().enumerate().filter_map(|(level, x)| {
            let mut wanted = base.clone();
            wanted[at] = level;
            let number = report.case_levels.iter().position(|levels| *levels == wanted)?;
            let case = response.analysis.cases.iter().find(|case| case.case as usize == number + 1)?;
            let interval = case.interval.map(|interval| (interval.low, interval.high));
            Some(Point { x: *x, value: case.value?, interval })
        });
        let line = Line { name: factor.name.clone(), points: points.collect() };
        match plots.iter_mut().find(|(levels, _)| *levels == factor.levels) {
            Some((_, plot)) => plot.lines.push(line),
            None => plots.push((
                &factor.levels,
                LinePlot {
                    x_title: String::new(),
                    x_labels: labels(&xs, &factor.levels),
                    y_title: with_unit(response),
                    is_logarithmic: false,
                    starts_at_zero: false,
                    lines: vec![line],
                    note: " with 95 % intervals of the means.".to_owned(),
                },
            )),
        }
    }
    let titled = plots.into_iter().map(|(_, mut plot)| {
        plot.x_title = match plot.lines.as_slice() {
            [one] => one.name.clone(),
            _ => "the level of each factor".to_owned(),
        };
        plot
    });
    titled.collect()
}

/// The response times of all requests by percentile, for each case: the geometric mean over its trials.
pub(super) fn distribution_plot(report: &ExperimentReport) -> Option<LinePlot> {
    let line = |(number, name): (usize, &String)| {
        let trials: Vec<&ReportedTrial> =
            report.trials.iter().filter(|trial| is_used(trial, number + 1)).collect();
        let shares = trials.iter().map(|trial| &trial.quantiles).min_by_key(|quantiles| quantiles.len())?;
        let points = shares.iter().filter_map(|TrialQuantile { share, .. }| {
            let of = |trial: &&ReportedTrial| {
                trial.quantiles.iter().find(|one| one.share == *share).map(|one| one.ms)
            };
            let values: Option<Vec<f64>> = trials.iter().map(of).collect();
            Some(Point { x: spread(*share), value: mean(&values?, ResponseScale::Ratio)?, interval: None })
        });
        let points: Vec<Point> = points.collect();
        (!points.is_empty()).then(|| Line { name: name.clone(), points })
    };
    let lines: Vec<Line> = report.case_names.iter().enumerate().take(LINES_MAX).filter_map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let most = lines.iter().filter_map(|line| line.points.last()).map(|point| point.x).fold(0.0, f64::max);
    let marked = [
        ("1", 0.01),
        ("10", 0.1),
        ("50", 0.5),
        ("90", 0.9),
        ("99", 0.99),
        ("99.9", 0.999),
        ("99.99", 0.9999),
    ];
    let labels = marked.into_iter().filter(|(_, share)| spread(*share) <= most + 1e-9);
    Some(LinePlot {
        x_title: "percentage of requests that are not slower".to_owned(),
        x_labels: labels.map(|(label, share)| (spread(share), label.to_owned())).collect(),
        y_title: "response time of all requests (ms)".to_owned(),
        is_logarithmic: true,
        starts_at_zero: false,
        lines,
        note: if report.case_names.len() > LINES_MAX {
            format!("; the first {LINES_MAX} of {} cases.", report.case_names.len())
        } else {
            ": the mean over the trials of each case.".to_owned()
        },
    })
}

/// The place of a share on the x axis. The tail gets as much space as the rest.
fn spread(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

fn is_used(trial: &ReportedTrial, case: usize) -> bool {
    let id = trial.entry.trial;
    id.case as usize == case && !id.is_warm_up() && trial.entry.outcome == TrialOutcome::Finished
}
