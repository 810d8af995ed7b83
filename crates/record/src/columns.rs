//! Files with a list of columns from the plan: the Flexible File Writer of jmeter-plugins.

use busyhour_sample::{Detail, RunNames, Sample};

/// The settings of a file with a list of columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomColumns {
    /// Names of fields and literal texts, separated by `|`.
    pub columns: String,
    /// Text at the start of the file.
    pub header: String,
    /// Text at the end of the file.
    pub footer: String,
    /// Whether an existing file is overwritten.
    pub overwrite: bool,
}

/// One piece of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
    Variable(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Successful,
    Failed,
    Start,
    End,
    StartSeconds,
    EndSeconds,
    SamplerDataLength,
    BodyLength,
    Elapsed,
    ElapsedMicros,
    Latency,
    LatencyMicros,
    Connect,
    Code,
    Message,
    Thread,
    Label,
    SamplerData,
    Body,
    ResponseHeaders,
    RequestHeaders,
    UsersAll,
    UsersGroup,
    Samples,
    Errors,
    HeaderBytes,
    BodyBytes,
    Url,
}

/// The plugin's names of fields, including its misspelling `isSuccsessful`.
const FIELDS: [(&str, Field); 28] = [
    ("isSuccsessful", Field::Successful),
    ("startTime", Field::Start),
    ("endTime", Field::End),
    ("sentBytes", Field::SamplerDataLength),
    ("receivedBytes", Field::BodyLength),
    ("responseTime", Field::Elapsed),
    ("latency", Field::Latency),
    ("responseCode", Field::Code),
    ("responseMessage", Field::Message),
    ("isFailed", Field::Failed),
    ("threadName", Field::Thread),
    ("sampleLabel", Field::Label),
    ("startTimeMillis", Field::StartSeconds),
    ("endTimeMillis", Field::EndSeconds),
    ("responseTimeMicros", Field::ElapsedMicros),
    ("latencyMicros", Field::LatencyMicros),
    ("requestData", Field::SamplerData),
    ("responseData", Field::Body),
    ("responseHeaders", Field::ResponseHeaders),
    ("threadsCount", Field::UsersAll),
    ("requestHeaders", Field::RequestHeaders),
    ("connectTime", Field::Connect),
    ("grpThreads", Field::UsersGroup),
    ("sampleCount", Field::Samples),
    ("errorCount", Field::Errors),
    ("responseHeaderSize", Field::HeaderBytes),
    ("responseSize", Field::BodyBytes),
    ("URL", Field::Url),
];

impl CustomColumns {
    /// Whether rows contain the response body or need its length.
    #[must_use]
    pub fn shows_body(&self) -> bool {
        self.shows(&[Field::Body, Field::BodyLength])
    }

    /// Whether rows contain the response headers.
    #[must_use]
    pub fn shows_response_headers(&self) -> bool {
        self.shows(&[Field::ResponseHeaders])
    }

    /// Whether rows contain request headers or sampler data.
    #[must_use]
    pub fn shows_request(&self) -> bool {
        self.shows(&[Field::RequestHeaders, Field::SamplerData, Field::SamplerDataLength])
    }

    fn shows(&self, fields: &[Field]) -> bool {
        pieces(&self.columns)
            .iter()
            .any(|piece| matches!(piece, Piece::Field(field) if fields.contains(field)))
    }

    /// The start of the file.
    pub(crate) fn head(&self) -> String {
        unescaped(&self.header)
    }

    /// The end of the file.
    pub(crate) fn tail(&self) -> String {
        unescaped(&self.footer)
    }
}

/// Replaces the escapes `\t`, `\n`, `\r` and `\\`.
fn unescaped(text: &str) -> String {
    text.replace("\\\\", "\0")
        .replace("\\t", "\t")
        .replace("\\n", "\n")
        .replace("\\r", "\r")
        .replace('\0', "\\")
}

fn pieces(columns: &str) -> Vec<Piece> {
    let columns = unescaped(columns);
    // Bars at the end are ignored. An empty column between two bars is written as a literal bar.
    let cut = columns.trim_end_matches('|');
    let piece = |chunk: &str| {
        if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == chunk) {
            return Piece::Field(*field);
        }
        match chunk.strip_prefix("variable#").and_then(|number| number.parse().ok()) {
            Some(number) => Piece::Variable(number),
            None => Piece::Text(if chunk.is_empty() { "|".into() } else { chunk.to_owned() }),
        }
    };
    cut.split('|').map(piece).collect()
}

/// The format of rows, prepared for one run.
pub(crate) struct ColumnsFormat {
    pieces: Vec<Piece>,
    groups: Vec<String>,
    variables: usize,
    wall_anchor_ms: i64,
}

