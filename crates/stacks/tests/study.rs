//! How often the comparison of stacks finds differences although there are none, and how often it names the frames that
//! differ.
//!
//! By default each kind of run is simulated a few times. For the tables of `docs/stack-samples.md`, each is simulated 200 times:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-stacks --test study -- --nocapture
//! ```

use std::io::Write as _;

use busyhour_stacks::{
    FrameDifference, InFlight, SampledState, SampledThread, SampledWait, SampledWaitKind, StackDifference,
    StackDump, StackOutcome, StackRecord, StackWindowRule, StackWindows, StackWriter, compare_stacks,
    slow_seconds,
};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const SECOND: u64 = 1_000_000_000;
const WORKERS: usize = 20;
/// The method was chosen with other seeds.
const FIRST_SEED: u64 = 10_000;
/// Threads that never do anything else.
const OTHERS: usize = 6;

/// Number of simulated runs of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(10)
}

fn show(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

/// How the slow windows of a run are placed.
#[derive(Clone, Copy)]
enum Placing {
    /// Windows of 3 s on average, every 25 s on average.
    Bursts,
    /// A window of 2 s, every 10 s exactly.
    Periodic,
    /// One fifth of the run.
    Fifth,
    /// The seconds that the rule for requests finds. 20 requests start per second; one tenth of them is slow, in bursts
    /// of 2 s.
    Requests,
}

/// A kind of run.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    length_s: u64,
    /// Dumps per second.
    rate: u64,
    /// Time in seconds over which the use of the threads is correlated.
    memory_s: f64,
    /// The use of the threads rises over the run.
    drifts: bool,
    placing: Placing,
    /// Every 10 s, a task holds the lock for 2 s, independently of the slow windows.
    has_task: bool,
}

const USUAL: Kind = Kind {
    name: "3 min, a dump per second",
    length_s: 180,
    rate: 1,
    memory_s: 0.0,
    drifts: false,
    placing: Placing::Bursts,
    has_task: false,
};

const CLEAN: &[Kind] = &[
    USUAL,
    Kind { name: "10 min", length_s: 600, ..USUAL },
    Kind { name: "1 min, 5 dumps per second", length_s: 60, rate: 5, ..USUAL },
    Kind { name: "use correlated over 2 s", memory_s: 2.0, ..USUAL },
    Kind { name: "use correlated over 10 s", memory_s: 10.0, ..USUAL },
    Kind { name: "use correlated over 10 s, 5 dumps per second", memory_s: 10.0, rate: 5, ..USUAL },
    Kind { name: "use rises over the run", drifts: true, ..USUAL },
    Kind { name: "windows every 10 s exactly", placing: Placing::Periodic, ..USUAL },
    Kind { name: "a fifth of the run is slow", placing: Placing::Fifth, ..USUAL },
    Kind {
        name: "slow seconds of requests, use correlated over 2 s",
        memory_s: 2.0,
        placing: Placing::Requests,
        ..USUAL
    },
    Kind { name: "a task every 10 s", has_task: true, ..USUAL },
    Kind {
        name: "windows and an unrelated task, both every 10 s exactly",
        has_task: true,
        placing: Placing::Periodic,
        ..USUAL
    },
];

fn windows(kind: &Kind, random: &mut Xoshiro256PlusPlus) -> Vec<(u64, u64)> {
    let end = kind.length_s * SECOND;
    let exponential = |mean_s: f64, random: &mut Xoshiro256PlusPlus| {
        (Exp::new(1.0 / mean_s).unwrap().sample(random) * 1e9) as u64
    };
    match kind.placing {
        Placing::Bursts | Placing::Requests => {
            let mut found = Vec::new();
            let mut at = exponential(22.0, random);
            while at < end {
                let to = at + SECOND + exponential(2.0, random);
                found.push((at, to.min(end)));
                at = to + exponential(22.0, random);
            }
            found
        }
        Placing::Periodic => {
            let first = random.random_range(0..8 * SECOND);
            (0..)
                .map(|at| first + at * 10 * SECOND)
                .take_while(|at| at + 2 * SECOND < end)
                .map(|at| (at, at + 2 * SECOND))
                .collect()
        }
        Placing::Fifth => {
            let from = random.random_range(0..end * 4 / 5);
            vec![(from, from + end / 5)]
        }
    }
}

/// The seconds that the rule for requests finds, if requests are slow in the windows.
fn by_requests(kind: &Kind, slow: &[(u64, u64)], random: &mut Xoshiro256PlusPlus) -> Vec<(u64, u64)> {
    let end = kind.length_s * SECOND;
    let gaps = Exp::new(20.0).unwrap();
    let (mut at, mut requests) = (0, Vec::new());
    while at < end {
        at += (gaps.sample(random) * 1e9) as u64;
        let is_slow = slow.iter().any(|(from, to)| (*from..*to).contains(&at));
        let mean_s = if is_slow { 0.3 } else { 0.03 };
        let length = (Exp::new(1.0 / mean_s).unwrap().sample(random) * 1e9) as u64;
        requests.push(InFlight { from: at, to: at + length, label: 0 });
    }
    slow_seconds(&requests, (0, end))
}

