//! `__tstFeedback` of jmeter-plugins: the users that a Throughput Shaping Timer needs, for a Concurrency Thread Group.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use busyhour_program::run::Level;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, Made, with_text};

#[derive(Debug)]
struct Feedback {
    timer: Template,
    start: Template,
    most: Option<Template>,
    spare: Option<Template>,
    has_begun: AtomicBool,
}

/// `${__tstFeedback(timer, users at the beginning, most users, spare users)}`
pub(crate) fn feedback(arguments: &mut Arguments<'_, '_>) -> Made {
    Ok(Arc::new(Feedback {
        timer: arguments.take(0),
        start: arguments.take(1),
        most: arguments.optional(2),
        spare: arguments.optional(3),
        has_begun: AtomicBool::new(false),
    }))
}

impl Function for Feedback {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let timer = self.timer.text(user).into_owned();
        let property = format!("{timer}_concurrency");
        if !self.has_begun.swap(true, Ordering::Relaxed) {
            with_text(&self.start, user, |user, start| user.run.properties.set(&property, start));
        }
        let most =
            self.most.as_ref().and_then(|most| with_text(most, user, |_, text| text.trim().parse().ok()));
        let spare = match &self.spare {
            None => 0.1,
            Some(spare) => with_text(spare, user, |_, text| text.trim().parse().unwrap_or(1.0)),
        };
        let properties = Arc::clone(&user.run.properties);
        let of_timer = |what: &str| properties.number(&format!("{timer}_{what}"), 0_i32);
        let users = properties.number(&property, 1_i32);
        let rate_per_s = properties.number(&format!("{timer}_rps"), 0.0_f64);
        let mut needed = needed(users, of_timer("cntDelayed"), of_timer("cntSent"), rate_per_s, spare);
        if needed <= 0 {
            user.log(Level::Warn, &format!("Got concurrency less than zero: {needed}"));
            needed = 1;
        }
        if let Some(most) = most.filter(|most| needed > *most) {
            user.log(Level::Warn, &format!("Got concurrency more than limit: {needed}"));
            needed = most;
        }
        let needed = needed.to_string();
        properties.set(&property, &needed);
        // The timer's value has been used.
        properties.set(&format!("{timer}_rps"), "0");
        out.push_str(&needed);
    }
}

/// Users needed: fewer when so many of them wait for a start, more when starts were missed.
fn needed(users: i32, waiting: i32, sent: i32, rate_per_s: f64, spare: f64) -> i32 {
    if rate_per_s <= 0.0 {
        return users;
    }
    if waiting > 0 {
        if spare >= 1.0 {
            let needed = (f64::from(users) - (f64::from(waiting) - spare)) as i32;
            return if f64::from(users) > spare { spare.max(f64::from(needed)) as i32 } else { needed };
        }
        let too_many = f64::from(waiting) > (f64::from(users) * spare).ceil();
        return if too_many { (f64::from(users) * (1.0 - spare)) as i32 } else { users };
    }
    if f64::from(sent) < rate_per_s {
        return (f64::from(users) * (2.0 - f64::from(sent) / rate_per_s)).ceil() as i32;
    }
    users
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn users_follow_the_timer() {
        assert_eq!(needed(10, 5, 100, 0.0, 0.1), 10, "nothing new");
        assert_eq!(needed(10, 0, 50, 100.0, 0.1), 15, "half of the starts were missed");
        assert_eq!(needed(10, 0, 100, 100.0, 0.1), 10);
        assert_eq!(needed(10, 1, 100, 100.0, 0.1), 10, "one in ten may wait");
        assert_eq!(needed(10, 2, 100, 100.0, 0.1), 9);
        assert_eq!(needed(30, 25, 100, 100.0, 10.0), 15, "ten may wait");
        assert_eq!(needed(12, 11, 100, 100.0, 10.0), 11);
        assert_eq!(needed(12, 30, 100, 100.0, 10.0), 10, "never below the spare ones");
        assert_eq!(needed(5, 3, 100, 100.0, 10.0), 12);
    }
}
