//! The classes that scripts may name.

use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};

/// A class: its index in [`CLASSES`], or [`FIRST_OWN`] plus its index among the classes that scripts define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Class(u16);

/// The known classes: package, simple name and superclass of each class.
const CLASSES: &[(&str, &str, &str)] = &[
    ("java.lang", "Object", ""),
    ("java.lang", "String", "Object"),
    ("java.lang", "Integer", "Number"),
    ("java.lang", "Long", "Number"),
    ("java.lang", "Short", "Number"),
    ("java.lang", "Byte", "Number"),
    ("java.lang", "Double", "Number"),
    ("java.lang", "Float", "Number"),
    ("java.lang", "Number", "Object"),
    ("java.lang", "Boolean", "Object"),
    ("java.lang", "Character", "Object"),
    ("java.lang", "CharSequence", "Object"),
    ("java.lang", "Math", "Object"),
    ("java.lang", "System", "Object"),
    ("java.lang", "Thread", "Object"),
    ("java.lang", "StringBuilder", "Object"),
    ("java.lang", "StringBuffer", "Object"),
    ("java.lang", "Iterable", "Object"),
    ("java.lang", "Throwable", "Object"),
    ("java.lang", "Error", "Throwable"),
    ("java.lang", "AssertionError", "Error"),
    ("org.codehaus.groovy.runtime.powerassert", "PowerAssertionError", "AssertionError"),
    ("java.lang", "StackOverflowError", "Error"),
    ("java.lang", "Exception", "Throwable"),
    ("java.lang", "RuntimeException", "Exception"),
    ("java.lang", "InterruptedException", "Exception"),
    ("java.lang", "IllegalArgumentException", "RuntimeException"),
    ("java.lang", "IllegalStateException", "RuntimeException"),
    ("java.lang", "NumberFormatException", "IllegalArgumentException"),
    ("java.lang", "ArithmeticException", "RuntimeException"),
    ("java.lang", "NullPointerException", "RuntimeException"),
    ("java.lang", "ClassCastException", "RuntimeException"),
    ("java.lang", "UnsupportedOperationException", "RuntimeException"),
    ("java.lang", "IndexOutOfBoundsException", "RuntimeException"),
    ("java.lang", "ArrayIndexOutOfBoundsException", "IndexOutOfBoundsException"),
    ("java.lang", "StringIndexOutOfBoundsException", "IndexOutOfBoundsException"),
    ("java.io", "IOException", "Exception"),
    ("java.io", "FileNotFoundException", "IOException"),
    ("java.io", "UnsupportedEncodingException", "IOException"),
    ("java.util", "NoSuchElementException", "RuntimeException"),
    ("java.text", "ParseException", "Exception"),
    ("java.security", "NoSuchAlgorithmException", "Exception"),
    ("groovy.lang", "GroovyRuntimeException", "RuntimeException"),
    ("groovy.lang", "MissingPropertyException", "GroovyRuntimeException"),
    ("groovy.lang", "ReadOnlyPropertyException", "MissingPropertyException"),
    ("groovy.lang", "MissingFieldException", "MissingPropertyException"),
    ("groovy.lang", "MissingMethodException", "GroovyRuntimeException"),
    ("groovy.json", "JsonException", "RuntimeException"),
    ("org.codehaus.groovy.runtime.typehandling", "GroovyCastException", "ClassCastException"),
    ("java.util", "Collection", "Iterable"),
    ("java.util.Map", "Entry", "Object"),
    ("java.lang", "Runnable", "Object"),
    ("java.util", "Comparator", "Object"),
    ("java.util.concurrent", "Callable", "Object"),
    ("java.util.function", "Function", "Object"),
    ("java.util.function", "BiFunction", "Object"),
    ("java.util.function", "UnaryOperator", "Object"),
    ("java.util.function", "BinaryOperator", "Object"),
    ("java.util.function", "Predicate", "Object"),
    ("java.util.function", "BiPredicate", "Object"),
    ("java.util.function", "Consumer", "Object"),
    ("java.util.function", "BiConsumer", "Object"),
    ("java.util.function", "Supplier", "Object"),
    ("java.util.function", "IntFunction", "Object"),
    ("java.util.function", "IntPredicate", "Object"),
    ("java.util.function", "IntUnaryOperator", "Object"),
    ("java.util.function", "IntBinaryOperator", "Object"),
    ("java.util.function", "ToIntFunction", "Object"),
    ("java.util.function", "ToLongFunction", "Object"),
    ("java.util.function", "ToDoubleFunction", "Object"),
    ("java.util", "List", "Collection"),
    ("java.util", "ArrayList", "List"),
    ("java.util", "LinkedList", "List"),
    ("java.util", "Vector", "List"),
    ("java.util", "Set", "Collection"),
    ("java.util", "HashSet", "Set"),
    ("java.util", "LinkedHashSet", "Set"),
    ("java.util", "TreeSet", "Set"),
    ("java.util", "Map", "Object"),
    ("java.util", "HashMap", "Map"),
    ("java.util", "LinkedHashMap", "Map"),
    ("java.util", "TreeMap", "Map"),
    ("java.util", "Hashtable", "Map"),
    ("java.util.concurrent", "ConcurrentHashMap", "Map"),
    ("java.util", "Iterator", "Enumeration"),
    ("org.codehaus.groovy.util", "ArrayIterator", "Iterator"),
    ("java.util", "Arrays", "Object"),
    ("java.util", "Collections", "Object"),
    ("java.util", "Objects", "Object"),
    ("java.util", "Random", "Object"),
    ("java.security", "SecureRandom", "Random"),
    ("java.util.concurrent", "ThreadLocalRandom", "Random"),
    ("java.util", "UUID", "Object"),
    ("java.util", "Date", "Object"),
    ("java.util", "Calendar", "Object"),
    ("java.util", "GregorianCalendar", "Calendar"),
    ("java.util", "TimeZone", "Object"),
    ("java.util", "Locale", "Object"),
    ("java.util", "Base64", "Object"),
    ("java.util", "StringTokenizer", "Object"),
    ("java.util", "Properties", "Map"),
    ("java.util.regex", "Pattern", "Object"),
    ("java.util.regex", "Matcher", "Object"),
    ("java.util.concurrent", "TimeUnit", "Object"),
    ("java.util.concurrent.atomic", "AtomicInteger", "Number"),
    ("java.util.concurrent.atomic", "AtomicLong", "Number"),
    ("java.text", "SimpleDateFormat", "DateFormat"),
    ("java.text", "DateFormat", "Object"),
    ("java.text", "DecimalFormat", "Object"),
    ("java.time", "LocalDate", "Object"),
    ("java.time", "LocalDateTime", "Object"),
    ("java.time", "LocalTime", "Object"),
    ("java.time", "ZonedDateTime", "Object"),
    ("java.time", "OffsetDateTime", "Object"),
    ("java.time", "Instant", "Object"),
    ("java.time", "ZoneId", "Object"),
    ("java.time", "ZoneOffset", "ZoneId"),
    ("java.time.format", "DateTimeFormatter", "Object"),
    ("java.time.temporal", "ChronoUnit", "Object"),
    ("java.math", "BigDecimal", "Number"),
    ("java.math", "BigInteger", "Number"),
    ("java.math", "RoundingMode", "Object"),
    ("java.net", "URLEncoder", "Object"),
    ("java.net", "URLDecoder", "Object"),
    ("java.nio.charset", "StandardCharsets", "Object"),
    ("java.nio.charset", "Charset", "Object"),
    ("java.nio.file", "Files", "Object"),
    ("java.nio.file", "Paths", "Object"),
    ("java.nio.file", "Path", "Object"),
    ("java.io", "File", "Object"),
    ("java.io", "Writer", "Object"),
    ("java.io", "OutputStreamWriter", "Writer"),
    ("java.io", "FileWriter", "OutputStreamWriter"),
    ("java.io", "BufferedWriter", "Writer"),
    ("java.io", "PrintWriter", "Writer"),
    ("java.io", "StringWriter", "Writer"),
    ("java.io", "OutputStream", "Object"),
    ("java.io", "FileOutputStream", "OutputStream"),
    ("java.io", "BufferedOutputStream", "OutputStream"),
    ("java.io", "DataOutputStream", "OutputStream"),
    ("java.io", "PrintStream", "OutputStream"),
    ("java.io", "Reader", "Object"),
    ("java.io", "InputStreamReader", "Reader"),
    ("java.io", "FileReader", "InputStreamReader"),
    ("java.io", "BufferedReader", "Reader"),
    ("java.io", "StringReader", "Reader"),
    ("java.io", "InputStream", "Object"),
    ("java.io", "FileInputStream", "InputStream"),
    ("java.io", "BufferedInputStream", "InputStream"),
    ("java.security", "MessageDigest", "Object"),
    ("javax.crypto", "Mac", "Object"),
    ("javax.crypto.spec", "SecretKeySpec", "Object"),
    ("groovy.json", "JsonSlurper", "Object"),
    ("groovy.json", "JsonOutput", "Object"),
    ("groovy.json", "JsonBuilder", "Object"),
    ("groovy.lang", "Closure", "Object"),
    ("groovy.lang", "GString", "CharSequence"),
    ("com.jayway.jsonpath", "JsonPath", "Object"),
    ("com.jayway.jsonpath", "DocumentContext", "ReadContext"),
    ("com.jayway.jsonpath", "ReadContext", "Object"),
    ("com.jayway.jsonpath", "Predicate", "Object"),
    ("com.jayway.jsonpath", "JsonPathException", "RuntimeException"),
    ("com.jayway.jsonpath", "InvalidPathException", "JsonPathException"),
    ("com.jayway.jsonpath", "InvalidJsonException", "JsonPathException"),
    ("com.jayway.jsonpath", "PathNotFoundException", "InvalidPathException"),
    ("net.minidev.json", "JSONArray", "ArrayList"),
    ("java.net", "URL", "Object"),
    ("java.net", "MalformedURLException", "IOException"),
    ("java.net", "URLConnection", "Object"),
    ("java.net", "HttpURLConnection", "URLConnection"),
    ("javax.net.ssl", "HttpsURLConnection", "HttpURLConnection"),
    ("java.net", "ProtocolException", "IOException"),
    ("java.net", "UnknownHostException", "IOException"),
    ("java.net", "SocketException", "IOException"),
    ("java.net", "ConnectException", "SocketException"),
    ("java.net", "NoRouteToHostException", "SocketException"),
    ("java.io", "InterruptedIOException", "IOException"),
    ("java.net", "SocketTimeoutException", "InterruptedIOException"),
    ("javax.net.ssl", "SSLException", "IOException"),
    ("javax.net.ssl", "SSLHandshakeException", "SSLException"),
    ("java.util.stream", "Collectors", "Object"),
    ("groovy.util", "XmlSlurper", "Object"),
    ("groovy.xml", "XmlSlurper", "Object"),
    ("groovy.util", "XmlParser", "Object"),
    ("groovy.xml", "XmlParser", "Object"),
    ("groovy.xml", "XmlUtil", "Object"),
    ("groovy.util", "Node", "Object"),
    ("groovy.util", "NodeList", "ArrayList"),
    ("groovy.xml", "QName", "Object"),
    ("groovy.util.slurpersupport", "GPathResult", "Iterable"),
    ("groovy.xml.slurpersupport", "GPathResult", "Iterable"),
    ("groovy.util.slurpersupport", "NodeChild", "GPathResult"),
    ("groovy.util.slurpersupport", "NodeChildren", "GPathResult"),
    ("groovy.util.slurpersupport", "FilteredNodeChildren", "NodeChildren"),
    ("groovy.util.slurpersupport", "Attributes", "NodeChildren"),
    ("groovy.util.slurpersupport", "Attribute", "GPathResult"),
    ("groovy.util.slurpersupport", "NoChildren", "GPathResult"),
    ("org.xml.sax", "SAXException", "Exception"),
    ("org.xml.sax", "SAXParseException", "SAXException"),
    ("org.apache.jmeter.services", "FileServer", "Object"),
    ("org.apache.jmeter.gui", "GuiPackage", "Object"),
    ("org.apache.jmeter.threads.JMeterContext", "TestLogicalAction", "Object"),
    ("org.apache.jmeter.threads", "JMeterThread", "Object"),
    ("org.apache.jmeter.threads", "AbstractThreadGroup", "TestElement"),
    ("org.apache.jmeter.threads", "ThreadGroup", "AbstractThreadGroup"),
    ("org.apache.jmeter.testelement", "TestElement", "Object"),
    ("org.apache.jmeter.samplers", "Sampler", "TestElement"),
    ("org.apache.jmeter.protocol.http.sampler", "HTTPSamplerBase", "Sampler"),
    ("org.apache.jmeter.protocol.http.sampler", "HTTPSamplerProxy", "HTTPSamplerBase"),
    ("org.apache.jmeter.protocol.http.control", "CookieManager", "TestElement"),
    ("org.apache.jmeter.protocol.http.control", "Cookie", "TestElement"),
    ("org.apache.jmeter.protocol.http.control", "HeaderManager", "TestElement"),
    ("org.apache.jmeter.protocol.http.control", "Header", "TestElement"),
    ("org.apache.jmeter.protocol.http.util", "HTTPArgument", "Argument"),
    ("org.apache.jmeter.protocol.http.util", "HTTPFileArg", "TestElement"),
    ("org.apache.jmeter.config", "Argument", "TestElement"),
    ("org.apache.jmeter.config", "Arguments", "TestElement"),
    ("org.apache.jmeter.testelement.property", "JMeterProperty", "Object"),
    ("org.apache.jmeter.testelement.property", "StringProperty", "JMeterProperty"),
    ("org.apache.jmeter.testelement.property", "IntegerProperty", "JMeterProperty"),
    ("org.apache.jmeter.testelement.property", "LongProperty", "JMeterProperty"),
    ("org.apache.jmeter.testelement.property", "BooleanProperty", "JMeterProperty"),
    ("org.apache.jmeter.testelement.property", "TestElementProperty", "JMeterProperty"),
    ("org.apache.jmeter.testelement.property", "CollectionProperty", "JMeterProperty"),
    ("org.apache.jmeter.testelement.property", "PropertyIterator", "Iterator"),
    ("org.apache.jmeter.engine.util", "CompoundVariable", "Object"),
    ("org.apache.commons.lang3", "StringUtils", "Object"),
    ("org.apache.commons.lang3", "RandomStringUtils", "Object"),
    ("org.apache.commons.lang3", "RandomUtils", "Object"),
    ("org.apache.commons.lang3", "SystemUtils", "Object"),
    ("org.apache.commons.codec.digest", "DigestUtils", "Object"),
    ("org.apache.commons.codec.binary", "Hex", "Object"),
    ("org.apache.commons.codec.binary", "Base64", "Object"),
    ("org.apache.commons.io", "FileUtils", "Object"),
    ("org.apache.jmeter.util", "JMeterUtils", "Object"),
    ("org.apache.jmeter.samplers", "SampleResult", "Object"),
    ("groovy.time", "TimeCategory", "Object"),
    ("groovy.time", "BaseDuration", "Object"),
    ("groovy.time", "Duration", "BaseDuration"),
    ("groovy.time", "TimeDuration", "Duration"),
    ("groovy.time", "DatumDependentDuration", "BaseDuration"),
    ("groovy.time", "TimeDatumDependentDuration", "DatumDependentDuration"),
    ("groovy.time.BaseDuration", "From", "Object"),
    ("org.apache.jmeter.threads", "JMeterContextService", "Object"),
    ("org.apache.jmeter.threads", "JMeterContext", "Object"),
    ("org.apache.jmeter.threads", "JMeterVariables", "Object"),
    ("org.apache.jmeter.assertions", "AssertionResult", "Object"),
    ("java.util.concurrent", "ConcurrentLinkedQueue", "ArrayList"),
    ("java.util.concurrent", "ConcurrentLinkedDeque", "ArrayList"),
    ("java.util.concurrent", "LinkedBlockingQueue", "ArrayList"),
    ("java.util.concurrent", "LinkedBlockingDeque", "ArrayList"),
    ("java.util.concurrent", "ArrayBlockingQueue", "ArrayList"),
    ("java.util.concurrent", "CopyOnWriteArrayList", "ArrayList"),
    ("java.util.concurrent", "ConcurrentSkipListMap", "TreeMap"),
    ("java.util.concurrent", "CountDownLatch", "Object"),
    ("java.util.concurrent", "Semaphore", "Object"),
    ("java.util.concurrent.locks", "ReentrantLock", "Object"),
    ("java.util.concurrent.locks", "ReentrantReadWriteLock", "Object"),
    ("java.util.concurrent.atomic", "AtomicReference", "Object"),
    ("java.util.concurrent.atomic", "AtomicBoolean", "Object"),
    ("java.util", "ArrayDeque", "Collection"),
    ("java.util", "Queue", "Collection"),
    ("java.util", "Deque", "Queue"),
    ("java.util", "WeakHashMap", "Map"),
    ("java.util", "SortedMap", "Map"),
    ("java.util", "Optional", "Object"),
    ("java.util", "StringJoiner", "Object"),
    ("java.util", "Enumeration", "Object"),
    ("java.util", "ListIterator", "Iterator"),
    ("java.util.stream", "IntStream", "Object"),
    ("java.util.stream", "LongStream", "Object"),
    ("java.util.stream", "Stream", "Object"),
    ("java.util.concurrent", "ConcurrentMap", "Map"),
    ("java.lang", "Runtime", "Object"),
    ("java.net", "InetAddress", "Object"),
    ("java.nio.file", "StandardOpenOption", "Object"),
    ("java.net", "URI", "Object"),
    ("java.net", "URISyntaxException", "Exception"),
    ("java.io", "ByteArrayOutputStream", "OutputStream"),
    ("java.io", "ByteArrayInputStream", "InputStream"),
    ("java.util.zip", "CRC32", "Object"),
    ("java.time", "Duration", "Object"),
    ("java.time", "Period", "Object"),
    ("java.time", "DayOfWeek", "Object"),
    ("java.time", "Month", "Object"),
    ("java.time", "Year", "Object"),
    ("java.time", "DateTimeException", "RuntimeException"),
    ("java.time.format", "DateTimeParseException", "DateTimeException"),
    ("java.time.format", "TextStyle", "Object"),
    ("java.text", "NumberFormat", "Object"),
    ("javax.crypto", "Cipher", "Object"),
    ("javax.crypto", "BadPaddingException", "Exception"),
    ("javax.crypto", "IllegalBlockSizeException", "Exception"),
    ("javax.crypto.spec", "IvParameterSpec", "Object"),
    ("java.security", "InvalidKeyException", "Exception"),
    ("java.security", "InvalidAlgorithmParameterException", "Exception"),
    ("groovy.json", "JsonSlurperClassic", "JsonSlurper"),
    ("groovy.json", "JsonParserType", "Object"),
    ("groovy.lang", "GroovySystem", "Object"),
    ("org.apache.commons.lang3", "ArrayUtils", "Object"),
    ("org.apache.commons.lang3", "StringEscapeUtils", "Object"),
    ("org.apache.commons.text", "StringEscapeUtils", "Object"),
    ("org.apache.commons.lang3.math", "NumberUtils", "Object"),
    ("org.apache.commons.lang3.time", "DateUtils", "Object"),
    ("org.apache.commons.lang3.time", "DateFormatUtils", "Object"),
    ("org.apache.commons.lang", "StringUtils", "Object"),
    ("org.apache.commons.io", "FilenameUtils", "Object"),
    ("org.apache.commons.io", "IOUtils", "Object"),
];

