//! Capacity models and the comparison of a model with measurements, for the terminal.

use busyhour_queueing::fit::{
    CapacityFit, ComparedPoint, ExclusionReason, FindingSeverity, FitRefusal, MeasuredComparison,
    ModelJudgement, ReportedFinding, ServiceLawFit,
};

use crate::capacity_plot::capacity_plot;
use crate::capacity_words::{
    OTHER_MODELS_NOTE, headline, headroom, model_words, off, p_value, parameter, per_s, time, users, verdict,
    with_interval,
};
use crate::terminal_text::capital;
use crate::terminal_text::{Look, cut, printable};

/// Maximum width of a measurement's name.
const NAME_MAX: usize = 34;

/// Maximum number of laws that are listed.
const LAWS_SHOWN: usize = 4;

/// A fitted model: caveats, the model, the measurements with the values of the model, the residuals, and a plot.
#[must_use]
pub fn capacity_table(fit: &CapacityFit, look: Look) -> String {
    let mut out = format!("{}.\nModel: {}.\n", look.bold(&headline(fit)), model_words(fit));
    out += &findings(&fit.findings, look);
    out.push('\n');
    let mut rows = Rows::new(1, &["parameter", "value", "95 % interval", "over runs"]);
    for of in &fit.parameters {
        let ends = match (of.fitted.low, of.fitted.high) {
            (Some(low), Some(high)) => format!("{} to {}", parameter(of, low), parameter(of, high)),
            _ => "unknown".into(),
        };
        let bootstrap = of.bootstrap.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{} to {}", parameter(of, low), parameter(of, high)),
        );
        rows.add(vec![of.name.clone(), parameter(of, of.fitted.value), ends, bootstrap]);
    }
    out += &rows.text(look);
    if fit.parameters.iter().any(|of| of.includes_other_models) {
        out += &(look.dim(OTHER_MODELS_NOTE) + "\n");
    }
    out += &format!("think time {} ms\n\n", time(fit.think_s));
    let has_several = fit.users_times > 1;
    let mut head = vec!["measurement", "users"];
    if has_several {
        head.push("that ran");
    }
    head.extend(["X/s", "model", "off", "R ms", "model", "off", ""]);
    let mut rows = Rows::new(1, &head);
    for compared in &fit.points {
        rows.add(point_row(compared, has_several));
    }
    out += &rows.text(look);
    out.push('\n');
    for line in headroom(fit) {
        out += &format!("{line}\n");
    }
    if let (Some(usl), Some(_)) = (&fit.usl, &fit.bounds) {
        let peak = usl.peak_users.as_ref().map_or_else(
            || "no peak".to_owned(),
            |peak| format!("peak at {} users", with_interval(peak, |value| users(value.round()))),
        );
        out += &look.dim(&format!(
            "Universal Scalability Law for the same throughputs: σ {:.4}, κ {:.3e}, λ {}/s; {peak}",
            usl.curve.sigma,
            usl.curve.kappa,
            per_s(usl.curve.lambda_per_s)
        ));
        out.push('\n');
    }
    out.push('\n');
    out += &capacity_plot(fit, look.width);
    out
}

fn point_row(compared: &ComparedPoint, has_several: bool) -> Vec<String> {
    let point = &compared.checked.point;
    let mut row = vec![cut(&printable(&point.name), NAME_MAX), users(point.users)];
    if has_several {
        row.push(users(compared.checked.users));
    }
    row.extend([
        per_s(point.throughput_per_s),
        per_s(compared.model_throughput_per_s),
        off(compared.model_throughput_per_s, point.throughput_per_s),
    ]);
    match point.response_s {
        Some(measured) => row.extend([
            time(measured),
            time(compared.model_response_s),
            off(compared.model_response_s, measured),
        ]),
        None => row.extend(["–".to_owned(), time(compared.model_response_s), "–".to_owned()]),
    }
    row.push(compared.checked.left_out.map_or_else(String::new, left_out));
    row
}

/// Formats a number with its sign and one decimal; a number that rounds to 0 has no sign.
fn signed(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == 0.0 { "0.0".into() } else { format!("{rounded:+.1}") }
}

fn left_out(why: ExclusionReason) -> String {
    format!("excluded: {}", why.label())
}

