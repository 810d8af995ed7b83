//! The supported functions.

use busyhour_diagnostic::nearest_name;
use busyhour_program::template::Template;

use crate::arguments::{Arguments, BuildResult};
use crate::context::Context;
use crate::problem::{Problem, ProblemKind};
use crate::{
    csv_read, dates, digest, encode, file, log, number, plugins, property, queue, random, regex, script,
    text, thread, time, tst_feedback, variable, xpath,
};

/// A supported function.
pub struct FunctionInfo {
    /// Name, including the two underscores.
    pub name: &'static str,
    /// Arguments; those in brackets are optional.
    pub arguments: &'static str,
    /// Description of the result.
    pub description: &'static str,
    /// Difference from JMeter, or the plugin of the function; usually empty.
    pub note: &'static str,
    /// Minimum number of arguments.
    min: usize,
    /// Maximum number of arguments.
    max: usize,
    /// Whether the function runs a script, a pattern or an expression.
    evaluates: bool,
    build: fn(&mut Arguments<'_, '_>) -> BuildResult,
}

impl std::fmt::Debug for FunctionInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({})", self.name, self.arguments)
    }
}

/// `max` of a function that takes any number of arguments.
const ANY: usize = usize::MAX;

const fn function(
    name: &'static str,
    (min, max): (usize, usize),
    arguments: &'static str,
    build: fn(&mut Arguments<'_, '_>) -> BuildResult,
    description: &'static str,
) -> FunctionInfo {
    FunctionInfo { name, arguments, description, note: "", min, max, evaluates: false, build }
}

impl FunctionInfo {
    const fn with_note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    const fn evaluating(mut self) -> Self {
        self.evaluates = true;
        self
    }

    /// Builds the function after checking the number of arguments.
    pub(crate) fn build(
        &self,
        values: Vec<Template>,
        offset: usize,
        context: &mut Context<'_>,
    ) -> BuildResult {
        let Self { name, min, max, .. } = *self;
        let count = values.len();
        if (min..=max).contains(&count) {
            if self.evaluates {
                context.note_evaluation();
            }
            return (self.build)(&mut Arguments::new(name, values, offset, context));
        }
        let expected = if min == max {
            format!("{min}")
        } else if max == ANY {
            format!("at least {min}")
        } else {
            format!("{min} to {max}")
        };
        let message = format!("{name} takes {expected} arguments, but the call has {count}");
        let hint = format!("its arguments: {}; a comma inside an argument is written \\,", self.arguments);
        Err(Problem { kind: ProblemKind::Invalid, message, hint, offset })
    }
}

const PLUGIN: &str = "of jmeter-plugins";
const JDK: &str = "scripts that need more than common JDK classes are refused";
const PLAIN: &str = "simple expressions; constructs whose result in JMeter is uncertain are refused";

