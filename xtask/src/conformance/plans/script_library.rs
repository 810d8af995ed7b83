//! Scripts that use classes of JMeter, of its libraries and of the JDK: each one's value is recorded.

use super::super::elements::{
    cookies as manager, get, group, headers, loop_controller, loops, plan, raw, regex, variables,
};
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    vec![
        json_path(),
        json_path_more(),
        plan_and_threads(),
        logical_actions(),
        static_imports(),
        classes(),
        beanshell(),
        undeclared(),
        json_builder(),
        cookies(),
        cookies_clear(),
        sampler(),
        failing_functions(),
    ]
}

/// A document for JSON paths.
const DOCUMENT: &str = r#"{"store":{"book":[{"category":"fiction","author":"Ann","price":8.95,"tags":["a","b"]},{"category":"tech","author":"Bob","price":12,"isbn":"0-1"}],"open":true,"none":null,"url":"http://a/b"},"count":3000000000,"id":7,"name":"x \"y\"","empty":[],"nested":[[1,2],[3]]}"#;

/// JSR223 samplers, one for each script; a request at the end shows what they gave.
fn samplers(language: &str, scripts: &[&str]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut shown = String::new();
    for (at, text) in scripts.iter().enumerate() {
        let variable = format!("r{:02}", at + 1);
        let node = Node::new("JSR223Sampler", "TestBeanGUI", &format!("script {variable}"))
            .set("scriptLanguage", language)
            .set("parameters", "")
            .set("filename", "")
            .set("cacheKey", "true")
            .set("script", *text);
        nodes.push(node.with([regex(&variable, "(?s)^(.*)$", "$1$", "1", "none")]));
        shown.push_str(&format!("{variable}=${{{variable}}}\n"));
    }
    nodes.push(raw("POST", "show", "/body", &shown));
    nodes
}

fn of_language(name: &'static str, language: &str, scripts: &[&str]) -> Description {
    let mut children = vec![variables("v", &[("doc", DOCUMENT), ("n", "5")])];
    children.extend(samplers(language, scripts));
    case(
        name,
        &["JSR223Sampler"],
        plan([children.into_iter().fold(group("users"), |users, child| users.with([child]))]),
    )
    .mask_columns(&["bytes", "sentBytes"])
}

fn groovy(name: &'static str, scripts: &[&str]) -> Description {
    of_language(name, "groovy", scripts)
}

