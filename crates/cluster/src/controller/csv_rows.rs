//! Deals the rows of CSV files to agents.

use std::collections::BTreeMap;

use busyhour_plan::Element;

use super::settings::CsvRows;

/// Why the rows of a file cannot be dealt.
const UNKNOWN: &str =
    "has settings that are only known during the run, or an encoding in which rows cannot be found";

/// How the rows of a CSV file are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowForm {
    /// Whether the first line contains names or is skipped, so that every agent needs it.
    pub(super) has_header: bool,
    /// Whether fields in quotation marks can contain line ends.
    pub(super) is_quoted: bool,
    pub(super) encoding: Encoding,
}

/// Maximum length in bytes of a text with the values of properties.
const KNOWN_MAX: usize = 1 << 16;

/// How line ends and quotation marks are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As in ASCII.
    Ascii,
    /// In two bytes. A byte order mark is a part of the text.
    Utf16 { is_big: bool },
    /// In two bytes, in the order of the byte order mark. Every part of the file needs it.
    MarkedUtf16,
}

impl Encoding {
    /// The encoding with this name; `None` if rows cannot be found in it.
    fn named(name: &str) -> Option<Encoding> {
        let name = name.trim().to_ascii_uppercase().replace('_', "-");
        match name.as_str() {
            "UTF-16" | "UTF16" => Some(Encoding::MarkedUtf16),
            "UTF-16LE" | "UTF-16-LE" | "X-UTF-16LE" | "UNICODELITTLEUNMARKED" => {
                Some(Encoding::Utf16 { is_big: false })
            }
            "UTF-16BE" | "UTF-16-BE" | "X-UTF-16BE" | "UNICODEBIGUNMARKED" => {
                Some(Encoding::Utf16 { is_big: true })
            }
            // Bytes of other characters can equal line ends or quotation marks.
            _ if ["UTF-16", "UTF-32", "UTF-7", "UNICODE", "UCS", "ISO-2022", "X-UTF", "IBM0", "CP0"]
                .iter()
                .any(|start| name.starts_with(start)) =>
            {
                None
            }
            _ => Some(Encoding::Ascii),
        }
    }
}

/// A CSV Data Set Config whose rows cannot be dealt, or could be used twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    /// The file name in the plan.
    pub(super) file: String,
    pub(super) reason: &'static str,
}

/// What happens with the rows of the CSV files of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowDeal {
    /// The files whose rows are dealt.
    pub(super) files: BTreeMap<String, RowForm>,
    /// With [`CsvRows::Unique`]: why rows could be used twice. Otherwise: why rows are not dealt although they should be.
    pub(super) doubts: Vec<Doubt>,
}

/// The settings of a CSV Data Set Config, as far as they are known before the run.
struct DataSet {
    file: Option<String>,
    is_recycled: Option<bool>,
    form: Option<RowForm>,
    /// `shareMode`; empty for all users.
    share_mode: Option<String>,
}

impl DataSet {
    fn of(element: &Element<'_>, properties: &BTreeMap<String, String>) -> DataSet {
        let text = |name: &str| known_text(element.text(name).unwrap_or_default(), properties);
        let flag = |name: &str, default: bool| {
            let text = text(name)?;
            Some(if text.trim().is_empty() { default } else { text.trim().eq_ignore_ascii_case("true") })
        };
        let form = || {
            let has_names = !text("variableNames")?.trim().is_empty();
            Some(RowForm {
                has_header: flag("ignoreFirstLine", false)? || !has_names,
                is_quoted: flag("quotedData", false)?,
                encoding: Encoding::named(&text("fileEncoding")?)?,
            })
        };
        let is_all = |mode: &String| mode == "shareMode.all";
        DataSet {
            file: text("filename").map(|file| file.trim().to_owned()),
            is_recycled: flag("recycle", true),
            form: form(),
            share_mode: text("shareMode").map(|mode| if is_all(&mode) { String::new() } else { mode }),
        }
    }

