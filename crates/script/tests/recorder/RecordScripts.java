import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.script.ScriptEngine;
import javax.script.ScriptEngineManager;
import javax.script.ScriptException;
import javax.script.SimpleBindings;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;
import org.apache.jmeter.util.BeanShellInterpreter;
import org.apache.jmeter.util.JMeterUtils;
import org.slf4j.Logger;
import org.slf4j.helpers.MessageFormatter;

/**
 * Runs scripts in JMeter's Groovy or BeanShell and prints a line for the tests for each: the script, its output in
 * brackets followed by its value (or `!` and its exception), and the variables that it changed. Run it in this directory:
 *
 * java -Duser.timezone=UTC --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
 *     --add-opens java.base/java.util.concurrent=ALL-UNNAMED --add-opens java.base/java.text=ALL-UNNAMED \
 *     -cp "$BUSYHOUR_JMETER_HOME/lib/*:$BUSYHOUR_JMETER_HOME/lib/ext/*" RecordScripts.java groovy FILE
 *
 * FILE contains one script per line; `⏎` stands for a line break. Only the part before the first tab of a line is read,
 * so that a recording can be recorded again from itself. Groovy's suggestions of similar names are omitted.
 */
public class RecordScripts {
    private static final ByteArrayOutputStream PRINTED = new ByteArrayOutputStream();

    public static void main(String[] arguments) throws Exception {
        System.setProperty("org.apache.logging.log4j.level", "OFF");
        PrintStream results = new PrintStream(System.out, true, "UTF-8");
        PrintStream printed = new PrintStream(PRINTED, true, "UTF-8");
        System.setOut(printed);
        Path properties = Files.createTempFile("jmeter", ".properties");
        Files.writeString(properties, "prop=pv\n");
        JMeterUtils.loadJMeterProperties(properties.toString());
        JMeterUtils.initLocale();
        Files.delete(properties);
        for (String line : Files.readAllLines(Path.of(arguments[1]), StandardCharsets.UTF_8)) {
            String script = line.split("\t", 2)[0];
            if (!script.isBlank()) {
                String text = script.replaceFirst("^[?]", "").replace("⏎", "\n");
                results.println(script + "\t" + record(text, arguments[0].equals("groovy"), printed));
            }
        }
        System.exit(0);
    }

    private static String record(String script, boolean isGroovy, PrintStream printed) throws Exception {
        PRINTED.reset();
        Map<String, String> before = new TreeMap<>(Map.of(
            "big", "3000000000", "dec", "1.5", "empty", "", "name_1", "Ann", "one", "1", "t", "true", "two", "2",
            "word", "hello"));
        JMeterVariables variables = new JMeterVariables();
        JMeterContext context = JMeterContextService.getContext();
        context.setVariables(variables);
        // Removes the variables that JMeter sets itself.
        List<String> own = new ArrayList<>();
        variables.entrySet().forEach(entry -> own.add(entry.getKey()));
        own.forEach(variables::remove);
        // The values must be different objects than equal literals, as the values of a plan are.
        before.forEach((name, value) -> variables.put(name, new String(value)));
        Properties properties = JMeterUtils.getJMeterProperties();
        properties.clear();
        properties.put("prop", "pv");
        SampleResult result = new SampleResult();
        result.setSuccessful(true);
        result.setResponseCode(new String("200"));
        result.setResponseMessage("OK");
        result.setSampleLabel("lab");
        result.setResponseData("body text", "UTF-8");
        context.setPreviousResult(result);
        Logger log = (Logger) Proxy.newProxyInstance(RecordScripts.class.getClassLoader(), new Class<?>[] {Logger.class},
            (proxy, method, values) -> {
                if (method.getReturnType() == boolean.class) {
                    return true;
                }
                if (method.getReturnType() == void.class) {
                    Object[] rest = values.length == 2 && values[1] instanceof Object[] many
                        ? many : java.util.Arrays.copyOfRange(values, 1, values.length);
                    printed.println(MessageFormatter.arrayFormat(String.valueOf(values[0]), rest).getMessage());
                }
                return method.getName().equals("toString") ? "log" : null;
            });
        Map<String, Object> names = new TreeMap<>();
        names.put("vars", variables);
        names.put("props", properties);
        names.put("log", log);
        names.put("ctx", context);
        names.put("prev", result);
        names.put("SampleResult", result);
        names.put("OUT", printed);
        names.put("sampler", null);
        String outcome;
        try {
            Object value = isGroovy ? groovy(script, names) : beanshell(script, names);
            outcome = value == null ? "null" : value.toString();
            if (value instanceof Object[] || value instanceof int[] || value instanceof byte[]) {
                outcome = "an array";
            }
        } catch (Throwable error) {
            Throwable cause = error;
            while (cause.getCause() != null && (cause instanceof ScriptException
                || cause instanceof java.lang.reflect.InvocationTargetException
                || cause.getClass().getName().startsWith("org.apache.jorphan"))) {
                cause = cause.getCause();
            }
            String text = String.valueOf(cause.getMessage());
            boolean isSyntax = cause.getClass().getName().contains("CompilationErrors") || text.contains("Parse error")
                || text.contains("Token Parsing Error") || text.contains("Lexical error");
            // BeanShell's messages contain the text of the script, so they are not recorded.
            outcome = isSyntax ? "!syntax" : isGroovy ? "!" + String.valueOf(cause).split("\nPossible solutions", 2)[0] : "!";
        }
        StringBuilder changes = new StringBuilder();
        Map<String, String> after = new TreeMap<>();
        variables.entrySet().forEach(entry -> after.put(entry.getKey(), String.valueOf(entry.getValue())));
        after.forEach((name, value) -> {
            if (!value.equals(before.get(name))) {
                changes.append(changes.length() == 0 ? "" : " ").append(name).append('=').append(value);
            }
        });
        before.keySet().forEach(name -> {
            if (!after.containsKey(name)) {
                changes.append(changes.length() == 0 ? "" : " ").append('-').append(name);
            }
        });
        String text = PRINTED.toString(StandardCharsets.UTF_8).replace("\r", "").replace("\n", "");
        String line = "[" + text + "]" + outcome;
        line = line.replaceAll("\\bScript[0-9]+\\b", "Script1").replace("\n", "\\n").replace("\t", "⇥");
        return changes.length() == 0 ? line : line + "\t" + changes.toString().replace("\n", "\\n");
    }

    private static Object groovy(String script, Map<String, Object> names) throws Exception {
        ScriptEngine engine = new ScriptEngineManager().getEngineByName("groovy");
        return engine.eval(script, new SimpleBindings(names));
    }

    private static Object beanshell(String script, Map<String, Object> names) throws Exception {
        BeanShellInterpreter interpreter = new BeanShellInterpreter(null, null);
        for (Map.Entry<String, Object> name : names.entrySet()) {
            interpreter.set(name.getKey(), name.getValue());
        }
        return interpreter.eval(script);
    }
}