fn json_path() -> Description {
    const START: &str = "import com.jayway.jsonpath.JsonPath\ndef d = vars.get('doc')\n";
    let expressions = [
        "JsonPath.read(d, '$.id')",
        "JsonPath.read(d, '$.id').class.simpleName",
        "JsonPath.read(d, '$.count')",
        "JsonPath.read(d, '$.count').class.name",
        "JsonPath.read(d, '$.name')",
        "JsonPath.read(d, '$.store.book[0].price')",
        "JsonPath.read(d, '$.store.book[0].price').class.simpleName",
        "JsonPath.read(d, '$.store.book[1].price') + 1",
        "JsonPath.read(d, '$.store.open')",
        "JsonPath.read(d, '$.store.none')",
        "JsonPath.read(d, '$.store.none') == null",
        "JsonPath.read(d, '$.store.url')",
        "JsonPath.read(d, '$.store.book')",
        "JsonPath.read(d, '$.store.book').toString()",
        "'' + JsonPath.read(d, '$.store.book')",
        "\"${JsonPath.read(d, '$.store.book[0].tags')}\"",
        "JsonPath.read(d, '$.store.book[0].tags').toString()",
        "JsonPath.read(d, '$.store.book[0]')",
        "JsonPath.read(d, '$.store.book[0]').toString()",
        "JsonPath.read(d, '$.store.book[0]').author",
        "JsonPath.read(d, '$..author')",
        "JsonPath.read(d, '$..author').toString()",
        "JsonPath.read(d, '$..author').size()",
        "JsonPath.read(d, '$..author')[1]",
        "JsonPath.read(d, '$..author').get(0)",
        "JsonPath.read(d, '$..author').join(',')",
        "JsonPath.read(d, '$..author').collect { it.toUpperCase() }",
        "JsonPath.read(d, '$..author').collect { it.toUpperCase() }.toString()",
        "JsonPath.read(d, \"\\$.store.book[?(@.category == 'tech')].author\")",
        "JsonPath.read(d, \"\\$.store.book[?(@.category == 'tech')].author\")[0]",
        "JsonPath.read(d, '$.store.book[?(@.price > 10)].author').first()",
        "JsonPath.read(d, '$.store.book[*].author')",
        "JsonPath.read(d, '$.store.book[?(@.isbn)]').size()",
        "JsonPath.read(d, '$.store.book.length()')",
        "JsonPath.read(d, '$.empty')",
        "JsonPath.read(d, '$.empty').isEmpty()",
        "JsonPath.read(d, '$.nested')",
        "JsonPath.read(d, '$.nested').toString()",
        "JsonPath.read(d, '$.nested')[0][1]",
        "JsonPath.read(d, '$..absent')",
        "try { JsonPath.read(d, '$.absent') } catch (Exception e) { e.class.name }",
        "try { JsonPath.read(d, '$.absent') } catch (Exception e) { e.message }",
        "try { JsonPath.read(d, '$.store.absent.deep') } catch (Exception e) { e.message }",
        "try { JsonPath.read('', '$.id') } catch (Exception e) { e.class.simpleName + e.message }",
        "import com.jayway.jsonpath.PathNotFoundException\ntry { JsonPath.read(d, '$.nope') } catch (PathNotFoundException e) { 'caught' }",
        "JsonPath.read(d, 'id')",
        "JsonPath.read(d, '$.store.book[-1].author')",
        "JsonPath.read(d, '$.store.book[0:1]').size()",
        "JsonPath.read(d, \"\\$['store']['open']\")",
        "JsonPath.read(d, '$').size()",
    ];
    let scripts: Vec<String> = expressions
        .iter()
        .map(|text| match text.split_once('\n') {
            Some((import, rest)) if import.starts_with("import") => format!("{import}\n{START}{rest}"),
            _ => format!("{START}{text}"),
        })
        .collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    groovy("script-lib-json-path", &scripts)
        .why("Jayway's JsonPath in scripts: what its values are and how they print.")
}

fn json_path_more() -> Description {
    const START: &str = "import com.jayway.jsonpath.*\ndef d = vars.get('doc')\n";
    let expressions = [
        "JsonPath.parse(d).read('$.id')",
        "def c = JsonPath.parse(d); c.read('$.store.book[0].author') + c.read('$.id')",
        "JsonPath.parse(d).json().id",
        "JsonPath.parse('{\"a\":{\"b\":[1,2]}}').jsonString()",
        "JsonPath.parse('{\"a\":1}').set('$.a', 5).jsonString()",
        "JsonPath.parse('{\"a\":1}').put('$', 'b', 'x').jsonString()",
        "JsonPath.parse('{\"a\":[1]}').add('$.a', 2).jsonString()",
        "JsonPath.parse('{\"a\":1,\"b\":2}').delete('$.a').jsonString()",
        "JsonPath.parse('{\"a\":[{\"b\":1},{\"b\":2}]}').set('$.a[*].b', 7).jsonString()",
        "JsonPath.compile('$.id').read(d)",
        "JsonPath.compile('$..id').isDefinite()",
        "JsonPath.isPathDefinite('$.a.b')",
        "JsonPath.read([a: [b: 3]], '$.a.b')",
        "def list = JsonPath.read(d, '$..price'); list.sum()",
        "def list = JsonPath.read(d, '$..author'); list.each { vars.put('last', it) }; vars.get('last')",
        "def list = JsonPath.read(d, '$..author'); vars.put('count', list.size().toString()); vars.get('count')",
        "List<String> list = JsonPath.read(d, '$..author'); list.contains('Bob')",
        "String text = JsonPath.read(d, '$.id'); text",
        "String text = JsonPath.read(d, '$..author'); text",
        "def id = JsonPath.read(d, '$.id') as String; id.length()",
        "int id = JsonPath.read(d, '$.id'); id + 1",
        "JsonPath.read(d, '$.store.url').toString().length()",
        "JsonPath.read('{\"u\":[\"http://a/b\"]}', '$.u').toString()",
        "JsonPath.read('{\"u\":{\"k\":\"v\",\"n\":[1,null,true]}}', '$.u').toString()",
        "JsonPath.read('{\"u\":{\"k\":\"v\",\"n\":[1,null,true]}}', '$.u')",
        "JsonPath.read('[1,2,3]', '$[1]')",
        "JsonPath.read('[{\"a\":\"ü\"}]', '$[*].a').toString()",
        "JsonPath.read('[{\"a\":1.10}]', '$[0].a')",
        "new groovy.json.JsonSlurper().parseText(d).store.book*.author",
        "groovy.json.JsonOutput.toJson(JsonPath.read(d, '$.store.book[0]'))",
        "groovy.json.JsonOutput.toJson(JsonPath.read(d, '$..author'))",
    ];
    let scripts: Vec<String> = expressions.iter().map(|text| format!("{START}{text}")).collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    groovy("script-lib-json-path-documents", &scripts)
        .why("Document contexts of Jayway's JsonPath, and how its lists print.")
}

