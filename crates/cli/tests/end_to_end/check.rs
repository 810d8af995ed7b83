//! Tests `busyhour check`: every file yields a verdict, with positions.

use insta::assert_snapshot;

use crate::plans::{element, get, get_with, group, plan, text};
use crate::program::Room;

/// Damaged plans and other files: name, contents, and texts that the message must contain in addition to its name and a position.
fn bad_files() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let head = "<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">\n<hashTree>\n";
    let test_plan = "<TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"P\">\n";
    let mut entities = String::from("<!ENTITY e0 \"lol\">\n");
    for level in 1..10 {
        let below = format!("&e{};", level - 1).repeat(10);
        entities += &format!("<!ENTITY e{level} \"{below}\">\n");
    }
    let bomb = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE b [\n{entities}]>\n<jmeterTestPlan version=\"1.2\"><hashTree>\
         <TestPlan testname=\"&e9;\"/><hashTree/></hashTree></jmeterTestPlan>"
    );
    // A reproducible random sequence.
    let mut state = 7_u32;
    let rubbish = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let element = "<HTTPSamplerProxy testname=\"x\"/><hashTree>".repeat(50_000);
    vec![
        ("tag.jmx", format!("{head}{test_plan}</TestPlam>\n").into(), vec![":5:1", "TestPlam"]),
        ("cut.jmx", format!("{head}{test_plan}  <stringProp name=\"a\">x").into(), vec![":5:", "hint: "]),
        (
            "fragment.jmx",
            "<ThreadGroup testclass=\"ThreadGroup\" testname=\"G\"/>\n<hashTree/>".into(),
            vec![":1:1", "a part of a plan", "hint: "],
        ),
        ("rubbish.jmx", rubbish.take(100_000).collect(), vec!["not XML"]),
        ("zeros.jmx", vec![0; 10_000], vec!["error["]),
        ("empty.jmx", Vec::new(), vec!["the file is empty"]),
        ("blank.jmx", b" \n\n ".to_vec(), vec!["error["]),
        ("page.jmx", "<html><body/></html>".into(), vec!["<html>", "hint: "]),
        ("bomb.jmx", bomb.into(), vec!["not expanded", ":14:"]),
        ("deep-trees.jmx", format!("{head}{}", "<hashTree>".repeat(100_000)).into(), vec!["error["]),
        ("deep-elements.jmx", format!("{head}{element}").into(), vec!["error["]),
        (
            "deep-properties.jmx",
            format!("{head}{test_plan}{}", "<elementProp name=\"x\">".repeat(100_000)).into(),
            vec!["error["],
        ),
        (
            "attribute.jmx",
            format!("{head}<TestPlan testname=\"{}\">", "x".repeat(1 << 20)).into(),
            vec!["error["],
        ),
    ]
}

#[test]
fn every_damaged_file_yields_a_verdict() {
    let room = Room::new();
    for (name, contents, texts) in bad_files() {
        room.file(name, contents);
        let ended = room.run(["check", name]).expect(3);
        let ended = ended.prints(&[&format!("{name}: NOT SUPPORTED"), "error[", name]).prints(&texts);
        assert!(ended.stdout.len() < 150_000, "{name}: the findings are too many to read");
        // `run` refuses the file with the same message.
        let ended = room.run(["run", name]).expect(3);
        ended.reports(&texts).reports(&["no request was sent"]);
    }
    assert!(!room.has_run_dir(), "a refused plan creates no run directory");
}

#[test]
fn unreadable_files_are_reported() {
    let room = Room::new();
    std::fs::create_dir(room.path().join("folder.jmx")).unwrap();
    room.run_line("check folder.jmx").expect(3).prints(&["folder.jmx", "directory"]);
    let missing =
        room.run_line("check missing.jmx").expect(3).prints(&["missing.jmx: not found", "No such file"]);
    assert!(!missing.stdout.contains("SUPPORTED"), "{}", missing.stdout);
    room.run_line("run folder.jmx").expect(3).reports(&["folder.jmx", "directory"]);
    room.run_line("run missing.jmx").expect(3).reports(&["missing.jmx", "No such file"]);
    assert!(!room.has_run_dir());
}

fn unsupported() -> String {
    let below =
        element("HTMLAssertion", "Page", "", "") + &element("com.example.NewPostProcessor", "New", "", "");
    let steps = [
        get_with("first", "/${__nonsense(1)}${__Radnom(1,2)}", "", &below),
        element("FTPSampler", "Files", "", ""),
        element("GenericController", "Steps", "", &get("second", "/${__groovy(new java.net.Socket(vars))}")),
    ];
    plan(&group("1", "1", &steps.concat()))
}

