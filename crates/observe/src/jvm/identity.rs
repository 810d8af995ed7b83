//! The identity of the JVM that publishes a file of counters.

use super::collector::JvmCollector;
use super::counters::CounterIndex;
use super::version::JavaVersion;

/// The longest name of a main class or archive that is displayed, in characters.
const NAME_CHARS_MAX: usize = 200;

/// Name, version and collector of a JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JvmIdentity {
    /// The main class without its package, or the file name of the archive; without arguments, which may contain secrets.
    /// `None` for a JVM that another program embeds, or before `main` starts.
    pub name: Option<String>,
    /// The version of Java; `None` if the JVM does not state it.
    pub version: Option<JavaVersion>,
    /// The virtual machine, such as `OpenJDK 64-Bit Server VM`.
    pub vm: Option<String>,
    /// The vendor of the virtual machine.
    pub vendor: Option<String>,
    /// The garbage collector.
    pub collector: JvmCollector,
    /// When the JVM was created, in ms since 1970.
    pub created_ms: Option<u64>,
    /// The command line after `java` and its options. It may contain secrets; it serves to recognise a restarted JVM.
    pub(super) command: Option<String>,
}

impl JvmIdentity {
    /// Reads the identity from counters.
    #[must_use]
    pub fn read(index: &CounterIndex, bytes: &[u8]) -> JvmIdentity {
        let text = |name: &str| index.text_of(bytes, name).filter(|text| !text.is_empty());
        let command = text("sun.rt.javaCommand");
        JvmIdentity {
            name: command.as_deref().and_then(main_name),
            version: text("java.property.java.version").and_then(|version| JavaVersion::parse(&version)),
            vm: text("java.property.java.vm.name"),
            vendor: text("java.property.java.vm.vendor"),
            collector: JvmCollector::detect(index, bytes),
            created_ms: index
                .long_of(bytes, "sun.rt.createVmBeginTime")
                .and_then(|created| u64::try_from(created).ok())
                .filter(|created| *created > 0),
            command,
        }
    }

    /// The version for messages: `JDK 17.0.15`, or `this JVM`.
    #[must_use]
    pub fn jdk(&self) -> String {
        self.version.as_ref().map_or_else(|| "this JVM".to_owned(), |version| format!("JDK {version}"))
    }

    /// The counters that add up to the time that the application was stopped; `None` if the JVM does not state its version.
    pub(super) fn stall_counters(&self) -> Option<&'static [&'static str]> {
        /// From this JDK on, `sun.rt.safepointTime` does not contain the time to reach safepoints (JDK-8219436). JDK 11 and 17
        /// were compared with their safepoint logs.
        const SEPARATE_SYNC_SINCE: u32 = 13;
        let feature = self.version.as_ref()?.feature();
        Some(if feature >= SEPARATE_SYNC_SINCE {
            &["sun.rt.safepointTime", "sun.rt.safepointSyncTime"]
        } else {
            &["sun.rt.safepointTime"]
        })
    }
}

/// The main class without its package, or the file name of an archive.
fn main_name(command: &str) -> Option<String> {
    let main = command.split_whitespace().next()?;
    let is_archive = main.ends_with(".jar") || main.ends_with(".war");
    // `module/package.Class` for a class of a module, a path for an archive.
    let last = main.rsplit('/').next()?;
    let name = if is_archive { last } else { last.rsplit('.').next()? };
    let name: String = name.chars().filter(|char| !char.is_control()).take(NAME_CHARS_MAX).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_neither_packages_nor_arguments() {
        let name = |command| main_name(command);
        assert_eq!(name("org.example.Shop --password=x").as_deref(), Some("Shop"));
        assert_eq!(name("shop.module/org.example.Shop").as_deref(), Some("Shop"));
        assert_eq!(name("/opt/shop/shop-1.2.jar --port 80").as_deref(), Some("shop-1.2.jar"));
        assert_eq!(name("Load").as_deref(), Some("Load"));
        assert_eq!(name(" "), None);
        assert_eq!(name("org.example."), None);
    }
}