fn plan_and_threads() -> Description {
    groovy(
        "script-lib-plan-and-threads",
        &[
            "import org.apache.jmeter.services.FileServer\nFileServer.getFileServer().getBaseDir().tokenize('/').last()",
            "import org.apache.jmeter.services.FileServer\nFileServer.fileServer.baseDir.startsWith('/')",
            "(org.apache.jmeter.services.FileServer.getFileServer().getBaseDir() + '/x.csv').endsWith('script-lib-plan-and-threads/x.csv')",
            "import org.apache.jmeter.services.FileServer;\nString dir = FileServer.getFileServer().getBaseDir();\nnew File(dir).isDirectory()",
            "import org.apache.jmeter.services.FileServer\ndef f = new File(FileServer.getFileServer().getBaseDir(), 'plan.jmx'); \"${f.exists()}|${f.name}\"",
            "import org.apache.jmeter.services.FileServer\nFileServer.getFileServer().getScriptName()",
            "import org.apache.jmeter.services.*\nFileServer.getFileServer().getBaseDir().length() > 3",
            "org.apache.jmeter.services.FileServer.resolveBaseRelativeName('a/b')",
            "import org.apache.jmeter.gui.GuiPackage\nGuiPackage.getInstance() == null",
            "ctx.getThreadGroup().getNumThreads()",
            "ctx.threadGroup.numThreads",
            "ctx.getThreadGroup().getName()",
            "ctx.getThreadGroup().getNumberOfThreads()",
            "ctx.getThreadNum()",
            "ctx.threadNum + 1",
            "ctx.getThread().getThreadName()",
            "ctx.thread.threadNum",
            "Thread.currentThread().getName()",
            "org.apache.jmeter.threads.JMeterContextService.getContext().getThreadNum()",
            "org.apache.jmeter.threads.JMeterContextService.getNumberOfThreads()",
            "org.apache.jmeter.threads.JMeterContextService.getTotalThreads()",
            "import org.apache.jmeter.threads.JMeterContextService\nSystem.currentTimeMillis() - JMeterContextService.getTestStartTime() < 60000",
            "import org.apache.jmeter.threads.JMeterContext\nJMeterContext c = ctx; c.getThreadNum()",
            "import org.apache.jmeter.threads.JMeterVariables\nJMeterVariables v = vars; v.get('n')",
            "sampler.getName()",
            "ctx.getCurrentSampler().getName()",
            "try { sampler.getPath() } catch (MissingMethodException e) { 'no path' }",
        ],
    )
    .why("Where the plan is, and the numbers of threads.")
}

