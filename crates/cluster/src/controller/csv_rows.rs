//! Deals the rows of CSV files to agents.

use std::collections::BTreeMap;

use busyhour_plan::Element;

use super::settings::CsvRows;

/// How the rows of a CSV file are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowForm {
    /// Whether the first line contains names or is skipped, so that every agent needs it.
    pub(super) has_header: bool,
    /// Whether fields in quotation marks can contain line ends.
    pub(super) is_quoted: bool,
    /// Whether the file is read again after its end.
    pub(super) is_recycled: bool,
}

/// The CSV files whose rows are dealt, by the text of their file name in the plan.
pub(super) fn dealt_files(plan: &str, rows: CsvRows) -> BTreeMap<String, RowForm> {
    let (plan, _) = busyhour_plan::parse(plan.as_bytes(), "plan.jmx");
    let of_csv = |element: &Element<'_>| element.kind() == "CSVDataSet" && element.is_active();
    let mut files = BTreeMap::new();
    for element in plan.elements().filter(of_csv) {
        let Some(file) = element.text("filename").map(str::trim).filter(|file| !file.is_empty()) else {
            continue;
        };
        let is_used_once = element.boolean("recycle") == Some(false);
        if rows == CsvRows::Copy || (rows == CsvRows::UsedOnce && !is_used_once) {
            continue;
        }
        let is_ignored = element.boolean("ignoreFirstLine").unwrap_or(false);
        let form = RowForm {
            has_header: is_ignored
                || element.text("variableNames").is_none_or(|names| names.trim().is_empty()),
            is_quoted: element.boolean("quotedData").unwrap_or(false),
            is_recycled: !is_used_once,
        };
        files.insert(file.to_owned(), form);
    }
    files
}

/// The part of a file for agent number `part` of `of`: row i belongs to agent i modulo `of`.
pub(super) fn deal(contents: &[u8], form: RowForm, part: usize, of: usize) -> Vec<u8> {
    let mut dealt = Vec::with_capacity(contents.len() / of.max(1) + 256);
    let mut number = 0;
    for (at, row) in rows(contents, form.is_quoted).enumerate() {
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

/// The rows of a file with their line ends.
fn rows(contents: &[u8], is_quoted: bool) -> impl Iterator<Item = &[u8]> {
    let mut rest = contents;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut is_inside = false;
        let end = rest.iter().position(|byte| {
            // Two quotation marks inside a field change the state twice.
            is_inside ^= is_quoted && *byte == b'"';
            *byte == b'\n' && !is_inside
        });
        let (row, more) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        rest = more;
        Some(row)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_are_dealt_in_turn_and_each_part_has_the_header() {
        let form = RowForm { has_header: true, is_quoted: true, is_recycled: false };
        let file = b"name,text\na,1\nb,\"two\nlines\"\nc,\"a \"\"q\"\" b\"\r\nd,4";
        assert_eq!(deal(file, form, 0, 2), b"name,text\na,1\nc,\"a \"\"q\"\" b\"\r\n");
        assert_eq!(deal(file, form, 1, 2), b"name,text\nb,\"two\nlines\"\nd,4");
        let plain = RowForm { has_header: false, is_quoted: false, is_recycled: false };
        assert_eq!(deal(b"a\n\"b\nc\n", plain, 1, 2), b"\"b\n");
        assert_eq!(deal(b"a\n", plain, 4, 5), b"");
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
        let files = |rows| dealt_files(&plan, rows).into_iter().collect::<Vec<_>>();
        let once = ("once.csv".to_owned(), RowForm { has_header: true, is_quoted: true, is_recycled: false });
        let again =
            ("again.csv".to_owned(), RowForm { has_header: false, is_quoted: true, is_recycled: true });
        assert_eq!(files(CsvRows::Split), [again, once.clone()]);
        assert_eq!(files(CsvRows::UsedOnce), [once]);
        assert!(files(CsvRows::Copy).is_empty());
    }

    proptest! {
        #[test]
        fn all_parts_together_are_the_file(
            file in prop::collection::vec(prop::sample::select(b"ab,\"\n\r".to_vec()), 0..200),
            of in 1_usize..6,
            is_quoted: bool,
        ) {
            let form = RowForm { has_header: false, is_quoted, is_recycled: false };
            let mut parts: Vec<std::vec::IntoIter<Vec<u8>>> = (0..of)
                .map(|part| {
                    let dealt = deal(&file, form, part, of);
                    rows(&dealt, is_quoted).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter()
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
