use super::*;
use crate::testing::{all_variables, user_logging};

struct DataSet {
    step: CsvDataStep,
    symbols: Symbols,
    _directory: tempfile::TempDir,
}

fn data_set(content: &str, change: impl FnOnce(&mut CsvDataSettings)) -> DataSet {
    let directory = tempfile::tempdir().expect("temporary directory");
    std::fs::write(directory.path().join("data.csv"), content).expect("written");
    let mut settings = CsvDataSettings {
        name: "CSV".into(),
        filename: Template::literal(" data.csv "),
        variable_names: Template::literal("a, b"),
        recycle: true,
        ..CsvDataSettings::default()
    };
    change(&mut settings);
    let mut symbols = Symbols::default();
    let files = Arc::new(CsvFiles::new(directory.path()));
    let step = CsvDataStep::new(settings, files, &mut symbols).expect("supported");
    DataSet { step, symbols, _directory: directory }
}

impl DataSet {
    fn user(&self, number: u32) -> UserState {
        user_logging(&self.symbols, number, Arc::default())
    }

    fn rows(&self, user: &mut UserState, count: usize) -> Vec<String> {
        (0..count)
            .map(|_| match self.step.step(user) {
                Ok(()) => all_variables(user),
                Err(StopUser(why)) => why,
            })
            .collect()
    }
}

#[test]
fn the_first_row_follows_the_last() {
    let set = data_set("1,2\n3\n5,6,7", |_| {});
    let mut user = set.user(0);
    assert_eq!(set.rows(&mut user, 4), ["a=1 b=2", "a=3 b=2", "a=5 b=6", "a=1 b=2"]);
}

#[test]
fn the_first_line_can_contain_the_names() {
    let set = data_set("\"x\"; y\n1;2\n", |settings| {
        settings.variable_names = Template::default();
        settings.delimiter = Template::literal(";");
    });
    let mut user = set.user(0);
    assert_eq!(set.rows(&mut user, 2), ["x=1 y=2", "x=1 y=2"]);
}

#[test]
fn the_first_line_can_be_ignored() {
    for quoted in [false, true] {
        let set = data_set("h1\th2\n1\t2\n", |settings| {
            settings.ignore_first_line = true;
            settings.quoted = quoted;
            settings.delimiter = Template::literal("\\t");
        });
        let mut user = set.user(0);
        assert_eq!(set.rows(&mut user, 2), ["a=1 b=2", "a=1 b=2"]);
    }
}

#[test]
fn the_end_of_the_file_sets_a_marker_or_stops_the_user() {
    let at_end = data_set("1,2\n", |settings| settings.recycle = false);
    let mut user = at_end.user(0);
    assert_eq!(at_end.rows(&mut user, 2), ["a=1 b=2", "a=<EOF> b=<EOF>"]);
    let stopping = data_set("1,2\n", |settings| {
        settings.recycle = false;
        settings.stop_thread = true;
    });
    let mut user = stopping.user(0);
    insta::assert_snapshot!(stopping.rows(&mut user, 2).join("\n"), @r"
    a=1 b=2
    End of file: data.csv  detected for CSV DataSet:CSV configured with stopThread:true, recycle:false
    ");
}

#[test]
fn an_empty_line_counts_as_the_end_as_in_jmeter() {
    let set = data_set("1,2\n\n3,4\n", |_| {});
    let mut user = set.user(0);
    assert_eq!(set.rows(&mut user, 3), ["a=1 b=2", "a=<EOF> b=<EOF>", "a=3 b=4"]);
}

#[test]
fn share_modes_select_who_shares_a_file() {
    let both = |mode: &str| {
        let set = data_set("1\n2\n3\n", |settings| settings.share_mode = Template::literal(mode));
        let (mut first, mut second) = (set.user(0), set.user(1));
        let mut rows = set.rows(&mut first, 2);
        rows.extend(set.rows(&mut second, 1));
        rows.join(" ")
    };
    assert_eq!(both("shareMode.all"), "a=1 a=2 a=3");
    assert_eq!(both("shareMode.group"), "a=1 a=2 a=3");
    assert_eq!(both("shareMode.thread"), "a=1 a=2 a=1");
    assert_eq!(both("mine"), "a=1 a=2 a=3");
}

#[test]
fn a_missing_file_ends_the_user() {
    let set = data_set("", |settings| settings.filename = Template::literal("nowhere.csv"));
    assert!(set.step.missing_file().is_some_and(|path| path.ends_with("nowhere.csv")));
    let mut user = set.user(0);
    let why = set.rows(&mut user, 1).remove(0);
    assert!(why.starts_with("File nowhere.csv must exist and be readable"), "{why}");
}

#[test]
fn an_empty_file_has_no_header() {
    let set = data_set("", |settings| settings.variable_names = Template::default());
    assert!(set.step.missing_file().is_none());
    let mut user = set.user(0);
    let why = set.rows(&mut user, 1).remove(0);
    assert!(why.starts_with("Could not read file header line for file data.csv: File is empty"), "{why}");
}

#[test]
fn names_and_encodings_are_checked() {
    let files = Arc::new(CsvFiles::new("."));
    let is_refused =
        |settings| CsvDataStep::new(settings, Arc::clone(&files), &mut Symbols::default()).is_err();
    assert!(is_refused(CsvDataSettings::default()));
    assert!(is_refused(CsvDataSettings {
        filename: Template::literal("x"),
        encoding: Template::literal("EBCDIC-1"),
        ..CsvDataSettings::default()
    }));
}

/// The rows were recorded from JMeter 5.6.3 with the same files and settings.
#[test]
fn rows_match_jmeter() {
    let plain = data_set("1,2\n\n3,4\n5,6,7\n8\n", |_| {});
    let expected =
        ["a=1 b=2", "a=<EOF> b=<EOF>", "a=3 b=4", "a=5 b=6", "a=8 b=6", "a=1 b=2", "a=<EOF> b=<EOF>"];
    assert_eq!(plain.rows(&mut plain.user(0), 7), expected);
    let quoted = data_set("\u{feff}\"x\", y \n\"a \"\"q\"\", z\",b\n\n\"two\nlines\",c\n", |settings| {
        settings.variable_names = Template::default();
        settings.quoted = true;
        settings.share_mode = Template::literal("shareMode.thread");
    });
    let expected = ["x=a \"q\", z y=b", "x= y=b", "x=two\nlines y=c", "x=a \"q\", z y=b", "x= y=b"];
    assert_eq!(quoted.rows(&mut quoted.user(0), 5), expected);
    let once = data_set("h1}}h2\nä}}b\n}}\n", |settings| {
        settings.variable_names = Template::literal("m,,n,");
        settings.delimiter = Template::literal("}}");
        settings.ignore_first_line = true;
        settings.recycle = false;
        settings.share_mode = Template::literal("mine");
    });
    assert_eq!(once.rows(&mut once.user(0), 4), ["m=ä n=b", "m= n=", "m=<EOF> n=<EOF>", "m=<EOF> n=<EOF>"]);
}
