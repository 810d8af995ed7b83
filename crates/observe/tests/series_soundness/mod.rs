//! Properties of the reader of series files that hold for any bytes. The fuzz target `series` and a test with fixed seeds check
//! them.

use busyhour_sample::Nanos;
use busyhour_series::{SeriesEvent, SeriesFileError, SeriesQuery, SeriesReader, SeriesSet};

/// Reads the bytes as a series file: reading ends, results are bounded, and damage is reported at a position within the bytes.
pub fn check(bytes: &[u8]) {
    let mut values = 0usize;
    let mut series = 0usize;
    match SeriesReader::new(bytes) {
        Err(SeriesFileError::Io(error)) => panic!("reading from memory failed: {error}"),
        Err(_) => return,
        Ok(mut reader) => loop {
            match reader.next_event() {
                Ok(Some(SeriesEvent::Values { values: read, .. })) => {
                    assert!(
                        read.iter().all(|(number, value)| (*number as usize) < series && value.is_finite())
                    );
                    values += read.len();
                }
                Ok(Some(SeriesEvent::Series(_))) => series += 1,
                Ok(Some(_)) => {}
                Ok(None) => {
                    if let Some(end) = reader.damaged_end() {
                        assert!(end.at < bytes.len() as u64, "{end:?}");
                    }
                    break;
                }
                Err(SeriesFileError::Content { at, .. }) => {
                    assert!(at < bytes.len() as u64);
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        },
    }
    // A value takes at least two bytes of the file.
    assert!(values * 2 <= bytes.len(), "{values} values in {} bytes", bytes.len());
    let query = SeriesQuery { points_max: 4, ..SeriesQuery::default() };
    if let Ok(set) = SeriesSet::from_reader(bytes, &query) {
        for data in &set.series {
            assert!(data.points.len() <= 4);
            assert!(
                data.points.is_sorted_by(
                    |one, next| one.to < next.to || one.to == next.to && one.to == Nanos(u64::MAX)
                )
            );
            for point in &data.points {
                assert!(point.from <= point.to && point.min <= point.max, "{point:?}");
            }
        }
    }
}
