//! The function `__tstFeedback` of jmeter-plugins, which returns the number of users that a Throughput Shaping Timer needs, for
//! a Concurrency Thread Group.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, with_text};

#[derive(Debug)]
struct Feedback {
    timer: Template,
    initial_users: Template,
    users_max: Option<Template>,
    spare: Option<Template>,
    is_initialized: AtomicBool,
}

/// Builds `${__tstFeedback(timer, initial users, maximum users, spare users)}`.
pub(crate) fn feedback(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Feedback {
        timer: arguments.take(0),
        initial_users: arguments.take(1),
        users_max: arguments.optional(2),
        spare: arguments.optional(3),
        is_initialized: AtomicBool::new(false),
    }))
}

impl Function for Feedback {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let timer = self.timer.text(user).into_owned();
        let property = format!("{timer}_concurrency");
        if !self.is_initialized.swap(true, Ordering::Relaxed) {
            with_text(&self.initial_users, user, |user, users| user.run.properties.set(&property, users));
        }
        let users_max =
            self.users_max.as_ref().and_then(|max| with_text(max, user, |_, text| text.trim().parse().ok()));
        let spare = match &self.spare {
            None => 0.1,
            Some(spare) => with_text(spare, user, |_, text| text.trim().parse().unwrap_or(1.0)),
        };
        let properties = Arc::clone(&user.run.properties);
        let timer_count = |name: &str| properties.number(&format!("{timer}_{name}"), 0_i32);
        let users = properties.number(&property, 1_i32);
        let rate_per_s = properties.number(&format!("{timer}_rps"), 0.0_f64);
        let mut needed =
            needed_users(users, timer_count("cntDelayed"), timer_count("cntSent"), rate_per_s, spare);
        if needed <= 0 {
            user.log(LogLevel::Warn, &format!("Got concurrency less than zero: {needed}"));
            needed = 1;
        }
        if let Some(max) = users_max.filter(|max| needed > *max) {
            user.log(LogLevel::Warn, &format!("Got concurrency more than limit: {needed}"));
            needed = max;
        }
        let needed = needed.to_string();
        properties.set(&property, &needed);
        // Reset the rate so that the timer's value is used only once.
        properties.set(&format!("{timer}_rps"), "0");
        out.push_str(&needed);
    }
}

/// The number of users that the timer needs: fewer if many users wait for the timer, more if the timer sent fewer requests
/// than its rate.
fn needed_users(users: i32, waiting: i32, sent: i32, rate_per_s: f64, spare: f64) -> i32 {
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
    use super::needed_users;

    #[test]
    fn the_number_of_users_follows_the_timer() {
        assert_eq!(needed_users(10, 5, 100, 0.0, 0.1), 10, "the timer has no new value");
        assert_eq!(needed_users(10, 0, 50, 100.0, 0.1), 15, "half of the starts were missed");
        assert_eq!(needed_users(10, 0, 100, 100.0, 0.1), 10);
        assert_eq!(needed_users(10, 1, 100, 100.0, 0.1), 10, "a tenth of the users may wait");
        assert_eq!(needed_users(10, 2, 100, 100.0, 0.1), 9);
        assert_eq!(needed_users(30, 25, 100, 100.0, 10.0), 15, "ten users may wait");
        assert_eq!(needed_users(12, 11, 100, 100.0, 10.0), 11);
        assert_eq!(
            needed_users(12, 30, 100, 100.0, 10.0),
            10,
            "the number is never less than that of the spare users"
        );
        assert_eq!(needed_users(5, 3, 100, 100.0, 10.0), 12);
    }
}
