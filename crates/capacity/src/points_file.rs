//! Reads tables of measurements in CSV or TOML.

use crate::error::CapacityError;
use busyhour_limits::files::{INPUT_BYTES, read_input_text};
use std::collections::BTreeMap;
use std::path::Path;

use busyhour_queueing::fit::{LoadPoint, Utilization};
use serde::Deserialize;

/// The meaning of a column or a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Users,
    Throughput,
    ResponseMs,
    ResponseS,
    ThinkMs,
    ThinkS,
    ThroughputError,
    ResponseErrorMs,
    ErrorShare,
    ErrorPercent,
    Seconds,
    InSystem,
}

const FIELDS: [(&str, Field); 13] = [
    ("name", Field::Name),
    ("users", Field::Users),
    ("throughput_per_s", Field::Throughput),
    ("response_ms", Field::ResponseMs),
    ("response_s", Field::ResponseS),
    ("think_ms", Field::ThinkMs),
    ("think_s", Field::ThinkS),
    ("throughput_se", Field::ThroughputError),
    ("response_se_ms", Field::ResponseErrorMs),
    ("errors", Field::ErrorShare),
    ("error_percent", Field::ErrorPercent),
    ("seconds", Field::Seconds),
    ("in_system", Field::InSystem),
];

/// An example of the file, for messages.
const EXAMPLE: &str = "users,throughput_per_s,response_ms\n50,135.49,64\n100,157,\n";

/// The result of reading a file that may be a table of measurements.
pub(crate) enum PointsFile {
    /// The measurements in the table.
    Points(Vec<LoadPoint>),
    /// The file is not a table of measurements, but may contain the results of a run.
    Other,
}

impl PointsFile {
    /// Reads the file if it is a table of measurements. Returns an error if it is invalid.
    pub(crate) fn read(path: &Path) -> Result<PointsFile, CapacityError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() || !["csv", "toml", "txt"].contains(&ending) {
            return Ok(PointsFile::Other);
        }
        let name = path.display();
        let Ok(text) = read_input_text(path, INPUT_BYTES) else {
            // A file that is not text may contain compressed results. The reader of results reports errors in it.
            return Ok(PointsFile::Other);
        };
        let points = if ending == "toml" {
            from_toml(&text)
        } else if is_table(&text) {
            from_csv(&text)
        } else {
            return Ok(PointsFile::Other);
        };
        let mut points = points.map_err(|problem| format!("{name}:{problem}"))?;
        let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        for (place, point) in &mut points {
            if point.name.is_empty() {
                point.name = format!("{file}:{place}");
            }
        }
        let points = points.into_iter().map(|(_, point)| point).collect();
        Ok(PointsFile::Points(points))
    }
}

/// The lines that are not comments, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Whether the first line contains the column names of a table of measurements.
fn is_table(text: &str) -> bool {
    let Some((_, head)) = lines(text).next() else { return false };
    let has = |wanted: &str| head.split(',').any(|name| name.trim() == wanted);
    has("users") && !has("timeStamp")
}

/// The cells of a line, each with its column number from 1.
fn cells(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 1;
    line.split(',').map(move |cell| {
        let begins = at + cell.chars().take_while(|c| c.is_whitespace()).count();
        at += cell.chars().count() + 1;
        (begins, cell.trim())
    })
}

/// The measurements in a CSV table, each with its line number.
fn from_csv(text: &str) -> Result<Vec<(usize, LoadPoint)>, CapacityError> {
    let mut lines = lines(text);
    let (head_line, head) = lines.next().unwrap_or((1, ""));
    let columns: Vec<&str> = cells(head).map(|(_, name)| name).collect();
    if let Some(missing) = ["users", "throughput_per_s"].iter().find(|wanted| !columns.contains(wanted)) {
        return Err(format!("{head_line}:1: there is no column {missing}; example:\n\n{EXAMPLE}").into());
    }
    let mut points = Vec::new();
    for (number, line) in lines {
        let row: Vec<(usize, &str)> = cells(line).collect();
        if row.len() != columns.len() {
            let found = row.len();
            return Err(
                format!("{number}:1: {found} columns, but the first line has {}", columns.len()).into()
            );
        }
        let mut point = LoadPoint::default();
        for (name, (at, cell)) in columns.iter().zip(row) {
            set(&mut point, name, cell)
                .map_err(|problem| format!("{number}:{at}: column {name}: {problem}"))?;
        }
        points.push((number, point));
    }
    if points.is_empty() {
        return Err(format!("{head_line}:1: there is no measurement after the first line").into());
    }
    Ok(points)
}

