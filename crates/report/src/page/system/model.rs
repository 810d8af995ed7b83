//! The data of the section that the script draws; `ui/src/system_model.ts` declares the same structure.

use busyhour_results::{Panel, PanelLine, SystemRecord};
use serde::Serialize;

use super::scale::Scale;

/// The panels of the section.
#[derive(Serialize)]
pub(crate) struct SystemModel {
    /// Start of the first slice in s since the start of the run.
    from_s: f64,
    /// Length of a slice in s.
    step_s: f64,
    /// In the order of their figures.
    panels: Vec<PanelModel>,
}

#[derive(Serialize)]
struct PanelModel {
    title: String,
    unit: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stacked: bool,
    lines: Vec<LineModel>,
}

#[derive(Serialize)]
struct LineModel {
    name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    limit: bool,
    /// Values in the unit of the panel.
    values: Vec<Option<Rounded>>,
}

/// A number with four significant digits, which is more than a small plot shows. Whole numbers have no decimals.
struct Rounded(f64);

impl Serialize for Rounded {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = rounded(self.0);
        if value.fract() == 0.0 && value.abs() < 9e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}

fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    if digits <= 0 {
        return value.round();
    }
    let power = 10f64.powi(digits.min(300));
    (value * power).round() / power
}

impl SystemModel {
    /// The model of a record; `None` without panels.
    pub(crate) fn of(record: &SystemRecord) -> Option<SystemModel> {
        let panels: Vec<PanelModel> = record.panels.iter().map(PanelModel::of).collect();
        (!panels.is_empty()).then_some(SystemModel {
            from_s: record.axis.from_s,
            step_s: record.axis.step_s,
            panels,
        })
    }
}

impl PanelModel {
    fn of(panel: &Panel) -> PanelModel {
        let scale = panel_scale(panel);
        let line = |line: &PanelLine| LineModel {
            name: line.name.clone(),
            limit: line.is_limit,
            values: line
                .values
                .iter()
                .map(|value| value.map(|value| Rounded(value / scale.divisor)))
                .collect(),
        };
        PanelModel {
            title: panel.title.clone(),
            unit: scale.name,
            stacked: panel.is_stacked,
            lines: panel.lines.iter().map(line).collect(),
        }
    }
}

/// The unit of a panel, chosen for its largest value. Limits are ignored, because they may be much larger than the
/// values.
pub(super) fn panel_scale(panel: &Panel) -> Scale {
    let values = panel.lines.iter().filter(|line| !line.is_limit).filter_map(|line| line.figures);
    Scale::of(panel.unit, values.map(|figures| figures.max).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(
            [rounded(0.0), rounded(1.0 / 3.0), rounded(12_345.6), rounded(-0.001_234_56)],
            [0.0, 0.3333, 12_346.0, -0.001_235]
        );
        assert_eq!(serde_json::to_string(&[Rounded(2.0), Rounded(0.25)]).unwrap(), "[2,0.25]");
    }
}
