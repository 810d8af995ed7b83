//! Elements that are scripts: JSR223, BSF and BeanShell, with their languages.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

/// Nashorn, which left Java with version 15, and what it needs of ASM beside JMeter's own part.
const NASHORN: [&str; 5] = [
    "org.openjdk.nashorn:nashorn-core:15.4",
    "org.ow2.asm:asm-commons:9.6",
    "org.ow2.asm:asm-tree:9.6",
    "org.ow2.asm:asm-util:9.6",
    "org.ow2.asm:asm-analysis:9.6",
];

pub fn cases() -> Vec<Description> {
    vec![groovy(), beanshell(), nashorn(), nashorn_judges(), bsf(), missing_engines(), jexl()]
}

/// A JSR223 or BSF element.
fn script(tag: &'static str, name: &str, language: &str, text: &str) -> Node {
    Node::new(tag, "TestBeanGUI", name)
        .set("scriptLanguage", language)
        .set("parameters", "one two")
        .set("filename", "")
        .set("cacheKey", "true")
        .set("script", text)
}

/// What a sampler gave, as `${got}`.
fn got() -> Node {
    regex("got", "(?s)^(.*)$", "$1$", "1", "none")
}

/// What scripts left in the variable `seen`, for the server to see.
fn show(name: &str) -> Node {
    raw("POST", name, "/body", "${got}|${seen}|${heard}")
}

fn groovy() -> Description {
    let groovy = |tag, name: &str, text: &str| script(tag, name, "groovy", text);
    case(
        "jsr223-groovy",
        &[
            "JSR223Sampler",
            "JSR223PreProcessor",
            "JSR223PostProcessor",
            "JSR223Assertion",
            "JSR223Timer",
            "JSR223Listener",
        ],
        plan([group("users").with([
            variables("v", &[("n", "5"), ("seen", "-"), ("heard", "-")]),
            groovy("JSR223Sampler", "value", "Label + args[1] + Parameters + vars.n * 2").with([got()]),
            show("show value"),
            groovy("JSR223Sampler", "nothing", "vars.put('seen', prev.sampleLabel + prev.responseCode); return null").with([got()]),
            show("show nothing"),
            groovy(
                "JSR223Sampler",
                "changed",
                "SampleResult.setResponseCode('404'); SampleResult.responseMessage = 'gone'; SampleResult.successful = false; \
                 SampleResult.setSampleLabel('renamed'); 'body'",
            )
            .with([got()]),
            show("show changed"),
            groovy("JSR223Sampler", "fails", "int n = 1\nthrow new IllegalStateException('no ' + n)"),
            get("page", "/page").with([
                groovy("JSR223PreProcessor", "before", "vars.put('seen', 'before ' + sampler.name + ' after ' + prev.sampleLabel)"),
                groovy("JSR223Timer", "wait", "return 3"),
                groovy(
                    "JSR223PostProcessor",
                    "after",
                    "def m = prev.responseDataAsString =~ /row\">(\\w+)=(\\d+)/\nvars.put('seen', vars.get('seen') + ' rows ' + m.collect { it[1] }.join(','))\nprev.setResponseMessage('seen')",
                ),
                groovy("JSR223Assertion", "judge", "if (SampleResult.responseCode == '200') AssertionResult.setFailureMessage('why not')\nAssertionResult.failure = true"),
                groovy("JSR223Listener", "hears", "vars.put('heard', sampleResult.sampleLabel + sampleResult.successful + sampleEvent.threadGroup)"),
            ]),
            show("show page"),
            get("fine", "/fine").with([groovy("JSR223Assertion", "asserts", "assert prev.responseCode == '201' : 'wrong code'")]),
        ])]),
    )
    .why("Scripts in Groovy wherever they may stand.")
    .mask_columns(&["bytes"])
}

