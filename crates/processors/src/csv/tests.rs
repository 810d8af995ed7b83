use super::*;
use crate::testing::{all_variables, user_logging};

struct Set {
    step: CsvDataStep,
    symbols: Symbols,
    _directory: tempfile::TempDir,
}

fn set(content: &str, change: impl FnOnce(&mut CsvDataSettings)) -> Set {
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
    Set { step, symbols, _directory: directory }
}

impl Set {
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
fn rows_come_one_after_another_and_again() {
    let set = set("1,2\n3\n5,6,7", |_| {});
    let mut user = set.user(0);
    assert_eq!(set.rows(&mut user, 4), ["a=1 b=2", "a=3 b=2", "a=5 b=6", "a=1 b=2"]);
}

#[test]
fn the_first_line_may_have_the_names() {
    let set = set("\"x\"; y\n1;2\n", |settings| {
        settings.variable_names = Template::default();
        settings.delimiter = Template::literal(";");
    });
    let mut user = set.user(0);
    assert_eq!(set.rows(&mut user, 2), ["x=1 y=2", "x=1 y=2"]);
}

#[test]
fn the_first_line_may_be_ignored() {
    for quoted in [false, true] {
        let set = set("h1\th2\n1\t2\n", |settings| {
            settings.ignore_first_line = true;
            settings.quoted = quoted;
            settings.delimiter = Template::literal("\\t");
        });
        let mut user = set.user(0);
        assert_eq!(set.rows(&mut user, 2), ["a=1 b=2", "a=1 b=2"]);
    }
}

#[test]
fn the_end_of_the_file() {
    let at_end = set("1,2\n", |settings| settings.recycle = false);
    let mut user = at_end.user(0);
    assert_eq!(at_end.rows(&mut user, 2), ["a=1 b=2", "a=<EOF> b=<EOF>"]);
    let stopping = set("1,2\n", |settings| {
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
    let set = set("1,2\n\n3,4\n", |_| {});
    let mut user = set.user(0);
    assert_eq!(set.rows(&mut user, 3), ["a=1 b=2", "a=<EOF> b=<EOF>", "a=3 b=4"]);
}

#[test]
fn sharing() {
    let both = |mode: &str| {
        let set = set("1\n2\n3\n", |settings| settings.share_mode = Template::literal(mode));
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
    let set = set("", |settings| settings.filename = Template::literal("nowhere.csv"));
    assert!(set.step.missing_file().is_some_and(|path| path.ends_with("nowhere.csv")));
    let mut user = set.user(0);
    let why = set.rows(&mut user, 1).remove(0);
    assert!(why.starts_with("File nowhere.csv must exist and be readable"), "{why}");
}

#[test]
fn an_empty_file_has_no_header() {
    let set = set("", |settings| settings.variable_names = Template::default());
    assert!(set.step.missing_file().is_none());
    let mut user = set.user(0);
    let why = set.rows(&mut user, 1).remove(0);
    assert!(why.starts_with("Could not read file header line for file data.csv: File is empty"), "{why}");
}

#[test]
fn names_and_encodings_are_checked() {
    let files = Arc::new(CsvFiles::new("."));
    let refused = |settings| CsvDataStep::new(settings, Arc::clone(&files), &mut Symbols::default()).is_err();
    assert!(refused(CsvDataSettings::default()));
    assert!(refused(CsvDataSettings {
        filename: Template::literal("x"),
        encoding: Template::literal("EBCDIC-1"),
        ..CsvDataSettings::default()
    }));
}

/// The rows that JMeter 5.6.3 gave for the same files and settings.
#[test]
fn rows_are_those_of_jmeter() {
    let plain = set("1,2\n\n3,4\n5,6,7\n8\n", |_| {});
    let expected =
        ["a=1 b=2", "a=<EOF> b=<EOF>", "a=3 b=4", "a=5 b=6", "a=8 b=6", "a=1 b=2", "a=<EOF> b=<EOF>"];
    assert_eq!(plain.rows(&mut plain.user(0), 7), expected);
    let quoted = set("\u{feff}\"x\", y \n\"a \"\"q\"\", z\",b\n\n\"two\nlines\",c\n", |settings| {
        settings.variable_names = Template::default();
        settings.quoted = true;
        settings.share_mode = Template::literal("shareMode.thread");
    });
    let expected = ["x=a \"q\", z y=b", "x= y=b", "x=two\nlines y=c", "x=a \"q\", z y=b", "x= y=b"];
    assert_eq!(quoted.rows(&mut quoted.user(0), 5), expected);
    let once = set("h1}}h2\nä}}b\n}}\n", |settings| {
        settings.variable_names = Template::literal("m,,n,");
        settings.delimiter = Template::literal("}}");
        settings.ignore_first_line = true;
        settings.recycle = false;
        settings.share_mode = Template::literal("mine");
    });
    assert_eq!(once.rows(&mut once.user(0), 4), ["m=ä n=b", "m= n=", "m=<EOF> n=<EOF>", "m=<EOF> n=<EOF>"]);
}