#[rustfmt::skip]
static FUNCTIONS: &[FunctionInfo] = &[
    function("__BeanShell", (1, 2), "script[, variable]", script::bean_shell, "result of a BeanShell script").evaluating().with_note(JDK),
    function("__char", (1, ANY), "code[, code…]", text::character, "characters of these numbers"),
    function("__changeCase", (1, 3), "text[, UPPER|LOWER|CAPITALIZE[, variable]]", text::change_case, "text in another case"),
    function("__counter", (1, 2), "TRUE|FALSE[, variable]", number::counter, "1, 2, 3… per user (TRUE) or for all users"),
    function("__CSVRead", (2, 2), "file or *alias, column|next|*alias", csv_read::csv_read, "column of the user's current row in a file that all users share"),
    function("__dateTimeConvert", (3, 4), "date, format, new format[, variable]", dates::convert, "date in another format").with_note("English names of months and days"),
    function("__digest", (2, 5), "algorithm, text[, salt[, TRUE[, variable]]]", digest::digest, "hash in hexadecimal digits"),
    function("__escapeHtml", (1, 1), "text", encode::escape_html, "text with HTML entities"),
    function("__escapeOroRegexpChars", (1, 2), "text[, variable]", text::quote_meta, "text escaped for use in a regular expression"),
    function("__escapeXml", (1, 1), "text", encode::escape_xml, "text with XML entities"),
    function("__eval", (1, 1), "text", variable::eval, "text with the variables and functions in it replaced").evaluating(),
    function("__evalVar", (1, 1), "variable", variable::eval_var, "value of a variable with the variables and functions in it replaced").evaluating(),
    function("__FileToString", (1, 3), "file[, encoding[, variable]]", file::file_to_string, "content of a file"),
    function("__groovy", (1, 2), "script[, variable]", script::groovy, "result of a Groovy script").evaluating().with_note(JDK),
    function("__intSum", (2, ANY), "number, number…[, variable]", number::int_sum, "sum in 32 bits"),
    function("__isPropDefined", (1, 1), "property", property::is_defined, "whether a property is set"),
    function("__isVarDefined", (1, 1), "variable", variable::is_defined, "whether a variable is set"),
    function("__javaScript", (1, 2), "script[, variable]", script::java_script, "result of a JavaScript script").evaluating().with_note("no Java classes"),
    function("__jexl2", (1, 2), "expression[, variable]", script::jexl2, "result of a JEXL 2 expression").evaluating().with_note(PLAIN),
    function("__jexl3", (1, 2), "expression[, variable]", script::jexl3, "result of a JEXL 3 expression").evaluating().with_note(PLAIN),
    function("__log", (1, 4), "text[, level[, throwable[, comment]]]", log::log, "the text; it is also logged").with_note("OUT and ERR write to the log"),
    function("__logn", (1, 3), "text[, level[, throwable]]", log::logn, "empty text; the text is logged").with_note("OUT and ERR write to the log"),
    function("__longSum", (2, ANY), "number, number…[, variable]", number::long_sum, "sum in 64 bits"),
    function("__machineIP", (0, 1), "[variable]", thread::machine_ip, "address of this machine"),
    function("__machineName", (0, 1), "[variable]", thread::machine_name, "name of this machine"),
    function("__P", (1, 2), "property[, default]", property::p, "value of a property; 1 if it is not set"),
    function("__property", (1, 3), "property[, variable[, default]]", property::property, "value of a property; its name if it is not set"),
    function("__Random", (2, 3), "minimum, maximum[, variable]", random::random, "random integer; both limits are included"),
    function("__RandomDate", (3, 5), "format, from, to[, locale[, variable]]", dates::random_date, "random day; the end is excluded").with_note("English names of months and days"),
    function("__RandomFromMultipleVars", (1, 2), "name|name…[, variable]", variable::random_from_multiple, "value of one of these variables"),
    function("__RandomString", (1, 3), "length[, characters[, variable]]", random::random_string, "random characters"),
    function("__regexFunction", (2, 7), "pattern, template[, which[, between[, default[, variable[, input variable]]]]]", regex::regex_function, "text built from a match in the last response or in a variable").evaluating(),
    function("__samplerName", (0, 1), "[variable]", thread::sampler_name, "name of the sampler"),
    function("__setProperty", (2, 3), "property, value[, TRUE]", property::set_property, "empty text, or the previous value of the property"),
    function("__split", (2, 3), "text, variable[, delimiters]", variable::split, "the text; its parts become variable_1, variable_2…"),
    function("__StringFromFile", (1, 4), "file[, variable[, first[, last]]]", file::string_from_file, "next line of a file, or of a sequence of files"),
    function("__StringToFile", (2, 4), "file, text[, TRUE|FALSE[, encoding]]", file::string_to_file, "whether the text was written").with_note("UTF-8, US-ASCII and ISO-8859-1"),
    function("__TestPlanName", (0, 0), "", thread::plan_name, "name of the plan's file"),
    function("__threadGroupName", (0, 0), "", thread::group_name, "name of the thread group"),
    function("__threadNum", (0, 0), "", thread::thread_number, "number of the user in its group, from 1"),
    function("__time", (0, 2), "[format[, variable]]", time::time, "the time, as milliseconds since 1970 or formatted").with_note("English names of months and days"),
    function("__timeShift", (4, 5), "format, date, shift, [locale, ]variable", dates::shift, "a date, or the current time, shifted by an ISO 8601 duration").with_note("English names of months and days"),
    function("__unescape", (1, 1), "text", encode::unescape, "text with Java's escapes replaced"),
    function("__unescapeHtml", (1, 1), "text", encode::unescape_html, "text with HTML entities replaced"),
    function("__urldecode", (1, 1), "text", encode::url_decode, "form-decoded text"),
    function("__urlencode", (1, 1), "text", encode::url_encode, "form-encoded text"),
    function("__UUID", (0, 0), "", random::uuid, "random UUID"),
    function("__V", (1, 2), "variable[, default]", variable::v, "value of a variable whose name is composed"),
    function("__XPath", (2, 2), "file, expression", xpath::xpath, "text of the next node that matches an expression in a file").evaluating(),
    function("__base64Decode", (1, 2), "text[, variable]", encode::base64_decode, "decoded text").with_note(PLUGIN),
    function("__base64Encode", (1, 2), "text[, variable]", encode::base64_encode, "encoded text").with_note(PLUGIN),
    function("__caseFormat", (1, 3), "text[, mode[, variable]]", plugins::case_format, "text in camel, snake, kebab or train case").with_note(PLUGIN),
    function("__chooseRandom", (3, ANY), "value, value…, variable", plugins::choose_random, "one of the values at random").with_note(PLUGIN),
    function("__doubleSum", (2, ANY), "number, number…[, variable]", plugins::double_sum, "sum of decimal numbers").with_note(PLUGIN),
    function("__env", (1, 3), "name[, variable[, default]]", text::environment, "environment variable").with_note(PLUGIN),
    function("__fifoGet", (1, 2), "queue[, variable]", queue::get, "first text of a queue, which remains in the queue").with_note(PLUGIN),
    function("__fifoPop", (1, 2), "queue[, variable]", queue::pop, "first text of a queue, which is removed").with_note("of jmeter-plugins; does not wait for a text"),
    function("__fifoPut", (2, 2), "queue, value", queue::put, "the value; it is also added to a queue").with_note(PLUGIN),
    function("__fifoSize", (1, 2), "queue[, variable]", queue::size, "number of texts in a queue").with_note(PLUGIN),
    function("__GetSecret", (1, 1), "name", property::secret, "value of a property or environment variable of this name").with_note("of Azure Load Testing; the call is sent as text if neither is set"),
    function("__if", (4, ANY), "actual, expected, then, otherwise[, variable]", plugins::if_equal, "one of two texts, depending on whether two values are equal").with_note(PLUGIN),
    function("__isDefined", (1, ANY), "variable", plugins::is_defined, "1 if a variable is set, else 0").with_note(PLUGIN),
    function("__iterationNum", (0, 0), "", thread::iteration, "number of the iteration, from 1").with_note(PLUGIN),
    function("__lowercase", (1, 2), "text[, variable]", text::lowercase, "text in lower case").with_note(PLUGIN),
    function("__MD5", (1, 2), "text[, variable]", digest::md5, "MD5 in hexadecimal digits").with_note(PLUGIN),
    function("__strLen", (1, 2), "text[, variable]", text::str_len, "length of the text").with_note(PLUGIN),
    function("__strReplace", (3, ANY), "text, search, replacement[, variable]", plugins::str_replace, "text with all occurrences of a text replaced").with_note(PLUGIN),
    function("__strReplaceRegex", (3, ANY), "text, pattern, replacement[, variable]", regex::str_replace_regex, "text with all matches of a pattern replaced").evaluating().with_note("of jmeter-plugins; patterns have the syntax of JMeter's other regular expressions, not Java's"),
    function("__substring", (3, ANY), "text, begin, end[, variable]", plugins::substring, "part of a text").with_note(PLUGIN),
    function("__tstFeedback", (2, 4), "timer, users[, most users[, spare users]]", tst_feedback::feedback, "users that a Throughput Shaping Timer needs, for a Concurrency Thread Group").with_note(PLUGIN),
    function("__uppercase", (1, 2), "text[, variable]", text::uppercase, "text in upper case").with_note(PLUGIN),
];

