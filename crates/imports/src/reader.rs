//! Reads the samples of a file in any format.

use std::io::Read;

use crate::error::ImportError;
use crate::form::{SampleForm, SampleFormat};
use crate::gatling_binary::GatlingBinary;
use crate::gatling_text::GatlingText;
use crate::k6_csv::K6Csv;
use crate::k6_json::K6Json;
use crate::oha_csv::OhaCsv;
use crate::sample::{ImportNotes, ImportedSample, Step};
use crate::vegeta_csv::VegetaCsv;
use crate::vegeta_json::VegetaJson;

/// Reads the samples of a file one at a time.
pub struct SampleReader<R>(Format<R>);

enum Format<R> {
    K6Json(K6Json<R>),
    K6Csv(K6Csv<R>),
    VegetaJson(VegetaJson<R>),
    VegetaCsv(VegetaCsv<R>),
    GatlingText(GatlingText<R>),
    GatlingBinary(GatlingBinary<R>),
    OhaCsv(OhaCsv<R>),
}

impl<R: Read> SampleReader<R> {
    /// A reader of `input`, which begins with the bytes from which `form` was detected.
    pub fn new(form: SampleForm, input: R) -> SampleReader<R> {
        SampleReader(match form.format {
            SampleFormat::K6Json => Format::K6Json(K6Json::new(input)),
            SampleFormat::K6Csv => Format::K6Csv(K6Csv::new(input)),
            SampleFormat::VegetaJson => Format::VegetaJson(VegetaJson::new(input)),
            SampleFormat::VegetaCsv => Format::VegetaCsv(VegetaCsv::new(input)),
            SampleFormat::GatlingText => Format::GatlingText(GatlingText::new(input)),
            SampleFormat::GatlingBinary => Format::GatlingBinary(GatlingBinary::new(input)),
            SampleFormat::OhaCsv => Format::OhaCsv(OhaCsv::new(input)),
        })
    }

    /// Reads the next sample into `sample`.
    ///
    /// # Errors
    /// The file cannot be read any further.
    pub fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        match &mut self.0 {
            Format::K6Json(reader) => reader.read(sample),
            Format::K6Csv(reader) => reader.read(sample),
            Format::VegetaJson(reader) => reader.read(sample),
            Format::VegetaCsv(reader) => reader.read(sample),
            Format::GatlingText(reader) => reader.read(sample),
            Format::GatlingBinary(reader) => reader.read(sample),
            Format::OhaCsv(reader) => reader.read(sample),
        }
    }

    /// The contents of the file other than samples, up to the current position.
    #[must_use]
    pub fn notes(&self) -> ImportNotes {
        match &self.0 {
            Format::K6Json(reader) => reader.state.notes,
            Format::K6Csv(reader) => reader.state.notes,
            Format::VegetaJson(_)
            | Format::VegetaCsv(_)
            | Format::GatlingText(_)
            | Format::GatlingBinary(_)
            | Format::OhaCsv(_) => ImportNotes::default(),
        }
    }
}
