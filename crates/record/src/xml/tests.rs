use busyhour_sample::{AssertionResult, GroupName, Nanos, SampleContent, SampleOutcome, SampleTimes};

use super::*;

fn names() -> RunNames {
    RunNames {
        groups: vec![GroupName { name: "a & b".into(), number: 2 }],
        variables: vec!["V".into(), "__x".into()],
        hostname: "host".into(),
        ..RunNames::default()
    }
}

fn shown(config: SaveConfig, detail: &Detail) -> String {
    let sample = Sample { user: 3, variables: &["1<2", "null"], ..Sample::default() };
    let format = XmlFormat::new(config, &names(), Labels::new(), 1_000);
    let mut out = Vec::new();
    format.element(&sample, Some(detail), &mut out);
    String::from_utf8(out).unwrap()
}

fn detail() -> Detail {
    Detail {
        label: "l\n1".into(),
        times: SampleTimes {
            start: Nanos::from_millis(5),
            end: Nanos::from_millis(9),
            ..SampleTimes::default()
        },
        outcome: SampleOutcome { success: true, ..SampleOutcome::default() },
        content: SampleContent { data_type: DataType::Text, ..SampleContent::default() },
        body: "é <b>".into(),
        ..Detail::default()
    }
}

#[test]
fn a_sample_without_children_is_one_tag() {
    let mut config = SaveConfig { assertions: false, ..SaveConfig::default() };
    for (column, shown) in [
        (JtlColumn::Encoding, true),
        (JtlColumn::SampleCount, true),
        (JtlColumn::Hostname, true),
        (JtlColumn::Url, false),
    ] {
        config.shown.set(column, shown);
    }
    let expected = "<sample t=\"4\" it=\"0\" lt=\"0\" ct=\"0\" ts=\"1005\" s=\"true\" lb=\"l&#xa;1\" rc=\"\" rm=\"\" \
                    tn=\"a &amp; b 2-3\" dt=\"text\" de=\"\" by=\"0\" sby=\"0\" sc=\"0\" ec=\"0\" ng=\"0\" na=\"0\" \
                    hn=\"host\" V=\"1&lt;2\" ____x=\"\"/>\n";
    assert_eq!(shown(config, &detail()), expected);
}

#[test]
fn nested_elements_are_indented() {
    let mut config = SaveConfig::for_listener(&SaveConfig::default(), []);
    for name in ["success", "assertions", "subresults", "responseData", "url", "samplerData"] {
        assert!(config.set(name, "true"));
    }
    let mut inner = Detail { http: Some(Box::default()), ..detail() };
    inner.assertions.push(AssertionResult {
        name: "a".into(),
        failure: true,
        error: false,
        message: String::new(),
        blank_message: true,
    });
    let outer =
        Detail { children: vec![inner], body: Vec::new(), sampler_data: Some("s".into()), ..detail() };
    let format = XmlFormat::new(config, &RunNames::default(), Labels::new(), 0);
    let mut out = Vec::new();
    format.element(&Sample::default(), Some(&outer), &mut out);
    let expected = r#"<sample s="true">
  <httpSample s="true">
    <assertionResult>
      <name>a</name>
      <failure>true</failure>
      <error>false</error>
      <failureMessage></failureMessage>
    </assertionResult>
    <responseData class="java.lang.String">é &lt;b&gt;</responseData>
    <cookies class="java.lang.String"></cookies>
    <queryString class="java.lang.String"></queryString>
    <null/>
  </httpSample>
  <responseData class="java.lang.String"></responseData>
  <samplerData class="java.lang.String">s</samplerData>
</sample>
"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn binary_data_is_not_shown() {
    let default = |detail: &Detail| data(detail, "UTF-8");
    assert_eq!(
        default(&Detail {
            content: SampleContent { data_type: DataType::Binary, ..detail().content },
            ..detail()
        }),
        "Non-TEXT response data, cannot record: (bin)"
    );
    let strange =
        Detail { content: SampleContent { encoding: "x-strange".into(), ..detail().content }, ..detail() };
    assert_eq!(
        default(&strange),
        "Unsupported encoding in response data, cannot record: java.io.UnsupportedEncodingException: x-strange"
    );
    assert_eq!(data(&Detail { body: vec![0xe9], ..detail() }, "ISO-8859-1"), "é");
}

#[test]
fn a_file_is_continued_before_its_end_tag() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.xml");
    assert!(!continued(&path).unwrap());
    let mut content = Vec::new();
    head(&SaveConfig { xml_pi: "<?pi?>".into(), ..SaveConfig::default() }, &mut content);
    let begun = content.clone();
    std::fs::write(&path, &content).unwrap();
    assert!(!continued(&path).unwrap(), "no end tag: the file is overwritten");
    tail(&mut content);
    std::fs::write(&path, &content).unwrap();
    assert!(continued(&path).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), [&begun[..], b"\n"].concat());
}