/// Packages whose classes need no import.
const IMPORTED: &[&str] = &["java.lang", "java.util", "java.io", "java.net"];

/// The index of the first class that a script defines.
const FIRST_OWN: u16 = 1 << 15;

/// Names of the classes that scripts define. They are few, and they are never freed.
static OWN: LazyLock<RwLock<OwnNames>> = LazyLock::new(RwLock::default);

#[derive(Default)]
struct OwnNames {
    names: Vec<&'static str>,
    /// The index of each name in `names`.
    places: HashMap<&'static str, u16>,
}

impl Class {
    /// The class with this name that a script defines; `None` if there are too many such classes.
    pub fn own(name: &str) -> Option<Class> {
        let mut names = OWN.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let at = match names.places.get(name) {
            Some(at) => *at,
            None => {
                let at = u16::try_from(names.names.len()).ok().filter(|at| *at < FIRST_OWN)?;
                let name: &'static str = Box::leak(name.into());
                names.names.push(name);
                names.places.insert(name, at);
                at
            }
        };
        Some(Class(FIRST_OWN + at))
    }

    /// Whether a script defines the class.
    pub fn is_own(self) -> bool {
        self.0 >= FIRST_OWN
    }

    /// The class with this qualified name.
    pub fn qualified(name: &str) -> Option<Class> {
        let (package, simple) = name.rsplit_once('.')?;
        let at = CLASSES.iter().position(|known| known.0 == package && known.1 == simple)?;
        Some(Class(at as u16))
    }

