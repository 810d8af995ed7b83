//! The names that the library implements, against which a script is checked before it runs.

mod names;

pub(in super::super) use names::{is_class_without_import, is_command_of_beanshell, is_function_of_groovy};

use super::registry;

/// Methods of any class.
const METHODS: &str = "\
    abs add addAll addAndGet addElement after allMatch and any anyMatch append asBoolean asImmutable asList \
    asSynchronized asType asUnmodifiable ascii askThreadsToStop atStartOfDay atZone atan2 average before \
    between booleanValue bytes call canRead capitalize cbrt center charAt charValue chars class clear clone \
    close codePointAt collate collect collectEntries collectMany collectNested compare compareTo \
    compareToIgnoreCase compile computeIfAbsent concat contains containsAll containsKey containsValue \
    contentEquals copyOfRange copyValueOf cos count countBy countMatches countTokens createNewFile current curry rcurry ncurry \
    currentThread currentTimeMillis debug decode decodeBase64 decodeHex decrementAndGet defaultCharset delete \
    deleteCharAt digest disjoint displayName distinct div doCall doFinal doubleValue downto drop dropRight \
    dropWhile each eachLine eachMatch eachWithIndex elementAt emptyList emptyMap encode encodeBase64 \
    encodeBase64String encodeHex encodeHexString encodeToString end endsWith entrySet equals equalsIgnoreCase \
    err error every exists exp false fatalError fill filter find findAll findIndexOf findIndexValues \
    findLastIndexOf findResult first flatMap flatten floatValue floorMod flush forEach forName format \
    formatted fromString get getAbsolutePath getActualMaximum getAllThreads getAndDecrement getAndIncrement \
    getAndSet getAt getBodySize getBodySizeAsLong getBytes getBytesAsLong getCanonicalName getCanonicalPath \
    getCause getChars getClass getClassName getConnectTime getContent getContentType getContext getCount \
    getCurrentSampler getDataEncoding getDataEncodingNoDefault getDataEncodingWithDefault getDataType getDate \
    getDay getDayOfMonth getDayOfYear getDecoder getDefault getEncoder getEncodingAndType getEndTime \
    getEngine getEpochSecond getErrorCount getFailureMessage getFirst getFirstAssertionFailureMessage \
    getGroupThreads getHeadersSize getHour getHours getID getId getIdleTime getIndices getInstance \
    getIteration getJMeterProperties getJMeterVersion getKey getLast getLatency getLocalizedMessage \
    getMediaType getMessage getMimeDecoder getMimeEncoder getMinute getMinutes getMonth getMonthValue getName \
    getNano getNumericValue getObject getOrDefault getParent getParentFile getPath getPreviousResult \
    getPreviousSampler getPropDefault getProperties getProperty getRequestHeaders getResponseCode \
    getResponseData getResponseDataAsString getResponseHeaders getResponseMessage getResult getResultFileName \
    getSampleCount getSampleLabel getSamplerData getSecond getSeconds getSentBytes getSimpleName \
    getStackTrace getStartNextThreadLoop getStartTime getStopTest getStopTestNow getStopThread getSubResults \
    getText getThread getThreadGroup getThreadName getThreadNum getTime getTimeInMillis getTimeStamp \
    getTimeZone getTypeName getURL getUrlAsString getUrlDecoder getUrlEncoder getValue getVarValue \
    getVariables getYear getenv grep group groupBy groupCount hasGroup hasMoreElements hasMoreTokens hasNext \
    hashCode head incrementAndGet index indexOf indexed indices info init inject insert inspect intValue \
    intdiv intern intersect is isAfter isBefore isBigDecimal isBigInteger isBlank isDebugEnabled isDigit \
    isDirectory isDouble isEmpty isEqual isError isErrorEnabled isFailure isFile isFloat isInfoEnabled \
    isInstance isInteger isLetter isLetterOrDigit isLong isLowerCase isNaN isNotBlank isNotEmpty isNull \
    isNumber isNumeric isResponseCodeOK isSameUserOnNextIteration isStopTest isStopTestNow isStopThread \
    isSuccessful isTraceEnabled isUpperCase isWarnEnabled isWhitespace iterator join keySet last lastIndexOf \
    latencyEnd latin1 leftPad leftShift length lengthOfMonth limit lineSeparator lines linux list listFiles \
    listIterator log log10 longValue lookingAt lowerCase macos map matcher matches max md5 md5Hex min minus \
    minusDays minusHours minusMinutes minusMonths minusNanos minusSeconds minusWeeks minusYears mkdir mkdirs \
    mod multiply nCopies name nanoTime negate newLine newReader newWriter next nextBoolean nextBytes \
    nextDouble nextElement nextFloat nextGaussian nextInt nextLong nextToken nonNull noneMatch now null of \
    ofEpochMilli ofEpochSecond ofPattern offer or out padLeft padRight parse parseBoolean parseDouble \
    parseFloat parseInt parseLong parseShort parseText pattern peek plus plusDays plusHours plusMinutes \
    plusMonths plusNanos plusSeconds plusWeeks plusYears poll pop pow power prettyPrint previous print \
    printStackTrace printf println push put putAll putAt putIfAbsent putObject quote quoteReplacement random \
    randomAlphabetic randomAlphanumeric randomNumeric randomUUID readAllBytes readAllLines readBytes \
    readFileToString readLine readLines readString ready reduce remainder remove removeAll removeAt \
    removeElement removeFirst removeIf removeLast repeat replace replaceAll replaceFirst reset retainAll \
    reverse reverseEach rightPad rint round sampleEnd samplePause sampleResume sampleStart \
    separator set setAllThreads setBodySize setBodySizeAsLong setBytes setCharAt setConnectTime \
    setContentType setDataEncoding setDataEncodingNoDefault setDataEncodingWithDefault setDataType \
    setEncodingAndType setError setErrorCount setFailure setFailureMessage setFirstAssertionFailureMessage \
    setGroupThreads setHeadersSize setIdleTime setIgnore setLatency setLength setLenient setMediaType \
    setProperty setRequestHeaders setResponseCode setResponseCodeOK setResponseData setResponseHeaders \
    setResponseMessage setResponseMessageOK setResponseOK setRestartNextLoop setResultFileName \
    setResultForFailure setSampleCount setSampleLabel setSamplerData setScale setSeed setSentBytes \
    setStartNextThreadLoop setStopTest setStopTestNow setStopThread setSuccessful setText setThreadName \
    setTime setTimeInMillis setTimeZone setType setURL sha1Hex sha256 sha256Hex sha384Hex sha512Hex shaHex \
    shuffle shuffled signum simpleName sin singletonList size skip sleep sort sorted split splitEachLine sprintf start \
    startsWith step stop stopTest stream strip stripIndent stripMargin subList subMap substring \
    substringAfter substringAfterLast substringBefore substringBeforeLast substringBetween subtract sum swap \
    synchronizedList synchronizedMap systemDefault tail take takeAfter takeBefore takeRight takeWhile tan tap \
    times toArray toBigDecimal toBigInteger toBinaryString toBoolean toCharArray toChars toDegrees toDouble \
    toEpochMilli toEpochSecond toFile toFloat toHexString toInstant toIntExact toInteger toJson toList \
    toLocalDate toLocalDateTime toLocalTime toLong toLowerCase toOctalString toPath toPattern toPlainString \
    toPrettyString toRadians toSet toSorted toString toTimestamp toURI toURL toUnique toUpperCase tokenize \
    trace transpose trim true trunc truncatedTo uncapitalize unique unmodifiableList unmodifiableMap update upperCase \
    upto utf8 valueOf values void warn with withDayOfMonth withHour withIndex withLocale withMinute withMonth \
    withNano withPrintWriter withReader withSecond withWriter withWriterAppend withYear withZone withZoneSameInstant withZoneSameLocal \
    withoutPadding write writeBytes writeLine writeStringToFile xor";

