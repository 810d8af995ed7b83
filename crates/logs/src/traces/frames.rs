//! Names of frames: whether they belong to the application, and their form without the parts that differ between runs.

/// The language of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Java and other languages of the JVM, and .NET.
    Managed,
    Node,
    Python,
    Go,
}

/// Beginnings of the names of classes in libraries and frameworks on the JVM and in .NET.
const MANAGED_LIBRARIES: &[&str] = &[
    "java.",
    "javax.",
    "jakarta.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "groovy.",
    "org.codehaus.groovy.",
    "akka.",
    "reactor.",
    "io.netty.",
    "io.undertow.",
    "io.micrometer.",
    "io.quarkus.",
    "io.vertx.",
    "rx.",
    "io.reactivex.",
    "org.springframework.",
    "org.apache.",
    "org.hibernate.",
    "org.eclipse.",
    "org.jboss.",
    "org.wildfly.",
    "org.glassfish.",
    "org.slf4j.",
    "ch.qos.logback.",
    "com.zaxxer.",
    "com.fasterxml.",
    "com.mysql.",
    "org.postgresql.",
    "oracle.",
    "org.h2.",
    "com.google.common.",
    "okhttp3.",
    "feign.",
    "System.",
    "Microsoft.",
    "Npgsql.",
    "Newtonsoft.",
];

/// Parts of the paths of files in libraries.
const PYTHON_LIBRARIES: &[&str] = &["site-packages/", "dist-packages/", "lib/python", "<frozen "];
const NODE_LIBRARIES: &[&str] = &["node:", "node_modules/", "internal/"];

impl Language {
    /// Whether a frame belongs to the application.
    pub(super) fn is_own(self, name: &str, place: &str) -> bool {
        match self {
            Language::Managed => {
                let name = without_module(name);
                !name.contains("$Proxy") && !MANAGED_LIBRARIES.iter().any(|library| name.starts_with(library))
            }
            Language::Node => !NODE_LIBRARIES.iter().any(|library| place.contains(library)),
            Language::Python => !PYTHON_LIBRARIES.iter().any(|library| place.contains(library)),
            Language::Go => {
                let host = name.split('/').next().unwrap_or_default();
                // The path of a package outside the standard library begins with a host name: `github.com/acme/web`.
                name.starts_with("main.") || name.contains('/') && host.contains('.')
            }
        }
    }

    /// The frame without the parts that differ between runs.
    pub(super) fn normalized(self, name: &str, place: &str) -> String {
        match self {
            Language::Managed => managed(without_module(name)),
            Language::Node | Language::Python if name.is_empty() => short_path(place).to_owned(),
            Language::Node | Language::Python => format!("{name} ({})", short_path(place)),
            Language::Go => name.to_owned(),
        }
    }
}

/// The name without the module and the class loader in front of it: `java.base/java.lang.Thread.run`, `app//shop.Shop.book`.
fn without_module(frame: &str) -> &str {
    let mut start = 0;
    for (at, _) in frame.match_indices('/') {
        // The address of a hidden class also follows a slash: `Shop$$Lambda/0x000001.apply`.
        if frame[at + 1..].starts_with("0x") || frame[..at].contains("$$Lambda") {
            break;
        }
        start = at + 1;
    }
    &frame[start..]
}

/// Words in the names of generated classes that are followed by numbers and hashes.
const GENERATED: &[&str] = &[
    "$$Lambda",
    "$$EnhancerBySpringCGLIB",
    "$$FastClassBySpringCGLIB",
    "$$EnhancerByCGLIB",
    "$$SpringCGLIB",
    "$ByteBuddy",
    "$HibernateProxy",
    "$MockitoMock",
    "_$$_jvst",
    "$Proxy",
    "GeneratedMethodAccessor",
    "GeneratedConstructorAccessor",
];

/// `shop.Shop$$Lambda$14/0x0800c8.apply` becomes `shop.Shop$$Lambda.apply`, and `lambda$book$3` becomes `lambda$book`.
fn managed(name: &str) -> String {
    let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
    let method = match method.strip_prefix("lambda$").and_then(|rest| rest.rsplit_once('$')) {
        Some((method, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("lambda${method}")
        }
        _ => method.to_owned(),
    };
    let class = GENERATED.iter().find_map(|word| class.find(word).map(|at| (at, *word))).map_or(
        class,
        |(at, word)| {
            // The package of a proxy has a number, too: `jdk.proxy2.$Proxy12`.
            if word == "$Proxy" { word } else { &class[..at + word.len()] }
        },
    );
    if class.is_empty() { method } else { format!("{class}.{method}") }
}

/// `/srv/app/shop/seats.py` becomes `shop/seats.py`: the directory of an installation differs between machines.
fn short_path(path: &str) -> &str {
    let mut slashes = path.bytes().enumerate().rev().filter(|(_, byte)| *byte == b'/' || *byte == b'\\');
    slashes.nth(1).map_or(path, |(at, _)| &path[at + 1..])
}
