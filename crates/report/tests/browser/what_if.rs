//! What-if analyses whose pages are tested.

use busyhour_report::{
    WhatIfClass, WhatIfFound, WhatIfModel, WhatIfPage, WhatIfPoint, WhatIfStation, WhatIfValue,
};

use crate::sample::HOSTILE;

fn value(value: f64, half: Option<f64>) -> Option<WhatIfValue> {
    Some(WhatIfValue { value, half })
}

/// Strategies with names. Most of them are simulated, and one has no solution.
pub fn of_strategies() -> WhatIfPage {
    let point = |name: &str, x: f64, r_s: f64, half: Option<f64>| WhatIfPoint {
        values: vec![name.into()],
        found: Ok(WhatIfFound {
            classes: vec![WhatIfClass {
                name: HOSTILE.into(),
                throughput_per_s: value(x, half),
                response_s: value(r_s, half.map(|half| half * 0.0034)),
                customers: value(x * r_s, half),
                throughput_bound_per_s: None,
                response_bound_s: None,
            }],
            stations: ["a", "b"]
                .map(|name| WhatIfStation {
                    name: name.into(),
                    utilization: value(x / 275.0, half.map(|half| half / 100.0)),
                    customers: value(x * r_s / 2.0, half),
                })
                .into(),
        }),
    };
    let unanswered =
        WhatIfPoint { values: vec!["to-nobody".into()], found: Err("a saturated (120.00 %)".into()) };
    WhatIfPage {
        parameters: vec!["route.strategy".into()],
        models: vec![WhatIfModel {
            name: "Two servers".into(),
            methods: vec!["mean value analysis, exact".into(), "simulation, ± at 95 % confidence".into()],
            caveats: Vec::new(),
            points: vec![
                point("random", 205.857, 0.0286622, None),
                point("round-robin", 207.697, 0.0222072, Some(0.041)),
                point("join-shortest-queue", 208.919, 0.0179833, Some(0.047)),
                unanswered,
            ],
        }],
    }
}

/// An analysis of `models` models with 10 to 200 users in two classes, and with one or several servers.
pub fn of_users(models: usize, servers: u32) -> WhatIfPage {
    let model = |model: usize| {
        let points = (1..=20)
            .flat_map(|at| (1..=servers).map(move |servers| (at, servers)))
            .map(|(at, servers)| {
                let users = f64::from(at) * 10.0;
                let most = 100.0 * f64::from(servers) / (model + 1) as f64;
                let x = users / (1.0 + users / most);
                let class = |name: &str, share: f64| WhatIfClass {
                    name: name.into(),
                    throughput_per_s: value(x * share, None),
                    response_s: value(users / x - 0.9, None),
                    customers: value(users * share, None),
                    throughput_bound_per_s: (models == 1).then_some(users.min(most)),
                    response_bound_s: (models == 1).then(|| (users / most - 0.9).max(0.1)),
                };
                let classes = if models == 1 {
                    vec![class("users", 1.0)]
                } else {
                    vec![class("buyers", 0.3), class("people who look", 0.7)]
                };
                let station = |name: &str, part: f64| WhatIfStation {
                    name: name.into(),
                    utilization: value(x / most * part, None),
                    customers: value(x * part / 10.0, None),
                };
                let mut values = vec![format!("{users}")];
                if models > 1 {
                    values.push(servers.to_string());
                    values.rotate_left(1);
                }
                WhatIfPoint {
                    values,
                    found: Ok(WhatIfFound {
                        classes,
                        stations: vec![station("web", 0.5), station("database", 1.0)],
                    }),
                }
            })
            .collect();
        WhatIfModel {
            name: if model == 0 { "Web shop".into() } else { "Web shop as it is planned".into() },
            methods: vec!["convolution, exact".into()],
            caveats: vec!["approximate: station \"web\" prefers some customers to others".into()],
            points,
        }
    };
    let mut parameters = vec!["buyers.users".to_owned()];
    if models > 1 {
        parameters.insert(0, "station.servers".into());
    }
    WhatIfPage { parameters, models: (0..models).map(model).collect() }
}

/// An analysis with a single point, as with `--vary class.users.users=100`.
pub fn of_one_point() -> WhatIfPage {
    let mut page = of_users(1, 1);
    page.models[0].points.truncate(1);
    page
}