/// Further methods whose names several classes share.
const MORE_METHODS: &str = "\
    accept addFirst addIfAbsent addLast appendReplacement appendTail apply applyAsDouble applyAsInt applyAsLong \
    atOffset atTime averagingInt bitCount boxed cardinality charset clearTime compareAndSet compute \
    computeIfPresent convert countDown createTempFile deleteDir deleteOnExit descendingMap divide dump \
    duration elements empty errorOffset filesMatching firstElement firstEntry firstKey floorKey forEachOrdered \
    combinations findAny findFirst load withCloseable get getAndAdd getAndUpdate getAssertionResults getBuffer getDayOfWeek getDisplayName getElement \
    getErrorOffset getExponent getFileName getGroup getIterator getLeastSignificantBits getMaximumNumberOfParameters \
    getMostSignificantBits getOffset getPriority getRawOffset getStackTrace getStandardName getState \
    getTestLogicalAction hasNextInt hasNextLine headMap ifPresent inDaylightTime insertElementAt ints \
    isAlive isDaemon isDone isInterrupted isLeapYear isLenient isPresent isStartNextThreadLoop keys lastElement \
    lastEntry lastKey longs mapToDouble mapToInt mapToLong mapToObj max memoize merge method min minusAll nextInt \
    nextLine offerFirst offerLast ofNanos orElse orElseGet orElseThrow parallelStream peekFirst peekLast permutations \
    pollFirst pollLast propertyNames put regionMatches renameTo reversed roll rotate run setAlphabet setScale \
    setStartTime sequential shortValue sqrt stripLeading stripTrailing stripTrailingZeros subsequences \
    summaryStatistics tailMap take test thenComparing toDays toGMTString toHours toLocaleString toMicros toMillis \
    toMinutes toNanos toSeconds toZoneId toZonedDateTime tr truncate until updateAndGet version withDefault \
    withStream withZoneSameInstant writeTo";

