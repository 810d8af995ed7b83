//! The records that agents make. Equal parameters have equal records.

use std::io::Write as _;

/// Size of a field with its name and separators, at most, in bytes; only for the capacity of the buffer.
const FIELD_BYTES: usize = 42;

/// Renders records as JSON.
pub(super) fn render(fields: u32, records: u32) -> Vec<u8> {
    let count = u64::from(fields) * u64::from(records);
    let capacity = usize::try_from(count).unwrap_or_default().saturating_mul(FIELD_BYTES);
    let mut out = Vec::with_capacity(capacity + 64);
    // Writing to a vector cannot fail.
    let _ = write!(out, "{{\"numRecords\":{records},\"numFields\":{fields},\"records\":[");
    for record in 1..=records {
        out.extend_from_slice(if record == 1 { b"{" } else { b",{" });
        for field in 1..=fields {
            let comma = if field == 1 { "" } else { "," };
            let noise = mix(u64::from(record) << 32 | u64::from(field));
            let _ = write!(out, "{comma}\"field{field}\":\"{record:04}-{field:04}-{noise:016x}\"");
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    out
}

/// A number without a pattern that compression could use (the output function of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_json_with_the_requested_numbers() {
        for (fields, records) in [(1, 1), (5, 5), (40, 3), (100, 100)] {
            let value: serde_json::Value = serde_json::from_slice(&render(fields, records)).unwrap();
            assert_eq!((&value["numRecords"], &value["numFields"]), (&records.into(), &fields.into()));
            let rows = value["records"].as_array().unwrap();
            assert_eq!(rows.len(), records as usize);
            assert!(rows.iter().all(|row| row.as_object().unwrap().len() == fields as usize));
        }
    }

    /// The page docs/lab-broker.md has these sizes.
    #[test]
    fn contents_and_sizes_do_not_change() {
        let small = String::from_utf8(render(2, 1)).unwrap();
        let expected = "{\"numRecords\":1,\"numFields\":2,\"records\":[{\"field1\":\"0001-0001-";
        assert!(small.starts_with(expected), "{small}");
        let sizes = [5, 10, 20, 40].map(|number| render(number, number).len());
        assert_eq!(sizes, [1_002, 3_874, 15_504, 62_164]);
        assert_eq!(crc32fast::hash(&render(40, 40)), 2_093_837_752);
    }
}
