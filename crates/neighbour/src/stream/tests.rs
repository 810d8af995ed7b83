use std::time::Duration;

use super::result::EPSILON;
use super::*;
use crate::cores::CoreList;
use crate::duty_cycle::Intensity;
use crate::stop::EndReason;
use crate::workers::{Assignment, run};

fn options(array_bytes: Option<u64>) -> StreamOptions {
    StreamOptions { array_bytes, repetitions: StreamOptions::REPETITIONS }
}

#[test]
fn arrays_have_at_least_four_times_the_caches_and_a_million_elements() {
    let bytes = |array_bytes, cache_bytes, threads| {
        StreamWork::new(&options(array_bytes), cache_bytes, threads).map(|work| work.array_bytes())
    };
    assert_eq!(bytes(None, Some(32 << 20), 2).unwrap(), 128 << 20);
    assert_eq!(bytes(None, Some(64 << 10), 1).unwrap(), 8_000_000);
    assert_eq!(bytes(None, None, 3).unwrap(), 8_000_016, "rounded up to a multiple of the threads");
    assert_eq!(bytes(Some(256 << 20), Some(32 << 20), 1).unwrap(), 256 << 20);
    let error = bytes(Some(100 << 20), Some(32 << 20), 1).unwrap_err().to_string();
    assert!(
        error.contains("arrays of 100.0 MiB are smaller") && error.contains("at least 128.0 MiB"),
        "{error}"
    );
}

#[test]
fn values_after_the_kernels_are_those_of_the_formulas() {
    // One repetition: c = 2, b = 6, c = 2 + 6 = 8, a = 6 + 3 · 8 = 30.
    let expected = ExpectedValues::after(1);
    assert_eq!((expected.a, expected.b, expected.c), (30.0, 6.0, 8.0));
    // Each repetition multiplies by 15.
    assert_eq!(ExpectedValues::after(4).a, 2.0 * 15f64.powi(4));
    assert!(ExpectedValues::after(StreamOptions::REPETITIONS_MAX).a.is_finite());
    let mut arrays = Arrays::new(1_000, &StopFlag::new()).unwrap();
    arrays.initialize();
    for kernel in (0..10).flat_map(|_| Kernel::ALL) {
        assert!(arrays.execute(kernel, || false));
    }
    let expected = ExpectedValues::after(10);
    assert!(arrays.a.iter().all(|a| *a == expected.a) && arrays.c.iter().all(|c| *c == expected.c));
    assert_eq!(arrays.errors(&expected), ErrorSums::default());
}

#[test]
fn validation_finds_a_wrong_element() {
    let expected = ExpectedValues::after(10);
    let validate = |change: &dyn Fn(&mut Arrays)| {
        let mut arrays = Arrays::new(1_000, &StopFlag::new()).unwrap();
        arrays.initialize();
        (0..10).flat_map(|_| Kernel::ALL).for_each(|kernel| assert!(arrays.execute(kernel, || false)));
        change(&mut arrays);
        Validation::of(&arrays.errors(&expected), &expected, 1_000)
    };
    assert_eq!(validate(&|_| {}), Validation::Passed { epsilon: EPSILON });
    // The error of one element, averaged over all of them, is below the limit.
    let tiny = 0.9 * EPSILON * 1_000.0;
    assert_eq!(validate(&|arrays| arrays.b[5] *= 1.0 + tiny), Validation::Passed { epsilon: EPSILON });
    let failed = validate(&|arrays| arrays.c[999] *= 1.0 + 3.0 * tiny);
    assert!(matches!(failed, Validation::Failed { array: 'c', .. }), "{failed:?}");
    let failed = validate(&|arrays| arrays.a[0] = f64::NAN);
    assert!(matches!(failed, Validation::Failed { array: 'a', .. }), "{failed:?}");
}

#[test]
fn a_stopped_kernel_is_reported() {
    let mut arrays = Arrays::new(10, &StopFlag::new()).unwrap();
    assert!(!arrays.execute(Kernel::Copy, || true));
}

#[test]
fn the_first_repetition_does_not_count() {
    let mut times = TimesOfKernels::default();
    for (repetition, ms) in [(0, 1), (1, 30), (2, 10), (3, 20)] {
        times.add(Kernel::Triad, repetition, Duration::from_millis(ms));
    }
    let kernels = times.kernels(1_000_000);
    let triad = &kernels[3];
    assert_eq!((triad.name, triad.executions, triad.counted, triad.bytes), ("Triad", 4, 3, 24_000_000));
    assert_eq!((triad.min_s, triad.mean_s, triad.max_s), (Some(0.010), Some(0.020), Some(0.030)));
    assert_eq!(triad.best_bytes_per_s, Some(2.4e9));
    assert_eq!((kernels[0].best_bytes_per_s, kernels[0].mean_s, kernels[0].counted), (None, None, 0));
    assert_eq!(
        kernels.iter().map(|kernel| kernel.bytes).collect::<Vec<_>>(),
        [16_000_000, 16_000_000, 24_000_000, 24_000_000]
    );
}

/// Runs STREAM on all cores with arrays of a million elements, until it has validated a pass.
#[test]
fn threads_execute_the_kernels_together() {
    let cores = CoreList::allowed().unwrap();
    let threads = cores.cores().len();
    let work = StreamWork::new(&options(None), None, threads).unwrap();
    let stop = StopFlag::new();
    let limit = Duration::from_secs(3_600);
    let assignment = Assignment { cores: &cores, intensity: Intensity::FULL, limit, stop: &stop };
    let finished = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(assignment, &work, || ()).unwrap());
        while work.result().passes < 1 && !running.is_finished() {
            std::thread::yield_now();
        }
        stop.request(EndReason::Signal);
        running.join().unwrap()
    });
    assert_eq!(finished.workers.len(), threads);
    let result = work.result();
    assert_eq!(result.validation, Validation::Passed { epsilon: EPSILON });
    for kernel in &result.kernels {
        assert!(kernel.executions >= 10 && kernel.counted >= 9, "{kernel:?}");
        assert!(kernel.min_s <= kernel.mean_s && kernel.mean_s <= kernel.max_s, "{kernel:?}");
    }
}

#[test]
fn without_a_complete_pass_the_validation_is_unavailable() {
    let cores = CoreList::allowed().unwrap();
    let work = StreamWork::new(&options(None), None, cores.cores().len()).unwrap();
    let stop = StopFlag::new();
    stop.request(EndReason::Signal);
    let limit = Duration::from_secs(3_600);
    run(Assignment { cores: &cores, intensity: Intensity::FULL, limit, stop: &stop }, &work, || ()).unwrap();
    let result = work.result();
    assert_eq!((result.passes, result.validation), (0, Validation::Unavailable));
    assert!(result.kernels.iter().all(|kernel| kernel.executions == 0 && kernel.min_s.is_none()));
}
