use super::*;

const LOG: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="40" it="0" lt="9" ct="3" ts="1700000000100" s="false" lb="one &amp; &lt;two&gt;" rc="500" rm="No" tn="a &quot;b&quot; 1-2" dt="text" de="utf-8" by="96" sby="129" sc="1" ec="1" ng="1" na="4" hn="box" my__v="x&#xa;y">
  <assertionResult>
    <name>held</name>
    <failure>false</failure>
    <error>false</error>
  </assertionResult>
  <assertionResult>
    <name>no</name>
    <failure>true</failure>
    <error>false</error>
    <failureMessage>wanted &lt;&amp;&gt;</failureMessage>
  </assertionResult>
  <assertionResult>
    <failureMessage>another</failureMessage>
  </assertionResult>
  <httpSample t="10" ts="1700000000100" s="true" lb="one-0" rc="302" rm="Found" tn="a &quot;b&quot; 1-2" by="9"/>
  <responseHeader class="java.lang.String">HTTP/1.1 500 No</responseHeader>
  <java.net.URL>http://h/one?a=1&amp;b=2</java.net.URL>
</httpSample>
<sample t="5" it="2" ts="1700000000050" s="true" lb="t" rc="200" rm="Number of samples in transaction : 1, number of failing samples : 0" tn="c 2-1">
  <sample t="5" ts="1700000000050" s="true" lb="in" tn="c 2-1"/>
</sample>
"#;

struct Seen {
    rows: Vec<String>,
    bad: Vec<String>,
    cut_off: bool,
    variables: Vec<String>,
    groups: Groups,
    hostname: String,
}

fn seen(text: &str) -> Result<Seen, LogError> {
    let labels = Labels::new();
    let mut xml = XmlSamples::new(text.as_bytes(), labels.clone(), false);
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    let cut_off = loop {
        match xml.next()? {
            Step::Whole(read) => {
                let emitted = xml.emit(&read, 1_700_000_000_050_000_000, &mut |sample| {
                    rows.push(format!(
                        "{}..{} {} {} {:?} {:?} {:?} {:?} {:?} flags {}",
                        sample.times.start.0 / 1_000_000,
                        sample.times.end.0 / 1_000_000,
                        labels.name(sample.label),
                        sample.outcome.code,
                        (sample.group, sample.user, sample.users.all),
                        sample.url,
                        sample.failure_message,
                        sample.variables,
                        (sample.sizes.bytes(), sample.error_count),
                        sample.flags.0,
                    ));
                });
                emitted.unwrap();
            }
            Step::Bad(row) => bad.push(row.to_string()),
            Step::End { cut_at } => break cut_at.is_some(),
        }
    };
    Ok(Seen { rows, bad, cut_off, variables: xml.variables, groups: xml.groups, hostname: xml.hostname })
}

#[test]
fn nested_samples_follow_their_parent() {
    let whole = format!("{LOG}\n</testResults>\n");
    let seen = seen(&whole).unwrap();
    let expected = [
        r#"50..90 one & <two> 500 (0, 2, 4) "http://h/one?a=1&b=2" "wanted <&>" ["x\ny"] (96, 1) flags 0"#,
        r#"50..60 one-0 302 (0, 2, 0) "" "" [""] (9, 0) flags 10"#,
        r#"0..7 t 200 (1, 1, 0) "" "" [""] (0, 0) flags 9"#,
        r#"0..5 in  (1, 1, 0) "" "" [""] (0, 0) flags 24"#,
    ];
    assert_eq!(seen.rows, expected);
    assert!(!seen.cut_off && seen.bad.is_empty());
    assert_eq!(seen.variables, ["my_v"]);
    assert_eq!(seen.hostname, "box");
    let group = &seen.groups.names[0];
    assert_eq!((group.name.as_str(), group.number), ("a \"b\"", 1));
}

#[test]
fn a_truncated_file_gives_its_complete_samples() {
    let all = seen(&format!("{LOG}\n</testResults>\n")).unwrap().rows.len();
    for cut in (66..LOG.len()).filter(|cut| LOG.is_char_boundary(*cut)) {
        let seen = seen(&LOG[..cut]).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert!(seen.cut_off && seen.rows.len() <= all, "cut at {cut}");
    }
}

#[test]
fn other_xml_files_are_rejected() {
    let error_of = |text: &str| seen(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error_of("<html></html>").contains("<html>"));
    assert!(error_of("<testResults>\n<sample ts=\"1\"></httpSample></testResults>").starts_with("line 2: "));
    assert!(error_of("").contains("no element"));
}

#[test]
fn invalid_samples_are_reported_with_their_lines() {
    let text = "<testResults>\n<sample t=\"x\" ts=\"1\"/>\n<sample t=\"1\"/>\n\n<sample t=\"1\"\n ts=\"1\"><sample ts=\"1\" \
                by=\"-\"/></sample>\n<sample t=\"1\" ts=\"1700000000050\" lb=\"good\"/></testResults>";
    let seen = seen(text).unwrap();
    let expected = [
        "line 2, attribute t: \"x\" is not a duration in ms",
        "line 3, attribute ts: \"\" is not a time in ms since 1970",
        "line 6, attribute by: \"-\" is not a number",
    ];
    assert_eq!(seen.bad, expected);
    assert_eq!(seen.rows.len(), 1);
}

#[test]
fn long_parts_end_the_reading_before_they_fill_the_memory() {
    let part_bytes_max = 1 << 20;
    let sample = |inside: &str| {
        format!(
            "<testResults>\n<sample t=\"1\" ts=\"1700000000000\" lb=\"a\">{inside}</sample></testResults>"
        )
    };
    let read = |text: &str| {
        let input = std::io::BufReader::with_capacity(1 << 12, text.as_bytes());
        let mut xml = XmlSamples::new(input, Labels::new(), false);
        xml.part_bytes_max = part_bytes_max;
        (xml.next().map(|step| matches!(step, Step::Whole(_))), xml.buffer.capacity() as u64)
    };
    let long = "x".repeat(10 << 20);
    for inside in [
        format!("<responseData class=\"java.lang.String\">{long}</responseData>"),
        format!("<sample t=\"1\" ts=\"1700000000000\" lb=\"{long}\"/>"),
        format!("<!-- {long} -->"),
        format!("<![CDATA[{long}]]>"),
    ] {
        let (found, memory) = read(&sample(&inside));
        let message = found.unwrap_err().to_string();
        assert_eq!(message, "line 2: an element or a text of more than 1 MiB; JMeter writes none that long");
        assert!(memory <= 4 * part_bytes_max, "{memory}");
    }
    // The limit applies to each part, not to the sum of many parts.
    assert!(read(&sample(&"<name>x</name>".repeat(1_000_000))).0.unwrap());
    let url = format!("<java.net.URL>{}</java.net.URL>", "&lt;é".repeat(1_000_000));
    assert!(read(&sample(&url)).0.unwrap());
}