/// The comparison of a model with measurements that were not used to fit it, with the findings.
#[must_use]
pub fn judgement_table(judgement: &ModelJudgement, model: &str, look: Look) -> String {
    let line = verdict(judgement);
    let painted = match judgement.verdict {
        busyhour_queueing::fit::ModelVerdict::Rejected => look.bad(&line),
        busyhour_queueing::fit::ModelVerdict::NotRejected => look.good(&line),
        busyhour_queueing::fit::ModelVerdict::NotJudged => line,
    };
    let mut out = format!("{}\n{painted}\n", look.bold(&printable(model)));
    out += &findings(&judgement.findings, look);
    out.push('\n');
    let has_several = judgement.users_times > 1;
    let mut head = vec!["measurement", "users"];
    if has_several {
        head.push("that ran");
    }
    head.extend(["X/s", "model", "off", "std errors", "R ms", "model", "off", "std errors", ""]);
    let mut rows = Rows::new(1, &head);
    for judged in &judgement.points {
        let point = &judged.checked.point;
        let mut row = vec![cut(&printable(&point.name), NAME_MAX), users(point.users)];
        if has_several {
            row.push(users(judged.checked.users));
        }
        let mut cells = |compared: Option<&MeasuredComparison>, number: fn(f64) -> String| match compared {
            Some(compared) => row.extend([
                number(compared.measured),
                with_interval(&compared.model, number),
                off(compared.model.value, compared.measured),
                compared.errors_off.map_or_else(|| "–".to_owned(), signed),
            ]),
            None => row.extend(["–"; 4].map(str::to_owned)),
        };
        cells(Some(&judged.throughput), per_s);
        cells(judged.response.as_ref(), time);
        // Measurements beyond the peak are compared as well, because the model has no peak.
        row.push(
            judged
                .checked
                .left_out
                .filter(|why| *why != ExclusionReason::BeyondPeak)
                .map_or_else(String::new, left_out),
        );
        rows.add(row);
    }
    out += &rows.text(look);
    for (what, test) in
        [("throughput", judgement.throughput_test), ("response time", judgement.response_test)]
    {
        if let Some(test) = test {
            out += &look.dim(&format!(
                "{what}: χ² = {:.2} over {} {}, {}",
                test.statistic,
                test.freedom,
                if test.freedom == 1 { "measurement" } else { "measurements" },
                p_value(test.p_value)
            ));
            out.push('\n');
        }
    }
    out
}

/// The distribution that service times follow, for a terminal.
#[must_use]
pub fn service_law_table(of: &str, fit: &ServiceLawFit, look: Look) -> String {
    let mut out = format!(
        "\n{}\n{} values, mean {} ms, coefficient of variation {:.2}\n",
        look.bold(&format!("Distribution of the times of {}", printable(of))),
        fit.values,
        time(fit.mean_s),
        fit.cov
    );
    let mut rows = Rows::new(2, &["law", "parameters", "AIC above the best"]);
    for candidate in fit.candidates.iter().take(LAWS_SHOWN) {
        rows.add(vec![
            candidate.law.name().to_owned(),
            candidate.law.parameters(),
            format!("{:.1}", candidate.aic_excess),
        ]);
    }
    out += &rows.text(look);
    let best = fit.candidates.first().map_or("", |candidate| candidate.law.name());
    let line = format!(
        "Anderson–Darling with estimated parameters, {} simulations: A² = {:.2}, {}",
        fit.replicates,
        fit.statistic,
        p_value(fit.p_value)
    );
    out += &if fit.p_value < 0.05 {
        format!("{line}: even the best fit, {best}, is rejected\n")
    } else {
        format!("{line}: {best} is not rejected\n")
    };
    out
}

/// The reason why no model could be fitted.
#[must_use]
pub fn refusal_text(refusal: &FitRefusal, look: Look) -> String {
    findings(&refusal.findings, look)
}

/// The findings with their advice; contradictions come first.
fn findings(reported: &[ReportedFinding], look: Look) -> String {
    let mut out = String::new();
    for reported in reported {
        let mark = match reported.weight {
            FindingSeverity::Contradiction => look.bad("!!"),
            FindingSeverity::Doubt => look.paint("33", "- "),
            FindingSeverity::Note => look.dim("  "),
        };
        out += &format!("{mark} {}\n", printable(&reported.message));
        out += &format!("   {}\n", look.dim(&format!("{}.", capital(&printable(&reported.advice)))));
    }
    out
}

/// A table with a heading; the first `left` columns are left-aligned.
struct Rows {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Rows {
    fn new(left: usize, head: &[&str]) -> Rows {
        Rows { left, rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    fn add(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn text(&self, look: Look) -> String {
        let columns = self.rows[0].len();
        let width = |at: usize| {
            self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let width = widths[column];
                // Columns without a heading contain text and are left-aligned, too.
                let is_left = column < self.left || self.rows[0][column].is_empty();
                line +=
                    &if is_left { format!("{gap}{cell:<width$}") } else { format!("{gap}{cell:>width$}") };
            }
            let line = line.trim_end();
            out += &(if at == 0 { look.bold(line) } else { line.to_owned() });
            out.push('\n');
        }
        out
    }
}