fn action(name: &str, text: &str) -> Node {
    Node::new("JSR223PostProcessor", "TestBeanGUI", name)
        .set("scriptLanguage", "groovy")
        .set("parameters", "")
        .set("filename", "")
        .set("cacheKey", "true")
        .set("script", text)
}

fn before(name: &str, text: &str) -> Node {
    Node::new("JSR223PreProcessor", "TestBeanGUI", name)
        .set("scriptLanguage", "groovy")
        .set("parameters", "")
        .set("filename", "")
        .set("cacheKey", "true")
        .set("script", text)
}

fn logical_actions() -> Description {
    const IMPORT: &str = "import org.apache.jmeter.threads.JMeterContext.TestLogicalAction\n";
    let set = |action: &str| format!("{IMPORT}ctx.setTestLogicalAction(TestLogicalAction.{action})");
    case(
        "script-lib-logical-actions",
        &["JSR223PostProcessor", "JSR223PreProcessor"],
        plan([loops("users", "2").with([
            loop_controller("broken", "3").with([
                get("a", "/a").with([action("break", &set("BREAK_CURRENT_LOOP"))]),
                get("never a", "/never"),
            ]),
            loop_controller("next", "2").with([
                get("b", "/b").with([action("next", &set("START_NEXT_ITERATION_OF_CURRENT_LOOP"))]),
                get("never b", "/never"),
            ]),
            get("c", "/c").with([action("goes on", &set("CONTINUE"))]),
            get("d", "/d").with([action(
                "whole name",
                "ctx.setTestLogicalAction(org.apache.jmeter.threads.JMeterContext.TestLogicalAction.START_NEXT_ITERATION_OF_THREAD)",
            )]),
            get("never d", "/never"),
        ])]),
    )
    .why("Scripts that leave a loop, begin its next pass or the next iteration.")
}

fn static_imports() -> Description {
    groovy(
        "script-lib-static-imports",
        &[
            "import static org.apache.commons.lang3.RandomUtils.nextInt\nnextInt(5, 6)",
            "import static org.apache.commons.lang3.RandomUtils.*\nnextInt(3, 3) + nextLong(4, 5)",
            "import static org.apache.commons.lang3.RandomUtils.nextInt\ndef x = nextInt(0, 10); x >= 0 && x < 10",
            "import org.apache.commons.lang3.RandomUtils\nRandomUtils.nextDouble(1.0d, 1.0d)",
            "import org.apache.commons.lang3.RandomUtils\nRandomUtils.nextInt() >= 0",
            "import org.apache.commons.lang3.RandomUtils\ntry { RandomUtils.nextInt(5, 1) } catch (IllegalArgumentException e) { e.message }",
            "import org.apache.commons.lang3.RandomUtils\ntry { RandomUtils.nextInt(-5, 1) } catch (IllegalArgumentException e) { e.message }",
            "import static java.lang.Math.max\nmax(3, 4)",
            "import static java.lang.Math.PI\nPI",
            "import static java.lang.Math.*\nmin(1, 2) + abs(-3)",
            "import static java.lang.Math.max as most\nmost(1, 9)",
            "import static java.lang.Integer.parseInt\nparseInt('12') + 1",
            "import static java.lang.Integer.MAX_VALUE\nMAX_VALUE",
            "import static java.util.UUID.randomUUID\nrandomUUID().toString().length()",
            "import static org.apache.commons.lang3.RandomStringUtils.randomAlphabetic\nrandomAlphabetic(8).length()",
            "import static org.apache.commons.lang3.RandomStringUtils.*\nrandomNumeric(4) ==~ /\\d{4}/",
            "import static org.apache.commons.lang3.StringUtils.leftPad\nleftPad('7', 3, '0')",
            "import static org.apache.commons.lang3.StringUtils.isBlank\nisBlank(' ')",
            "import static groovy.json.JsonOutput.toJson\ntoJson([a: 1])",
            "import static groovy.json.JsonOutput.*\nprettyPrint(toJson([a: 1]))",
            "import static java.nio.charset.StandardCharsets.UTF_8\n'ü'.getBytes(UTF_8).length",
            "import static java.util.concurrent.TimeUnit.SECONDS\nSECONDS.toString()",
        ],
    )
    .why("Static imports.")
}

