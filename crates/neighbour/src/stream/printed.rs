//! The results in the form in which STREAM prints them, which other programs parse.

use std::fmt::Write as _;

use super::result::{KernelTimes, StreamResult, Validation};

/// The line between parts.
const RULE: &str = "-------------------------------------------------------------\n";

impl StreamResult {
    /// Whether no kernel has a rate, because the time was over before its second execution.
    pub fn has_no_rates(&self) -> bool {
        self.kernels.iter().all(|kernel| kernel.best_bytes_per_s.is_none())
    }

    /// The results as STREAM 5.10 prints them. The first lines name this program as their source.
    pub fn printed(&self) -> String {
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        let (elements, array, all) = (self.elements, self.array_bytes, 3 * self.array_bytes);
        let mut out = format!(
            "{RULE}Based on STREAM version 5.10: same kernels and rules, implemented by busyhour {}\n{RULE}\
             This system uses 8 bytes per array element.\n{RULE}\
             Array size = {elements} (elements), Offset = 0 (elements)\n\
             Memory per array = {:.1} MiB (= {:.1} GiB).\n\
             Total memory required = {:.1} MiB (= {:.1} GiB).\n\
             Each kernel will be executed {} times.\n \
             The *best* time for each kernel (excluding the first iteration)\n \
             will be used to compute the reported bandwidth.\n\
             Complete passes of {} times: {}\n{RULE}\
             Number of Threads requested = {}\n\
             Number of Threads counted = {}\n{RULE}\
             Function    Best Rate MB/s  Avg time     Min time     Max time\n",
            env!("CARGO_PKG_VERSION"),
            mebibytes(array),
            gibibytes(array),
            mebibytes(all),
            gibibytes(all),
            self.repetitions,
            self.repetitions,
            self.passes,
            self.threads,
            self.threads,
        );
        self.kernels.iter().for_each(|kernel| out += &line(kernel));
        out += RULE;
        out += &validation(&self.validation);
        out + RULE
    }
}

/// The line of a kernel.
fn line(kernel: &KernelTimes) -> String {
    let label = format!("{}:", kernel.name);
    let mut out = format!("{label:<11}");
    let times = (kernel.best_bytes_per_s, kernel.mean_s, kernel.min_s, kernel.max_s);
    let _ = match times {
        (Some(best), Some(mean), Some(min), Some(max)) => {
            writeln!(out, "{:12.1}  {mean:11.6}  {min:11.6}  {max:11.6}", best * 1e-6)
        }
        _ => writeln!(out, " unavailable: it ended before the second execution"),
    };
    out
}

fn validation(outcome: &Validation) -> String {
    match outcome {
        Validation::Passed { epsilon } => {
            format!("Solution Validates: avg error less than {} on all three arrays\n", exponential(*epsilon))
        }
        Validation::Failed { array, relative_error, epsilon } => format!(
            "Failed Validation on array {array}[], AvgRelAbsErr > epsilon ({})\n     \
             AvgRelAbsErr: {}\n",
            exponential(*epsilon),
            exponential(*relative_error)
        ),
        Validation::Unavailable => {
            "Validation unavailable: it ended before the first pass was complete\n".to_owned()
        }
    }
}

/// A number as C prints it with `%e`: `1.000000e-13`.
fn exponential(value: f64) -> String {
    let text = format!("{value:.6e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        // Not a number, or infinite.
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(validation: Validation) -> StreamResult {
        let kernel = |name, best: f64, mean_s| KernelTimes {
            name,
            executions: 20,
            bytes: 160_000_000,
            counted: 18,
            best_bytes_per_s: Some(best),
            mean_s: Some(mean_s),
            min_s: Some(0.005_688),
            max_s: Some(0.006_32),
        };
        let unknown = KernelTimes {
            counted: 0,
            best_bytes_per_s: None,
            mean_s: None,
            min_s: None,
            max_s: None,
            ..kernel("Triad", 0.0, 0.0)
        };
        StreamResult {
            elements: 10_000_000,
            array_bytes: 80_000_000,
            threads: 2,
            repetitions: 10,
            passes: 2,
            kernels: vec![
                kernel("Copy", 28_130e6, 0.005_913),
                kernel("Scale", 128_130.04e6, 0.005_913),
                unknown,
            ],
            validation,
        }
    }

    #[test]
    fn results_have_the_columns_of_stream() {
        let printed = result(Validation::Passed { epsilon: 1e-13 }).printed();
        let lines = [
            "Memory per array = 76.3 MiB (= 0.1 GiB).",
            "Total memory required = 228.9 MiB (= 0.2 GiB).",
            "Function    Best Rate MB/s  Avg time     Min time     Max time",
            "Copy:           28130.0     0.005913     0.005688     0.006320",
            "Scale:         128130.0     0.005913     0.005688     0.006320",
            "Triad:      unavailable: it ended before the second execution",
            "Solution Validates: avg error less than 1.000000e-13 on all three arrays",
        ];
        for line in lines {
            assert!(printed.lines().any(|found| found == line), "{line}\n{printed}");
        }
    }

    #[test]
    fn a_result_without_a_second_execution_has_no_rates() {
        let mut short = result(Validation::Unavailable);
        assert!(!short.has_no_rates());
        short.kernels.retain(|kernel| kernel.name == "Triad");
        assert!(short.has_no_rates());
    }

    #[test]
    fn a_failed_validation_is_printed() {
        let failed = Validation::Failed { array: 'b', relative_error: 0.25, epsilon: 1e-13 };
        let printed = result(failed).printed();
        assert!(printed.contains("Failed Validation on array b[], AvgRelAbsErr > epsilon (1.000000e-13)"));
        assert!(printed.contains("AvgRelAbsErr: 2.500000e-01"), "{printed}");
        assert_eq!((exponential(1e120), exponential(f64::NAN)), ("1.000000e+120".into(), "NaN".into()));
        assert!(result(Validation::Unavailable).printed().contains("Validation unavailable"));
    }
}