fn beanshell() -> Description {
    let processor = |tag, name: &str, text: &str| {
        Node::new(tag, "TestBeanGUI", name)
            .set("filename", "")
            .set("parameters", "one two")
            .set("resetInterpreter", false)
            .set("script", text)
    };
    let sampler = |name: &str, text: &str| {
        Node::new("BeanShellSampler", "BeanShellSamplerGui", name)
            .set("BeanShellSampler.query", text)
            .set("BeanShellSampler.filename", "")
            .set("BeanShellSampler.parameters", "one two")
            .set("BeanShellSampler.resetInterpreter", false)
    };
    let assertion = |name: &str, text: &str| {
        Node::new("BeanShellAssertion", "BeanShellAssertionGui", name)
            .set("BeanShellAssertion.query", text)
            .set("BeanShellAssertion.filename", "")
            .set("BeanShellAssertion.parameters", "")
            .set("BeanShellAssertion.resetInterpreter", false)
    };
    case(
        "beanshell-elements",
        &[
            "BeanShellSampler",
            "BeanShellPreProcessor",
            "BeanShellPostProcessor",
            "BeanShellAssertion",
            "BeanShellTimer",
            "BeanShellListener",
        ],
        plan([loops("users", "2").with([
            variables("v", &[("n", "5"), ("seen", "-"), ("heard", "-")]),
            sampler("value", "count = (count == void) ? 1 : count + 1; return Label + bsh.args[1] + Parameters + count;").with([got()]),
            show("show value"),
            sampler("changed", "ResponseCode = \"404\"; ResponseMessage = \"gone\"; IsSuccess = false; return \"body\";").with([got()]),
            show("show changed"),
            get("page", "/page").with([
                processor("BeanShellPreProcessor", "before", "vars.put(\"seen\", \"before \" + prev.getSampleLabel());"),
                processor("BeanShellTimer", "wait", "return 3;"),
                processor(
                    "BeanShellPostProcessor",
                    "after",
                    "String s = new String(data); vars.put(\"seen\", vars.get(\"seen\") + \" length \" + s.length()); prev.setResponseMessage(\"seen\");",
                ),
                assertion("judge", "if (ResponseCode.equals(\"200\")) { Failure = true; FailureMessage = \"code \" + ResponseCode + SampleLabel; }"),
                processor(
                    "BeanShellListener",
                    "hears",
                    "vars.put(\"heard\", sampleEvent.getResult().getSampleLabel() + sampleEvent.getResult().isSuccessful());",
                ),
            ]),
            show("show page"),
        ])]),
    )
    .why("Scripts in BeanShell; an interpreter remembers its names.")
}