/// Sets a value of a measurement from the cell of a column. An empty cell means that the value is unknown.
fn set(point: &mut LoadPoint, name: &str, cell: &str) -> Result<(), CapacityError> {
    let field = FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| *field);
    if field == Some(Field::Name) {
        cell.clone_into(&mut point.name);
        return Ok(());
    }
    if cell.is_empty() {
        return match field {
            Some(Field::Users | Field::Throughput) => Err("it must not be empty".into()),
            _ => Ok(()),
        };
    }
    let value: f64 = cell.parse().map_err(|_| format!("{cell:?} is not a number"))?;
    if !value.is_finite() || value < 0.0 {
        return Err(format!("{cell} must be a number of at least 0").into());
    }
    set_value(point, field, name, value)
}

fn set_value(
    point: &mut LoadPoint,
    field: Option<Field>,
    name: &str,
    value: f64,
) -> Result<(), CapacityError> {
    match field {
        Some(Field::Name) => {}
        Some(Field::Users) => point.users = value,
        Some(Field::Throughput) => point.throughput_per_s = value,
        Some(Field::ResponseMs) => point.response_s = Some(value / 1e3),
        Some(Field::ResponseS) => point.response_s = Some(value),
        Some(Field::ThinkMs) => point.think_s = Some(value / 1e3),
        Some(Field::ThinkS) => point.think_s = Some(value),
        Some(Field::ThroughputError) => point.throughput_error = Some(value),
        Some(Field::ResponseErrorMs) => point.response_error_s = Some(value / 1e3),
        Some(Field::ErrorShare) if value > 1.0 => {
            return Err(format!(
                "{value} is not a share from 0 to 1; for per cent, use the column error_percent"
            )
            .into());
        }
        Some(Field::ErrorShare) => point.error_share = Some(value),
        Some(Field::ErrorPercent) => point.error_share = Some(value / 100.0),
        Some(Field::Seconds) => point.seconds = Some(value),
        Some(Field::InSystem) => point.in_system = Some(value),
        None => point.utilization.push(utilization(name, value)?),
    }
    Ok(())
}

/// The utilization of a resource. Every column that is not a known field contains the utilization of a resource with its name.
pub(crate) fn utilization(name: &str, value: f64) -> Result<Utilization, CapacityError> {
    let percent = name.strip_suffix("_percent");
    let share = if percent.is_some() { value / 100.0 } else { value };
    // A value slightly above 1 is accepted and reported as a finding. A much larger value has another unit or is not a
    // utilization.
    if share > 2.0 {
        let known = FIELDS.iter().map(|(known, _)| *known).find(|known| is_near(known, name));
        return Err(match known {
            Some(known) => format!("{name} is not a column of measurements; did you mean {known}?").into(),
            None => format!(
                "{value} is not a utilization from 0 to 1; for per cent, name the column {name}_percent (unknown columns are \
                 utilizations of resources)"
            ).into(),
        });
    }
    Ok(Utilization { resource: percent.unwrap_or(name).to_owned(), share })
}

/// Whether two names differ by one inserted, deleted or replaced letter.
fn is_near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same_front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let same_back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    a.len().abs_diff(b.len()) <= 1 && same_front + same_back + 1 >= a.len().max(b.len())
}