    /// The class with this simple name that needs no import or belongs to one of the `packages`.
    pub fn simple(name: &str, groovy: bool, packages: &[String]) -> Option<Class> {
        let visible = |package: &str| {
            IMPORTED.contains(&package)
                || (groovy && matches!(package, "groovy.lang" | "groovy.util"))
                || (groovy && package == "java.math" && matches!(name, "BigDecimal" | "BigInteger"))
                || packages.iter().any(|known| known == package)
        };
        let at = CLASSES.iter().position(|known| known.1 == name && visible(known.0))?;
        Some(Class(at as u16))
    }

    /// The first class of [`CLASSES`] with this simple name.
    pub fn known(simple: &str) -> Class {
        let at = CLASSES.iter().position(|known| known.1 == simple).unwrap_or(0);
        Class(at as u16)
    }

    /// Whether a class with this simple name exists in any package.
    pub fn exists(simple: &str) -> bool {
        CLASSES.iter().any(|known| known.1 == simple)
    }

    pub fn name(self) -> &'static str {
        if self.is_own() {
            let names = OWN.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            return names.names.get(usize::from(self.0 - FIRST_OWN)).copied().unwrap_or_default();
        }
        CLASSES[usize::from(self.0)].1
    }

    pub fn qualified_name(self) -> String {
        if self.is_own() {
            return self.name().to_owned();
        }
        let (package, simple, _) = CLASSES[usize::from(self.0)];
        format!("{package}.{simple}")
    }

    /// Whether the class is `other` or a subclass of it.
    pub fn is_a(self, other: Class) -> bool {
        if self.is_own() || other.is_own() {
            return self == other || other == Class::known("Object");
        }
        let mut at = self;
        loop {
            // Groovy has some classes in two packages, so the simple names decide.
            if at.name() == other.name() {
                return true;
            }
            match CLASSES[usize::from(at.0)].2 {
                "" => return false,
                superclass => at = Class::known(superclass),
            }
        }
    }
}