#[test]
fn all_unsupported_elements_are_listed_with_their_position() {
    let room = Room::new();
    room.file("plan.jmx", unsupported());
    let ended = room.run_line("check plan.jmx").expect(3);
    assert_snapshot!(ended.stdout, @r#"
    plan.jmx: NOT SUPPORTED
            4  TestPlan "Plan"
            7    ThreadGroup "Group"
           17      HTTPSamplerProxy "first"
      !    27        HTMLAssertion "Page"
      !    31        com.example.NewPostProcessor "New"
      !    36      FTPSampler "Files"
           40      GenericController "Steps"
           43        HTTPSamplerProxy "second"

    error[unsupported-function]: the function __nonsense is not known
      --> plan.jmx:21:1
      in: Plan > Group > first
      hint: it may come from a plugin; JMeter without that plugin sends the text ${__nonsense(…)} unchanged

    error[unsupported-function]: the function __Radnom is not known
      --> plan.jmx:21:1
      in: Plan > Group > first
      hint: did you mean __Random? If __Radnom comes from a plugin: JMeter without that plugin sends the text ${__Radnom(…)} unchanged

    error[unsupported-element]: the element HTMLAssertion is not supported
      --> plan.jmx:27:1
      in: Plan > Group > first > Page
      hint: it counts the errors and warnings of JTidy, whose rules no other HTML parser has; disable the element, or check the page's parts with a Response Assertion or an XPath Assertion; --allow-unsupported runs the plan without it

    error[unsupported-element]: the element com.example.NewPostProcessor is not supported
      --> plan.jmx:31:1
      in: Plan > Group > first > New
      hint: it belongs to an unknown plugin; disable the element; --allow-unsupported runs the plan without it

    error[unsupported-element]: the element FTPSampler is not supported
      --> plan.jmx:36:1
      in: Plan > Group > Files
      hint: FTP is not supported; use another tool for FTP, or disable the element; --allow-unsupported runs the plan without it

    error[unsupported-function]: __groovy: `new java.net.Socket` is not supported (column 5)
      --> plan.jmx:47:1
      in: Plan > Group > Steps > second
      hint: only JMeter's own interpreter can run this script

    in the outlines: line, element; - disabled, ! not supported
    "#);
    room.run_line("run plan.jmx").expect(3).reports(&[
        "__nonsense",
        "FTPSampler",
        "HTMLAssertion",
        "com.example.NewPostProcessor",
        "__groovy",
        "plan.jmx is refused because of 6 errors; no request was sent",
    ]);
}

#[test]
fn the_outline_marks_open_groups() {
    let room = Room::new();
    let schedule =
        "<stringProp name=\"OpenModelThreadGroup.schedule\">rate(5/sec)\n random_arrivals(2 s)</stringProp>";
    let open = element("OpenModelThreadGroup", "Visitors", schedule, &get("a", "/"));
    let poisson = "<stringProp name=\"busyhour.arrivals\">poisson(7/s) for 1s</stringProp>";
    let own = group("1", "1", &get("b", "/")).replace("</ThreadGroup>", &format!("{poisson}</ThreadGroup>"));
    room.file("plan.jmx", plan(&(open + &own + &group("1", "1", &get("c", "/")))));
    let outline = room.run_line("check plan.jmx").expect(0).stdout;
    let lines: Vec<_> = outline.lines().filter(|line| line.contains("ThreadGroup")).collect();
    assert_eq!(lines.len(), 3, "{outline}");
    assert!(lines[0].ends_with("\"Visitors\"  open: rate(5/sec) random_arrivals(2 s)"), "{outline}");
    assert!(lines[1].ends_with("\"Group\"  open: poisson(7/s) for 1s"), "{outline}");
    assert!(lines[2].ends_with("ThreadGroup \"Group\""), "{outline}");
    assert!(outline.contains("open: sessions start on a schedule"), "{outline}");
}

#[test]
fn many_files_have_a_total() {
    let room = Room::new();
    room.file("good.jmx", plan(&group("1", "1", &get("a", "/"))));
    room.file("unsupported.jmx", unsupported());
    room.file("empty.jmx", "");
    let ended =
        room.run_line("check --quiet good.jmx unsupported.jmx empty.jmx missing.jmx good.jmx").expect(3);
    ended.prints(&[
        "good.jmx: supported\n",
        "unsupported.jmx: NOT SUPPORTED\n",
        "\n2 of 5 plans are supported\n",
    ]);
    room.run_line("check good.jmx").expect(0);
}

#[test]
fn likely_mistakes_raise_warnings() {
    let room = Room::new();
    let arguments = "<elementProp name=\"HTTPSampler.Arguments\" elementType=\"Arguments\"/>\n\
        <boolProp name=\"HTTPSampler.auto_redirects\">&gt;true</boolProp>\n";
    let sampler = get_with("a", "/${hots}/${_BeanShell(1)}", arguments, "");
    room.file("plan.jmx", plan(&group("1", "1", &sampler)));
    room.file("some.properties", "USERS=7\n");
    // The properties are read as in JMeter.
    room.run_line("check -q some.properties plan.jmx").expect(0).prints(&[
        "plan.jmx: supported",
        "warning[unknown-property]",
        "did you mean `HTTPsampler.Arguments`?",
        "warning[no-boolean]",
        "warning[misspelt-function]",
        "warning[undefined-variable]: nothing in the plan defines the variable `hots`",
    ]);
    room.run_line("check -q missing.properties plan.jmx").expect(2).reports(&["missing.properties"]);
}

#[test]
fn json_contains_the_same_findings() {
    let room = Room::new();
    room.file("good.jmx", plan(&group("1", "1", &get("a", "/"))));
    room.file("unsupported.jmx", unsupported());
    room.file("rubbish.jmx", [0xff; 100]);
    let ended = room.run_line("check --json good.jmx unsupported.jmx rubbish.jmx missing.jmx").expect(3);
    let whole: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (whole["version"].as_u64(), whole["supported"].as_u64(), whole["total"].as_u64()),
        (Some(1), Some(1), Some(4))
    );
    let plans = whole["plans"].as_array().unwrap();
    assert_eq!(plans[0]["supported"], true);
    assert_eq!(plans[0]["outline"][2]["name"], "a");
    let findings = plans[1]["findings"].as_array().unwrap();
    let errors: Vec<_> = findings.iter().filter(|finding| finding["severity"] == "error").collect();
    assert_eq!(errors.len(), 6);
    assert!(
        errors.iter().all(|error| error["span"]["line"].as_u64() > Some(1) && error["path"][0] == "Plan")
    );
    let needs = |class: &str| {
        let of_class =
            |error: &&&serde_json::Value| error["message"].as_str().is_some_and(|m| m.contains(class));
        errors.iter().find(of_class).map(|error| error["needs"].as_str())
    };
    assert_eq!(needs("FTPSampler"), Some(Some("protocol")));
    assert_eq!(needs("com.example.NewPostProcessor"), Some(Some("plugin")));
    assert!(plans[2]["findings"].as_array().is_some_and(|findings| !findings.is_empty()));
    assert!(plans[3]["findings"][0]["causes"][0].as_str().unwrap().contains("No such file"));
}