/// A table of measurements in TOML: `[[point]]` entries whose keys are the column names of CSV, and
/// `utilization = { cpu = 0.4 }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlFile {
    #[serde(rename = "point")]
    points: Vec<toml::Spanned<TomlPoint>>,
    /// The think time of points without a think time of their own.
    think_ms: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlPoint {
    #[serde(default)]
    name: String,
    users: f64,
    throughput_per_s: f64,
    response_ms: Option<f64>,
    think_ms: Option<f64>,
    throughput_se: Option<f64>,
    response_se_ms: Option<f64>,
    errors: Option<f64>,
    seconds: Option<f64>,
    in_system: Option<f64>,
    #[serde(default)]
    utilization: BTreeMap<String, f64>,
}

/// The measurements in a TOML file, each with its line number.
fn from_toml(text: &str) -> Result<Vec<(usize, LoadPoint)>, CapacityError> {
    let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let file: TomlFile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = &text[..at.min(text.len())];
        let line = line_of(at);
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{line}:{column}: {}", error.message())
    })?;
    file.points
        .into_iter()
        .map(|point| {
            let line = line_of(point.span().start);
            let point = point.into_inner();
            let ms = |value: Option<f64>| value.map(|value| value / 1e3);
            let utilization = point
                .utilization
                .iter()
                .map(|(name, share)| utilization(name, *share))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|problem| format!("{line}:1: {problem}"))?;
            let point = LoadPoint {
                name: point.name,
                users: point.users,
                throughput_per_s: point.throughput_per_s,
                response_s: ms(point.response_ms),
                throughput_error: point.throughput_se,
                response_error_s: ms(point.response_se_ms),
                think_s: ms(point.think_ms.or(file.think_ms)),
                error_share: point.errors,
                seconds: point.seconds,
                in_system: point.in_system,
                utilization,
            };
            Ok((line, point))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_may_have_empty_cells_comments_and_resources() {
        let text = "# made elsewhere\nusers, throughput_per_s, response_ms, errors, cpu_percent\n50,135.49,64,0,80\n500,127,,0.03,\n";
        assert!(is_table(text));
        let points: Vec<LoadPoint> = from_csv(text).unwrap().into_iter().map(|(_, point)| point).collect();
        assert_eq!((points[0].users, points[0].response_s), (50.0, Some(0.064)));
        assert_eq!(points[0].utilization_of("cpu"), Some(0.8));
        assert_eq!((points[1].response_s, points[1].error_share), (None, Some(0.03)));
        assert!(points[1].utilization.is_empty());
    }

    #[test]
    fn errors_have_a_position() {
        for (text, wrong) in [
            ("users,throughput_per_s\n50,x\n", "2:4: column throughput_per_s: \"x\" is not a number"),
            ("users,throughput_per_s\n50\n", "2:1: 1 columns, but the first line has 2"),
            ("users,throughput_per_s\n,5\n", "2:1: column users: it must not be empty"),
            ("users,throughput_per_s\n", "1:1: there is no measurement after the first line"),
            (
                "users,throughput_per_s,respnse_ms\n1,2,64\n",
                "2:5: column respnse_ms: respnse_ms is not a column of measurements; did you mean response_ms?",
            ),
            (
                "users,throughput_per_s,errors\n1,2,3\n",
                "2:5: column errors: 3 is not a share from 0 to 1; for per cent, use the column error_percent",
            ),
        ] {
            assert_eq!(from_csv(text).unwrap_err().to_string(), wrong);
        }
        assert!(
            from_csv("users,x\n1,1\n")
                .unwrap_err()
                .to_string()
                .starts_with("1:1: there is no column throughput_per_s")
        );
        assert!(!is_table("timeStamp,elapsed,users\n") && !is_table(""));
    }

    #[test]
    fn toml_files_are_parsed() {
        let text = "think_ms = 700\n[[point]]\nusers = 50\nthroughput_per_s = 135.49\nresponse_ms = 64\nutilization = { cpu = 0.8 }\n";
        let points = from_toml(text).unwrap();
        let (line, point) = &points[0];
        assert_eq!((*line, point.think_s, point.utilization_of("cpu")), (2, Some(0.7), Some(0.8)));
        let wrong = from_toml("[[point]]\nusers = 50\nthroughput = 1\n").unwrap_err().to_string();
        assert!(wrong.starts_with("3:1: unknown field `throughput`"), "{wrong}");
    }
}
