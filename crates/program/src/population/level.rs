//! A group with a constant number of users: the Concurrency Thread Group of jmeter-plugins.

use crate::error::ElementError;
use crate::template::Template;
use crate::user::UserState;

/// The planned number of users over time. Properties in its texts are read again during the run.
#[derive(Clone, Debug)]
pub struct Level {
    /// Number of users to reach.
    pub target: Template,
    /// Ramp-up time, in units of `unit_s` seconds.
    pub ramp_up: Template,
    /// Number of steps of the ramp-up; 0: users start evenly.
    pub steps: Template,
    /// Hold time, in units of `unit_s` seconds.
    pub hold: Template,
    /// Length of a unit in seconds.
    pub unit_s: u32,
}

/// [`Level`], evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelNow {
    /// Number of users to reach.
    pub target: i64,
    /// Ramp-up time, in seconds.
    pub ramp_up_s: i64,
    /// Number of steps of the ramp-up; 0: users start evenly.
    pub steps: i64,
    /// Hold time, in seconds.
    pub hold_s: i64,
}

impl Level {
    /// The current settings.
    ///
    /// # Errors
    /// A text is not a number although the plugin requires one.
    pub fn now(&self, user: &mut UserState) -> Result<LevelNow, ElementError> {
        Ok(LevelNow {
            target: self.target.integer(user, 0),
            ramp_up_s: seconds(&self.ramp_up.text(user), self.unit_s)?,
            steps: match self.steps.text(user).as_ref() {
                "" => 0,
                text => text.parse().map_err(|_| not_a_number(text))?,
            },
            hold_s: seconds(&self.hold.text(user), self.unit_s)?,
        })
    }
}

/// Converts a number of units to whole seconds; an empty text is 0.
fn seconds(text: &str, unit_s: u32) -> Result<i64, ElementError> {
    if text.is_empty() {
        return Ok(0);
    }
    let number: f64 = text.trim().parse().map_err(|_| not_a_number(text))?;
    Ok((number * f64::from(unit_s) + 0.5).floor() as i64)
}

fn not_a_number(text: &str) -> String {
    format!("For input string: {text:?}")
}

impl LevelNow {
    /// The planned number of users `at_s` seconds after the start; `None` after the hold time.
    pub fn planned(&self, at_s: f64) -> Option<u32> {
        let (target, ramp_up) = (self.target as f64, self.ramp_up_s as f64);
        if at_s >= self.ramp_up_s.saturating_add(self.hold_s) as f64 {
            return None;
        }
        let level = if self.ramp_up_s == 0 || at_s > ramp_up {
            target
        } else if self.steps > 0 {
            let steps = self.steps as f64;
            target / steps * ((at_s / (ramp_up / steps)).floor() + 1.0)
        } else {
            target / ramp_up * at_s
        };
        Some((level + 0.5).floor().clamp(0.0, f64::from(u32::MAX)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_even_or_has_steps() {
        let mut level = LevelNow { target: 10, ramp_up_s: 20, steps: 0, hold_s: 5 };
        let at = |level: LevelNow, times: &[f64]| -> Vec<Option<u32>> {
            times.iter().map(|at_s| level.planned(*at_s)).collect()
        };
        assert_eq!(
            at(level, &[0.0, 0.9, 1.0, 10.0, 20.0, 24.9, 25.0]),
            [Some(0), Some(0), Some(1), Some(5), Some(10), Some(10), None]
        );
        level.steps = 2;
        // At the very end of the ramp the plugin plans one step too many.
        assert_eq!(
            at(level, &[0.0, 9.9, 10.0, 20.0, 20.1]),
            [Some(5), Some(5), Some(10), Some(15), Some(10)]
        );
        level = LevelNow { target: 3, ramp_up_s: i64::MAX, steps: 0, hold_s: i64::MAX };
        assert_eq!(at(level, &[1e9]), [Some(0)]);
        level = LevelNow { target: 3, ramp_up_s: 0, steps: 0, hold_s: 1 };
        assert_eq!(at(level, &[0.0, 0.99, 1.0]), [Some(3), Some(3), None]);
    }

    #[test]
    fn times_are_rounded_to_seconds() {
        assert_eq!(seconds("", 60), Ok(0));
        assert_eq!(seconds("0.5", 60), Ok(30));
        assert_eq!(seconds("1.5", 1), Ok(2));
        assert!(seconds("soon", 1).is_err());
    }
}
