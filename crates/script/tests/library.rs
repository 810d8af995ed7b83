//! Classes of JMeter, its libraries and the JDK in scripts, as far as the conformance cases do not cover them.

mod support;

use busyhour_script::java_like::{JavaLike, compile};
use busyhour_script::{ScriptError, Value};
use support::User;

fn run(text: &str) -> Result<Value, ScriptError> {
    compile(text, JavaLike::Groovy)?.evaluate(&mut User::new())
}

fn text(script: &str) -> String {
    run(script).unwrap_or_else(|error| panic!("{script}: {error}")).to_java_string()
}

fn refused(script: &str) -> bool {
    compile(script, JavaLike::Groovy).is_err_and(|error| error.is_unsupported())
}

#[test]
fn lists_of_json_path_print_as_json() {
    let start = "import com.jayway.jsonpath.JsonPath\ndef found = JsonPath.read('{\"a\":[{\"b\":\"x/y\"},{\"b\":2}]}', '$.a[*].b')\n";
    assert_eq!(text(&format!("{start}found.toString()")), r#"["x\/y",2]"#);
    assert_eq!(text(&format!("{start}\"$found\"")), "[x/y, 2]");
    assert_eq!(text(&format!("{start}found.collect {{ it }}.toString()")), "[x/y, 2]");
}

#[test]
fn a_json_path_without_a_match_throws_an_exception_that_a_script_can_catch() {
    let script = "import com.jayway.jsonpath.*\ntry { JsonPath.read('{}', '$.a') } catch (PathNotFoundException e) { e.message }";
    assert_eq!(text(script), "No results for path: $['a']");
}

#[test]
fn integer_division_of_math_rounds_down_and_overflows_as_in_java() {
    for (script, expected) in [
        ("Math.floorDiv(-7, 2)", "-4"),
        ("Math.floorDiv(7, -2)", "-4"),
        ("Math.floorDiv(-8, -2)", "4"),
        ("Math.floorDiv(Long.MIN_VALUE, -1)", "-9223372036854775808"),
        ("Math.floorMod(7, -3)", "-2"),
        ("Math.floorMod(-7, 3)", "2"),
        ("Math.floorMod(Long.MIN_VALUE, -1)", "0"),
        ("Math.floorMod(10000000000L, 10000000019L)", "10000000000"),
        (
            "try { Math.toIntExact(3000000000L) } catch (ArithmeticException e) { e.message }",
            "integer overflow",
        ),
    ] {
        assert_eq!(text(script), expected, "{script}");
    }
}

#[test]
fn urls_have_parts_and_content() {
    assert_eq!(text("new URL('http://host:81/a?b').port"), "81");
    assert_eq!(text("new URL('http://host/').text"), "GET||");
    assert_eq!(
        text("new URL('http://host/').getText(requestProperties: [A: 1], readTimeout: 5)"),
        "GET|A=1|"
    );
    assert_eq!(text("new URL('http://host/').withReader { it.readLine() }"), "GET||");
    assert_eq!(text("new URL('http://host/').openStream().bytes.length"), "5");
    assert_eq!(text("new URL('file:/no/such/file') instanceof URL"), "true");
    let failing = "try { new URL('http://host/refused').text } catch (ConnectException e) { e.message }";
    assert_eq!(text(failing), "Connection refused");
    let missing = "try { new URL('http://host/missing').text } catch (FileNotFoundException e) { e.message }";
    assert_eq!(text(missing), "http://host/missing");
    let malformed = "try { new URL('host') } catch (MalformedURLException e) { e.message }";
    assert_eq!(text(malformed), "no protocol: host");
}

/// A device may be endless, so scripts must not read any. `/dev/null` is empty: only an explicit check can reject it.
#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    for read in [
        "new File('/dev/null').text",
        "new File('/dev/null').bytes",
        "new FileReader('/dev/null').readLine()",
    ] {
        let caught = format!("try {{ {read} }} catch (IOException e) {{ e.message }}");
        assert_eq!(text(&caught), "/dev/null it is not a regular file", "{read}");
    }
}

