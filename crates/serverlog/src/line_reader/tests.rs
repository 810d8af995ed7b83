use super::*;

fn reader(format: &str) -> LineReader {
    LineReader::new(
        LogFormat::parse(format).unwrap(),
        StampSettings { zone: Some(busyhour_logs::Zone::utc()), near_unix_ns: 0 },
    )
}

fn detected(line: &str) -> LoggedRequest {
    let settings = StampSettings { zone: None, near_unix_ns: 0 };
    LineReader::new(LogFormat::detect(line), settings).read(line).unwrap()
}

const MS: i64 = 1_000_000;
/// 2026-11-27T13:55:36Z in ns since 1970.
const STAMP: i64 = 1_795_787_736_000 * MS;

#[test]
fn lines_of_nginx_are_read() {
    let format = r#"$remote_addr [$time_local] "$request" $status $msec $request_time "$http_user_agent" $http_x_request_id"#;
    let line = r#"10.0.0.1 [27/Nov/2026:13:55:36 +0000] "GET /a?b=c HTTP/1.1" 200 1795787736.123 0.045 "x \"y\"" r-1"#;
    let read = reader(format).read(line).unwrap();
    assert_eq!((read.stamp_ns, read.tick_ns, read.kind), (STAMP + 123 * MS, 1_000_000, StampKind::End));
    // 123 ms less 45 to 46 ms.
    assert_eq!((read.start_ns(), read.start_tick_ns()), (Some(STAMP + 77 * MS), 2_000_000));
    assert_eq!((read.target, read.path), target_key("/a?b=c"));
    assert_eq!((read.status, read.client, read.id), (200, text_key("10.0.0.1"), text_key("r-1")));
    assert_eq!(reader(format).read("other"), Err(UnreadableLine::Form));
    assert_eq!(reader(format).read(&"x".repeat(100_000)), Err(UnreadableLine::Long));
}

#[test]
fn lines_of_apache_and_tomcat_are_read() {
    let line = r#"::1 - - [27/Nov/2026:13:55:36 +0000] "GET /a HTTP/1.1" 200 12 4500"#;
    let pattern = r#"%h %l %u %t "%r" %>s %b %D"#;
    let apache = reader(pattern).read(line).unwrap();
    assert_eq!((apache.start_ns(), apache.end_ns()), (Some(STAMP), STAMP + 4_500_000));
    assert_eq!(apache.client, text_key("::1"));
    let tomcat = reader(&format!("tomcat:{pattern}")).read(line).unwrap();
    assert_eq!((tomcat.start_ns(), tomcat.end_ns()), (Some(STAMP - 4_501 * MS), STAMP));
    let new = reader(&format!("tomcat10.1:{pattern}")).read(line).unwrap();
    assert_eq!(new.duration_ns, Some(4_500_000));
    let named = reader("apache").read(line).unwrap();
    assert_eq!(
        (named.kind, named.duration_ns, named.duration_tick_ns),
        (StampKind::Start, Some(4_500_000), 1_000)
    );
    let parts = reader("%{sec}t.%{usec_frac}t %m %U%q %s").read("1795787736.000123 GET /a?b=c 200").unwrap();
    assert_eq!((parts.stamp_ns, parts.tick_ns), (STAMP + 123_000, 1_000));
    assert_eq!((parts.target, parts.path), target_key("/a?b=c"));
}

#[test]
fn lines_without_a_described_format_are_detected() {
    let common =
        detected(r#"10.0.0.1 - - [27/Nov/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 12 "-" "curl" 0.012"#);
    assert_eq!((common.stamp_ns, common.tick_ns, common.kind), (STAMP, 1_000_000_000, StampKind::Between));
    assert_eq!((common.duration_ns, common.start_ns()), (Some(12_000_000), None));
    let envoy = detected(
        r#"[2026-11-27T13:55:36.100Z] "GET /a HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21" "host" "tcp://10.0.2.1:80""#,
    );
    assert_eq!((envoy.start_ns(), envoy.end_ns()), (Some(STAMP + 100 * MS), STAMP + 326 * MS));
    assert_eq!((envoy.tick_ns, envoy.status, envoy.id), (1_000_000, 204, text_key("cc21")));
}

#[test]
fn json_lines_are_read() {
    let envoy = detected(
        r#"{"start_time":"2026-11-27T13:55:36.100Z","method":"GET","path":"/a?b=c","response_code":200,"duration":12,"request_id":"x","downstream_remote_address":"10.0.0.1:5000"}"#,
    );
    assert_eq!((envoy.start_ns(), envoy.duration_ns), (Some(STAMP + 100 * MS), Some(12_000_000)));
    assert_eq!((envoy.target, envoy.client), (target_key("/a?b=c").0, text_key("10.0.0.1")));
    let caddy = detected(
        r#"{"ts":1795787736.5,"request":{"remote_ip":"10.0.0.1","method":"GET","uri":"/a"},"status":200,"duration":0.5}"#,
    );
    assert_eq!((caddy.kind, caddy.start_ns()), (StampKind::End, Some(STAMP - 100 * MS)));
    let nginx = detected(
        r#"{"msec":"1795787736.500","request":"GET /a HTTP/1.1","status":"200","request_time":"0.500"}"#,
    );
    assert_eq!((nginx.start_ns(), nginx.target), (Some(STAMP - MS), target_key("/a").0));
    let own = reader("json:start=when.began,duration_us=took,path=where,status=code")
        .read(r#"{"when":{"began":"2026-11-27T13:55:36Z"},"took":1500,"where":"/a","code":200}"#)
        .unwrap();
    assert_eq!((own.start_ns(), own.duration_ns, own.status), (Some(STAMP), Some(1_500_000), 200));
    assert_eq!(reader("json").read("{"), Err(UnreadableLine::Form));
    assert_eq!(reader("json").read("{}"), Err(UnreadableLine::Time));
}

#[test]
fn descriptions_of_formats_have_clear_errors() {
    let error = |text: &str| LogFormat::parse(text).unwrap_err().to_string();
    assert!(error("iis").contains("nginx"));
    assert!(error("json:begin=a").contains("duration_ms"));
    assert!(error("$remote_addr").contains("no time"));
}

proptest::proptest! {
    #[test]
    fn no_line_and_no_pattern_panics(pattern in "[$%{}a-zA-Z:\\[\\]\" ]{0,40}", line in "\\PC{0,80}") {
        for prefix in ["nginx:", "apache:", "tomcat:", "envoy:", "json:"] {
            if let Ok(format) = LogFormat::parse(&format!("{prefix}{pattern}")) {
                let mut reader = LineReader::new(format, StampSettings { zone: None, near_unix_ns: 0 });
                let _ = reader.read(&line);
            }
        }
        let mut reader = LineReader::new(LogFormat::detect(&line), StampSettings { zone: None, near_unix_ns: 0 });
        let _ = reader.read(&line);
    }
}