fn nashorn() -> Description {
    let js = |tag, name: &str, text: &str| script(tag, name, "javascript", text);
    case(
        "jsr223-javascript",
        &["JSR223Sampler", "JSR223PreProcessor", "JSR223PostProcessor", "JSR223Listener", "JSR223Timer"],
        plan([group("users").with([
            variables("v", &[("x", "a.b.c"), ("n", "5"), ("seen", "-"), ("heard", "-")]),
            js("JSR223Sampler", "names", "[Label, Parameters, args.length, args[1], typeof prev, typeof SampleResult, typeof sampleEvent, typeof AssertionResult, FileName, sampler.getName(), sampler.name, ctx.getThreadNum(), ctx.threadNum].join()").with([got()]),
            show("show names"),
            js("JSR223Sampler", "texts", "var x = vars.get('x'); [typeof x, x.length, x.length(), x.replace('.', '-'), x.replaceAll('\\\\.', '+'), x.split('.').length, x.contains('b'), x.equals('a.b.c'), vars.get('n') === '5', vars.get('n') * 3, vars.get('n') + 3, x.match(/b/)[0], x.startsWith('a'), x.isEmpty(), x.substring(2), x.toUpperCase()].join()").with([got()]),
            show("show texts"),
            js("JSR223Sampler", "variables", "vars.put('q', 5); vars.put('r', 5.5); vars.put('s', true); vars.put('t', undefined); vars.put('u', null); vars.remove('n'); '' + vars.get('q') + vars.get('r') + vars.get('s') + vars.get('t') + vars.get('u') + vars.get('n') + (vars.get('nope') === null) + ctx.getVariables().get('x') + ctx.variables.get('x')").with([got()]),
            show("show variables"),
            js("JSR223Sampler", "properties", "props.put('own', 'v'); props.get('own') + props.getProperty('absent', 'd') + props.get('absent')").with([got()]),
            show("show properties"),
            js("JSR223Sampler", "java", "var f = new java.text.SimpleDateFormat('yyyy'); var l = new java.util.ArrayList(); l.add('a'); l.add('b'); var S = Java.type('java.lang.System'); [f.format(new java.util.Date(0)), l.size(), l.get(1), '' + l, S.currentTimeMillis() > 0, java.util.UUID.randomUUID().toString().length, java.lang.Integer.parseInt('12'), new java.util.Date(7).getTime()].join('|')").with([got()]),
            show("show java"),
            js("JSR223Sampler", "caught", "var said = []; try { java.lang.Integer.parseInt('x') } catch (e) { said.push('' + e, e.message, e.getMessage()) } try { nothing.x } catch (e) { said.push(e.name) } try { throw 'thrown' } catch (e) { said.push(e) } said.join('|')").with([got()]),
            show("show caught"),
            js("JSR223Sampler", "changed", "SampleResult.setResponseCode(404); SampleResult.responseMessage = 'gone'; SampleResult.setSuccessful(false); SampleResult.setSampleLabel('renamed'); SampleResult.setResponseData('own', 'UTF-8'); undefined").with([got()]),
            show("show changed"),
            js("JSR223Sampler", "null", "null").with([got()]),
            show("show null"),
            js("JSR223Sampler", "statement", "if (true) { 'inside' }").with([got()]),
            show("show statement"),
            js("JSR223Sampler", "object", "({a: 1})").with([got()]),
            show("show object"),
            js("JSR223Sampler", "json", "var o = JSON.parse('{\"list\": [1, {\"k\": \"v\"}]}'); o.more = vars.get('x'); JSON.stringify(o)").with([got()]),
            show("show json"),
            get("page", "/page").with([
                js("JSR223PreProcessor", "before", "vars.put('seen', 'before ' + sampler.getName() + ' after ' + prev.getSampleLabel());"),
                js("JSR223Timer", "wait", "'3'"),
                js("JSR223PostProcessor", "after", "var body = prev.getResponseDataAsString(), rows = []; var pattern = /row\">(\\w+)=/g, found; while ((found = pattern.exec(body)) != null) rows.push(found[1]); vars.put('seen', vars.get('seen') + ' rows ' + rows + ' of ' + body.length + prev.responseCode + prev.isSuccessful() + new java.lang.String(prev.getResponseData()).length()); prev.setResponseMessage('seen'); log.info('done');"),
                js("JSR223Listener", "hears", "vars.put('heard', sampleResult.getSampleLabel() + sampleEvent.getResult().isSuccessful() + sampleEvent.getThreadGroup());"),
            ]),
            show("show page"),
        ])]),
    )
    .plugins(&NASHORN)
    .why("JavaScript as Nashorn runs it, the engine of Java 8 to 14; the recording was made with its jar beside JMeter.")
}

fn nashorn_judges() -> Description {
    let js = |tag, name: &str, text: &str| script(tag, name, "javascript", text);
    case(
        "jsr223-javascript-failing",
        &["JSR223Sampler", "JSR223PostProcessor", "JSR223Assertion"],
        plan([group("users").with([
            variables("v", &[("seen", "-"), ("heard", "-")]),
            js("JSR223Sampler", "throws", "vars.put('seen', 'first');\nthrow 'oops'; vars.put('seen', 'second')").with([got()]),
            show("show throws"),
            js("JSR223Sampler", "unknown name", "nothing.x"),
            js("JSR223Sampler", "no function", "[1, 2].includes(2)"),
            get("after throws", "/a").with([js("JSR223PostProcessor", "after", "vars.put('seen', 'third'); nothing()")]),
            show("show after"),
            get("fails", "/b").with([js("JSR223Assertion", "judge", "if (SampleResult.getResponseCode() == 200) { AssertionResult.setFailure(true); AssertionResult.setFailureMessage('code ' + prev.responseCode); }")]),
            get("holds", "/c").with([js("JSR223Assertion", "judge", "AssertionResult.setFailure(prev.getResponseCode() != '200')")]),
            get("throws in assertion", "/d").with([js("JSR223Assertion", "judge", "nothing.x")]),
        ])]),
    )
    .plugins(&NASHORN)
    .mask_columns(&["bytes", "responseMessage", "failureMessage"])
    .why("What goes wrong in a script of JavaScript; the words of the engine are its own.")
}

