//! Gatling's `simulation.log` up to version 3.12: records with tabs between their fields.
//!
//! The fields of a request differ between versions. All have, one after the other, the groups, the name, the start, the end, the
//! status and the message.

use std::io::Read;

use crate::error::{BadLine, ImportError};
use crate::lines::Lines;
use crate::sample::{ImportedSample, Step};
use crate::stamps::whole_ns;

/// Maximum number of fields of a record; further fields are ignored.
const FIELDS_MAX: usize = 64;

pub(crate) struct GatlingText<R> {
    lines: Lines<R>,
    /// Number of active users. Later records of a user's start and end change it.
    users: u32,
}

impl<R: Read> GatlingText<R> {
    pub(crate) fn new(input: R) -> GatlingText<R> {
        GatlingText { lines: Lines::new(input), users: 0 }
    }

    pub(crate) fn read(&mut self, sample: &mut ImportedSample) -> Result<Step, ImportError> {
        while self.lines.next()? {
            let text = self.lines.text();
            let fields: Vec<&[u8]> = text.split(|byte| *byte == b'\t').take(FIELDS_MAX).collect();
            match fields[0] {
                b"REQUEST" => {}
                b"USER" => {
                    if fields.contains(&&b"START"[..]) {
                        self.users = self.users.saturating_add(1);
                    } else if fields.contains(&&b"END"[..]) {
                        self.users = self.users.saturating_sub(1);
                    }
                    continue;
                }
                _ => continue,
            }
            return Ok(match (take(text, &fields, self.lines.number(), sample), self.lines.cut_at()) {
                (Ok(()), _) => {
                    sample.users = self.users;
                    Step::Sample
                }
                (Err(_), Some(at)) => Step::End { cut_at: Some(at) },
                (Err(bad), None) => Step::Bad(bad),
            });
        }
        Ok(Step::End { cut_at: None })
    }
}

/// Reads a request. Its status is the first field `OK` or `KO` after two times.
fn take(line: &[u8], fields: &[&[u8]], number: u64, sample: &mut ImportedSample) -> Result<(), BadLine> {
    let ms = |at: usize| fields.get(at).and_then(|field| whole_ns(field, 1_000_000));
    let is_status = |at: &usize| matches!(fields[*at], b"OK" | b"KO");
    let status = (4..fields.len()).filter(is_status).find(|at| ms(at - 2).is_some() && ms(at - 1).is_some());
    let Some(status) = status else {
        return Err(BadLine::new(number, 0, "REQUEST", line, "has no start, end and status"));
    };
    let (start_ns, end_ns) = (ms(status - 2).unwrap_or(0), ms(status - 1).unwrap_or(0));
    let Ok(duration_ns) = u64::try_from(end_ns - start_ns) else {
        let column = fields[..status - 1].iter().map(|field| field.len() + 1).sum();
        return Err(BadLine::new(number, column, "end", fields[status - 1], "is before the start"));
    };
    sample.clear();
    sample.start_ns = start_ns;
    sample.duration_ns = duration_ns;
    let groups = String::from_utf8_lossy(fields[status - 4]);
    for group in groups.split(',').filter(|group| !group.is_empty()) {
        sample.label.push_str(group);
        sample.label.push_str(" / ");
    }
    sample.label.push_str(&String::from_utf8_lossy(fields[status - 3]));
    sample.success = fields[status] == b"OK";
    let message = fields.get(status + 1).copied().unwrap_or_default().trim_ascii();
    sample.message.push_str(&String::from_utf8_lossy(message));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<ImportedSample>, Vec<String>, bool) {
        let mut reader = GatlingText::new(text.as_bytes());
        let (mut samples, mut bad, mut sample) = (Vec::new(), Vec::new(), ImportedSample::default());
        loop {
            match reader.read(&mut sample).unwrap() {
                Step::Sample => samples.push(sample.clone()),
                Step::Bad(line) => bad.push(line.to_string()),
                Step::End { cut_at } => return (samples, bad, cut_at.is_some()),
            }
        }
    }

    #[test]
    fn requests_of_all_versions_are_read() {
        let text = "RUN\tShop\tshop\t1793527200000\t \t3.11.5\nUSER\tBuy\tSTART\t1793527200001\n\
                    REQUEST\tCheckout,Pay\tcard\t1793527200010\t1793527200035\tKO\tstatus was 503\n\
                    USER\tBuy\tEND\t1793527200040\nREQUEST\t\tlist\t1793527200050\t1793527200051\tOK\t \n\
                    REQUEST\t7\t\told\t1793527200060\t1793527200061\tOK\t \n\
                    REQUEST\tBuy\t7\t\tolder\t1793527200070\t1793527200071\tOK\t\textra\n\
                    GROUP\tCheckout\t1793527200010\t1793527200035\t25\tKO\n";
        let (samples, bad, is_cut) = read(text);
        let found: Vec<_> = samples
            .iter()
            .map(|sample| {
                (sample.label.as_str(), sample.duration_ns / 1_000_000, sample.success, sample.users)
            })
            .collect();
        let expected = [
            ("Checkout / Pay / card", 25, false, 1),
            ("list", 1, true, 0),
            ("old", 1, true, 0),
            ("older", 1, true, 0),
        ];
        assert_eq!((found, bad.len(), is_cut), (expected.to_vec(), 0, false));
        assert_eq!((samples[0].message.as_str(), samples[1].message.as_str()), ("status was 503", ""));
        assert_eq!(samples[0].start_ns, 1_793_527_200_010_000_000);
    }

    #[test]
    fn a_bad_record_is_named() {
        let (_, bad, is_cut) = read("REQUEST\t\ta\tx\t2\tOK\t \nREQUEST\t\ta\t5\t3\tOK\t \nREQUEST\t\ta\t5");
        assert!(is_cut);
        assert_eq!(
            bad[0],
            "line 1, column 1: REQUEST \"REQUEST\\t\\ta\\tx\\t2\\tOK\\t \" has no start, end and status"
        );
        assert_eq!(bad[1], "line 2, column 14: end \"3\" is before the start");
    }
}
