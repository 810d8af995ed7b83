//! A capacity model as plots for a terminal.

use busyhour_queueing::fit::{CapacityCurvePoint, CapacityFit, ComparedPoint};

use crate::terminal_plot::{PlotLine, TerminalPlot};

/// Number of rows of a plot.
const ROWS: usize = 12;

/// Number of characters to the left of a plot.
const MARGIN: usize = 12;

/// Minimum and maximum width of a plot in characters.
const WIDTH: (usize, usize) = (40, 100);

/// Plots of throughput and response time over users, with the model's curve, its bounds, and the measurements that were used or
/// excluded.
pub(crate) fn capacity_plot(fit: &CapacityFit, width: Option<usize>) -> String {
    let columns = width.unwrap_or(80).clamp(WIDTH.0, WIDTH.1) - MARGIN;
    let throughput = plot(
        fit,
        "Requests per second",
        |at| Some(at.throughput_per_s.value),
        |at| at.throughput_bound_per_s,
        |at| Some(at.checked.point.throughput_per_s),
    );
    let ms = |seconds: f64| seconds * 1e3;
    let response = plot(
        fit,
        "Response time in ms",
        |at| Some(ms(at.response_s.value)),
        |at| at.response_bound_s.map(ms),
        |at| at.checked.point.response_s.map(ms),
    );
    throughput.render(columns, ROWS) + "\n" + &response.render(columns, ROWS)
}

fn plot(
    fit: &CapacityFit,
    title: &str,
    curve: impl Fn(&CapacityCurvePoint) -> Option<f64>,
    bound: impl Fn(&CapacityCurvePoint) -> Option<f64>,
    measured: impl Fn(&ComparedPoint) -> Option<f64>,
) -> TerminalPlot {
    let over = |of: &dyn Fn(&CapacityCurvePoint) -> Option<f64>| -> Vec<(f64, f64)> {
        fit.curve.iter().filter_map(|at| Some((at.users, of(at)?))).collect()
    };
    let points = |is_fitted: bool| -> Vec<(f64, f64)> {
        let of = fit.points.iter().filter(|at| at.checked.left_out.is_none() == is_fitted);
        of.filter_map(|at| Some((at.checked.users, measured(at)?))).collect()
    };
    let line = |name: &str, points: Vec<(f64, f64)>, is_dotted: bool| PlotLine {
        name: name.into(),
        points,
        is_dotted,
    };
    // The marks of later lines are drawn over those of earlier ones.
    let lines = [
        line("bounds", over(&bound), false),
        line("model", over(&curve), false),
        line("excluded", points(false), true),
        line("measured", points(true), true),
    ];
    TerminalPlot {
        title: title.into(),
        x_name: "users".into(),
        lines: lines.into_iter().filter(|line| !line.points.is_empty()).collect(),
    }
}