fn thread(frames: &[&str], state: SampledState) -> SampledThread {
    SampledThread {
        name: "worker-1".to_owned(),
        state,
        frames: frames.iter().map(|frame| (*frame).to_owned()).collect(),
        waits: None,
    }
}

fn worker(place: usize) -> SampledThread {
    const PLACES: [&[&str]; 8] = [
        &[
            "java.net.SocketInputStream.read",
            "com.shop.Database.query",
            "com.shop.Cart.load",
            "com.shop.Handler.handle",
            "java.lang.Thread.run",
        ],
        &[
            "java.net.SocketInputStream.read",
            "com.shop.Database.query",
            "com.shop.Search.find",
            "com.shop.Handler.handle",
            "java.lang.Thread.run",
        ],
        &[
            "java.util.HashMap.get",
            "com.shop.Prices.of",
            "com.shop.Cart.total",
            "com.shop.Handler.handle",
            "java.lang.Thread.run",
        ],
        &["com.shop.Json.write", "com.shop.Handler.handle", "java.lang.Thread.run"],
        &[
            "java.util.zip.Deflater.deflate",
            "com.shop.Handler.reply",
            "com.shop.Handler.handle",
            "java.lang.Thread.run",
        ],
        &[
            "com.shop.Template.render",
            "com.shop.Page.show",
            "com.shop.Handler.handle",
            "java.lang.Thread.run",
        ],
        &["com.shop.Session.find", "com.shop.Handler.handle", "java.lang.Thread.run"],
        &["java.lang.String.format", "com.shop.Log.line", "com.shop.Handler.handle", "java.lang.Thread.run"],
    ];
    thread(PLACES[place % PLACES.len()], SampledState::Runnable)
}

fn idle() -> SampledThread {
    thread(
        &[
            "jdk.internal.misc.Unsafe.park",
            "java.util.concurrent.ThreadPoolExecutor.getTask",
            "java.lang.Thread.run",
        ],
        SampledState::Waiting,
    )
}

/// A simulated run: in its slow windows, `blocked` workers on average wait for a lock.
fn simulate(kind: &Kind, blocked: f64, seed: u64) -> StackDifference {
    let mut random =
        Xoshiro256PlusPlus::seed_from_u64((seed + FIRST_SEED) * 7_919 + kind.length_s + kind.rate);
    let slow = windows(kind, &mut random);
    let end = kind.length_s * SECOND;
    let step = SECOND / kind.rate;
    let mut file = Vec::new();
    let mut writer = StackWriter::new(&mut file).unwrap();
    let task_phase = random.random_range(0..10 * SECOND);
    let mut levels = [0.0f64; 8];
    let kept = if kind.memory_s > 0.0 { (-1.0 / (kind.memory_s * kind.rate as f64)).exp() } else { 0.0 };
    for number in 0..kind.length_s * kind.rate {
        let time_ns = number * step + random.random_range(0..step * 8 / 10);
        for level in &mut levels {
            let noise: f64 = StandardNormal.sample(&mut random);
            *level = kept * *level + (1.0 - kept * kept).sqrt() * noise;
        }
        let is_slow = slow.iter().any(|(from, to)| (*from..*to).contains(&time_ns));
        let drift = if kind.drifts { time_ns as f64 / end as f64 } else { 0.5 };
        let is_task = kind.has_task && (time_ns + task_phase) % (10 * SECOND) < 2 * SECOND;
        let blocked = if is_task { 4.0 } else { f64::from(u8::from(is_slow)) * blocked };
        let threads = threads_at(&levels, drift, blocked, &mut random);
        let dump = StackDump {
            source: "stacks:jvm:1",
            time_ns,
            took_ns: 1_000_000,
            stopped_ns: None,
            threads: &threads,
        };
        writer.write(&dump).unwrap();
    }
    writer.finish().unwrap();
    let record = StackRecord::read(&file[..]).unwrap();
    let windows = match kind.placing {
        Placing::Requests => by_requests(kind, &slow, &mut random),
        Placing::Bursts | Placing::Periodic | Placing::Fifth => slow,
    };
    let choice = StackWindows { rule: StackWindowRule::SlowSeconds, windows };
    compare_stacks(&record, record.sources()[0], (0, end), &[choice])
}

