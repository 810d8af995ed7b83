//! `histograms.hlog`: histograms of service and response times, one for each second, kind of sample and label, in the interval
//! log format of HdrHistogram.
//!
//! Values are microseconds. The tag of a line is `service/` or `response/`, then `request/` or `transaction/`, then
//! the label. In labels, bytes that a tag cannot contain are written as `%XX`. Histograms of one tag can be merged
//! over seconds, runs and machines; all `request/` tags together are the total of the run.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use busyhour_sample::{Aggregator, RowSecond, SampleKind, Second, new_histogram};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::output_file::OutputFile;

pub(crate) struct HistogramLog {
    file: OutputFile,
    service: Histogram<u64>,
    response: Histogram<u64>,
    serializer: V2DeflateSerializer,
    bytes: Vec<u8>,
    text: String,
    /// The tags, by index of the aggregator's row.
    tags: Vec<Option<String>>,
}

impl HistogramLog {
    pub(crate) fn create(path: &Path, wall_anchor_ms: i64) -> io::Result<HistogramLog> {
        let mut file = OutputFile::open(path, false)?;
        let start_s = wall_anchor_ms as f64 / 1e3;
        let head = format!(
            "#[Histogram log format version 1.3]\n\
             #[StartTime: {start_s:.3} (seconds since epoch)]\n\
             #[MaxValueDivisor: 1000.0]\n\
             #Values in microseconds, maxima in milliseconds; start stamps in seconds since StartTime.\n\
             \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
        );
        file.unit().extend_from_slice(head.as_bytes());
        file.end_unit(0);
        Ok(HistogramLog {
            file,
            service: new_histogram(),
            response: new_histogram(),
            serializer: V2DeflateSerializer::new(),
            bytes: Vec::new(),
            text: String::new(),
            tags: Vec::new(),
        })
    }

    /// Appends the histograms of a second.
    pub(crate) fn second(&mut self, second: &Second, aggregator: &Aggregator) {
        for (row, RowSecond { times, .. }) in second.rows.iter().enumerate() {
            if times.is_empty() {
                continue;
            }
            self.service.reset();
            self.response.reset();
            fill(times, &mut self.service, &mut self.response);
            self.name(row, aggregator);
            self.line(second.number, row, true);
            self.line(second.number, row, false);
        }
    }

    fn name(&mut self, row: usize, aggregator: &Aggregator) {
        if self.tags.len() <= row {
            self.tags.resize(row + 1, None);
        }
        if self.tags[row].is_none() {
            self.tags[row] = aggregator.row_name(row).map(|(label, kind)| tag(&label, kind));
        }
    }

    fn line(&mut self, second: u64, row: usize, service: bool) {
        let (clock, histogram) =
            if service { ("service", &self.service) } else { ("response", &self.response) };
        self.bytes.clear();
        // Writing to memory does not fail, and the counts are far below the limits of the format, so an error cannot occur.
        if self.serializer.serialize(histogram, &mut self.bytes).is_err() {
            return;
        }
        self.text.clear();
        STANDARD.encode_string(&self.bytes, &mut self.text);
        let tag = self.tags[row].as_deref().unwrap_or_default();
        let max_ms = histogram.max() as f64 / 1e3;
        let line = format!("Tag={clock}/{tag},{second}.000,1.000,{max_ms:.3},");
        let out = self.file.unit();
        out.extend_from_slice(line.as_bytes());
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'\n');
        self.file.end_unit(1);
    }

    pub(crate) fn flush(&mut self) {
        self.file.flush();
    }

    pub(crate) const fn file(&self) -> &OutputFile {
        &self.file
    }
}

/// The part of a tag after `service/` or `response/`.
fn tag(label: &str, kind: SampleKind) -> String {
    let mut tag = String::from(match kind {
        SampleKind::Request => "request/",
        SampleKind::Transaction => "transaction/",
        SampleKind::SubResult => "sub_result/",
    });
    for c in label.chars() {
        if c.is_whitespace() || c.is_control() || c == ',' || c == '%' {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                tag.push_str(&format!("%{byte:02X}"));
            }
        } else {
            tag.push(c);
        }
    }
    tag
}

/// Adds `times` (service and response time in µs) to the two histograms.
fn fill(times: &[(u64, u64)], service: &mut Histogram<u64>, response: &mut Histogram<u64>) {
    for (s, r) in times {
        // Recording cannot fail because the histograms resize themselves.
        let _ = service.record(*s);
        let _ = response.record(*r);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_of_tags_are_escaped() {
        assert_eq!(tag("a b,c%", SampleKind::Request), "request/a%20b%2Cc%25");
        assert_eq!(tag("č", SampleKind::Transaction), "transaction/č");
    }
}
