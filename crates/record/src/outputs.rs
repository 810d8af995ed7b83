//! The output files of a run.

use std::path::Path;

use busyhour_sample::{Aggregator, Detail, Labels, RecorderEvent, Sample, SampleFlags, UserChange};

use crate::columns::{ColumnsFormat, CustomColumns};
use crate::csv_row::RowFormat;
use crate::error::RecordError;
use crate::histogram_log::HistogramLog;
use crate::output_file::OutputFile;
use crate::pipe::PipeRelease;
use crate::recorder_config::{RecorderConfig, ResultFileConfig, SampleFilter};
use crate::run_dir::{HISTOGRAMS, SAMPLES};
use crate::samples_file::{FileNames, SamplesFile};
use crate::xml::{self, XmlFormat};

/// All outputs of a run. An error of one output does not affect the others.
pub(crate) struct Outputs {
    samples: Option<SamplesFile>,
    histograms: Option<HistogramLog>,
    files: Vec<ResultFile>,
    /// The main log, if there is one, followed by the listeners.
    sinks: Vec<Sink>,
    /// For each value of [`Sample::listeners`]: the indices of its sinks in `sinks`, including the main log.
    sets: Vec<Vec<usize>>,
    /// For each writer: the sinks of its last sample, which also receive the sample's sub-results.
    last_sinks: Vec<Vec<usize>>,
    /// Number of the current sample, which is compared with [`ResultFile::last`].
    number: u64,
    events: Vec<RecorderEvent>,
}

/// A result file. Two listeners with the same file name share it.
struct ResultFile {
    file: OutputFile,
    /// The text at the end of the file, in the format of the sink that opened it.
    end: Vec<u8>,
    /// Number of the last sample in the file. It ensures that a sample is written only once, as in JMeter.
    last: u64,
    autoflush: bool,
}

/// A listener or the main log, with its format and filter.
struct Sink {
    file: usize,
    format: Format,
    labels: Labels,
    filter: SampleFilter,
    /// Whether this is the main log (`-l`), not a listener.
    main: bool,
}

/// The row format of a sink.
enum Format {
    Csv(RowFormat),
    Xml(XmlFormat),
    Columns(ColumnsFormat, Box<CustomColumns>),
}

impl Outputs {
    pub(crate) fn open(config: &RecorderConfig) -> Result<Outputs, RecordError> {
        let (mut samples, mut histograms) = (None, None);
        if let Some(dir) = &config.dir {
            let names = FileNames { names: config.names.clone(), wall_anchor_ms: config.wall_anchor_ms };
            let path = dir.join(SAMPLES);
            let made = SamplesFile::create(&path, &names, config.labels.clone());
            samples = Some(made.map_err(|source| RecordError { path, source })?);
            let path = dir.join(HISTOGRAMS);
            let made = HistogramLog::create(&path, config.wall_anchor_ms);
            histograms = Some(made.map_err(|source| RecordError { path, source })?);
        }
        let mut outputs = Outputs {
            samples,
            histograms,
            files: Vec::new(),
            sinks: Vec::new(),
            sets: Vec::new(),
            last_sinks: Vec::new(),
            number: 0,
            events: Vec::new(),
        };
        let mut main = None;
        if let Some(output) = &config.main {
            main = Some(outputs.sink(output, config, true)?);
        }
        let mut listeners = Vec::new();
        for output in &config.listeners {
            // An empty name means no file, as in JMeter.
            if output.path.as_os_str().is_empty() {
                listeners.push(None);
                continue;
            }
            listeners.push(match outputs.sink(output, config, false) {
                Ok(sink) => Some(sink),
                Err(RecordError { path, source }) => {
                    let (file, error) = (path.display().to_string(), source.to_string());
                    outputs.events.push(RecorderEvent::NotOpened { file, error });
                    None
                }
            });
        }
        let set = |indices: &Vec<usize>| {
            let wanted = indices.iter().filter_map(|at| listeners.get(*at).copied().flatten());
            main.into_iter().chain(wanted).collect()
        };
        outputs.sets = config.listener_sets.iter().map(set).collect();
        if outputs.sets.is_empty() {
            outputs.sets.push(main.into_iter().collect());
        }
        outputs.last_sinks = vec![Vec::with_capacity(outputs.sinks.len()); config.writers.max(1)];
        Ok(outputs)
    }