fn threads_at(
    levels: &[f64; 8],
    drift: f64,
    blocked: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<SampledThread> {
    let mut threads: Vec<SampledThread> = (0..OTHERS)
        .map(|number| {
            thread(&["java.lang.Object.wait", ["a", "b", "c", "d", "e", "f"][number]], SampledState::Waiting)
        })
        .collect();
    let is_held = blocked > 0.0;
    threads.push(match is_held {
        true => thread(
            &["java.lang.Thread.sleep", "com.shop.Prices.reload", "com.shop.Timer.run"],
            SampledState::Waiting,
        ),
        false => thread(&["java.lang.Object.wait", "com.shop.Timer.run"], SampledState::Waiting),
    });
    let holder = threads.len() - 1;
    for _ in 0..WORKERS {
        if random.random::<f64>() < blocked / WORKERS as f64 {
            let mut waiting = thread(
                &[
                    "com.shop.Prices.price",
                    "com.shop.Cart.total",
                    "com.shop.Handler.handle",
                    "java.lang.Thread.run",
                ],
                SampledState::Blocked,
            );
            let lock = "com.shop.Prices".to_owned();
            waiting.waits = Some(SampledWait { kind: SampledWaitKind::Enter, lock, owner: Some(holder) });
            threads.push(waiting);
            continue;
        }
        let weights: Vec<f64> =
            levels.iter().map(|level| 0.06 * (0.5 + drift) * (0.5 * level).exp()).collect();
        let mut draw: f64 = random.random();
        let place = weights.iter().position(|weight| {
            draw -= weight;
            draw < 0.0
        });
        threads.push(place.map_or_else(idle, worker));
    }
    threads
}

#[test]
fn at_most_one_run_in_twenty_without_a_difference_shows_one() {
    show(
        "| run without a difference | a difference found | too few samples | median of the smallest difference |\n|---|---:|---:|---:|",
    );
    let (mut found, mut runs) = (0, 0);
    for kind in CLEAN {
        let (mut differs, mut few, mut smallest) = (0, 0, Vec::new());
        for seed in 0..seeds() {
            match simulate(kind, 0.0, seed).outcome {
                StackOutcome::Differs => differs += 1,
                StackOutcome::TooFew { .. } => few += 1,
                StackOutcome::NoDifference { smallest: one } => smallest.push(one),
            }
        }
        smallest.sort_by(f64::total_cmp);
        let middle = smallest.get(smallest.len() / 2).map_or(f64::NAN, |one| one * 100.0);
        let percent = |count: u64| count as f64 * 100.0 / seeds() as f64;
        show(&format!(
            "| {} | {:.1} % | {:.1} % | {middle:.1} points |",
            kind.name,
            percent(differs),
            percent(few)
        ));
        found += differs;
        runs += seeds();
    }
    show(&format!("| all | {:.2} % | | |", found as f64 * 100.0 / runs as f64));
    assert!(found as f64 <= 0.05 * runs as f64 + 2.0, "{found} of {runs}");
}

/// Counts over the runs of a kind with a lock.
#[derive(Default)]
struct Found {
    lock: u64,
    holder: u64,
    other: u64,
    few: u64,
    covered: u64,
}

impl Found {
    fn add(&mut self, difference: &StackDifference, blocked: f64) {
        const CAUSED: [&str; 4] = [
            "com.shop.Prices.price",
            "com.shop.Prices.reload",
            "com.shop.Cart.total",
            "com.shop.Handler.handle",
        ];
        let names: Vec<&str> = difference.frames.iter().map(|frame| frame.frame.as_str()).collect();
        self.holder += u64::from(names.contains(&"com.shop.Prices.reload"));
        // Other frames are truly less frequent while workers wait.
        let is_other = |frame: &FrameDifference| {
            frame.share_slow > frame.share_fast && !CAUSED.contains(&frame.frame.as_str())
        };
        self.other += u64::from(difference.frames.iter().any(is_other));
        self.few += u64::from(matches!(difference.outcome, StackOutcome::TooFew { .. }));
        if let Some(frame) = difference.frames.iter().find(|frame| frame.frame == CAUSED[0]) {
            self.lock += 1;
            let share = blocked / (WORKERS + OTHERS + 1) as f64;
            self.covered += u64::from((frame.difference_low..=frame.difference_high).contains(&share));
        }
    }
}

#[test]
fn the_frames_at_a_lock_are_named() {
    show(
        "| run | waiting workers of 20 | waiting frame named | holder named | another frame named | too few samples | interval contains the true difference |\n|---|---:|---:|---:|---:|---:|---:|",
    );
    let kinds = [0, 1, 2, 4, 5, 7, 9].map(|at| CLEAN[at]);
    for kind in &kinds {
        for blocked in [1.0, 4.0, 10.0] {
            let mut found = Found::default();
            for seed in 0..seeds() {
                found.add(&simulate(kind, blocked, seed), blocked);
            }
            let percent = |count: u64| format!("{:.1} %", count as f64 * 100.0 / seeds() as f64);
            let covered = match (found.lock, kind.placing) {
                (0, _) | (_, Placing::Requests) => "–".to_owned(),
                (lock, _) => format!("{:.1} %", found.covered as f64 * 100.0 / lock as f64),
            };
            show(&format!(
                "| {} | {blocked} | {} | {} | {} | {} | {covered} |",
                kind.name,
                percent(found.lock),
                percent(found.holder),
                percent(found.other),
                percent(found.few)
            ));
            let is_easy = blocked > 5.0 && matches!(kind.placing, Placing::Bursts);
            assert!(
                !is_easy || found.few > 0 || found.lock as f64 >= 0.8 * seeds() as f64,
                "{} of {}",
                found.lock,
                seeds()
            );
            assert!(found.other as f64 <= 0.1 * seeds() as f64 + 2.0, "{} of {}", found.other, seeds());
        }
    }
}