fn classes() -> Description {
    groovy(
        "script-lib-classes",
        &[
            "UUID.nameUUIDFromBytes('abc'.getBytes()).toString()",
            "UUID.nameUUIDFromBytes('abc'.bytes).toString().length()",
            "new URL('http://u:p@host:8080/a/b?c=d#e').host",
            "new URL('http://u:p@host:8080/a/b?c=d#e').getPort()",
            "new URL('http://host/a/b?c=d').getPath()",
            "new URL('http://host/a/b?c=d').getFile()",
            "new URL('http://host/a/b?c=d').query",
            "new URL('https://host').getDefaultPort() + ' ' + new URL('https://host').port",
            "new URL('http://u:p@host/').userInfo",
            "new URL('http://host/a#f').ref",
            "new URL('http://host/a').toString()",
            "new URL('HTTP://host/a').protocol",
            "try { new URL('nothing') } catch (MalformedURLException e) { e.message }",
            "try { new URL('foo://bar') } catch (MalformedURLException e) { e.message }",
            "import java.util.stream.Collectors\n['b', 'a'].stream().sorted().collect(Collectors.toList())",
            "import java.util.stream.Collectors\n['b', 'a'].stream().collect(Collectors.joining(', '))",
            "import java.util.stream.Collectors\n['b', 'a'].stream().collect(Collectors.joining(', ', '<', '>'))",
            "import java.util.stream.Collectors\n[1, 2, 3].stream().filter { it > 1 }.map { it * 2 }.collect(Collectors.toList())",
            "import java.util.stream.Collectors\n[1, 1, 2].stream().collect(Collectors.toSet()).size()",
            "import java.util.stream.Collectors\n[1, 1, 2].stream().collect(Collectors.counting())",
            "import java.time.*\nimport java.time.temporal.ChronoUnit\nLocalDateTime.of(2020, 1, 2, 3, 4, 5, 678000000).truncatedTo(ChronoUnit.SECONDS)",
            "import java.time.*\nimport java.time.temporal.ChronoUnit\nLocalDateTime.of(2020, 1, 2, 3, 4, 5).truncatedTo(ChronoUnit.DAYS)",
            "import java.time.*\nimport java.time.temporal.ChronoUnit\nInstant.ofEpochMilli(1234567L).truncatedTo(ChronoUnit.MINUTES).toString()",
            "import java.time.*\nimport java.time.format.DateTimeFormatter\nLocalDateTime.of(2020, 1, 2, 3, 4).atZone(ZoneId.of('UTC')).withZoneSameInstant(ZoneId.of('Asia/Tokyo')).format(DateTimeFormatter.ofPattern('yyyy-MM-dd HH:mm'))",
            "import java.time.*\nLocalDateTime.of(2020, 1, 2, 3, 4).atZone(ZoneId.of('UTC')).withZoneSameLocal(ZoneId.of('Asia/Tokyo')).toInstant().toString()",
            "def add = { a, b -> a + b }\nadd.curry(5)(3)",
            "def add = { a, b -> \"$a-$b\" }\nadd.rcurry('x')('y')",
            "def three = { a, b, c -> \"$a$b$c\" }\nthree.ncurry(1, 'm')('l', 'r')",
            "def add = { a, b -> a + b }\n[1, 2].collect(add.curry(10))",
            "def add = { a, b -> a + b }\nadd.curry(1).call(2)",
            "def twice(x) { x * 2 }\ntwice(21)",
            "def greet(String who, int times = 2) { who * times }\ngreet('a') + greet('b', 3)",
            "def fact(n) { n <= 1 ? 1 : n * fact(n - 1) }\nfact(5)",
            "String join(List parts) { parts.join('+') }\njoin([1, 2])",
        ],
    )
    .why("Classes of the JDK and Groovy's closures.")
}

