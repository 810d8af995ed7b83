//! The bytes of one source: lines, envelopes, and the entries of its streams.

use crate::access::DurationUnit;
use crate::entries::{Entry, EntryReader, LineContext};
use crate::envelopes::{Envelope, LogStream, Unwrapped, Unwrapper};
use crate::lines::{LINE_BYTES_MAX, LineSplitter, cut};
use crate::stamps::{StampSettings, Zone};

/// Maximum number of streams of a source whose entries are read at the same time. A journal has one per process.
const STREAMS_MAX: usize = 64;

/// Numbers of lines of a source.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineCounts {
    pub(super) lines: u64,
    pub(super) truncated: u64,
    pub(super) unreadable: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Source {
    lines: LineSplitter,
    pub(super) streams: Streams,
}

#[derive(Debug, Clone)]
pub(super) struct Streams {
    settings: StampSettings,
    duration_unit: Option<DurationUnit>,
    unwrapper: Option<Unwrapper>,
    pub(super) open: Vec<OpenStream>,
    uses: u64,
    unreadable: u64,
    /// Number of lines that arrived in parts and were cut because they are too long.
    truncated: u64,
}

#[derive(Debug, Clone)]
pub(super) struct OpenStream {
    stream: LogStream<'static>,
    entries: EntryReader,
    /// The parts of an incomplete line that have arrived.
    partial: String,
    /// Whether parts of the incomplete line were discarded because it is too long.
    is_cut: bool,
    last_use: u64,
}

impl Source {
    pub(super) fn new(
        settings: StampSettings,
        duration_unit: Option<DurationUnit>,
        envelope: Option<Envelope>,
    ) -> Source {
        let streams = Streams {
            settings,
            duration_unit,
            unwrapper: envelope.map(Unwrapper::new),
            open: Vec::new(),
            uses: 0,
            unreadable: 0,
            truncated: 0,
        };
        Source { lines: LineSplitter::new(), streams }
    }

    pub(super) fn read(&mut self, bytes: &[u8], mut emit: impl FnMut(&Entry<'_>)) -> LineCounts {
        let (streams, mut lines) = (&mut self.streams, 0);
        let before = (self.lines.truncated_lines() + streams.truncated, streams.unreadable);
        self.lines.push(bytes, |line| {
            lines += 1;
            streams.push(line, &mut emit);
        });
        let truncated = self.lines.truncated_lines() + streams.truncated - before.0;
        LineCounts { lines, truncated, unreadable: streams.unreadable - before.1 }
    }

    pub(super) fn complete_entries(&mut self, mut emit: impl FnMut(&Entry<'_>)) {
        for open in &mut self.streams.open {
            open.entries.finish(&mut emit);
        }
    }

    /// Sets the zone of stamps without an offset.
    pub(super) fn set_zone(&mut self, zone: Zone) {
        let streams = &mut self.streams;
        streams.settings.zone = Some(zone);
        for open in &mut streams.open {
            open.entries.set_stamps(streams.settings.clone());
        }
    }

    pub(super) fn end(&mut self, mut emit: impl FnMut(&Entry<'_>)) -> LineCounts {
        let (streams, mut lines) = (&mut self.streams, 0);
        let before = streams.unreadable;
        self.lines.finish(|line| {
            lines += 1;
            streams.push(line, &mut emit);
        });
        let counts = LineCounts { lines, truncated: 0, unreadable: streams.unreadable - before };
        for mut open in streams.open.drain(..) {
            open.end(&mut emit);
        }
        counts
    }
}

impl Streams {
    fn push(&mut self, line: &str, emit: &mut impl FnMut(&Entry<'_>)) {
        let unwrapper = self.unwrapper.get_or_insert_with(|| Unwrapper::new(Envelope::detect(line)));
        let Ok(unwrapped) = unwrapper.unwrap(line) else {
            self.unreadable += u64::from(!line.is_empty());
            return;
        };
        let at = match self.open.iter().position(|open| open.stream == unwrapped.stream) {
            Some(at) => at,
            None => self.open_stream(&unwrapped.stream, emit),
        };
        self.uses += 1;
        self.open[at].last_use = self.uses;
        self.truncated += u64::from(self.open[at].push(&unwrapped, emit));
    }

    /// Opens a stream. If [`STREAMS_MAX`] are open, the least recently used one is ended.
    fn open_stream(&mut self, stream: &LogStream<'_>, emit: &mut impl FnMut(&Entry<'_>)) -> usize {
        if self.open.len() >= STREAMS_MAX
            && let Some((oldest, _)) = self.open.iter().enumerate().min_by_key(|(_, open)| open.last_use)
        {
            self.open.swap_remove(oldest).end(emit);
        }
        self.open.push(OpenStream {
            stream: stream.to_owned_stream(),
            entries: EntryReader::new(self.settings.clone(), self.duration_unit),
            partial: String::new(),
            is_cut: false,
            last_use: 0,
        });
        self.open.len() - 1
    }
}

impl OpenStream {
    /// Adds a line or a part of one; returns whether this completes a line that was cut because it is too long.
    fn push(&mut self, unwrapped: &Unwrapped<'_>, emit: &mut impl FnMut(&Entry<'_>)) -> bool {
        let context =
            LineContext { received_unix_ns: unwrapped.received_unix_ns, severity: unwrapped.severity };
        if !unwrapped.is_partial && self.partial.is_empty() {
            self.push_text(&unwrapped.text, context, emit);
            return false;
        }
        let room = LINE_BYTES_MAX.saturating_sub(self.partial.len());
        let kept = cut(&unwrapped.text, room);
        self.partial.push_str(kept);
        self.is_cut |= kept.len() < unwrapped.text.len();
        if unwrapped.is_partial {
            return false;
        }
        let line = std::mem::take(&mut self.partial);
        self.push_text(&line, context, emit);
        self.partial = line;
        self.partial.clear();
        std::mem::take(&mut self.is_cut)
    }

    fn push_text(&mut self, text: &str, context: LineContext, emit: &mut impl FnMut(&Entry<'_>)) {
        match memchr::memchr(b'\n', text.as_bytes()) {
            None => self.entries.push(text, context, emit),
            Some(_) => self.entries.push_record(text, context, emit),
        }
    }

    fn end(&mut self, emit: &mut impl FnMut(&Entry<'_>)) {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.push_text(&line, LineContext::default(), emit);
        }
        self.entries.finish(emit);
    }
}
