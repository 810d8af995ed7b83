//! Users with individual start and end times: the Ultimate and the Stepping Thread Group of jmeter-plugins.

use crate::error::ElementError;
use crate::template::Template;
use crate::user::UserState;

/// Maximum number of users of one group. More users need more memory than a machine has, and their times overflow.
pub const USERS_MAX: i64 = 1_000_000;

/// When a user starts and ends, in milliseconds since the start of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Number of the user in its group, from 0.
    pub number: u32,
    /// The time when the user starts.
    pub begin_ms: i64,
    /// The time when the user ends: no sample starts later, except that each user executes at least one sample.
    pub end_ms: i64,
}

/// One row of the Ultimate Thread Group's table, in seconds.
#[derive(Clone, Debug)]
pub struct UltimateRow {
    /// Number of users.
    pub users: Template,
    /// Initial delay.
    pub delay_s: Template,
    /// Startup time.
    pub startup_s: Template,
    /// Hold time.
    pub hold_s: Template,
    /// Shutdown time.
    pub shutdown_s: Template,
}

/// The settings of the Stepping Thread Group, in seconds.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Number of users.
    pub users: Template,
    /// Initial delay.
    pub delay_s: Template,
    /// Users that start immediately, before the steps.
    pub burst: Template,
    /// Number of users that each step starts.
    pub step_users: Template,
    /// Time between two steps.
    pub step_period_s: Template,
    /// Time in which the users of a step start.
    pub ramp_up_s: Template,
    /// Hold time.
    pub hold_s: Template,
    /// Number of users that end together.
    pub stop_users: Template,
    /// Time between two such sets of users.
    pub stop_period_s: Template,
}

/// The settings from which the lifetimes are computed.
#[derive(Clone, Debug)]
pub enum Lifetimes {
    /// The Ultimate Thread Group's table.
    Ultimate(Vec<UltimateRow>),
    /// The Stepping Thread Group.
    Stepping(Box<Steps>),
}

impl Lifetimes {
    /// The lifetimes of all users, by number. Texts that are not numbers count as 0, as in JMeter.
    ///
    /// # Errors
    /// The settings are invalid; the group does not start.
    pub fn of(&self, user: &mut UserState) -> Result<Vec<Lifetime>, ElementError> {
        let mut number = |text: &Template| i32::try_from(text.integer(user, 0)).unwrap_or(0);
        match self {
            Lifetimes::Ultimate(rows) => {
                let rows: Vec<_> = rows
                    .iter()
                    .map(|row| {
                        [&row.users, &row.delay_s, &row.startup_s, &row.hold_s, &row.shutdown_s]
                            .map(&mut number)
                    })
                    .collect();
                ultimate(&rows)
            }
            Lifetimes::Stepping(steps) => stepping(&Numbers {
                users: number(&steps.users),
                delay_s: number(&steps.delay_s),
                burst: number(&steps.burst),
                step_users: number(&steps.step_users),
                step_period_s: number(&steps.step_period_s),
                ramp_up_s: number(&steps.ramp_up_s),
                hold_s: number(&steps.hold_s),
                stop_users: number(&steps.stop_users),
                stop_period_s: number(&steps.stop_period_s),
            }),
        }
    }
}

fn refuse_too_many(users: i32) -> Result<(), ElementError> {
    match i64::from(users) {
        users if users > USERS_MAX => {
            Err(format!("a thread group can have at most {USERS_MAX} users, not {users}").into())
        }
        _ => Ok(()),
    }
}

/// The part `nth / count` of `over_s` seconds, in whole milliseconds.
fn part_ms(over_s: i32, nth: i32, count: i32) -> i64 {
    // With a count of 0, the quotient is NaN, which the cast converts to 0, as in Java.
    i64::from((f64::from(over_s.wrapping_mul(1_000)) * f64::from(nth) / f64::from(count)).floor() as i32)
}

/// The lifetimes for rows of users, delay, startup, hold and shutdown. Within a row, the user with the highest number starts
/// and ends first. A row without users takes one user from the other rows.
fn ultimate(rows: &[[i32; 5]]) -> Result<Vec<Lifetime>, ElementError> {
    let users = rows.iter().fold(0_i32, |sum, row| sum.wrapping_add(row[0]));
    refuse_too_many(users)?;
    let mut rest = rows.iter();
    let (mut row, mut to_come) = ([0; 5], 0_i32);
    let mut all = Vec::with_capacity(usize::try_from(users).unwrap_or(0));
    for number in 0..u32::try_from(users).unwrap_or(0) {
        if to_come < 1 {
            row = *rest
                .next()
                .ok_or_else(|| format!("Not enough schedule records for thread #{}", number + 1))?;
            to_come = row[0];
        }
        let [users, delay_s, startup_s, hold_s, shutdown_s] = row;
        let startup_ms = part_ms(startup_s, to_come, users);
        let begin_ms = 1_000 * i64::from(delay_s) + startup_ms;
        let descent_ms = begin_ms + 1_000 * i64::from(hold_s) + 1_000 * i64::from(startup_s) - startup_ms;
        all.push(Lifetime { number, begin_ms, end_ms: descent_ms + part_ms(shutdown_s, to_come, users) });
        // As in Java, the counter wraps around from the smallest to the largest integer.
        to_come = to_come.wrapping_sub(1);
    }
    Ok(all)
}

/// [`Steps`], evaluated.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    users: i32,
    delay_s: i32,
    burst: i32,
    step_users: i32,
    step_period_s: i32,
    ramp_up_s: i32,
    hold_s: i32,
    stop_users: i32,
    stop_period_s: i32,
}