/// The names of all methods.
#[cfg(test)]
pub(in super::super) fn methods() -> impl Iterator<Item = &'static str> {
    METHODS.split_ascii_whitespace().chain(MORE_METHODS.split_ascii_whitespace())
}

/// Whether any class has a method with this name.
pub(in super::super) fn is_method(name: &str) -> bool {
    METHODS.split(' ').any(|known| known == name)
        || MORE_METHODS.split_ascii_whitespace().any(|known| known == name)
        || registry::is_method(name)
}

/// Whether the name is a function that is called without an object.
pub(in super::super) fn is_function(name: &str, groovy: bool) -> bool {
    matches!(name, "print") || (groovy && matches!(name, "println" | "printf" | "sprintf" | "sleep" | "use"))
}

/// Whether every class object has a method with this name.
pub(in super::super) fn is_class_method(name: &str) -> bool {
    matches!(name, "getSimpleName" | "getName" | "getTypeName" | "getCanonicalName" | "isInstance")
}

/// Whether the class has a static method with this name.
pub(in super::super) fn has_static(class: &str, name: &str) -> bool {
    if registry::has_static(class, name) {
        return true;
    }
    STATICS.iter().any(|(known, methods)| {
        known.split(' ').any(|known| known == class)
            && methods.split_ascii_whitespace().any(|known| known == name)
    })
}

