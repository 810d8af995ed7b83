//! Config elements.

use super::descriptor::Descriptor;
use super::samplers::HTTP_NUMBERS;

/// What a config element provides to the samplers in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigClass {
    /// Variables.
    UserVariables,
    /// Variables from a file.
    VariablesFromCsv,
    /// HTTP headers.
    HeaderManager,
    /// HTTP cookies.
    CookieManager,
    /// An HTTP cache.
    CacheManager,
    /// HTTP credentials.
    AuthManager,
    /// Addresses of hosts.
    DnsCacheManager,
    /// Client certificates.
    Keystore,
    /// Defaults of HTTP requests.
    HttpDefaults,
    /// Defaults of TCP samplers.
    TcpDefaults,
    /// A user name and a password for TCP samplers.
    LoginDefaults,
    /// Arguments of Java requests.
    JavaDefaults,
    /// JMeter properties from a file.
    PropertyReader,
    /// A filter that discards WebSocket frames.
    FrameFilter(FrameFilterClass),
}

/// Which WebSocket frames a filter discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameFilterClass {
    /// Pings and pongs.
    Ping,
    /// Text frames.
    Text,
    /// Binary frames.
    Binary,
}

/// The config elements that set a variable at the start of each pass of their controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepClass {
    /// A number that counts up.
    Counter,
    /// A random number.
    RandomVariable,
    /// The next row of a file.
    CsvDataSet,
    /// A random row of a file.
    RandomCsvDataSet,
}

/// The config elements. Three of them share a class and differ in the class of their editor.
pub(crate) const ELEMENTS: &[Descriptor<ConfigClass>] = &[
    Descriptor::new("Arguments", "User Defined Variables", ConfigClass::UserVariables).properties(&[
        "Argument.desc",
        "Argument.metadata",
        "Argument.name",
        "Argument.opcode",
        "Argument.value",
        "Arguments.arguments",
    ]),
    Descriptor::new("HeaderManager", "HTTP Header Manager", ConfigClass::HeaderManager).properties(&[
        "Header.name",
        "Header.value",
        "HeaderManager.headers",
    ]),
    Descriptor::new("CookieManager", "HTTP Cookie Manager", ConfigClass::CookieManager)
        .note("RFC 6265 and RFC 2109; other policies are treated as RFC 6265")
        .properties(&[
            "Cookie.domain",
            "Cookie.domain_specified",
            "Cookie.expires",
            "Cookie.name",
            "Cookie.path",
            "Cookie.path_specified",
            "Cookie.secure",
            "Cookie.value",
            "Cookie.version",
            "CookieManager.allow_variable_cookies",
            "CookieManager.clearEachIteration",
            "CookieManager.controlledByThreadGroup",
            "CookieManager.cookies",
            "CookieManager.delete_null_cookies",
            "CookieManager.implementation",
            "CookieManager.policy",
        ]),
    Descriptor::new("CacheManager", "HTTP Cache Manager", ConfigClass::CacheManager)
        .properties(&["CacheManager.controlledByThread"]),
    Descriptor::new("AuthManager", "HTTP Authorization Manager", ConfigClass::AuthManager)
        .note("Basic and Digest")
        .properties(&[
            "AuthManager.auth_list",
            "AuthManager.clearEachIteration",
            "Authorization.domain",
            "Authorization.mechanism",
            "Authorization.password",
            "Authorization.realm",
            "Authorization.url",
            "Authorization.username",
        ]),
    Descriptor::new("DNSCacheManager", "DNS Cache Manager", ConfigClass::DnsCacheManager)
        .note("its own DNS servers are queried over UDP, for IPv4 addresses only")
        .properties(&[
            "DNSCacheManager.clearEachIteration",
            "DNSCacheManager.hosts",
            "DNSCacheManager.isCustomResolver",
            "DNSCacheManager.servers",
            "StaticHost.Address",
            "StaticHost.Name",
        ]),
    Descriptor::new("KeystoreConfig", "Keystore Configuration", ConfigClass::Keystore)
        .note("JKS and PKCS#12 (`-Djavax.net.ssl.keyStore=FILE`); keys for RSA, ECDSA and Ed25519"),
    Descriptor::new("JavaConfig", "Java Request Defaults", ConfigClass::JavaDefaults),
    Descriptor::new(
        "eu.luminis.jmeter.wssampler.PingFrameFilter",
        "WebSocket Ping/Pong Frame Filter (by Peter Doornbosch)",
        ConfigClass::FrameFilter(FrameFilterClass::Ping),
    ),
    Descriptor::new(
        "eu.luminis.jmeter.wssampler.TextFrameFilter",
        "WebSocket Text Frame Filter (by Peter Doornbosch)",
        ConfigClass::FrameFilter(FrameFilterClass::Text),
    ),
    Descriptor::new(
        "eu.luminis.jmeter.wssampler.BinaryFrameFilter",
        "WebSocket Binary Frame Filter (by Peter Doornbosch)",
        ConfigClass::FrameFilter(FrameFilterClass::Binary),
    ),
    Descriptor::new(
        "kg.apc.jmeter.config.VariablesFromCSV",
        "Variables From CSV File (jmeter-plugins)",
        ConfigClass::VariablesFromCsv,
    ),
    Descriptor::new(
        "com.tag.jmeter.ext.config.PropertyReader",
        "Property File Reader (Tag extension)",
        ConfigClass::PropertyReader,
    )
    .note("the file is read when the plan is compiled; user defined variables do not see its properties, as with the plugin"),
    Descriptor::new("ConfigTestElement", "HTTP Request Defaults", ConfigClass::HttpDefaults)
        .gui("HttpDefaultsGui")
        .unlisted()
        .numbers(HTTP_NUMBERS),
    Descriptor::new("ConfigTestElement", "TCP Sampler Config", ConfigClass::TcpDefaults)
        .gui("TCPConfigGui")
        .unlisted()
        .numbers(HTTP_NUMBERS),
    Descriptor::new("ConfigTestElement", "Login Config Element", ConfigClass::LoginDefaults)
        .gui("LoginConfigGui")
        .unlisted()
        .numbers(HTTP_NUMBERS)
        .properties(&["ConfigTestElement.password", "ConfigTestElement.username"]),
];

/// The config elements that advance with each pass of their controller.
pub(crate) const STEPS: &[Descriptor<StepClass>] = &[
    Descriptor::new("CounterConfig", "Counter", StepClass::Counter).properties(&[
        "CounterConfig.end",
        "CounterConfig.format",
        "CounterConfig.incr",
        "CounterConfig.name",
        "CounterConfig.per_user",
        "CounterConfig.reset_on_tg_iteration",
        "CounterConfig.start",
    ]),
    Descriptor::new("RandomVariableConfig", "Random Variable", StepClass::RandomVariable)
        .note("without a seed it uses the random numbers of the run"),
    Descriptor::new("CSVDataSet", "CSV Data Set Config", StepClass::CsvDataSet),
    Descriptor::new(
        "com.blazemeter.jmeter.RandomCSVDataSetConfig",
        "Random CSV Data Set Config (BlazeMeter)",
        StepClass::RandomCsvDataSet,
    )
    .note("all users share its rows, as in the plugin, even if a list per user is configured"),
];