/// The lifetimes of a burst and the steps after it. After the hold time, users end in the order in which they started.
fn stepping(numbers: &Numbers) -> Result<Vec<Lifetime>, ElementError> {
    refuse_too_many(numbers.users)?;
    let users = i64::from(numbers.users.max(0));
    if users == 0 {
        return Ok(Vec::new());
    }
    let or_all = |count: i32| if count == 0 { users } else { i64::from(count) };
    let (step, stop) = (or_all(numbers.step_users), or_all(numbers.stop_users));
    if step < 0 || stop < 0 {
        return Err("a step of the Stepping Thread Group has a negative number of users".into());
    }
    let burst = Some(i64::from(numbers.burst).min(users)).filter(|burst| *burst > 0).unwrap_or(step);
    let (ramp_ms, period_ms) =
        (1_000 * i64::from(numbers.ramp_up_s), 1_000 * i64::from(numbers.step_period_s));
    let ascent_ms = 1_000 * i64::from(numbers.delay_s);
    let step_ms = period_ms + ramp_ms;
    // Integer division rounds towards 0 and its remainder has the sign of the dividend, in Java as in Rust.
    let steps = if users < burst { 1 } else { ((users - burst) + step - 1) / step };
    let last_step = Some((users - burst) % step).filter(|rest| *rest != 0).unwrap_or(step);
    let descent_ms =
        ascent_ms + steps * step_ms + ramp_ms / step * last_step + 1_000 * i64::from(numbers.hold_s);
    let lifetime = |number: i64| {
        let (at, of, place) = if number < burst {
            (0, burst, number)
        } else {
            (1 + (number - burst) / step, step, (number - burst) % step)
        };
        Lifetime {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            begin_ms: ascent_ms + at * step_ms + place * (ramp_ms / of),
            end_ms: descent_ms + 1_000 * i64::from(numbers.stop_period_s) * (number / stop),
        }
    };
    Ok((0..users).map(lifetime).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(lifetimes: &[Lifetime]) -> Vec<(i64, i64)> {
        for (at, lifetime) in lifetimes.iter().enumerate() {
            assert_eq!(lifetime.number as usize, at);
        }
        lifetimes.iter().map(|lifetime| (lifetime.begin_ms, lifetime.end_ms)).collect()
    }

    #[test]
    fn a_row_of_the_ultimate_group_is_a_trapezium() {
        // Four users start within 2 s after a delay of 10 s, hold for 60 s and end within 4 s.
        let all = times(&ultimate(&[[4, 10, 2, 60, 4]]).unwrap());
        assert_eq!(all, [(12_000, 76_000), (11_500, 75_000), (11_000, 74_000), (10_500, 73_000)]);
        let thirds = times(&ultimate(&[[3, 0, 1, 0, 1]]).unwrap());
        assert_eq!(thirds, [(1_000, 2_000), (666, 1_666), (333, 1_333)]);
    }

    #[test]
    fn rows_of_the_ultimate_group_follow_one_another() {
        let all = times(&ultimate(&[[1, 0, 0, 5, 0], [2, 3, 0, 5, 0]]).unwrap());
        assert_eq!(all, [(0, 5_000), (3_000, 8_000), (3_000, 8_000)]);
        // The empty row takes a user from the other row, as recorded in `ultimate-group-empty-row`.
        let odd = times(&ultimate(&[[0, 1, 0, 0, 0], [2, 0, 0, 1, 0]]).unwrap());
        assert_eq!(odd, [(1_000, 1_000), (0, 1_000)]);
        assert_eq!(ultimate(&[]).unwrap(), []);
        assert!(ultimate(&[[-1, 0, 0, 0, 0], [-3, 0, 0, 0, 0], [9, 0, 0, 0, 0]]).is_ok());
    }

    fn numbers(values: [i32; 9]) -> Numbers {
        let [users, delay_s, burst, step_users, step_period_s, ramp_up_s, hold_s, stop_users, stop_period_s] =
            values;
        Numbers {
            users,
            delay_s,
            burst,
            step_users,
            step_period_s,
            ramp_up_s,
            hold_s,
            stop_users,
            stop_period_s,
        }
    }

    #[test]
    fn steps_up_and_down() {
        // One user starts immediately, then two users every 3 s: 2 s of ramp-up and 1 s of pause.
        let all = times(&stepping(&numbers([5, 0, 1, 2, 1, 2, 10, 2, 1])).unwrap());
        let begins: Vec<_> = all.iter().map(|times| times.0).collect();
        assert_eq!(begins, [0, 3_000, 4_000, 6_000, 7_000]);
        // Two steps of 3 s, one more ramp-up of 2 s, the hold time, then two users end per second.
        let ends: Vec<_> = all.iter().map(|times| times.1 - 18_000).collect();
        assert_eq!(ends, [0, 0, 1_000, 1_000, 2_000]);
    }

    #[test]
    fn zero_users_per_step_means_all_users() {
        let all = times(&stepping(&numbers([3, 2, 0, 0, 30, 6, 1, 0, 5])).unwrap());
        // The first step starts all users within the ramp-up time of 6 s. Then the hold time of 1 s begins.
        assert_eq!(all, [(2_000, 9_000), (4_000, 9_000), (6_000, 9_000)]);
        assert_eq!(stepping(&numbers([0, 0, 0, 0, 0, 0, 0, 0, 0])).unwrap(), []);
        assert!(stepping(&numbers([3, 0, 0, -1, 0, 0, 0, 0, 0])).is_err());
    }
}
