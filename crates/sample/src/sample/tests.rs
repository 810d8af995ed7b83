use proptest::prelude::*;

use super::*;

/// The owned parts of a sample.
type Parts = ((u16, u32, u32, u32), [u64; 9], [u32; 5], Vec<String>, Vec<String>);

fn parts() -> impl Strategy<Value = Parts> {
    let text = prop_oneof![Just(String::from("OK")), Just("200".into()), "\\PC{0,40}", "[a-c]{1100}"];
    (
        any::<(u16, u32, u32, u32)>(),
        any::<[u64; 9]>(),
        any::<[u32; 5]>(),
        prop::collection::vec(text.clone(), 5),
        prop::collection::vec(text, 0..3),
    )
}

fn sample<'p>(parts: &'p Parts, variables: &'p [&'p str]) -> Sample<'p> {
    let ((flags, label, group, user), n, m, texts, _) = parts;
    Sample {
        flags: SampleFlags(*flags),
        times: SampleTimes {
            intended: Nanos(n[0]),
            start: Nanos(n[1]),
            end: Nanos(n[2]),
            connect_ns: n[3],
            latency_ns: n[4],
            idle_ns: n[5],
        },
        users: ActiveUsers { group: m[0], all: m[1] },
        label: LabelId(*label),
        group: *group,
        user: *user,
        sizes: SampleSizes::of_row(n[6], n[7]),
        outcome: SampleOutcome::new(&texts[0], &texts[1], n[8] & 8 != 0),
        content: SampleContent::new(DataType::from_bits(n[8] as u8 % 3), &texts[2]),
        sample_count: m[2],
        error_count: m[3],
        listeners: m[4],
        failure_message: &texts[3],
        url: &texts[4],
        variables,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packing_and_unpacking_gives_the_same(all in prop::collection::vec(parts(), 0..12)) {
        let variables: Vec<Vec<&str>> =
            all.iter().map(|parts| parts.4.iter().map(String::as_str).collect()).collect();
        let samples: Vec<Sample<'_>> = all.iter().zip(&variables).map(|(p, v)| sample(p, v)).collect();
        let mut encoder = Encoder::new();
        let mut bytes = Vec::new();
        for sample in &samples {
            let before = bytes.len();
            encoder.sample(&mut bytes, sample);
            prop_assert!(bytes.len() - before <= Encoder::size_max(sample));
        }
        let mut reader = BatchReader::new(&bytes);
        let mut brief = BatchReader::new(&bytes).without_texts();
        for sample in &samples {
            prop_assert_eq!(reader.next().unwrap(), Some(*sample));
            let numbers = brief.next().unwrap().unwrap();
            prop_assert!(numbers.url.is_empty() && numbers.variables.iter().all(|value| value.is_empty()));
            let Sample { failure_message, url, variables, .. } = *sample;
            let outcome = SampleOutcome { success: numbers.outcome.success, ..sample.outcome };
            let content = SampleContent { data_type: numbers.content.data_type, ..sample.content };
            prop_assert_eq!(Sample { outcome, content, failure_message, url, variables, ..numbers }, *sample);
        }
        prop_assert_eq!(reader.next().unwrap(), None);
        prop_assert_eq!(brief.next().unwrap(), None);
    }

    #[test]
    fn random_bytes_give_an_error_or_valid_values(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut reader = BatchReader::new(&bytes);
        while let Ok(Some(_)) = reader.next() {}
        let mut brief = BatchReader::new(&bytes).without_texts();
        while let Ok(Some(_)) = brief.next() {}
    }
}

#[test]
fn an_owned_sample_equals_the_original() {
    let parts = (
        (1, 2, 3, 4),
        [5, 6, 7, 8, 9, 10, 11, 12, 9],
        [13, 14, 15, 16, 17],
        ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
        Vec::new(),
    );
    let sample = sample(&parts, &["f", "g"]);
    assert!(sample.to_owned_sample().with(|owned| *owned == sample));
}

#[test]
fn sizes_add_up_without_overflow() {
    let mut sizes = SampleSizes::new(1, 2, 3);
    sizes += SampleSizes::new(4, u64::MAX, 5);
    assert_eq!(sizes, SampleSizes::new(5, u64::MAX, 8));
    assert_eq!((sizes.bytes(), SampleSizes::of_row(7, 8).bytes()), (u64::MAX, 7));
}

#[test]
fn a_reset_outcome_is_the_default_and_keeps_small_buffers() {
    let (small, large) = ("a".repeat(10), "b".repeat(100));
    let mut outcome = SampleOutcome::new(small, large, true);
    outcome.reset(50);
    assert_eq!(outcome, SampleOutcome::default());
    assert!(outcome.code.capacity() >= 10 && outcome.message.capacity() == 0);
    let mut content = SampleContent::new(DataType::Text, String::from("UTF-8"));
    content.reset(50);
    assert_eq!(content, SampleContent::default());
}
