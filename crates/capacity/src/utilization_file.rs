//! Reads utilization that was recorded during a run: a CSV file with a column of seconds and a column for each resource.

use crate::error::CapacityError;
use busyhour_limits::files::{INPUT_BYTES, read_input_text};
use std::path::Path;

use busyhour_queueing::fit::Utilization;

use crate::points_file::utilization;

/// Times above this limit, in seconds, count from 1970; smaller times count from the start of the run.
const SINCE_1970_S: f64 = 1e8;

/// Utilization that was recorded during a run.
#[derive(Debug)]
pub(crate) struct UtilizationFile {
    name: String,
    resources: Vec<String>,
    /// For each time in seconds, the utilization of each resource; `None` for an empty cell.
    rows: Vec<(f64, Vec<Option<f64>>)>,
}

impl UtilizationFile {
    pub(crate) fn read(path: &Path) -> Result<UtilizationFile, CapacityError> {
        let name = path.display().to_string();
        let text = read_input_text(path, INPUT_BYTES)
            .map_err(|source| CapacityError::Unreadable { name: name.clone(), source })?;
        UtilizationFile::parse(&text, &name).map_err(|problem| format!("{name}:{problem}").into())
    }

    fn parse(text: &str, name: &str) -> Result<UtilizationFile, CapacityError> {
        let mut lines =
            (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (_, head) = lines.next().ok_or("1:1: the file is empty")?;
        let columns: Vec<&str> = head.split(',').map(str::trim).collect();
        if columns.len() < 2 || !matches!(columns[0], "seconds" | "time" | "second") {
            return Err("1:1: the first line must name the columns: seconds and the resources, such as \
                 seconds,cpu_percent"
                .into());
        }
        let mut resources: Vec<String> = Vec::new();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if cells.len() != columns.len() {
                return Err(format!(
                    "{number}:1: {} columns, but the first line has {}",
                    cells.len(),
                    columns.len()
                )
                .into());
            }
            let value = |column: usize| -> Result<f64, CapacityError> {
                let value: Option<f64> =
                    cells[column].parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
                value.ok_or_else(|| {
                    format!(
                        "{number}:1: column {}: {:?} is not a non-negative number",
                        columns[column], cells[column]
                    )
                    .into()
                })
            };
            let mut shares = Vec::new();
            let mut names = Vec::new();
            for (at, name) in columns.iter().enumerate().skip(1) {
                let used = if cells[at].is_empty() { None } else { Some(value(at)?) };
                let used = used
                    .map(|used| utilization(name, used).map_err(|problem| format!("{number}:1: {problem}")))
                    .transpose()?;
                names.push(used.as_ref().map_or((*name).to_owned(), |used| used.resource.clone()));
                shares.push(used.map(|used| used.share));
            }
            rows.push((value(0)?, shares));
            if resources.is_empty() {
                resources = columns[1..]
                    .iter()
                    .map(|name| name.strip_suffix("_percent").unwrap_or(name).to_owned())
                    .collect();
            }
        }
        if rows.is_empty() {
            return Err("1:1: there are no rows after the first line".into());
        }
        Ok(UtilizationFile { name: name.to_owned(), resources, rows })
    }

    /// Whether times count from 1970 instead of from the start of the run.
    pub(crate) fn has_clock_times(&self) -> bool {
        self.rows.iter().all(|(moment, _)| *moment > SINCE_1970_S)
    }

    /// The mean utilization in a part of a run: from `window_s.0` to `window_s.1`, in seconds from the start of the run. The run
    /// starts at `wall_anchor_ms`, in ms since 1970.
    pub(crate) fn mean(
        &self,
        window_s: (f64, f64),
        wall_anchor_ms: i64,
    ) -> Result<Vec<Utilization>, CapacityError> {
        let origin_s = if self.has_clock_times() { wall_anchor_ms as f64 / 1e3 } else { 0.0 };
        let inside = |moment: f64| (window_s.0..=window_s.1).contains(&(moment - origin_s));
        let mut found = Vec::new();
        for (at, resource) in self.resources.iter().enumerate() {
            let known: Vec<f64> = self
                .rows
                .iter()
                .filter(|(moment, _)| inside(*moment))
                .filter_map(|(_, shares)| shares[at])
                .collect();
            if known.is_empty() {
                return Err(format!(
                    "{}: there is no value of {resource} from {:.0} s to {:.0} s after the start of the run; times must be in \
                     seconds since the start of the run, or since 1970",
                    self.name, window_s.0, window_s.1
                ).into());
            }
            let share = known.iter().sum::<f64>() / known.len() as f64;
            found.push(Utilization { resource: resource.clone(), share });
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_computed_over_the_window() {
        let file =
            UtilizationFile::parse("seconds,cpu_percent,disk\n0,0,0\n1,50,.1\n2,70,.3\n3,100,\n", "p.csv")
                .unwrap();
        let found = file.mean((1.0, 2.0), 0).unwrap();
        let shown: Vec<(&str, String)> =
            found.iter().map(|used| (used.resource.as_str(), format!("{:.2}", used.share))).collect();
        assert_eq!(shown, [("cpu", "0.60".to_owned()), ("disk", "0.20".to_owned())]);
        assert!(file.mean((10.0, 20.0), 0).is_err());
    }

    #[test]
    fn times_may_be_since_1970() {
        let file = UtilizationFile::parse("seconds,cpu\n1700000010,.2\n1700000020,.4\n", "p.csv").unwrap();
        let found = file.mean((15.0, 25.0), 1_700_000_000_000).unwrap();
        assert_eq!(found[0].share, 0.4);
    }

    #[test]
    fn errors_have_a_position() {
        for (text, wrong) in [
            ("cpu\n1\n", "1:1: the first line must name"),
            ("seconds,cpu\n1\n", "2:1: 1 columns"),
            ("seconds,cpu\n1,x\n", "2:1: column cpu: \"x\" is not a non-negative number"),
            ("seconds,cpu\n1,50\n", "2:1: 50 is not a utilization from 0 to 1"),
        ] {
            let found = UtilizationFile::parse(text, "p.csv").unwrap_err().to_string();
            assert!(found.starts_with(wrong), "{found}");
        }
    }
}