    fn sink(
        &mut self,
        output: &ResultFileConfig,
        config: &RecorderConfig,
        main: bool,
    ) -> Result<usize, RecordError> {
        let failed = |source| RecordError { path: output.path.clone(), source };
        let (labels, save) = (config.labels.clone(), output.config.clone());
        let format = if let Some(file) = save.columns {
            Format::Columns(ColumnsFormat::new(&file, &config.names, config.wall_anchor_ms), file)
        } else if save.xml {
            Format::Xml(XmlFormat::new(save, &config.names, labels, config.wall_anchor_ms))
        } else {
            Format::Csv(RowFormat::new(save, &config.names, labels, config.wall_anchor_ms))
        };
        let same = self.files.iter().position(|other| same_file(other.file.name().as_ref(), &output.path));
        let file = if let Some(file) = same {
            file
        } else {
            let file = open(output, &format, &config.pipes).map_err(failed)?;
            let mut end = Vec::new();
            match &format {
                Format::Csv(_) => {}
                Format::Xml(_) => xml::tail(&mut end),
                Format::Columns(_, file) => end.extend_from_slice(file.tail().as_bytes()),
            }
            self.files.push(ResultFile { file, end, last: 0, autoflush: output.config.autoflush });
            self.files.len() - 1
        };
        let labels = config.labels.clone();
        self.sinks.push(Sink { file, format, labels, filter: output.filter, main });
        Ok(self.sinks.len() - 1)
    }

    /// Writes `sample` to its sinks.
    pub(crate) fn sample(&mut self, writer: usize, sample: &Sample<'_>, detail: Option<&Detail>) {
        if self.sinks.is_empty() {
            return;
        }
        self.number += 1;
        let Some(last_sinks) = self.last_sinks.get_mut(writer) else { return };
        if sample.flags.contains(SampleFlags::SUB_RESULT)
            || sample.flags.contains(SampleFlags::TRANSACTION_CHILD)
        {
            for at in last_sinks.iter() {
                let sink = &mut self.sinks[*at];
                // In XML, sub-results are inside their parent's element.
                if let Format::Csv(rows) = &sink.format
                    && rows.config().subresults
                {
                    sink.write(&mut self.files, self.number, sample, detail);
                }
            }
            return;
        }
        last_sinks.clear();
        let set = self.sets.get(sample.listeners as usize).or(self.sets.first());
        let listeners_only = sample.flags.contains(SampleFlags::LISTENERS_ONLY);
        // An unknown set is treated as the empty set, so that at least the main log contains the sample.
        for at in set.into_iter().flatten() {
            let sink = &mut self.sinks[*at];
            let wanted = match sink.filter {
                SampleFilter::All => true,
                SampleFilter::Errors => !sample.outcome.success,
                SampleFilter::Successes => sample.outcome.success,
            };
            if wanted && !(listeners_only && sink.main) {
                sink.write(&mut self.files, self.number, sample, detail);
                last_sinks.push(*at);
            }
        }
    }

    /// Writes a batch with `samples` samples to `samples.bhs`.
    pub(crate) fn batch(&mut self, writer: usize, batch: &[u8], samples: u64) {
        if let Some(file) = &mut self.samples {
            file.batch(writer, batch, samples);
        }
    }

    /// Writes packed arrivals to `samples.bhs`.
    pub(crate) fn arrivals(&mut self, writer: usize, packed: &[u8]) {
        if let Some(file) = &mut self.samples {
            file.arrivals(writer, packed);
        }
    }

    /// Writes changes of the number of active users to `samples.bhs`.
    pub(crate) fn users(&mut self, writer: usize, changes: &[UserChange]) {
        if let Some(file) = &mut self.samples {
            file.users(writer, changes);
        }
    }