#[test]
fn connections_send_what_the_script_sets_and_writes() {
    let posted = "def c = new URL('http://host/').openConnection()
        c.setRequestProperty('A', '1'); c.addRequestProperty('a', '2'); c.setRequestProperty('A', '3')
        c.doOutput = true
        c.outputStream.withWriter('UTF-8') { it << 'x=' << 1 }
        c.responseCode + c.inputStream.text + c.requestMethod";
    assert_eq!(text(posted), "200POST|A=1,a=3|x=1POST");
    let bytes = "HttpURLConnection c = (HttpURLConnection) new URL('http://host/').openConnection()
        c.setRequestMethod('PUT'); c.setDoOutput(true)
        def o = c.getOutputStream(); o.write('abc'.bytes); o.write('abcdef'.bytes, 1, 2); o.close()
        new BufferedReader(new InputStreamReader(c.inputStream)).readLine()";
    assert_eq!(text(bytes), "PUT||abcbc");
    let within = "def c = new URL('http://host/').openConnection()
        c.with { requestMethod = 'PUT'; doOutput = true; own = 'script'; outputStream << 'x' }
        c.inputStream.text + own";
    assert_eq!(text(within), "PUT||xscript");
    let failing = "def c = new URL('http://host/missing').openConnection()
        [c.errorStream, c.responseCode, c.errorStream.text, c.getHeaderField('x-a'), c.headerFields['X-A'], c.getHeaderField(0)].join(';')";
    assert_eq!(text(failing), "null;404;GET||;2;[2, 1];HTTP/1.1 404 Status");
    let late = "def c = new URL('http://host/').openConnection(); c.responseCode
        try { c.setRequestProperty('a', 'b') } catch (IllegalStateException e) { e.message }";
    assert_eq!(text(late), "Already connected");
    let split = "def c = new URL('http://host/').openConnection()
        try { c.setRequestProperty('a', 'b\\r\\nc: d') } catch (IllegalArgumentException e) { 'refused' }";
    assert_eq!(text(split), "refused");
    let in_pieces = "def c = new URL('http://host/').openConnection(); def b = new byte[2]; def n, all = ''
        while ((n = c.inputStream.read(b)) != -1) { all += new String(b, 0, n) + n + ' ' }
        all";
    assert_eq!(text(in_pieces), "GE2 T|2 |1 ");
}

#[test]
fn in_is_a_name_in_beanshell() {
    let script = "String in = \"a\"; String[] all = {in, \"b\"}; String s = \"\"; for (String in : all) { s += (String) in; } return s + in;";
    assert!(compile(script, JavaLike::BeanShell).is_ok());
}

#[test]
fn sorting_with_a_comparator_preserves_the_order_of_equal_items() {
    assert_eq!(text("['b', 'A', 'B'].sort(false, String.CASE_INSENSITIVE_ORDER).join('')"), "AbB");
}

#[test]
fn unknown_names_fail_at_run_time() {
    let script = compile("if (false) { Nowhere.go() }\nmissing(1)", JavaLike::Groovy)
        .expect("JMeter starts this script");
    let warnings: Vec<String> =
        script.warnings().iter().map(|warning| format!("{}: {}", warning.place, warning.what)).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].starts_with("line 1, column 14: `Nowhere`")
            || warnings[0].starts_with("column 14: `Nowhere`")
    );
    let error = script.evaluate(&mut User::new()).expect_err("there is no such function");
    assert!(!error.is_unsupported(), "{error}");
}

#[test]
fn unsupported_java_classes_are_refused() {
    for script in [
        "Runtime.getRuntime().exec('ls')",
        "new ProcessBuilder('ls')",
        "import java.text.*\nCollator.getInstance()",
        "evaluate('1')",
        "sampler.getBytes()",
        "import static java.lang.ProcessHandle.current\ncurrent()",
        "import static java.lang.Math.cosh\ncosh(1)",
    ] {
        assert!(refused(script), "{script}");
    }
}

#[test]
fn opens_request_reports_access_to_the_sampler() {
    let opens = |text: &str| compile(text, JavaLike::Groovy).expect(text).accesses_request();
    for script in [
        "sampler.setPath('/')",
        "def s = sampler\ns.name",
        "ctx.getCurrentSampler().getCookieManager()",
        "\"${sampler.path}\"",
    ] {
        assert!(opens(script), "{script}");
    }
    for script in ["sampler.getName()", "sampler.name", "ctx.currentSampler.name", "vars.get('sampler')"] {
        assert!(!opens(script), "{script}");
    }
}

#[test]
fn a_sampler_without_a_request_has_no_path() {
    let script = "try { sampler.getPath() } catch (MissingMethodException e) { 'none' }";
    assert_eq!(text(script), "none");
}

#[test]
fn curried_closures_receive_their_given_arguments() {
    let script =
        "def put = { name, value -> vars.put(name, value) }\nput.curry('x')('5')\n['6'].each(put.curry('y'))";
    let mut user = User::new();
    compile(script, JavaLike::Groovy).expect("supported").evaluate(&mut user).expect("runs");
    assert_eq!(user.changes(), "x=5 y=6");
}

