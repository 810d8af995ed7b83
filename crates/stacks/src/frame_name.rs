//! Names of frames and of groups of threads.

/// The name of a frame of Java: class and method without the line, and without the numbers of generated classes, which differ
/// between runs. `Load$$Lambda$14/0x0000000800c03000.run(Unknown Source)` becomes `Load$$Lambda.run`.
#[must_use]
pub fn java_frame(line: &str) -> String {
    let end = line.find('(').unwrap_or(line.len());
    let (class, method) = match line[..end].rsplit_once('.') {
        Some((class, method)) => (class, method),
        None => ("", &line[..end]),
    };
    // The address of a hidden class is written after its name.
    let class = class.split_once('/').map_or(class, |(class, _)| class);
    let class = class.trim_end_matches('.').trim_end_matches(|letter: char| letter.is_ascii_digit());
    let class = match class.strip_suffix('$') {
        // The number of a lambda; `Shop$1` is an anonymous class, whose number is a part of its name.
        Some(lambda) if lambda.ends_with("$$Lambda") => lambda,
        _ if is_numbered(line) => class,
        _ => line[..end].rsplit_once('.').map_or("", |(class, _)| class),
    };
    if class.is_empty() { method.to_owned() } else { format!("{class}.{method}") }
}

/// Whether the JVM numbers the class: accessors of reflection, proxies, lambdas.
fn is_numbered(line: &str) -> bool {
    const NUMBERED: [&str; 5] =
        ["$$Lambda", "MethodAccessor", "ConstructorAccessor", "$Proxy", "LambdaForm$"];
    NUMBERED.iter().any(|part| line.contains(part))
}

/// Whether a frame belongs to the JDK.
#[must_use]
pub fn is_jdk_frame(frame: &str) -> bool {
    const PREFIXES: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];
    PREFIXES.iter().any(|prefix| frame.starts_with(prefix))
}

/// The name of a thread without its last number, so that the threads of a pool have one name: `exec-12` becomes `exec-#`.
#[must_use]
pub fn thread_group_name(name: &str) -> String {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let Some(last) = name.rfind(is_digit) else { return name.to_owned() };
    let first = name[..last]
        .rfind(|letter: char| !is_digit(letter))
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    format!("{}#{}", &name[..first], &name[last + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_classes_have_no_numbers() {
        for (line, name) in [
            ("Load.pause(Load.java:46)", "Load.pause"),
            ("java.lang.Thread.run(java.base@17.0.15/Thread.java:840)", "java.lang.Thread.run"),
            ("Load$$Lambda$14/0x0000000800c03000.run(Unknown Source)", "Load$$Lambda.run"),
            ("Load$$Lambda/0x00007f1c.run(Unknown Source)", "Load$$Lambda.run"),
            ("Load$1.run(Load.java:3)", "Load$1.run"),
            (
                "jdk.internal.reflect.GeneratedMethodAccessor12.invoke(Unknown Source)",
                "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
            ),
            ("main", "main"),
            ("", ""),
        ] {
            assert_eq!(java_frame(line), name, "{line}");
        }
    }

    #[test]
    fn threads_of_a_pool_have_one_name() {
        for (name, group) in [
            ("http-nio-8080-exec-12", "http-nio-8080-exec-#"),
            ("pool-1-thread-3", "pool-1-thread-#"),
            ("main", "main"),
            ("42", "#"),
            ("é7 (x)", "é# (x)"),
        ] {
            assert_eq!(thread_group_name(name), group);
        }
    }
}