    /// Whether its rows are dealt, and how.
    fn deal(self, rows: CsvRows) -> Result<Option<(String, RowForm)>, &'static str> {
        let is_for_each_user = self.share_mode.as_deref() == Some("shareMode.thread");
        match rows {
            CsvRows::Copy => return Ok(None),
            // Without recycling, each user reads all rows for itself.
            CsvRows::UsedOnce if is_for_each_user || self.is_recycled == Some(true) => return Ok(None),
            CsvRows::Unique if self.is_recycled == Some(true) => {
                return Err("is read again after its end (Recycle on EOF)");
            }
            CsvRows::Unique if self.share_mode.as_deref() != Some("") => {
                return Err("is read from its start by each user or thread group (Sharing mode)");
            }
            CsvRows::Unique | CsvRows::UsedOnce | CsvRows::Split => {}
        }
        match (self.file, self.is_recycled, self.form) {
            (Some(file), Some(_), Some(form)) => Ok(Some((file, form))),
            _ => Err(UNKNOWN),
        }
    }
}

/// The text of a property of an element before the run; `None` if it contains an expression other than a property with `__P` or
/// `__property`.
fn known_text(text: &str, properties: &BTreeMap<String, String>) -> Option<String> {
    let (mut known, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("${") {
        let (expression, after) = rest[start + 2..].split_once('}')?;
        let (function, arguments) = expression.split_once('(')?;
        let arguments: Vec<&str> = arguments.strip_suffix(')')?.split(',').map(str::trim).collect();
        let (name, default) = match (function, &*arguments) {
            ("__P", [name]) => (name, Some("1")),
            ("__P", [name, default]) | ("__property", [name, "", default]) => (name, Some(*default)),
            ("__property", [name]) => (name, None),
            _ => return None,
        };
        let value = properties.get(*name).map(String::as_str).or(default)?;
        if [*name, value].iter().any(|text| text.contains(['$', '\\'])) || known.len() > KNOWN_MAX {
            return None;
        }
        known += &rest[..start];
        known += value;
        rest = after;
    }
    Some(known + rest)
}

/// The CSV files of a plan whose rows are dealt.
pub(super) fn dealt_files(plan: &str, rows: CsvRows, properties: &BTreeMap<String, String>) -> RowDeal {
    let (plan, _) = busyhour_plan::parse(plan.as_bytes(), "plan.jmx");
    let of_csv = |element: &Element<'_>| element.kind() == "CSVDataSet" && element.is_active();
    let mut deal = RowDeal::default();
    for element in plan.elements().filter(of_csv) {
        let Some(file) = element.text("filename").map(str::trim).filter(|file| !file.is_empty()) else {
            continue;
        };
        match DataSet::of(&element, properties).deal(rows) {
            Ok(Some((file, form))) => {
                deal.files.insert(file, form);
            }
            Ok(None) => {}
            Err(reason) => deal.doubts.push(Doubt { file: file.to_owned(), reason }),
        }
    }
    deal
}

/// The part of a file for agent number `part` of `of`: row i belongs to agent i modulo `of`.
pub(super) fn deal(contents: &[u8], form: RowForm, part: usize, of: usize) -> Vec<u8> {
    let mut dealt = Vec::with_capacity(contents.len() / of.max(1) + 256);
    let mut number = 0;
    let (mark, is_big) = match form.encoding {
        Encoding::MarkedUtf16 if contents.starts_with(&[0xff, 0xfe]) => (2, Some(false)),
        Encoding::MarkedUtf16 => (if contents.starts_with(&[0xfe, 0xff]) { 2 } else { 0 }, Some(true)),
        Encoding::Utf16 { is_big } => (0, Some(is_big)),
        Encoding::Ascii => (0, None),
    };
    let (mark, contents) = contents.split_at(mark);
    dealt.extend_from_slice(mark);
    for (at, row) in rows(contents, form.is_quoted, is_big).enumerate() {
        if at == 0 && form.has_header {
            dealt.extend_from_slice(row);
            continue;
        }
        if number % of.max(1) == part {
            dealt.extend_from_slice(row);
        }
        number += 1;
    }
    dealt
}

/// The rows of a file with their line ends. `is_big` is the order of bytes in encodings with two bytes.
fn rows(contents: &[u8], is_quoted: bool, is_big: Option<bool>) -> impl Iterator<Item = &[u8]> {
    let mut rest = contents;
    let width = if is_big.is_some() { 2 } else { 1 };
    let character = move |unit: &[u8]| match (unit, is_big) {
        ([byte], None) | ([0, byte], Some(true)) | ([byte, 0], Some(false)) => *byte,
        _ => 0,
    };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut is_inside = false;
        let end = rest.chunks(width).position(|unit| {
            let character = character(unit);
            // Two quotation marks inside a field change the state twice.
            is_inside ^= is_quoted && character == b'"';
            character == b'\n' && !is_inside
        });
        let (row, more) = rest.split_at(end.map_or(rest.len(), |end| (end + 1) * width));
        rest = more;
        Some(row)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_with_a_million_properties_is_read_in_bounded_time_and_memory() {
        let properties = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
        assert_eq!(known_text("x${__P(a)}-${__P(c,d)}y", &properties).as_deref(), Some("xb-dy"));
        assert_eq!(known_text(&"${__P(a)}".repeat(1_000_000), &properties), None);
        assert_eq!(known_text("x${__P(a)", &properties), None);
    }

    #[test]
    fn rows_are_dealt_in_turn_and_each_part_has_the_header() {
        let form = RowForm { has_header: true, is_quoted: true, encoding: Encoding::Ascii };
        let file = b"name,text\na,1\nb,\"two\nlines\"\nc,\"a \"\"q\"\" b\"\r\nd,4";
        assert_eq!(deal(file, form, 0, 2), b"name,text\na,1\nc,\"a \"\"q\"\" b\"\r\n");
        assert_eq!(deal(file, form, 1, 2), b"name,text\nb,\"two\nlines\"\nd,4");
        let plain = RowForm { has_header: false, is_quoted: false, encoding: Encoding::Ascii };
        assert_eq!(deal(b"a\n\"b\nc\n", plain, 1, 2), b"\"b\n");
        assert_eq!(deal(b"a\n", plain, 4, 5), b"");
    }

    /// Bytes of characters in UTF-16 can equal a line end: U+0A0A and U+220A are no ends of rows.
    #[test]
    fn rows_in_utf_16_are_dealt_as_a_whole() {
        let text = "name\n\u{a0a}1\n2\u{220a}\r\n\u{10a}3\n";
        let encode = |text: &str, is_big: bool| -> Vec<u8> {
            text.encode_utf16()
                .flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() })
                .collect()
        };
        for (name, is_big, mark) in [
            ("UTF-16LE", false, ""),
            ("UTF-16BE", true, ""),
            ("utf-16", false, "\u{feff}"),
            ("UTF-16", true, "\u{feff}"),
            ("UTF-16", true, ""),
        ] {
            let encoding = Encoding::named(name).unwrap();
            let form = RowForm { has_header: true, is_quoted: true, encoding };
            let file = encode(&format!("{mark}{text}"), is_big);
            let part = |number| deal(&file, form, number, 2);
            assert_eq!(part(0), encode(&format!("{mark}name\n\u{a0a}1\n\u{10a}3\n"), is_big), "{name}");
            assert_eq!(part(1), encode(&format!("{mark}name\n2\u{220a}\r\n"), is_big), "{name}");
        }
        assert_eq!(Encoding::named("ISO-2022-JP"), None);
        assert_eq!(Encoding::named("UTF-32"), None);
        assert_eq!(Encoding::named("windows-1252"), Some(Encoding::Ascii));
        let japanese = [("filename", "a.csv"), ("recycle", "false"), ("fileEncoding", "ISO-2022-JP")];
        assert_eq!(deal_of(&japanese, CsvRows::UsedOnce, &[]).doubts.len(), 1);
    }

    #[test]
    fn by_default_only_files_that_are_used_once_are_dealt() {
        let element = |file: &str, recycle: bool, names: &str| {
            format!(
                r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="x">
                <stringProp name="filename">{file}</stringProp><stringProp name="variableNames">{names}</stringProp>
                <boolProp name="recycle">{recycle}</boolProp><boolProp name="quotedData">true</boolProp></CSVDataSet><hashTree/>"#
            )
        };
        let plan = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
            {}{}</hashTree></hashTree></jmeterTestPlan>"#,
            element("once.csv", false, ""),
            element("again.csv", true, "a,b")
        );
        let files = |rows| dealt_files(&plan, rows, &BTreeMap::new()).files.into_iter().collect::<Vec<_>>();
        let once =
            ("once.csv".to_owned(), RowForm { has_header: true, is_quoted: true, encoding: Encoding::Ascii });
        let again = (
            "again.csv".to_owned(),
            RowForm { has_header: false, is_quoted: true, encoding: Encoding::Ascii },
        );
        assert_eq!(files(CsvRows::Split), [again, once.clone()]);
        assert_eq!(files(CsvRows::UsedOnce), [once]);
        assert!(files(CsvRows::Copy).is_empty());
    }

    /// A plan with one data set that has these properties.
    fn deal_of(settings: &[(&str, &str)], rows: CsvRows, properties: &[(&str, &str)]) -> RowDeal {
        let settings: String = settings
            .iter()
            .map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>"))
            .collect();
        let plan = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
            <CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="x">{settings}</CSVDataSet><hashTree/>
            </hashTree></hashTree></jmeterTestPlan>"#
        );
        let properties =
            properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        dealt_files(&plan, rows, &properties)
    }

    #[test]
    fn settings_have_the_values_of_the_run() {
        let again = [("filename", "a.csv"), ("recycle", "${__P(recycle,true)}")];
        assert_eq!(deal_of(&again, CsvRows::UsedOnce, &[]), RowDeal::default());
        let doubt = &deal_of(&again, CsvRows::Unique, &[]).doubts[0];
        assert_eq!(doubt.reason, "is read again after its end (Recycle on EOF)");
        let once = deal_of(&again, CsvRows::Unique, &[("recycle", "false")]);
        assert!(once.doubts.is_empty() && once.files.contains_key("a.csv"), "{once:?}");
        let named = [("filename", "${__P(f,data.csv)}"), ("recycle", "false")];
        let files =
            |properties: &[(&str, &str)]| deal_of(&named, CsvRows::UsedOnce, properties).files.into_keys();
        assert_eq!(files(&[]).collect::<Vec<_>>(), ["data.csv"]);
        assert_eq!(files(&[("f", "other.csv")]).collect::<Vec<_>>(), ["other.csv"]);
        for name in ["${file}", "${__P(f,data.csv)", "${__time()}.csv", "${__property(f)}"] {
            let deal = deal_of(&[("filename", name), ("recycle", "false")], CsvRows::UsedOnce, &[]);
            assert!(deal.files.is_empty(), "{deal:?}");
            assert_eq!(deal.doubts[0].reason, UNKNOWN);
        }
    }

    #[test]
    fn rows_that_several_users_read_are_not_unique() {
        let of_mode = |mode: &str, rows| {
            let deal =
                deal_of(&[("filename", "a.csv"), ("recycle", "false"), ("shareMode", mode)], rows, &[]);
            (deal.files.len(), deal.doubts.len())
        };
        for mode in ["shareMode.thread", "shareMode.group", "mine", "${mode}"] {
            assert_eq!(of_mode(mode, CsvRows::Unique), (0, 1), "{mode}");
        }
        assert_eq!(of_mode("shareMode.all", CsvRows::Unique), (1, 0));
        assert_eq!(of_mode("", CsvRows::Unique), (1, 0));
        assert_eq!(of_mode("shareMode.thread", CsvRows::UsedOnce), (0, 0));
        assert_eq!(of_mode("shareMode.thread", CsvRows::Split), (1, 0));
    }

    proptest! {
        #[test]
        fn all_parts_together_are_the_file(
            file in prop::collection::vec(prop::sample::select(b"ab,\"\n\r".to_vec()), 0..200),
            of in 1_usize..6,
            is_quoted: bool,
        ) {
            let form = RowForm { has_header: false, is_quoted, encoding: Encoding::Ascii };
            let mut parts: Vec<std::vec::IntoIter<Vec<u8>>> = (0..of)
                .map(|part| {
                    let dealt = deal(&file, form, part, of);
                    rows(&dealt, is_quoted, None).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter()
                })
                .collect();
            let mut together = Vec::new();
            for part in (0..of).cycle() {
                let Some(row) = parts[part].next() else { break };
                together.extend(row);
            }
            prop_assert_eq!(together, file);
        }
    }
}
