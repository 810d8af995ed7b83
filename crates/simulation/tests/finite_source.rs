//! Compares simulations of a closed class and one server with non-exponential service with the exact solution.

mod common;

use busyhour_queueing::finite_source::single_server;
use busyhour_queueing::fit::CapacityModel;
use busyhour_queueing::network::{Scheduling, TimeLaw};

use common::{assert_contains, closed, queue, run};

#[test]
fn simulations_agree_with_the_exact_solution() {
    let laws = [
        (0.0, TimeLaw::Deterministic { mean_s: 0.01 }),
        (0.25, TimeLaw::Gamma { mean_s: 0.01, cv: 0.5 }),
        (4.0, TimeLaw::Gamma { mean_s: 0.01, cv: 2.0 }),
    ];
    for (scv, law) in laws {
        // Below, at and above the knee, which is at 51.
        for users in [30, 50, 70] {
            let network = closed(users, 0.5, vec![queue("server", Scheduling::Fcfs, law.clone())]);
            let found = run(&network, 0.01);
            let exact_per_s = single_server(users, 0.5, 0.01, scv);
            assert_contains(
                &format!("X of {users} at c² {scv}"),
                found.classes[0].throughput_per_s,
                exact_per_s,
            );
            let response_s = users as f64 / exact_per_s - 0.5;
            assert_contains(&format!("R of {users} at c² {scv}"), found.classes[0].response_s, response_s);
        }
    }
}

#[test]
fn a_latency_is_approximated_as_think_time() {
    // With a latency, the time between two services is not exponential, but the formula assumes that it is.
    for scv in [0.0, 4.0] {
        let model = CapacityModel::SingleServer { service_s: 0.01, scv, latency_s: 0.1 };
        let network = model.network(50, 0.4).unwrap();
        let found = run(&network, 0.01).classes[0].response_s.unwrap().value;
        let predicted = model.predict(50.0, 0.4).response_s;
        assert!((predicted / found - 1.0).abs() < 0.03, "c² {scv}: {predicted} and {found}");
    }
}