#[test]
fn json_builders_turn_calls_into_members() {
    let start = "import groovy.json.JsonBuilder\ndef b = new JsonBuilder()\n";
    assert_eq!(
        text(&format!("{start}b {{ name 'x'; list 1, 2; inner {{ k true }} }}\nb.toString()")),
        r#"{"name":"x","list":[1,2],"inner":{"k":true}}"#
    );
    assert_eq!(text(&format!("{start}b.root {{ a 1 }}\nb.toString()")), r#"{"root":{"a":1}}"#);
}

/// A file for a test, which is removed when it is dropped.
struct TemporaryFile(std::path::PathBuf);

impl TemporaryFile {
    fn new(name: &str) -> TemporaryFile {
        TemporaryFile(std::env::temp_dir().join(format!("busyhour-script-{}-{name}", std::process::id())))
    }

    /// Replaces `PATH` in the script by the file's path.
    fn in_script(&self, script: &str) -> String {
        script.replace("PATH", &format!("'{}'", self.0.display()))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn writers_that_wrap_a_writer_share_its_file() {
    for (name, script, expected) in [
        (
            "buffered",
            "FileWriter f = new FileWriter(PATH); BufferedWriter b = new BufferedWriter(f); b.write('a'); b.newLine(); \
             b.append('b'); b.close(); new File(PATH).text",
            "a\nb",
        ),
        (
            "print",
            "PrintWriter p = new PrintWriter(new FileWriter(PATH)); p.println('a'); p.print(1); p.flush(); p.close(); \
             new File(PATH).text",
            "a\n1",
        ),
        (
            "both",
            "def f = new FileWriter(PATH); def b = new BufferedWriter(f); def p = new PrintWriter(b); p.print('a'); \
             p.flush(); b.write('b'); b.flush(); f.write('c'); f.close(); new File(PATH).text",
            "abc",
        ),
        (
            "append",
            "new File(PATH).text = 'x'; def b = new BufferedWriter(new FileWriter(PATH, true)); b.write('y'); b.close(); \
             new File(PATH).text",
            "xy",
        ),
        (
            "memory",
            "def s = new StringWriter(); def p = new PrintWriter(s); p.print('a'); p.flush(); s.toString()",
            "a",
        ),
    ] {
        let file = TemporaryFile::new(name);
        assert_eq!(text(&file.in_script(script)), expected, "{name}");
    }
}

#[test]
fn an_unknown_beanshell_function_fails_only_when_it_is_called() {
    let script = compile("if (vars.get(\"one\").equals(\"2\")) { foo(); } return 5;", JavaLike::BeanShell)
        .expect("a script");
    assert_eq!(script.warnings().len(), 1);
    assert_eq!(script.evaluate(&mut User::new()).expect("a value").to_java_string(), "5");
    let script =
        compile("try { foo(1, \"a\"); } catch (Exception e) { }", JavaLike::BeanShell).expect("a script");
    let error = script.evaluate(&mut User::new()).expect_err("an error");
    let expected = "Sourced file: inline evaluation of: ``try { foo(1, \"a\"); } catch (Exception e) { };'' : \
                    Command not found: foo( int, java.lang.String ) (column 7)";
    assert_eq!(error.to_string(), expected);
    assert!(compile("source(\"x.bsh\");", JavaLike::BeanShell).is_err_and(|error| error.is_unsupported()));
}

#[test]
fn threads_of_a_script_are_rejected_with_the_reason() {
    let error = compile("Thread.start { println 1 }", JavaLike::Groovy).expect_err("a refusal");
    let expected =
        "`Thread.start` (JMeter runs the code in parallel to the user's samples) is not supported (column 8)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn dates_out_of_range_throw_exceptions() {
    for script in [
        "LocalDate.of(2020, 2, 29).plusDays(9223372036854775807L)",
        "LocalDate.of(2020, 2, 29).minusYears(Long.MIN_VALUE)",
        "Instant.ofEpochMilli(0).plusSeconds(9223372036854775807L)",
        "LocalDateTime.of(2020, 2, 29, 1, 1).plusMonths(99999999999L)",
        "new Date(0) + 99999999999L",
        "def c = Calendar.getInstance(); c.add(Calendar.DATE, 2147483647); c.add(Calendar.YEAR, 2147483647)",
        "def c = Calendar.getInstance(); c.set(2020, 2147483647, 2147483647)",
    ] {
        let script =
            format!("import java.time.*\ntry {{ {script}; 'moved' }} catch (Exception e) {{ 'thrown' }}");
        assert_eq!(text(&script), "thrown", "{script}");
    }
}