    /// Writes the histograms of the seconds that are complete.
    pub(crate) fn histograms(&mut self, aggregator: &mut Aggregator) {
        while let Some(second) = aggregator.next_closed() {
            if let Some(log) = &mut self.histograms {
                log.second(&second, aggregator);
            }
            aggregator.recycle(second);
        }
    }

    pub(crate) fn failed(&mut self, error: String) {
        self.events.push(RecorderEvent::Failed { error });
    }

    fn output_files(&self) -> impl Iterator<Item = &OutputFile> {
        let samples = self.samples.iter().map(SamplesFile::file);
        let histograms = self.histograms.iter().map(HistogramLog::file);
        samples.chain(histograms).chain(self.files.iter().map(|result| &result.file))
    }

    pub(crate) fn events(&self) -> usize {
        self.events.len() + self.output_files().filter(|file| file.failed()).count()
    }

    pub(crate) fn flush(&mut self) {
        if let Some(samples) = &mut self.samples {
            samples.flush();
        }
        if let Some(histograms) = &mut self.histograms {
            histograms.flush();
        }
        for result in &mut self.files {
            result.file.flush();
        }
    }

    pub(crate) fn finish(&mut self) -> Vec<RecorderEvent> {
        for result in self.files.iter_mut().filter(|result| !result.end.is_empty()) {
            result.file.unit().extend_from_slice(&result.end);
            result.file.end_unit(0);
        }
        self.flush();
        let mut events = std::mem::take(&mut self.events);
        events.extend(self.output_files().filter_map(OutputFile::event));
        events
    }
}

impl Sink {
    fn write(&mut self, files: &mut [ResultFile], number: u64, sample: &Sample<'_>, detail: Option<&Detail>) {
        let result = &mut files[self.file];
        if result.last == number {
            return;
        }
        result.last = number;
        match &mut self.format {
            Format::Csv(rows) => {
                rows.row(sample, detail.map_or("", |detail| &detail.file_name), result.file.unit());
            }
            Format::Xml(elements) => elements.element(sample, detail, result.file.unit()),
            Format::Columns(rows, _) => match detail {
                Some(detail) => rows.row(sample, detail, result.file.unit()),
                None => rows.row(sample, &Detail::of_sample(sample, &self.labels), result.file.unit()),
            },
        }
        result.file.end_unit(1);
        if result.autoflush {
            result.file.flush();
        }
    }
}

/// Opens a result file: continues an existing file, or writes the start of a new one.
fn open(output: &ResultFileConfig, format: &Format, pipes: &PipeRelease) -> std::io::Result<OutputFile> {
    match format {
        Format::Csv(rows) => open_csv(output, rows, pipes),
        Format::Columns(_, columns) => {
            let mut file = OutputFile::open_result(&output.path, !columns.overwrite, pipes)?;
            file.unit().extend_from_slice(columns.head().as_bytes());
            file.end_unit(0);
            Ok(file)
        }
        Format::Xml(_) => open_xml(output, pipes),
    }
}

/// Opens a file of rows: continues an existing file, or writes the line of column names of a new one.
pub(crate) fn open_csv(
    output: &ResultFileConfig,
    rows: &RowFormat,
    pipes: &PipeRelease,
) -> std::io::Result<OutputFile> {
    let had_rows = output.path.exists();
    let mut file = OutputFile::open_result(&output.path, true, pipes)?;
    if !had_rows && output.config.field_names {
        rows.header(file.unit());
        file.end_unit(0);
    }
    Ok(file)
}

/// Opens an XML file: continues an existing file, or writes the start of a new one.
pub(crate) fn open_xml(output: &ResultFileConfig, pipes: &PipeRelease) -> std::io::Result<OutputFile> {
    let continued = xml::continued(&output.path)?;
    let mut file = OutputFile::open_result(&output.path, continued, pipes)?;
    if !continued {
        xml::head(&output.config, file.unit());
        file.end_unit(0);
    }
    Ok(file)
}

/// Whether two paths refer to the same file.
fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
