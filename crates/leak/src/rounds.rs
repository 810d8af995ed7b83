//! Rounds of load, and the sizes of all classes after each of them.

use std::collections::HashMap;

/// Largest number of rounds.
pub const ROUNDS_MAX: usize = 64;

/// Largest number of different classes.
pub const CLASSES_MAX: usize = 1_000_000;

/// Largest number of stored values: classes times rounds. It limits the memory to about 0.5 GB.
const VALUES_MAX: usize = 32_000_000;

/// The size of one class after a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassSize<'a> {
    /// Its name as the JVM writes it: `java.lang.String`, `[B` for `byte[]`.
    pub class: &'a str,
    /// Its module, if it is in a named one.
    pub module: Option<&'a str>,
    /// Number of instances.
    pub instances: u64,
    /// Bytes of the instances.
    pub bytes: u64,
}

/// Why a round cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RoundError {
    /// There are too many rounds.
    #[error("there are more than {ROUNDS_MAX} rounds")]
    TooManyRounds,
    /// There are too many classes.
    #[error("there are too many classes: at most {CLASSES_MAX}, and {VALUES_MAX} in all rounds together")]
    TooManyClasses,
    /// No request completed, so the round has no growth per request.
    #[error("no request completed in the round")]
    NoRequests,
}

/// The sizes of one class after each round.
#[derive(Debug, Clone)]
pub(crate) struct ClassHistory {
    pub class: String,
    pub is_own: bool,
    pub instances: Vec<f64>,
    pub bytes: Vec<f64>,
}

/// The rounds of one search for leaks.
#[derive(Debug, Default)]
pub struct LeakRounds {
    index: HashMap<String, usize>,
    pub(crate) histories: Vec<ClassHistory>,
    /// Requests from the first round to the end of each round.
    pub(crate) requests: Vec<f64>,
}

impl LeakRounds {
    /// No rounds.
    #[must_use]
    pub fn new() -> LeakRounds {
        LeakRounds::default()
    }

    /// Number of rounds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are no rounds.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Requests from the first round to the end of each round.
    #[must_use]
    pub fn requests(&self) -> &[f64] {
        &self.requests
    }

    /// Bytes of all live objects after each round.
    #[must_use]
    pub fn live_bytes(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.requests.len()];
        for history in &self.histories {
            sums.iter_mut().zip(&history.bytes).for_each(|(sum, bytes)| *sum += bytes);
        }
        sums
    }

    /// Bytes of a class after each round; `None` if no histogram has it. The name is that of the JVM.
    #[must_use]
    pub fn class_bytes(&self, class: &str) -> Option<&[f64]> {
        self.index.get(class).map(|at| self.histories[*at].bytes.as_slice())
    }

    /// Adds a round in which this many requests completed, with the live objects after it. Classes of different
    /// loaders with the same name are added up.
    ///
    /// # Errors
    /// The round has no requests, or a limit is exceeded; the rounds are then unchanged.
    pub fn push<'a>(
        &mut self,
        requests: u64,
        classes: impl IntoIterator<Item = ClassSize<'a>>,
    ) -> Result<(), RoundError> {
        if requests == 0 {
            return Err(RoundError::NoRequests);
        }
        let earlier = self.requests.len();
        if earlier == ROUNDS_MAX {
            return Err(RoundError::TooManyRounds);
        }
        if self.histories.len().saturating_mul(earlier + 1) > VALUES_MAX {
            return Err(RoundError::TooManyClasses);
        }
        let known = self.histories.len();
        self.histories.iter_mut().for_each(ClassHistory::add_round);
        for size in classes {
            if self.add(size, earlier).is_none() {
                self.undo(known);
                return Err(RoundError::TooManyClasses);
            }
        }
        self.requests.push(self.requests.last().copied().unwrap_or(0.0) + requests as f64);
        Ok(())
    }

    fn add(&mut self, size: ClassSize<'_>, earlier: usize) -> Option<()> {
        let at = match self.index.get(size.class) {
            Some(at) => *at,
            None => {
                let at = self.histories.len();
                if at == CLASSES_MAX || (at + 1) * (earlier + 1) > VALUES_MAX {
                    return None;
                }
                self.index.insert(size.class.to_owned(), at);
                self.histories.push(ClassHistory {
                    class: size.class.to_owned(),
                    is_own: is_own(size.class, size.module),
                    instances: vec![0.0; earlier + 1],
                    bytes: vec![0.0; earlier + 1],
                });
                at
            }
        };
        let history = &mut self.histories[at];
        history.instances[earlier] += size.instances as f64;
        history.bytes[earlier] += size.bytes as f64;
        Some(())
    }

    fn undo(&mut self, known: usize) {
        self.histories.truncate(known);
        self.index.retain(|_, at| *at < known);
        for history in &mut self.histories {
            history.instances.pop();
            history.bytes.pop();
        }
    }
}

