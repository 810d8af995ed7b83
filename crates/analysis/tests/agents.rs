//! The error rates of the comparison of agents.

use busyhour_analysis::{AgentRow, Agents, Series};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One run: its size, and how its first agent differs.
#[derive(Clone, Copy)]
struct Kind {
    agents: usize,
    seconds: u64,
    per_second: u64,
    is_heavy: bool,
    slower: f64,
    more_errors: f64,
    later_ms: f64,
}

fn simulate(kind: Kind, seed: u64) -> Agents {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut all: Vec<Series> = vec![Series::default(); kind.agents];
    // The system drifts, has slow times, and bursts of errors; all agents see them.
    let (mut level, mut slow, mut failing) = (0.0_f64, 0_u32, 0_u32);
    for second in 0..kind.seconds {
        level = 0.98 * level + 0.1 * (random.random::<f64>() - 0.5);
        slow = if random.random::<f64>() < 0.01 { 8 } else { slow.saturating_sub(1) };
        failing = if random.random::<f64>() < 0.01 { 5 } else { failing.saturating_sub(1) };
        let base = 20.0 * level.exp() * if slow > 0 { 6.0 } else { 1.0 };
        let failure = if failing > 0 { 0.3 } else { 0.005 };
        for (agent, series) in all.iter_mut().enumerate() {
            let (slower, more) = if agent == 0 { (kind.slower, kind.more_errors) } else { (1.0, 0.0) };
            let mut times: Vec<f64> = (0..kind.per_second)
                .map(|_| {
                    let u: f64 = random.random::<f64>().max(1e-12);
                    let time = if kind.is_heavy { u.powf(-1.0 / 1.5) } else { 1.0 - u.ln() };
                    base * slower * time
                })
                .collect();
            times.sort_by(f64::total_cmp);
            let errors = (0..kind.per_second).filter(|_| random.random::<f64>() < failure + more).count();
            series.second.push(second);
            series.requests.push(kind.per_second);
            series.errors.push(errors as u64);
            series.response_p50.push(Some(times[times.len() / 2]));
            // Every generator is late by a heavy-tailed time, and now and then by a stall.
            let stall = if random.random::<f64>() < 0.01 { 20.0 } else { 0.0 };
            let late = 0.05 * random.random::<f64>().max(1e-9).powf(-1.0 / 1.5) + stall;
            let service = times.iter().sum::<f64>() / times.len() as f64;
            let later = if agent == 0 { kind.later_ms } else { 0.0 };
            series.service_mean.push(Some(service));
            series.response_mean.push(Some(service + late + later));
        }
    }
    let mut agents = Agents { rows: vec![AgentRow::default(); kind.agents], not_compared: None };
    agents.compare(&all.iter().map(Some).collect::<Vec<_>>());
    agents
}

/// Number of 200 runs in which the first agent is named for the given reason.
fn named(kind: Kind, reason: &str) -> usize {
    let is_named =
        |seed: &u64| simulate(kind, *seed).rows[0].differs.iter().any(|text| text.contains(reason));
    (0..200).filter(is_named).count()
}

#[test]
fn false_alarms_are_rare_and_differences_are_found() {
    let base = Kind {
        agents: 4,
        seconds: 130,
        per_second: 20,
        is_heavy: false,
        slower: 1.0,
        more_errors: 0.0,
        later_ms: 0.0,
    };
    let kinds = [
        base,
        Kind { agents: 2, per_second: 3, ..base },
        Kind { agents: 10, seconds: 600, is_heavy: true, ..base },
        Kind { is_heavy: true, per_second: 5, ..base },
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let is_alarm = |seed: &u64| simulate(kind, *seed).rows.iter().any(|row| !row.differs.is_empty());
        let alarms = (0..1_000).filter(is_alarm).count();
        // With a probability of 1 %, more than 18 would occur in 1 of 200 studies.
        assert!(alarms <= 18, "kind {at}: {alarms} false alarms in 1,000 runs");
    }
    for kind in [Kind { slower: 1.3, ..base }, Kind { slower: 1.3, is_heavy: true, agents: 10, ..base }] {
        let found = named(kind, "higher");
        assert!(found >= 190, "{found} of 200");
    }
    let found = named(Kind { more_errors: 0.02, seconds: 300, ..base }, "more of its requests fail");
    assert!(found >= 180, "{found} of 200");
    for kind in [Kind { later_ms: 2.0, ..base }, Kind { later_ms: 2.0, agents: 10, seconds: 300, ..base }] {
        let found = named(kind, "later than those of the others");
        assert!(found >= 180, "{found} of 200");
    }
}

#[test]
fn stolen_time_and_faulty_clocks_are_named() {
    let row = |cpu_stolen, clock_step_ms| AgentRow { cpu_stolen, clock_step_ms, ..AgentRow::default() };
    let rows =
        vec![row(Some(0.01), None), row(Some(0.08), None), row(None, Some(-12.0)), row(Some(0.02), None)];
    let mut agents = Agents { rows, not_compared: None };
    agents.compare(&[None, None, None, None]);
    let differs: Vec<&[String]> = agents.rows.iter().map(|row| row.differs.as_slice()).collect();
    assert!(differs[0].is_empty() && differs[3].is_empty(), "{differs:?}");
    assert!(
        differs[1][0].contains("8 % of the CPU time to others, that of the other agents 2 %"),
        "{differs:?}"
    );
    assert!(differs[2][0].contains("changed by 12.0 ms"), "{differs:?}");
}

#[test]
fn short_runs_are_not_compared() {
    let kind = Kind {
        agents: 3,
        seconds: 60,
        per_second: 5,
        is_heavy: false,
        slower: 3.0,
        more_errors: 0.0,
        later_ms: 0.0,
    };
    let agents = simulate(kind, 1);
    assert!(agents.rows.iter().all(|row| row.differs.is_empty()));
    assert!(agents.not_compared.unwrap().contains("too short"));
}