impl ColumnsFormat {
    pub(crate) fn new(file: &CustomColumns, names: &RunNames, wall_anchor_ms: i64) -> ColumnsFormat {
        ColumnsFormat {
            pieces: pieces(&file.columns),
            groups: names.groups.iter().map(|group| format!("{} {}-", group.name, group.number)).collect(),
            variables: names.variables.len(),
            wall_anchor_ms,
        }
    }

    /// Appends the row of a sample.
    pub(crate) fn row(&self, sample: &Sample<'_>, detail: &Detail, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Variable(number) if *number >= self.variables => {
                    out.extend_from_slice(format!("UNDEFINED_variable#{number}").as_bytes());
                }
                Piece::Variable(number) => {
                    let value = sample.variables.get(*number).copied().filter(|value| *value != "null");
                    out.extend_from_slice(value.unwrap_or_default().as_bytes());
                }
                Piece::Field(field) => self.field(*field, sample, detail, out),
            }
        }
    }

    fn field(&self, field: Field, sample: &Sample<'_>, detail: &Detail, out: &mut Vec<u8>) {
        let at_ms = |at: busyhour_sample::Nanos| self.wall_anchor_ms + (at.0 / 1_000_000) as i64;
        let ms = |ns: u64| (ns / 1_000_000) as i64;
        let seconds = |ms: i64| format!("{}.{:03}", ms / 1_000, ms % 1_000);
        let sent = detail.sampler_data.as_deref();
        let text = match field {
            Field::Body => return out.extend_from_slice(&detail.body),
            Field::Successful => u8::from(detail.outcome.success).to_string(),
            Field::Failed => u8::from(!detail.outcome.success).to_string(),
            Field::Start => at_ms(detail.times.start).to_string(),
            Field::End => at_ms(detail.times.end).to_string(),
            Field::StartSeconds => seconds(at_ms(detail.times.start)),
            Field::EndSeconds => seconds(at_ms(detail.times.end)),
            Field::SamplerDataLength => sent.map_or(0, |sent| sent.encode_utf16().count()).to_string(),
            Field::SamplerData => sent.unwrap_or("0").to_owned(),
            Field::BodyLength => detail.body.len().to_string(),
            Field::Elapsed => detail.times.elapsed_ms().to_string(),
            Field::ElapsedMicros => (detail.times.elapsed_ms() * 1_000).to_string(),
            Field::Latency => ms(detail.times.latency_ns).to_string(),
            Field::LatencyMicros => (ms(detail.times.latency_ns) * 1_000).to_string(),
            Field::Connect => ms(detail.times.connect_ns).to_string(),
            Field::Code => detail.outcome.code.clone(),
            Field::Message => detail.outcome.message.clone(),
            Field::Thread => match self.groups.get(sample.group as usize) {
                Some(group) => format!("{group}{}", sample.user),
                None => String::new(),
            },
            Field::Label => detail.label.clone(),
            Field::ResponseHeaders => detail.response_headers.clone(),
            Field::RequestHeaders => detail.request_headers.clone(),
            Field::UsersAll => detail.users.all.to_string(),
            Field::UsersGroup => detail.users.group.to_string(),
            Field::Samples => detail.sample_count.to_string(),
            Field::Errors => detail.error_count.to_string(),
            Field::HeaderBytes => detail.sizes.header_bytes.to_string(),
            Field::BodyBytes => detail.sizes.body_bytes.to_string(),
            Field::Url => detail.url.clone().unwrap_or_default(),
        };
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use busyhour_sample::GroupName;
    use busyhour_sample::{Nanos, SampleTimes};
    use busyhour_sample::{SampleOutcome, SampleSizes};

    #[test]
    fn unknown_names_are_literal_text() {
        let file = CustomColumns {
            columns: "sampleLabel|\\t|isSuccsessful|isSuccessful||startTimeMillis|;|responseTime|variable#0|variable#1|responseSize|\\r\\n|"
                .into(),
            ..CustomColumns::default()
        };
        let names = RunNames {
            groups: vec![GroupName { name: "g".into(), number: 1 }],
            variables: vec!["v".into()],
            ..RunNames::default()
        };
        let detail = Detail {
            label: "l".into(),
            times: SampleTimes {
                start: Nanos::from_millis(7),
                end: Nanos::from_millis(19),
                ..SampleTimes::default()
            },
            outcome: SampleOutcome { success: true, ..SampleOutcome::default() },
            sizes: SampleSizes::new(10, 20, 0),
            ..Detail::default()
        };
        let mut out = Vec::new();
        let sample = Sample { variables: &["x"], ..Sample::default() };
        ColumnsFormat::new(&file, &names, 1_700_000_000_000).row(&sample, &detail, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "l\t1isSuccessful|1700000000.007;12xUNDEFINED_variable#120\r\n"
        );
        assert!(!file.shows_body() && !file.shows_request());
        assert_eq!(unescaped("a\\\\tb\\tc"), "a\\tb\tc");
    }
}
