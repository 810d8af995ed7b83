//! Invariants of the readers of result files, for any bytes.

use std::io::{self, Read};

use busyhour_results::{
    AggregateSettings, BAD_ROWS_LISTED_MAX, ReadSettings, ReplayedRun, Results, ResultsError, ResultsFrom,
    ResultsInput,
};
use busyhour_sample::SampleKind;

/// Returns bytes in small pieces, so that buffers end anywhere in rows and tags.
struct SmallPieces {
    bytes: Vec<u8>,
    at: usize,
    piece: usize,
}

impl Read for SmallPieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = self.piece.min(buffer.len()).min(self.bytes.len() - self.at);
        buffer[..piece].copy_from_slice(&self.bytes[self.at..self.at + piece]);
        self.at += piece;
        Ok(piece)
    }
}

fn read(bytes: &[u8], piece: usize, all_columns: bool) -> Result<ReplayedRun, ResultsError> {
    let stream = SmallPieces { bytes: bytes.to_vec(), at: 0, piece };
    let input = ResultsInput { name: "fuzz".into(), from: ResultsFrom::Stream(Box::new(stream)) };
    let settings = ReadSettings { all_columns, ..ReadSettings::default() };
    Results::open(vec![input], &settings)?.add_up(&AggregateSettings::default(), |_| {}, &mut |_| {})
}

/// Checks the invariants for `bytes` in any format.
pub fn check(bytes: &[u8]) {
    let whole = read(bytes, usize::MAX, false);
    let pieces = read(bytes, 7, true);
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => {
            check_totals(whole);
            // The second reader reads all columns, so it may reject rows that the first one accepts.
            assert!(whole.inputs[0].bad_rows <= pieces.inputs[0].bad_rows);
            if whole.inputs[0].bad_rows == pieces.inputs[0].bad_rows {
                assert_eq!(whole.totals.total.samples, pieces.totals.total.samples);
                assert_eq!(whole.totals.total.response.sum_ns, pieces.totals.total.response.sum_ns);
                assert_eq!(whole.inputs[0].cut_at, pieces.inputs[0].cut_at);
            }
        }
        (Err(error), Err(_)) => {
            assert!(!error.source.to_string().is_empty());
        }
        (Ok(whole), Err(error)) => {
            // In this case, every row is damaged in a column that the first reader skips.
            let message = error.source.to_string();
            assert!(whole.inputs[0].samples > 0 && message.contains("cannot be read"), "{message}");
        }
        (Err(error), Ok(_)) => panic!("only the reader of fewer columns fails: {}", error.source),
    }
}

fn check_totals(replay: &ReplayedRun) {
    let totals = &replay.totals;
    let requests = totals.labels.iter().filter(|label| label.kind == SampleKind::Request);
    let (samples, times) = requests.fold((0, 0), |(samples, times), label| {
        (samples + label.totals.samples, times + label.totals.response.count())
    });
    assert_eq!((samples, times), (totals.total.samples, totals.total.response.count()));
    let heat =
        totals.heat.iter().flat_map(|heat| &heat.columns).flatten().map(|(_, count)| count).sum::<u64>();
    assert_eq!(heat, times);
    let ended = totals.seconds.iter().map(|second| second.requests).sum::<u64>();
    assert_eq!(ended, samples);
    assert!(totals.seconds.is_sorted_by(|a, b| a.second < b.second));
    let response = &totals.total.response;
    for share in [0.0, 0.5, 0.95, 1.0] {
        let quantile = response.quantile_ms(share);
        assert!(quantile >= response.min_ms() && quantile <= response.max_ms());
    }
    let facts = &replay.inputs[0];
    assert_eq!(facts.first_bad.len() as u64, facts.bad_rows.min(BAD_ROWS_LISTED_MAX as u64));
    assert!(facts.ends.is_none_or(|(first, last)| first <= last));
}
