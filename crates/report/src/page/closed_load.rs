//! Notes on a closed workload: the relation of its users, rate and times, and how to obtain a capacity model.

use busyhour_analysis::Summary;
use busyhour_analysis::arrivals::RequestedProcess;
use maud::{Markup, html};

use super::markup::def;
use crate::numbers::{counted, ms, rate};

/// The cycle of a user: a response, followed by a pause.
pub(super) struct Cycle {
    /// Number of users N, if it is known.
    users: Option<f64>,
    /// Mean service time R in s.
    response_s: f64,
    /// Mean pause Z between a response and the next request, in s.
    pub(super) think_s: f64,
}

impl Cycle {
    /// The cycle in the run as a whole; `None` if the run had open workloads or too little is known.
    pub(super) fn of(summary: &Summary) -> Option<Cycle> {
        summary.arrivals.iter().find_map(|verdict| match verdict.requested {
            RequestedProcess::Closed { users, response_s: Some(response_s), think_s }
                if verdict.of.is_none() =>
            {
                // By Little's law, a cycle lasts N/λ; the part that is not spent in responses is think time.
                let share = verdict.r_over_r_plus_z.filter(|share| *share > 0.0)?;
                let think_s = think_s.unwrap_or(response_s * (1.0 / share - 1.0));
                Some(Cycle { users, response_s, think_s })
            }
            _ => None,
        })
    }

    /// The operational law with the numbers of the run.
    fn law(&self) -> Option<Markup> {
        let users = self.users.filter(|users| *users >= 1.0)?;
        let cycle_s = self.response_s + self.think_s;
        Some(html! {
            "Users, rate and times are related by N = X(R + Z): " (counted(users.round() as u64, "user")) " make X = "
            (rate(users / cycle_s)) " requests per second if a request takes R = " (ms(self.response_s * 1e3)) " ms ("
            (def("service", "service time")) ") and a user pauses for Z = " (ms(self.think_s * 1e3))
            " ms before the next (" (def("think", "thinking")) ")."
        })
    }
}

/// The law, and how to determine the capacity of the system. Empty if the workload was not closed.
pub(super) fn note(summary: &Summary) -> Markup {
    html! {
        @if let Some(law) = Cycle::of(summary).as_ref().and_then(Cycle::law) {
            p.note {
                (law) " To estimate the capacity, run several numbers of users: "
                code { "busyhour capacity fit RUN RUN … -o capacity.html" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_has_the_runs_numbers() {
        let cycle = Cycle { users: Some(20.0), response_s: 0.05, think_s: 0.95 };
        let law = cycle.law().unwrap().into_string();
        assert!(
            law.contains("20 users make X = 20.0 requests per second if a request takes R = 50.0 ms"),
            "{law}"
        );
        assert!(law.contains("pauses for Z = 950 ms"), "{law}");
        assert!(Cycle { users: None, ..cycle }.law().is_none());
    }
}
