//! The kinds of simulated runs in the study of error rates.

use crate::simulate::{Fault, Kind, Load, Times};

const TIMES: Times = Times::Lognormal(0.4);
const QUEUE: Times = Times::Queue(0.5);
const CLOSED: Load = Load::Closed { users: 10, think_s: 0.1 };

const fn clean(name: &'static str, times: Times, load: Load, fault: Fault) -> Kind {
    Kind { name, times, load, fault, part: None }
}

const fn faulty(name: &'static str, times: Times, load: Load, fault: Fault, part: (f64, f64)) -> Kind {
    Kind { name, times, load, fault, part: Some(part) }
}

const fn wandering(correlation: f64, deviation: f64) -> Times {
    Times::Wandering { correlation, deviation }
}

/// Runs without an incident.
pub const CLEAN: [Kind; 20] = [
    clean("independent times", TIMES, Load::Constant, Fault::None),
    clean("wide times (lognormal, σ 1.2)", Times::Lognormal(1.2), Load::Constant, Fault::None),
    clean("heavy tail (index 1.5)", Times::Pareto(1.5), Load::Constant, Fault::None),
    clean("heavy tail (index 1.1)", Times::Pareto(1.1), Load::Constant, Fault::None),
    clean("queue, 50 % busy", QUEUE, Load::Constant, Fault::None),
    clean("queue, 80 % busy", Times::Queue(0.8), Load::Constant, Fault::None),
    clean("queue, 90 % busy", Times::Queue(0.9), Load::Constant, Fault::None),
    clean("queue, 95 % busy", Times::Queue(0.95), Load::Constant, Fault::None),
    clean("level correlated over 2 s", wandering(0.5, 0.3), Load::Constant, Fault::None),
    clean("level correlated over 10 s", wandering(0.9, 0.3), Load::Constant, Fault::None),
    clean("rate changes as over a day", TIMES, Load::Diurnal(0.6), Fault::None),
    clean("the same with a queue", Times::Queue(0.6), Load::Diurnal(0.5), Fault::None),
    clean("5 users", TIMES, Load::Closed { users: 5, think_s: 0.2 }, Fault::None),
    clean("3 users, heavy tail", Times::Pareto(1.5), Load::Closed { users: 3, think_s: 0.1 }, Fault::None),
    clean("20 users, busy queue", Times::Queue(0.9), Load::Closed { users: 20, think_s: 0.2 }, Fault::None),
    clean("30 labels", Times::Lognormal(1.0), Load::Constant, Fault::SmallLabels),
    clean("1 % errors, five in a row", TIMES, Load::Constant, Fault::Clustered(0.01)),
    clean("2 % errors, independent", TIMES, Load::Constant, Fault::Errors(0.02)),
    clean("ramp of users", TIMES, Load::Ramp, Fault::None),
    clean("warm-up", TIMES, Load::Constant, Fault::WarmUp(2.0)),
];

/// Runs with an incident.
pub const FAULTY: [Kind; 28] = [
    faulty("2 × slower for 5 %", TIMES, Load::Constant, Fault::Slower(2.0), (0.4, 0.45)),
    faulty("2 × slower for 50 %", TIMES, Load::Constant, Fault::Slower(2.0), (0.25, 0.75)),
    faulty("2 × slower from 12 % on", TIMES, Load::Constant, Fault::Slower(2.0), (0.12, 1.0)),
    faulty("2 × slower from 60 % on", TIMES, Load::Constant, Fault::Slower(2.0), (0.6, 1.0)),
    faulty("2 × slower from 90 % on", TIMES, Load::Constant, Fault::Slower(2.0), (0.9, 1.0)),
    faulty("2 × slower until 50 %", TIMES, Load::Constant, Fault::Slower(2.0), (0.0, 0.5)),
    faulty(
        "2 × slower for 5 %, heavy tail (index 2)",
        Times::Pareto(2.0),
        Load::Constant,
        Fault::Slower(2.0),
        (0.4, 0.45),
    ),
    faulty(
        "5 × slower for 5 %, heavy tail (index 1.5)",
        Times::Pareto(1.5),
        Load::Constant,
        Fault::Slower(5.0),
        (0.5, 0.55),
    ),
    faulty("1.7 × service time for 5 %, queue", QUEUE, Load::Constant, Fault::Slower(1.7), (0.4, 0.45)),
    faulty(
        "2 × slower for 5 %, correlated level",
        wandering(0.5, 0.15),
        Load::Constant,
        Fault::Slower(2.0),
        (0.4, 0.45),
    ),
    faulty(
        "2 × slower for 10 %, rate as over a day",
        TIMES,
        Load::Diurnal(0.5),
        Fault::Slower(2.0),
        (0.5, 0.6),
    ),
    faulty("2 × slower for 5 %, 10 users", TIMES, CLOSED, Fault::Slower(2.0), (0.4, 0.45)),
    faulty(
        "5 × errors for 5 %",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.01, fails: 0.05 },
        (0.4, 0.45),
    ),
    faulty(
        "5 × errors for 50 %",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.01, fails: 0.05 },
        (0.3, 0.8),
    ),
    faulty(
        "5 × errors from 40 % on",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.01, fails: 0.05 },
        (0.4, 1.0),
    ),
    faulty(
        "everything fails for 10 %",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.0, fails: 1.0 },
        (0.4, 0.5),
    ),
    faulty(
        "everything fails for 80 %",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.001, fails: 1.0 },
        (0.1, 0.9),
    ),
    faulty(
        "everything fails from 10 % on",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.0, fails: 1.0 },
        (0.1, 1.0),
    ),
    faulty(
        "everything fails from 90 % on",
        TIMES,
        Load::Constant,
        Fault::Fails { usual: 0.0, fails: 1.0 },
        (0.9, 1.0),
    ),
    faulty(
        "label with 5 % of requests 4 × slower for 10 %",
        TIMES,
        Load::Constant,
        Fault::LabelSlower(3, 4.0),
        (0.4, 0.5),
    ),
    faulty(
        "label with 5 % of requests fails for 5 %",
        TIMES,
        Load::Constant,
        Fault::LabelFails(3),
        (0.4, 0.45),
    ),
    faulty(
        "fast label 20 × slower for 20 %, beside a slow one",
        TIMES,
        Load::Constant,
        Fault::Masked,
        (0.3, 0.5),
    ),
    faulty("nothing completes for 2 %", TIMES, Load::Constant, Fault::Pause, (0.5, 0.52)),
    faulty("half the rate for 5 %", TIMES, Load::Constant, Fault::Fewer(2.0), (0.4, 0.45)),
    faulty("half the rate from 60 % on", TIMES, Load::Constant, Fault::Fewer(2.0), (0.6, 1.0)),
    faulty("drift to 3 ×", TIMES, Load::Constant, Fault::Drift(3.0), (0.0, 1.0)),
    faulty("pause in each eighth", TIMES, Load::Constant, Fault::PeriodicPause, (0.0, 1.0)),
    faulty("saw tooth to 3 ×", TIMES, Load::Constant, Fault::SawTooth(3.0), (0.0, 1.0)),
];