const STATICS: &[(&str, &str)] = &[
    (
        "System",
        "currentTimeMillis nanoTime lineSeparator getProperty getenv getProperties setProperty identityHashCode arraycopy",
    ),
    ("File", "createTempFile createTempDir"),
    (
        "DateUtils",
        "addYears addMonths addWeeks addDays addHours addMinutes addSeconds addMilliseconds truncate isSameDay",
    ),
    ("DateFormatUtils", "format"),
    ("NumberFormat", "getInstance getNumberInstance getIntegerInstance getPercentInstance"),
    ("Thread", "sleep currentThread"),
    (
        "Math",
        "floorDiv hypot addExact subtractExact multiplyExact random pow atan2 floorMod toIntExact round exp log log10 sin cos tan cbrt signum rint toRadians toDegrees abs max min ceil floor sqrt",
    ),
    ("UUID", "randomUUID fromString nameUUIDFromBytes"),
    ("ThreadLocalRandom", "current"),
    ("String", "format join valueOf copyValueOf"),
    (
        "Integer",
        "bitCount reverse sum hashCode parseInt valueOf decode toString toHexString toBinaryString toOctalString compare max min signum",
    ),
    (
        "Long",
        "bitCount reverse sum hashCode parseLong valueOf decode toString toHexString toBinaryString toOctalString compare max min signum",
    ),
    ("Short", "parseShort valueOf"),
    ("Double", "parseDouble valueOf toString compare isNaN"),
    ("Float", "parseFloat valueOf toString"),
    ("Boolean", "parseBoolean valueOf toString"),
    (
        "Character",
        "isDigit isLetter isLetterOrDigit isWhitespace isUpperCase isLowerCase toString valueOf toChars getNumericValue toUpperCase toLowerCase",
    ),
    ("BigDecimal BigInteger", "valueOf"),
    ("Arrays", "copyOf hashCode asList toString sort equals copyOfRange fill stream"),
    (
        "Collections",
        "reverseOrder emptySet singleton singletonMap unmodifiableSet unmodifiableCollection synchronizedSet list \
         enumeration frequency disjoint swap rotate shuffle sort reverse addAll emptyList emptyMap singletonList unmodifiableList synchronizedList unmodifiableMap synchronizedMap nCopies max min",
    ),
    ("Objects", "hash hashCode requireNonNull requireNonNullElse equals isNull nonNull toString"),
    ("List Set Map Path", "of"),
    ("Calendar GregorianCalendar MessageDigest Mac", "getInstance"),
    ("TimeZone", "getTimeZone getDefault setDefault"),
    ("ZoneId", "of systemDefault"),
    ("ZoneOffset", "of ofHours ofHoursMinutes ofTotalSeconds"),
    (
        "LocalDate LocalDateTime LocalTime ZonedDateTime OffsetDateTime Instant",
        "now of parse ofEpochMilli ofEpochSecond ofEpochDay ofYearDay ofInstant",
    ),
    ("DateTimeFormatter", "ofPattern"),
    ("Date", "parse from"),
    (
        "Base64",
        "getEncoder getMimeEncoder getUrlEncoder getDecoder getMimeDecoder getUrlDecoder encodeBase64String encodeBase64 decodeBase64 encodeBase64URLSafeString",
    ),
    ("URLEncoder", "encode"),
    ("URLDecoder", "decode"),
    ("Charset", "forName defaultCharset"),
    ("DigestUtils", "md5 sha1 sha256 sha384 sha512 md5Hex sha1Hex shaHex sha256Hex sha384Hex sha512Hex"),
    ("Hex", "encodeHexString encodeHex decodeHex"),
    ("Pattern", "compile matches quote"),
    ("Matcher", "quoteReplacement"),
    ("JsonOutput", "toJson prettyPrint"),
    (
        "Files",
        "readAllBytes exists readString readAllLines delete size write writeString lines deleteIfExists createDirectories \
         createDirectory isDirectory isRegularFile newBufferedReader",
    ),
    ("Paths", "get"),
    (
        "FileUtils",
        "readFileToString readLines writeStringToFile write writeByteArrayToFile readFileToByteArray deleteQuietly \
         deleteDirectory forceMkdir getFile",
    ),
    ("JMeterUtils", "getPropDefault getProperty setProperty getJMeterProperties getJMeterVersion"),
    (
        "StringUtils",
        "isEmpty isNotEmpty isBlank isNotBlank isNumeric substringBetween substringAfter substringBefore substringAfterLast substringBeforeLast capitalize trim upperCase lowerCase leftPad rightPad countMatches contains equals equalsIgnoreCase repeat reverse join",
    ),
    ("RandomStringUtils", "randomNumeric randomAlphabetic randomAlphanumeric random"),
    ("TimeUnit", "valueOf"),
    ("ChronoUnit", "valueOf"),
];

/// The constructors: class, minimum and maximum number of arguments.
const CONSTRUCTORS: &[(&str, usize, usize)] = &[
    ("Object Hex", 0, 0),
    ("ArrayIterator", 1, 1),
    ("String", 0, 4),
    ("Integer Long Double Boolean", 1, 1),
    ("StringBuilder StringBuffer Random Date JsonBuilder", 0, 1),
    ("SecureRandom", 0, 0),
    ("GregorianCalendar", 0, 6),
    ("BigInteger", 1, 2),
    (
        "ArrayDeque ConcurrentLinkedQueue ConcurrentLinkedDeque LinkedBlockingQueue LinkedBlockingDeque \
         ArrayBlockingQueue CopyOnWriteArrayList ConcurrentSkipListMap WeakHashMap",
        0,
        1,
    ),
    ("JsonSlurperClassic", 0, 0),
    ("SimpleDateFormat", 1, 2),
    ("DecimalFormat BigDecimal", 1, 1),
    ("ArrayList LinkedList Vector HashSet LinkedHashSet TreeSet AtomicInteger AtomicLong", 0, 1),
    ("HashMap LinkedHashMap TreeMap ConcurrentHashMap Hashtable Properties", 0, 2),
    ("StringTokenizer File FileOutputStream", 1, 2),
    ("FileWriter", 1, 3),
    ("BufferedWriter PrintWriter PrintStream OutputStreamWriter BufferedOutputStream DataOutputStream", 1, 2),
    ("FileReader BufferedReader InputStreamReader BufferedInputStream", 1, 2),
    ("StringReader FileInputStream", 1, 1),
    ("StringWriter", 0, 1),
    ("JsonSlurper", 0, 0),
    ("SecretKeySpec", 2, 2),
    ("Locale", 1, 2),
];