fn beanshell() -> Description {
    of_language(
        "script-lib-beanshell",
        "beanshell",
        &[
            "import org.apache.jmeter.services.FileServer;\nnew File(FileServer.getFileServer().getBaseDir()).getName();",
            "import org.apache.jmeter.services.FileServer;\nString dir = FileServer.getFileServer().getBaseDir(); new File(dir, \"plan.jmx\").exists();",
            "org.apache.jmeter.services.FileServer.getFileServer().getScriptName();",
            "import com.jayway.jsonpath.JsonPath;\nJsonPath.read(vars.get(\"doc\"), \"$.id\", new com.jayway.jsonpath.Predicate[0]);",
            "ctx.getThreadGroup().getNumThreads();",
            "ctx.getThreadGroup().getName() + ctx.getThreadNum();",
            "ctx.getThread().getThreadName();",
            "import org.apache.commons.lang3.RandomUtils;\nRandomUtils.nextInt(4, 5);",
            "UUID.nameUUIDFromBytes(\"abc\".getBytes()).toString();",
            "new URL(\"http://host:81/a?b=c\").getPort() + new URL(\"http://host:81/a?b=c\").getQuery();",
            "int twice(int x) { return x * 2; } twice(4);",
            "import java.time.*; import java.time.temporal.ChronoUnit;\nLocalDateTime.of(2020, 1, 2, 3, 4, 5).truncatedTo(ChronoUnit.HOURS).toString();",
        ],
    )
    .why("The same in BeanShell.")
}

fn undeclared() -> Description {
    groovy(
        "script-lib-undeclared",
        &[
            "if (vars.get('n') == '6') { UnknownThing.go() }\n'went on'",
            "try { UnknownThing.go() } catch (MissingPropertyException e) { 'no property' }",
            "if (vars.get('n') == '6') { unknownFunction(1) }\n'went on'",
            "try { unknownFunction(1) } catch (MissingMethodException e) { 'no method' }",
            "try { vars.put('x', unknown_name) } catch (MissingPropertyException e) { 'no name' }",
            "def x = vars.get('n') == '5' ? 'five' : SOME_CONSTANT\nx",
            "try { SOME_CONSTANT + 1 } catch (e) { e.class.simpleName }",
        ],
    )
    .why("Names that are not there: JMeter starts such scripts.")
}

fn cookies() -> Description {
    const COOKIE: &str = "import org.apache.jmeter.protocol.http.control.Cookie\nimport org.apache.jmeter.protocol.http.control.CookieManager\n";
    let with = |text: &str| format!("{COOKIE}{text}");
    case(
        "script-lib-cookies",
        &["CookieManager", "JSR223PreProcessor", "JSR223PostProcessor"],
        plan([loops("users", "2").with([
            manager("jar", &[]),
            get("adds", "/adds").with([before(
                "adds",
                &with("CookieManager manager = sampler.getCookieManager()\nvars.put('before', '' + manager.getCookieCount())\nmanager.add(new Cookie('token', 'abc', '127.0.0.1', '/', false, 0L))\nmanager.add(new Cookie('second', 'def', '127.0.0.1', '/', false, 0))"),
            )]),
            get("reads", "/reads").with([action(
                "reads",
                &with("def m = sampler.cookieManager\ndef all = []\nfor (int i = 0; i < m.getCookieCount(); i++) { Cookie c = m.get(i); all << c.getName() + '=' + c.getValue() + '@' + c.getDomain() + c.getPath() + c.getSecure() + c.getExpires() }\nvars.put('all', all.join(','))\nvars.put('text', m.get(0).toString())"),
            )]),
            raw("POST", "show", "/body", "${before}|${all}|${text}"),
            get("replaces", "/replaces").with([before(
                "replaces",
                &with("sampler.getCookieManager().add(new Cookie('token', 'new', '127.0.0.1', '/', false, 0))"),
            )]),
            get("changes", "/changes").with([before("changes", "ctx.getCurrentSampler().getCookieManager().get(0).setValue('set')")]),
            get("changed", "/changed"),
            get("removes", "/removes").with([before("removes", "sampler.getCookieManager().remove(0)")]),
            get("property", "/property").with([before(
                "property",
                "def m = sampler.getProperty('HTTPSampler.cookie_manager').getObjectValue()\nvars.put('count', m.getCookieCount() + '')",
            )]),
            raw("POST", "show again", "/body", "${count}"),
            get("elsewhere", "/elsewhere").with([before(
                "other path",
                &with("sampler.getCookieManager().add(new Cookie('deep', '1', '127.0.0.1', '/deep', false, 0))"),
            )]),
            get("deep", "/deep/page"),
        ])]),
    )
    .why("Scripts that read, add, change and remove cookies.")
}

