//! The grouping accuracy of templates on the labelled samples of logpai/loghub, with one setting for all.
//!
//! The samples are not part of the repository. With a checkout of github.com/logpai/loghub:
//!
//! ```text
//! BUSYHOUR_LOGHUB=PATH cargo test -p busyhour-logs --test grouping_accuracy -- --nocapture
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use busyhour_logs::{EntryReader, LineContext, StampSettings, TemplateMiner, Zone};

/// The samples, with the accuracy of Drain as published with a setting for each of them (logpai/logparser,
/// `logparser/Drain/README.md`); their mean is 0.865.
const PUBLISHED: [(&str, f64); 16] = [
    ("Android", 0.911),
    ("Apache", 1.0),
    ("BGL", 0.9625),
    ("HDFS", 0.9975),
    ("HPC", 0.887),
    ("Hadoop", 0.9475),
    ("HealthApp", 0.78),
    ("Linux", 0.69),
    ("Mac", 0.7865),
    ("OpenSSH", 0.7875),
    ("OpenStack", 0.7325),
    ("Proxifier", 0.5265),
    ("Spark", 0.92),
    ("Thunderbird", 0.955),
    ("Windows", 0.997),
    ("Zookeeper", 0.9665),
];

/// The mean accuracy that the miner must reach if its input is the messages without their headers.
const REQUIRED_MEAN: f64 = 0.865;

fn folder() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles/loghub");
    let named = option_env!("BUSYHOUR_LOGHUB").map(PathBuf::from);
    named.into_iter().chain([shared]).find(|folder| folder.join("Apache/Apache_2k.log").exists())
}

/// The fields of a CSV file with quotes.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field).trim_end_matches('\r').to_owned());
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    if !row.is_empty() || !field.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

/// The message and the label of each line of a sample.
fn labelled(folder: &Path, name: &str) -> Vec<(String, String)> {
    let path = folder.join(name).join(format!("{name}_2k.log_structured.csv"));
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let rows = csv_rows(&text);
    let column = |name: &str| rows[0].iter().position(|heading| heading == name).unwrap();
    let (content, event) = (column("Content"), column("EventId"));
    rows[1..].iter().map(|row| (row[content].clone(), row[event].clone())).collect()
}

/// The share of lines whose group consists of exactly the lines of one label (Zhu et al., "Tools and benchmarks for automated log
/// parsing", ICSE-SEIP 2019).
fn grouping_accuracy(groups: &[Option<usize>], labels: &[&str]) -> f64 {
    let mut of_label: HashMap<&str, usize> = HashMap::new();
    let mut of_group: HashMap<Option<usize>, HashMap<&str, usize>> = HashMap::new();
    for (group, label) in groups.iter().zip(labels) {
        *of_label.entry(label).or_default() += 1;
        *of_group.entry(*group).or_default().entry(label).or_default() += 1;
    }
    let correct = of_group.values().filter(|labels| labels.len() == 1).flatten();
    let lines: usize =
        correct.filter(|(label, lines)| of_label[*label] == **lines).map(|(_, lines)| lines).sum();
    lines as f64 / labels.len() as f64
}

/// The group of each line if the miner reads the messages without their headers, as published programs do.
fn groups_of_messages(messages: &[(String, String)]) -> Vec<Option<usize>> {
    let mut miner = TemplateMiner::default();
    messages.iter().map(|(message, _)| miner.add(message).map(|id| id.index())).collect()
}

/// The group of each line if this crate finds the message in the line. Each line is read as an entry, because the labels are per
/// line.
fn groups_of_lines(folder: &Path, name: &str) -> Vec<Option<usize>> {
    let bytes = std::fs::read(folder.join(name).join(format!("{name}_2k.log"))).unwrap();
    let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 1_700_000_000_000_000_000 };
    let (mut reader, mut miner, mut groups) =
        (EntryReader::new(stamps, None), TemplateMiner::default(), Vec::new());
    for line in String::from_utf8_lossy(&bytes).lines() {
        let before = groups.len();
        reader.push(line, LineContext::default(), |_| {});
        reader.finish(|entry| groups.push(miner.add(entry.message).map(|id| id.index())));
        assert_eq!(groups.len(), before + 1, "{name}: {line}");
    }
    groups
}

#[test]
fn the_mean_grouping_accuracy_is_that_of_published_drain_or_better() {
    let mut out = std::io::stderr();
    let Some(folder) = folder() else {
        let text = "SKIPPED: the samples of logpai/loghub were not found; set BUSYHOUR_LOGHUB to the path of a checkout\n";
        out.write_all(text.as_bytes()).unwrap();
        return;
    };
    let mut table = format!("{:<12} {:>9} {:>9} {:>9}\n", "sample", "messages", "lines", "published");
    let (mut of_messages, mut of_lines) = (0.0, 0.0);
    for (name, published) in PUBLISHED {
        let rows = labelled(&folder, name);
        assert_eq!(rows.len(), 2_000, "{name}");
        let labels: Vec<&str> = rows.iter().map(|(_, label)| label.as_str()).collect();
        let messages = grouping_accuracy(&groups_of_messages(&rows), &labels);
        let lines = grouping_accuracy(&groups_of_lines(&folder, name), &labels);
        of_messages += messages / 16.0;
        of_lines += lines / 16.0;
        let _ = writeln!(table, "{name:<12} {messages:>9.4} {lines:>9.4} {published:>9.4}");
    }
    let published: f64 = PUBLISHED.iter().map(|(_, accuracy)| accuracy / 16.0).sum();
    let _ = writeln!(table, "{:<12} {of_messages:>9.4} {of_lines:>9.4} {published:>9.4}", "mean");
    out.write_all(table.as_bytes()).unwrap();
    assert!(of_messages >= REQUIRED_MEAN, "{of_messages}");
}

#[test]
fn the_accuracy_is_the_share_of_lines_whose_group_equals_their_label() {
    let groups = [Some(0), Some(0), Some(1), Some(2), Some(3)];
    assert_eq!(grouping_accuracy(&groups, &["a", "a", "b", "b", "c"]), 3.0 / 5.0);
    assert_eq!(grouping_accuracy(&groups, &["a", "b", "c", "d", "e"]), 3.0 / 5.0);
}