#[test]
fn unknown_listeners_are_accepted() {
    let room = Room::new();
    let listeners = element("com.example.FancyVisualizer", "Fancy", "", "")
        + &element("BackendListener", "Influx", "", "");
    room.file("plan.jmx", plan(&group("1", "1", &listeners)));
    room.run_line("check plan.jmx").expect(0).prints(&[
        "warning[silent-listener]",
        "FancyVisualizer",
        "BackendListener",
    ]);
}

#[test]
fn skipped_files_and_lines_are_reported() {
    let room = Room::new();
    let level = text("TargetLevel", "1") + &text("Hold", "1") + &text("LogFilename", "starts.log");
    let crowd =
        element("com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup", "Population", &level, "");
    room.file("plan.jmx", plan(&(crowd + &element("Summariser", "summary", "", ""))));
    room.run_line("check plan.jmx").expect(0).prints(&[
        "warning[setting-without-effect]",
        "logs its starts is not written",
        "warning[inert-element]",
        "every run prints its summary lines",
    ]);
}

#[test]
fn a_missing_data_file_is_reported() {
    let room = Room::new();
    let rows =
        element("CSVDataSet", "Users", &(text("filename", "nowhere.csv") + &text("variableNames", "x")), "");
    room.file("plan.jmx", plan(&group("1", "1", &(rows + &get("a", "/${x}")))));
    room.run_line("check plan.jmx").expect(3).prints(&[
        "nowhere.csv cannot be read",
        "in: Plan > Group > Users",
        "hint: ",
    ]);
    room.run_line("run plan.jmx").expect(3).reports(&["nowhere.csv cannot be read", "no request was sent"]);
}

#[test]
fn supported_elements_are_listed() {
    let room = Room::new();
    room.run_line("check --supported").expect(0).prints(&[
        "| Thread Group |",
        "| `${__P",
        "| Element | Class |",
    ]);
}
