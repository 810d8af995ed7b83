//! Class histograms: how many instances of each class a heap contains.

/// One class of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// Its name as the JVM writes it: `java.lang.String`, `[B` for `byte[]`.
    pub class: String,
    /// Its module with version, such as `java.base@17.0.15`; `None` for the unnamed module and in JDK 8.
    pub module: Option<String>,
    /// The number of instances.
    pub instances: u64,
    /// The bytes of the instances, without the objects that they refer to.
    pub bytes: u64,
}

/// The classes of a heap, by bytes in descending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassHistogram {
    /// One row per class. Classes of different loaders may have the same name.
    pub rows: Vec<ClassCount>,
    /// All instances.
    pub instances: u64,
    /// All bytes.
    pub bytes: u64,
}

/// Why a class histogram cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassHistogramError {
    /// A line between the header and the total is not the row of a class.
    #[error("line {line} is not the row of a class: {text:?}")]
    Row {
        /// Number of the line, from 1.
        line: usize,
        /// Its text, shortened.
        text: String,
    },
    /// The line with the total is missing: the text was cut off, or is something else.
    #[error("there is no line with the total")]
    NoTotal,
    /// The sum of the rows differs from the total.
    #[error("the rows have {rows} instances, but the total is {total}")]
    Total {
        /// Sum of the rows.
        rows: u64,
        /// The stated total.
        total: u64,
    },
}

impl ClassHistogram {
    /// Reads the output of `GC.class_histogram` or `jmap -histo` of JDK 8 to 25. Takes linear time.
    ///
    /// # Errors
    /// A row is malformed, the total is missing, or the total differs from the sum of the rows.
    pub fn parse(text: &str) -> Result<ClassHistogram, ClassHistogramError> {
        let mut histogram = ClassHistogram::default();
        let lines = text.lines().enumerate().skip_while(|(_, line)| !line.starts_with("---")).skip(1);
        for (number, line) in lines {
            if let Some(total) = line.strip_prefix("Total") {
                let mut totals = total.split_whitespace().map(str::parse);
                let (Some(Ok(instances)), Some(Ok(bytes))) = (totals.next(), totals.next()) else {
                    return Err(row_error(number, line));
                };
                return histogram.with_total(instances, bytes);
            }
            let row = ClassCount::parse(line).ok_or_else(|| row_error(number, line))?;
            histogram.instances = histogram.instances.saturating_add(row.instances);
            histogram.bytes = histogram.bytes.saturating_add(row.bytes);
            histogram.rows.push(row);
        }
        Err(ClassHistogramError::NoTotal)
    }

    fn with_total(self, instances: u64, bytes: u64) -> Result<ClassHistogram, ClassHistogramError> {
        if (self.instances, self.bytes) == (instances, bytes) {
            Ok(self)
        } else {
            Err(ClassHistogramError::Total { rows: self.instances, total: instances })
        }
    }

    /// The instances of all classes with this name.
    #[must_use]
    pub fn instances_of(&self, class: &str) -> u64 {
        self.rows.iter().filter(|row| row.class == class).map(|row| row.instances).sum()
    }
}

fn row_error(number: usize, line: &str) -> ClassHistogramError {
    ClassHistogramError::Row { line: number + 1, text: line.chars().take(120).collect() }
}

impl ClassCount {
    /// Reads `   1:   7345   346288  [B (java.base@17.0.15)`.
    fn parse(line: &str) -> Option<ClassCount> {
        let (rank, rest) = line.trim_start().split_once(':')?;
        rank.parse::<u32>().ok()?;
        let (instances, rest) = rest.trim_start().split_once(' ')?;
        let (bytes, rest) = rest.trim_start().split_once(' ')?;
        let name = rest.trim();
        let (class, module) = match name.strip_suffix(')').and_then(|name| name.rsplit_once(" (")) {
            Some((class, module)) => (class, Some(module.to_owned())),
            None => (name, None),
        };
        if class.is_empty() {
            return None;
        }
        Some(ClassCount {
            class: class.to_owned(),
            module,
            instances: instances.parse().ok()?,
            bytes: bytes.parse().ok()?,
        })
    }
}