/// A function that JMeter removed in 4.0. JMeter 5.6.3 treats its call as the name of an unknown variable and sends it as
/// text.
const LEFT_AS_TEXT: &str = "__jexl";

/// Whether JMeter 5.6.3 sends a call of this function as text.
pub(crate) fn is_left_as_text(name: &str) -> bool {
    name == LEFT_AS_TEXT
}

/// Byte offset of the first call that JMeter 5.6.3 sends as text.
#[must_use]
pub fn call_left_as_text(text: &str) -> Option<usize> {
    text.find("${__jexl(")
}

/// The supported functions: JMeter's in its order, then those of plugins.
pub fn supported() -> &'static [FunctionInfo] {
    FUNCTIONS
}

/// Finds a supported function by its name.
pub(crate) fn find(name: &str) -> Option<&'static FunctionInfo> {
    FUNCTIONS.iter().find(|info| info.name == name)
}

/// Whether a function with this name is supported.
pub(crate) fn is_function(name: &str) -> bool {
    find(name).is_some()
}

/// The problem of a call to an unknown function.
pub(crate) fn unknown_function(name: &str, offset: usize) -> Problem {
    let message = format!("the function {name} is not known");
    let similar = FUNCTIONS.iter().find(|info| info.name.eq_ignore_ascii_case(name));
    let sent_as_text = format!("JMeter without that plugin sends the text ${{{name}(…)}} unchanged");
    let nearest = || nearest_name(name, FUNCTIONS.iter().map(|info| info.name));
    let hint = match similar {
        Some(info) => format!("did you mean {}? Function names are case-sensitive", info.name),
        None => match nearest() {
            Some(near) => format!("did you mean {near}? If {name} comes from a plugin: {sent_as_text}"),
            None => format!("it may come from a plugin; {sent_as_text}"),
        },
    };
    Problem { kind: ProblemKind::Unsupported, message, hint, offset }
}