impl ClassHistory {
    fn add_round(&mut self) {
        self.instances.push(0.0);
        self.bytes.push(0.0);
    }
}

/// Whether a class belongs to the program rather than to the JDK. Arrays belong to the class of their elements.
fn is_own(class: &str, module: Option<&str>) -> bool {
    let element = class.trim_start_matches('[');
    let element = match element.strip_prefix('L') {
        Some(name) if class.starts_with('[') => name.trim_end_matches(';'),
        _ if class.starts_with('[') => return false,
        _ => element,
    };
    let of_jdk = |name: &str| {
        ["java.", "javax.", "jdk.", "sun.", "com.sun."].iter().any(|prefix| name.starts_with(prefix))
    };
    // The VM's own objects, such as `<constMethodKlass>` of JDK 7.
    let of_vm = element.starts_with('<');
    !of_vm
        && !of_jdk(element)
        && !module.is_some_and(|module| module.starts_with("java.") || module.starts_with("jdk."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(class: &str, instances: u64) -> ClassSize<'_> {
        ClassSize { class, module: None, instances, bytes: 16 * instances }
    }

    #[test]
    fn classes_of_the_jdk_and_arrays_of_them_are_not_own() {
        let own = ["shop.Cart", "[Lshop.Cart;", "[[Lshop.Cart;", "shop.Cart$$Lambda/0x01", "Main", "L"];
        let others = ["[B", "[[I", "java.lang.String", "[Ljava.lang.Object;", "jdk.internal.Foo", "<klass>"];
        assert!(own.iter().all(|class| is_own(class, None)));
        assert!(others.iter().all(|class| !is_own(class, None)));
        assert!(!is_own("org.xml.sax.Locator", Some("java.xml@17.0.15")) && is_own("a.B", Some("app@1")));
    }

    #[test]
    fn absent_classes_are_zero_and_classes_with_the_same_name_are_added_up() {
        let mut rounds = LeakRounds::new();
        rounds.push(10, [size("a", 1), size("a", 2)]).unwrap();
        rounds.push(5, [size("b", 7)]).unwrap();
        assert_eq!(rounds.requests, [10.0, 15.0]);
        assert_eq!(rounds.histories[0].instances, [3.0, 0.0]);
        assert_eq!(rounds.class_bytes("b"), Some(&[0.0, 112.0][..]));
        assert_eq!(rounds.class_bytes("c"), None);
        assert_eq!(rounds.live_bytes(), [48.0, 112.0]);
    }

    #[test]
    fn a_refused_round_changes_nothing() {
        let mut rounds = LeakRounds::new();
        rounds.push(1, [size("a", 1)]).unwrap();
        assert_eq!(rounds.push(0, [size("a", 1)]), Err(RoundError::NoRequests));
        let names: Vec<String> = (0..=CLASSES_MAX).map(|at| at.to_string()).collect();
        let many = names.iter().map(|name| size(name, 1));
        assert_eq!(rounds.push(1, many), Err(RoundError::TooManyClasses));
        assert_eq!((rounds.len(), rounds.histories.len(), rounds.index.len()), (1, 1, 1));
        assert_eq!(rounds.histories[0].instances, [1.0]);
        for _ in 1..ROUNDS_MAX {
            rounds.push(1, []).unwrap();
        }
        assert_eq!(rounds.push(1, []), Err(RoundError::TooManyRounds));
    }
}