/// All static methods with their classes.
#[cfg(test)]
pub(in super::super) fn statics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = STATICS.iter().flat_map(|(classes, methods)| {
        classes.split(' ').flat_map(|class| methods.split_ascii_whitespace().map(move |name| (class, name)))
    });
    own.chain(registry::statics())
}

/// All classes with constructors, except exceptions.
#[cfg(test)]
pub(in super::super) fn constructible_classes() -> impl Iterator<Item = &'static str> {
    CONSTRUCTORS
        .iter()
        .flat_map(|(classes, ..)| classes.split_ascii_whitespace())
        .chain(registry::constructible_classes())
}

/// Whether the class has a constructor with this number of arguments.
pub(in super::super) fn has_constructor(class: &str, arguments: usize) -> bool {
    if let Some(is_supported) = registry::is_constructible(class, arguments) {
        return is_supported;
    }
    let found =
        CONSTRUCTORS.iter().find(|(known, ..)| known.split_ascii_whitespace().any(|known| known == class));
    match found {
        Some((_, min, max)) => (*min..=*max).contains(&arguments),
        None => {
            (class.ends_with("Exception") || matches!(class, "Throwable" | "Error" | "AssertionError"))
                && arguments <= 2
        }
    }
}

/// The methods of an object that JMeter binds for scripts; `None` if the list is not complete.
#[cfg(test)]
pub(in super::super) fn host_methods(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "vars" => &[
            "get",
            "put",
            "remove",
            "getObject",
            "putObject",
            "getIteration",
            "getThreadName",
            "entrySet",
            "getAt",
            "putAll",
            "getClass",
            "getIterator",
        ],
        "props" => &[
            "get",
            "put",
            "getProperty",
            "setProperty",
            "getOrDefault",
            "remove",
            "containsKey",
            "getAt",
            "putIfAbsent",
            "size",
            "isEmpty",
            "keySet",
            "stringPropertyNames",
            "propertyNames",
            "keys",
            "entrySet",
            "values",
            "each",
            "forEach",
            "find",
            "findAll",
            "collect",
            "any",
            "every",
        ],
        "log" => &[
            "trace",
            "debug",
            "info",
            "warn",
            "error",
            "fatalError",
            "isDebugEnabled",
            "isTraceEnabled",
            "isInfoEnabled",
            "isWarnEnabled",
            "isErrorEnabled",
        ],
        "ctx" => &[
            "getThreadNum",
            "getVariables",
            "getProperties",
            "getPreviousResult",
            "getCurrentSampler",
            "getPreviousSampler",
            "getThread",
            "getThreadGroup",
            "getEngine",
            "setStartNextThreadLoop",
            "setRestartNextLoop",
            "setTestLogicalAction",
        ],
        "OUT" => &["println", "print", "printf", "flush"],
        "AssertionResult" => &[
            "setFailureMessage",
            "setFailure",
            "setError",
            "setResultForFailure",
            "isFailure",
            "isError",
            "getFailureMessage",
        ],
        "sampleEvent" => &["getResult", "getThreadGroup"],
        _ => return None,
    })
}

/// Whether JMeter binds the name, but it is not implemented here.
pub(in super::super) fn is_unsupported_binding(name: &str) -> bool {
    matches!(name, "Sampler")
}

/// Whether JMeter binds the name, although it begins with a capital letter as names of classes do.
pub(in super::super) fn is_bound(name: &str) -> bool {
    matches!(
        name,
        "OUT"
            | "Label"
            | "FileName"
            | "Parameters"
            | "SampleResult"
            | "AssertionResult"
            | "ResponseCode"
            | "ResponseMessage"
            | "IsSuccess"
            | "Response"
            | "ResponseData"
            | "ResponseHeaders"
            | "RequestHeaders"
            | "SampleLabel"
            | "SamplerData"
            | "Successful"
            | "FailureMessage"
            | "Failure"
    )
}