fn bsf() -> Description {
    let js = |tag, name: &str, text: &str| script(tag, name, "javascript", text);
    case(
        "bsf-javascript",
        &["BSFSampler", "BSFPreProcessor", "BSFPostProcessor", "BSFAssertion", "BSFTimer", "BSFListener"],
        plan([group("users").with([
            variables("v", &[("x", "a.b.c"), ("n", "5"), ("seen", "-"), ("heard", "-")]),
            js("BSFSampler", "first", "'' + (prev == null) + typeof prev").with([got()]),
            show("show first"),
            js("BSFSampler", "names", "[typeof Label, Label, Parameters, args.length, args[1], typeof args[1], sampler.getName(), sampler.name, ctx.getThreadNum()].join()").with([got()]),
            show("show names"),
            js("BSFSampler", "texts", "var x = vars.get('x'); [typeof x, x.length(), x.replace('.', '-'), x.replaceAll('\\\\.', '+'), x.contains('b'), x.equals('a.b.c'), vars.get('n') == 5, vars.get('n') * 3, vars.get('n') + 3, x.match(/b/)[0], x.substring(2)].join()").with([got()]),
            show("show texts"),
            js("BSFSampler", "java", "var f = new java.text.SimpleDateFormat('yyyy'); var l = new java.util.ArrayList(); l.add('a'); [f.format(new java.util.Date(0)), l.size(), l.get(0), '' + l, java.lang.System.currentTimeMillis() > 0, Packages.java.lang.Integer.parseInt('12')].join('|')").with([got()]),
            show("show java"),
            js("BSFSampler", "caught", "var said; try { java.lang.Integer.parseInt('x') } catch (e) { said = '' + e + '|' + e.message } said").with([got()]),
            show("show caught"),
            js("BSFSampler", "changed", "SampleResult.setResponseCode(404); SampleResult.responseMessage = 'gone'; SampleResult.setSuccessful(false); SampleResult.setSampleLabel('renamed'); 'body'").with([got()]),
            show("show changed"),
            js("BSFSampler", "undefined", "undefined").with([got()]),
            show("show undefined"),
            js("BSFSampler", "throws", "throw 'oops'").with([got()]),
            show("show throws"),
            get("page", "/page").with([
                js("BSFPreProcessor", "before", "vars.put('seen', 'before ' + sampler.getName() + ' after ' + prev.getSampleLabel());"),
                js("BSFTimer", "wait", "'3'"),
                js("BSFPostProcessor", "after", "vars.put('seen', vars.get('seen') + ' of ' + prev.getResponseDataAsString().length() + prev.responseCode); prev.setResponseMessage('seen');"),
                js("BSFAssertion", "judge", "if (SampleResult.getResponseCode() == 200) { AssertionResult.setFailure(true); AssertionResult.setFailureMessage('code ' + prev.responseCode); }"),
                js("BSFListener", "hears", "vars.put('heard', '' + sampleEvent.getResult().getSampleLabel() + sampleEvent.getResult().isSuccessful());"),
            ]),
            show("show page"),
        ])]),
    )
    .mask("Undefined@[0-9a-f]+", "Undefined@{ADDRESS}")
    .mask_columns(&["bytes", "sentBytes"])
    .why("JavaScript in BSF elements runs in the Rhino that JMeter has with it.")
}

fn missing_engines() -> Description {
    case(
        "scripts-without-engine",
        &["JSR223Sampler", "BSFSampler"],
        plan([group("users").with([
            script("JSR223Sampler", "jexl3", "jexl3", "1"),
            script("BSFSampler", "jexl", "jexl", "1"),
            script("BSFSampler", "groovy", "groovy", "1"),
            script("BSFSampler", "none", "", "1"),
        ])]),
    )
    .mask_columns(&["bytes"])
    .why("Languages without an engine: each sample fails.")
}

fn jexl() -> Description {
    let jexl = |name: &str, text: &str| script("JSR223Sampler", name, "jexl2", text).with([got()]);
    case(
        "jsr223-jexl",
        &["JSR223Sampler"],
        plan([group("users").with([
            variables("v", &[("n", "5"), ("seen", "-"), ("heard", "-")]),
            jexl("product", "11*11"),
            show("show product"),
            jexl("variable", "vars.get('n') + 1"),
            show("show variable"),
            jexl("stored", "vars.put('seen', 'x' + ctx.getThreadNum())"),
            show("show stored"),
            jexl("statements", "var a = 5; if (a > 4) { a = a * 2 }; a"),
            show("show statements"),
        ])]),
    )
    .why("JEXL 2 as an engine of JSR 223.")
}