fn cookies_clear() -> Description {
    const COOKIE: &str = "import org.apache.jmeter.protocol.http.control.Cookie\n";
    case(
        "script-lib-cookies-clear",
        &["CookieManager", "JSR223PreProcessor"],
        plan([loops("users", "2").with([
            manager("jar", &[]),
            get("adds", "/adds").with([before(
                "adds",
                &format!("{COOKIE}sampler.getCookieManager().add(new Cookie('a', '1', '127.0.0.1', '/', false, 0))"),
            )]),
            get("sends", "/sends"),
            get("empty", "/empty").with([before(
                "adds nothing",
                &format!("{COOKIE}sampler.getCookieManager().add(new Cookie('a', '', '127.0.0.1', '/', false, 0))"),
            )]),
            get("each", "/each").with([before(
                "each",
                &format!("{COOKIE}def c = new Cookie(); c.setName('made'); c.setValue('2'); c.setDomain('127.0.0.1'); c.setPath('/')\nsampler.cookieManager.add(c)\nsampler.cookieManager.getCookies().each {{ vars.put('seen', it.getObjectValue().getName()) }}"),
            )]),
            raw("POST", "show", "/body", "${seen}"),
            get("without", "/without").with([before("clears", "sampler.getCookieManager().clear()")]),
            get("sets", "/set-cookie/got/1"),
            get("after set", "/after"),
        ])]),
    )
    .why("Cookies without a value, cookies made field by field, and a cleared manager.")
}

fn sampler() -> Description {
    case(
        "script-lib-sampler",
        &["JSR223PreProcessor", "JSR223PostProcessor"],
        plan([loops("users", "2").with([
            get("path", "/plan").with([before("path", "sampler.setPath('/script')")]),
            get("query", "/plan").with([before("query", "sampler.path = '/script?a=1&b=x%20y&c'")]),
            get("whole", "/plan").with([before("whole", "sampler.setPath(sampler.getPath() + '/' + sampler.getMethod() + '/' + sampler.domain)")]),
            get("method", "/plan").with([before("method", "sampler.setMethod('PUT')")]),
            get("argument", "/plan").with([before("argument", "sampler.addArgument('a b', 'c&d')")]),
            get("encoded", "/plan").with([before("encoded", "sampler.addEncodedArgument('e', 'x%20y', '=')")]),
            get("not encoded", "/plan").with([before("not encoded", "sampler.addNonEncodedArgument('n', 'x%20y', '=')")]),
            raw("POST", "body", "/body", "from the plan").with([before(
                "body",
                "def old = sampler.getArguments().getArgument(0).getValue()\nsampler.getArguments().removeAllArguments()\nsampler.addNonEncodedArgument('', old.toUpperCase(), '')\nsampler.setPostBodyRaw(true)",
            )]),
            raw("POST", "value", "/body", "from the plan").with([before("value", "sampler.arguments.getArgument(0).setValue('set ' + ctx.currentSampler.arguments.argumentCount)")]),
            raw("POST", "arguments", "/body", "from the plan").with([before(
                "arguments",
                "import org.apache.jmeter.config.Arguments\nimport org.apache.jmeter.protocol.http.util.HTTPArgument\ndef all = new Arguments()\ndef one = new HTTPArgument('', '{\"a\": \"b c\"}', '', false)\none.setAlwaysEncoded(false)\nall.addArgument(one)\nsampler.setArguments(all)",
            )]),
            get("unchanged", "/plan"),
            get("name", "/plan").with([before("name", "sampler.setName('renamed ' + vars.getIteration())")]),
            get("after", "/plan").with([action("after", "vars.put('after', sampler.getPath() + '|' + sampler.getMethod() + '|' + sampler.getProtocol() + '|' + sampler.getArguments().getArgumentCount())")]),
            raw("POST", "show", "/body", "${after}"),
            get("url", "/plan").with([before(
                "url",
                "sampler.addArgument('a b', 'c&d'); sampler.addNonEncodedArgument('e', 'f', '=')\nvars.put('url', sampler.getUrl().getFile() + '|' + sampler.url.host + '|' + sampler.getQueryString() + '|' + (sampler.getUrl().toString() == 'http://127.0.0.1:' + sampler.getPort() + sampler.getUrl().getFile()))",
            )]),
            raw("POST", "show url", "/body", "${url}"),
        ])]),
    )
    .why("Scripts that change the sampler they stand before: for one sample.")
}

