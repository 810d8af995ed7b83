use proptest::prelude::*;

use super::*;

/// Builds a file of counters.
struct FileBuilder {
    is_big: bool,
    entries: Vec<Vec<u8>>,
}

impl FileBuilder {
    fn new(is_big: bool) -> FileBuilder {
        FileBuilder { is_big, entries: Vec::new() }
    }

    fn int(&self, value: i32) -> [u8; 4] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn entry(&mut self, name: &str, kind: u8, vector: i32, value: &[u8]) {
        let value_at = (20 + name.len() + 1).next_multiple_of(8);
        let length = (value_at + value.len()).next_multiple_of(8);
        let as_i32 = |size: usize| i32::try_from(size).expect("small");
        let mut entry = Vec::new();
        entry.extend(self.int(as_i32(length)));
        entry.extend(self.int(20));
        entry.extend(self.int(vector));
        entry.extend([kind, 1, 2, 3]);
        entry.extend(self.int(as_i32(value_at)));
        entry.extend(name.as_bytes());
        entry.resize(value_at, 0);
        entry.extend(value);
        entry.resize(length, 0);
        self.entries.push(entry);
    }

    fn long(&mut self, name: &str, value: i64) {
        let bytes = if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.entry(name, b'J', 0, &bytes);
    }

    fn text(&mut self, name: &str, value: &str) {
        let mut bytes = value.as_bytes().to_vec();
        bytes.push(0);
        let vector = i32::try_from(bytes.len()).expect("small");
        self.entry(name, b'B', vector, &bytes);
    }

    fn build(&self) -> Vec<u8> {
        let mut file =
            if self.is_big { vec![0xca, 0xfe, 0xc0, 0xc0, 0] } else { vec![0xc0, 0xc0, 0xfe, 0xca, 1] };
        file.extend([2, 0, 1]);
        file.extend([0; 16]);
        file.extend(self.int(32));
        file.extend(self.int(i32::try_from(self.entries.len()).expect("small")));
        file.extend(self.entries.iter().flatten());
        file
    }
}

fn sample(is_big: bool) -> Vec<u8> {
    let mut builder = FileBuilder::new(is_big);
    builder.long("a.long", -7);
    builder.text("a.text", "Überlauf \"x\"");
    builder.entry("a.vector", b'J', 2, &[0; 16]);
    builder.long("a.long", 8);
    builder.build()
}

#[test]
fn both_byte_orders_are_read() {
    for is_big in [false, true] {
        let file = sample(is_big);
        let index = CounterIndex::parse(&file).expect("a valid file");
        assert_eq!(index.long_of(&file, "a.long"), Some(-7), "the first of two entries with the same name");
        assert_eq!(index.text_of(&file, "a.text").as_deref(), Some("Überlauf \"x\""));
        assert_eq!(index.long_of(&file, "a.text"), None);
        assert_eq!(index.text_of(&file, "a.long"), None);
        assert_eq!(index.find("a.vector"), None);
        assert_eq!(index.unsupported(), 1);
        let units: Vec<_> =
            index.counters().map(|(_, counter)| (counter.unit(), counter.variability())).collect();
        assert_eq!(units, [(CounterUnit::Bytes, Variability::Variable); 3]);
        assert!(index.describes(&file));
        assert_eq!(index.long(&file[..100], index.find("a.text").expect("known")), None);
        assert_eq!(index.text_of(&file[..100], "a.text"), None);
    }
}

#[test]
fn an_index_notices_new_entries() {
    let mut builder = FileBuilder::new(false);
    builder.long("a", 1);
    let index = CounterIndex::parse(&builder.build()).expect("a valid file");
    builder.long("b", 2);
    assert!(!index.describes(&builder.build()));
    assert!(!index.describes(b""));
}

#[test]
fn damaged_files_are_refused_with_the_place() {
    let parse = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = sample(false);
        change(&mut file);
        CounterIndex::parse(&file).expect_err("a damaged file")
    };
    assert_eq!(parse(&|file| file.truncate(31)), CounterFileError::NoHeader { bytes: 31 });
    assert_eq!(parse(&|file| file[0] = 0), CounterFileError::NotCounters);
    assert_eq!(parse(&|file| file[4] = 2), CounterFileError::ByteOrder(2));
    assert_eq!(parse(&|file| file[5] = 1), CounterFileError::Version { major: 1, minor: 0 });
    assert_eq!(parse(&|file| file[7] = 0), CounterFileError::NotReady);
    let stated = |file: &mut Vec<u8>, entries: i32| file[28..32].copy_from_slice(&entries.to_le_bytes());
    assert_eq!(parse(&|file| stated(file, -1)), CounterFileError::TooManyEntries { stated: -1 });
    assert_eq!(parse(&|file| stated(file, i32::MAX)), CounterFileError::TooManyEntries { stated: i32::MAX });
    let end = sample(false).len();
    assert_eq!(
        parse(&|file| stated(file, 5)),
        CounterFileError::Entry { entry: 4, offset: end, detail: EntryDamage::Length }
    );
    let first = |detail| CounterFileError::Entry { entry: 0, offset: 32, detail };
    assert_eq!(parse(&|file| file[32..36].fill(0)), first(EntryDamage::Length));
    assert_eq!(parse(&|file| file[32..36].fill(0xff)), first(EntryDamage::Length));
    assert_eq!(
        parse(&|file| file[36..40].copy_from_slice(&100_000_i32.to_le_bytes())),
        first(EntryDamage::Name)
    );
    assert_eq!(
        parse(&|file| file[48..52].copy_from_slice(&1_000_i32.to_le_bytes())),
        first(EntryDamage::Value)
    );
    assert_eq!(
        parse(&|file| file[24..28].fill(0)),
        CounterFileError::Entry { entry: 0, offset: 24, detail: EntryDamage::Length }
    );
}

#[test]
fn a_file_with_as_many_entries_as_permitted_is_read() {
    let mut builder = FileBuilder::new(false);
    for number in 0..ENTRIES_MAX {
        builder.long(&format!("counter.{number}"), i64::try_from(number).expect("small"));
    }
    let file = builder.build();
    let index = CounterIndex::parse(&file).expect("a valid file");
    assert_eq!(index.long_of(&file, "counter.19999"), Some(19_999));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(30), failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn damaged_bytes_never_panic(changes in prop::collection::vec((0_usize..400, any::<u8>()), 1..8), length in 0_usize..400) {
        let mut file = sample(false);
        let original = CounterIndex::parse(&file).expect("a valid file");
        for (at, byte) in changes {
            if let Some(place) = file.get_mut(at) {
                *place = byte;
            }
        }
        file.truncate(length.max(40));
        for index in [Some(original), CounterIndex::parse(&file).ok()].into_iter().flatten() {
            for (id, counter) in index.counters() {
                let value = index.value(&file, id);
                prop_assert!(counter.name().len() <= 3 * file.len().max(400));
                if let Some(CounterValue::Text(text)) = value {
                    prop_assert!(text.len() <= 3 * file.len());
                }
            }
        }
    }
}
