//! Tests the detector with simple systems; `study` measures its error rates.

use busyhour_detection::{Detection, Detector, HarmKind, SuspectId, UsageReading, Use, Victim};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const PROCESS: SuspectId = SuspectId(7);
const GROUP: SuspectId = SuspectId(1_000);

/// Observes a system for ten minutes. In the last minute, a process is active. `victim` returns the state of the system
/// for the activity of the process and for noise between 0 and 1.
fn observe(mut victim: impl FnMut(f64, f64) -> Victim) -> Vec<Detection> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut detector = Detector::default();
    for second in 0..600 {
        let active = f64::from(u8::from(second >= 540));
        let cores = active * rng.random_range(0.8..1.0);
        let other = Use { id: SuspectId(8), cores: rng.random_range(0.01..0.1) };
        let uses = [Use { id: PROCESS, cores }, other, Use { id: GROUP, cores: cores + 0.001 }];
        let victim = victim(active, rng.random());
        detector.add(&UsageReading { at_s: f64::from(second), victim, uses: &uses });
    }
    detector.detections().cloned().collect()
}

fn waiting(wait: f64) -> Victim {
    let mut harm = [None; HarmKind::COUNT];
    harm[0] = Some(wait);
    Victim { cores: Some(0.3), is_at_own_limit: false, harm }
}

#[test]
fn the_process_is_named_rather_than_its_control_group() {
    let found = observe(|active, noise| waiting(0.02 + 0.02 * noise + 0.1 * active));
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.suspect, one.harm), (PROCESS, HarmKind::CpuWait));
    assert!(one.found_s > 540.0 && one.found_s <= 600.0, "{one:?}");
    assert!((one.from_s - 540.0).abs() < 1.5 && (one.to_s - 599.0).abs() < 1e-9, "{one:?}");
    assert!((one.cores - 0.9).abs() < 0.05, "{one:?}");
    assert!((one.harm_without - 0.03).abs() < 0.01 && (one.harm_with - 0.13).abs() < 0.03, "{one:?}");
    assert!(one.chance > 0.0 && one.chance <= 0.025, "{one:?}");
}

#[test]
fn a_system_at_its_own_limit_is_not_harmed() {
    let found = observe(|active, noise| Victim {
        is_at_own_limit: active > 0.0,
        ..waiting(0.02 + 0.02 * noise + 0.5 * active)
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn waiting_that_follows_the_own_load_is_not_harm() {
    let found = observe(|active, noise| Victim {
        cores: Some(0.3 + 0.1 * noise + 0.3 * active),
        ..waiting(0.02 + 0.02 * noise + 0.1 * active)
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn small_harm_does_not_matter() {
    let found = observe(|active, noise| waiting(0.02 + 0.001 * noise + 0.003 * active));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn unknown_harm_is_not_judged() {
    assert!(observe(|_, _| Victim::default()).is_empty());
    assert!(observe(|active, noise| Victim { cores: None, ..waiting(noise + active) }).is_empty());
}

#[test]
fn cycles_per_instruction_are_compared_with_their_history() {
    let found = observe(|active, noise| {
        let mut harm = [None; HarmKind::COUNT];
        harm[2] = Some(1.0 + 0.1 * noise + 0.3 * active);
        Victim { cores: Some(0.3), is_at_own_limit: false, harm }
    });
    assert_eq!(found.first().map(|one| one.harm), Some(HarmKind::CyclesPerInstruction), "{found:?}");
}