fn failing_functions() -> Description {
    const TIME: &str = "${__time(yyyy-MM-dd HH:mm:ss.ssss)}";
    case(
        "script-lib-failing-functions",
        &["HTTPSamplerProxy"],
        plan([group("users").with([
            get("path", &format!("/a{TIME}")),
            raw("POST", "body", "/body", TIME),
            get("header", "/h").with([headers("headers", &[("X-Time", TIME)])]),
            get("fine", "/fine"),
            raw("POST", "jexl", "/body", "${__jexl(1+1)}|${__jexl(\"${x}\" == \"a\")}"),
        ])]),
    )
    .mask_columns(&["bytes"])
    .why("A pattern that Java's formatter does not know fails the sample whose request asks for it; __jexl is left as text.")
}

fn json_builder() -> Description {
    const START: &str = "import groovy.json.*\n";
    let expressions = [
        "new JsonBuilder([a: 1, b: [1, 2]]).toString()",
        "new JsonBuilder([a: 1]).toPrettyString()",
        "def b = new JsonBuilder(); b { name 'x'; n 5 }; b.toString()",
        "def b = new JsonBuilder(); b { name 'x'; inner { k 'v'; deep { z true } } }; b.toString()",
        "def b = new JsonBuilder(); b { list 1, 2, 3; other([4, 5]) }; b.toString()",
        "def b = new JsonBuilder(); b { items([1, 2]) { i -> id i; text \"n$i\" } }; b.toString()",
        "def b = new JsonBuilder(); b.root { a 1 }; b.toString()",
        "def b = new JsonBuilder(); b([1, 2, 3]); b.toString()",
        "def b = new JsonBuilder(); b(a: 1, b: 'x'); b.toString()",
        "def b = new JsonBuilder(); b([1, 2]) { n -> value n * 2 }; b.toString()",
        "def b = new JsonBuilder(); def user = 'Ann'; b { name user; size user.size() }; b.toString()",
        "def b = new JsonBuilder(); b { empty([]); none null; yes true; d 1.50 }; b.toString()",
        "def b = new JsonBuilder(); b { name vars.get('n'); t 'a\"b' }; b.toPrettyString()",
        "def json = new JsonSlurper().parseText('{\"a\":{\"b\":1}}'); def b = new JsonBuilder(json); b.content.a.b = 7; b.toString()",
        "def json = new JsonSlurper().parseText('{\"a\":1}'); def b = new JsonBuilder(json); b.content.c = [1]; b.toPrettyString()",
        "def b = new JsonBuilder(); def r = b { a 1 }; r.a",
        "String s = [a: 1]; s",
        "String s = [1, 'x']; s",
    ];
    let scripts: Vec<String> = expressions.iter().map(|text| format!("{START}{text}")).collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    groovy("script-lib-json-builder", &scripts).why("Objects of JSON made by closures.")
}
