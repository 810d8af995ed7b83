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
        }
    }
    let mut agents = Agents { rows: vec![AgentRow::default(); kind.agents], not_compared: None };
    agents.compare(&all.iter().map(Some).collect::<Vec<_>>());
    agents
}

/// Number of runs in which an agent is named, and in which the first one is named for the given reason.
fn named(kind: Kind, reason: &str) -> (usize, usize) {
    let runs: Vec<Agents> = (0..200).map(|seed| simulate(kind, seed)).collect();
    let any = runs.iter().filter(|run| run.rows.iter().any(|row| !row.differs.is_empty())).count();
    let first =
        runs.iter().filter(|run| run.rows[0].differs.iter().any(|text| text.contains(reason))).count();
    (any, first)
}

#[test]
fn false_alarms_are_rare_and_differences_are_found() {
    let base =
        Kind { agents: 4, seconds: 130, per_second: 20, is_heavy: false, slower: 1.0, more_errors: 0.0 };
    let kinds = [
        base,
        Kind { agents: 2, per_second: 3, ..base },
        Kind { agents: 10, seconds: 600, is_heavy: true, ..base },
        Kind { is_heavy: true, per_second: 5, ..base },
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let (alarms, _) = named(kind, "");
        assert!(alarms <= 2, "kind {at}: {alarms} false alarms in 200 runs");
    }
    for kind in [Kind { slower: 1.3, ..base }, Kind { slower: 1.3, is_heavy: true, agents: 10, ..base }] {
        let (_, found) = named(kind, "higher");
        assert!(found >= 190, "{found} of 200");
    }
    let (_, found) = named(Kind { more_errors: 0.02, seconds: 300, ..base }, "more of its requests fail");
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn short_runs_are_not_compared() {
    let kind = Kind { agents: 3, seconds: 60, per_second: 5, is_heavy: false, slower: 3.0, more_errors: 0.0 };
    let agents = simulate(kind, 1);
    assert!(agents.rows.iter().all(|row| row.differs.is_empty()));
    assert!(agents.not_compared.unwrap().contains("too short"));
}
