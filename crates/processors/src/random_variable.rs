//! The Random Variable.

use std::sync::{Mutex, PoisonError};

use busyhour_program::element::{IterationStep, StopUser};
use busyhour_program::run::LogLevel;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use rand::Rng as _;

use crate::java;
use crate::number_format::NumberFormat;

/// Settings of a random variable. The properties have no prefix.
#[derive(Clone, Debug, Default)]
pub struct RandomVariableSettings {
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// `minimumValue`: the smallest number.
    pub minimum: Template,
    /// `maximumValue`: the greatest number.
    pub maximum: Template,
    /// `outputFormat`: a pattern of `DecimalFormat`.
    pub format: Template,
    /// `randomSeed`; if empty, the random numbers of the run are used.
    pub seed: Template,
    /// `perThread`: each user has a separate generator.
    pub per_user: bool,
    /// `variableName`: the variable to set.
    pub variable: Template,
}

/// A random variable. As in JMeter, all groups in its scope must share one instance.
#[derive(Debug)]
pub struct RandomVariableStep {
    settings: RandomVariableSettings,
    format: NumberFormat,
    shared: Mutex<Option<Generator>>,
    state: StateId,
}

/// The range and the generator, which do not change after the first number is drawn.
#[derive(Clone, Debug)]
struct Generator {
    minimum: i64,
    /// Number of values; 0 if the minimum is greater than the maximum.
    range: i32,
    /// The random number generator; `None` if the settings have no seed.
    seeded: Option<JavaRandom>,
}

/// `java.util.Random`: the linear congruential generator of 48 bits that its documentation specifies.
#[derive(Clone, Debug)]
struct JavaRandom(u64);

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

impl JavaRandom {
    fn new(seed: i64) -> Self {
        Self((seed.cast_unsigned() ^ MULTIPLIER) & MASK)
    }

    /// The next 31 bits.
    fn next(&mut self) -> i32 {
        self.0 = (self.0.wrapping_mul(MULTIPLIER) + 0xB) & MASK;
        i32::try_from(self.0 >> 17).unwrap_or(i32::MAX)
    }

    /// The result of Java's `nextInt(bound)` for a positive bound.
    fn next_below(&mut self, bound: i32) -> i32 {
        if bound & (bound - 1) == 0 {
            let scaled = (i64::from(bound) * i64::from(self.next())) >> 31;
            return i32::try_from(scaled).unwrap_or(0);
        }
        loop {
            let bits = self.next();
            let value = bits % bound;
            // Reject values from the last, incomplete interval, which would favour small values.
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }
}

impl RandomVariableStep {
    /// Creates the random variable from its settings.
    pub fn new(settings: RandomVariableSettings, symbols: &mut Symbols) -> Self {
        if let Some(name) = settings.variable.as_literal() {
            symbols.slot(name);
        }
        let format = NumberFormat::new(&settings.format);
        Self { settings, format, shared: Mutex::new(None), state: symbols.state() }
    }

    fn create_generator(&self, user: &mut UserState) -> Generator {
        let settings = &self.settings;
        let minimum_text = settings.minimum.text(user);
        let maximum_text = settings.maximum.text(user);
        let (minimum, maximum) = (java::long(&minimum_text), java::long(&maximum_text));
        let range = if minimum > maximum {
            user.log(LogLevel::Error, &format!("maximum({maximum_text}) must be >= minimum({minimum_text})"));
            0
        } else {
            let count = maximum.checked_sub(minimum).and_then(|width| width.checked_add(1));
            count.and_then(|count| i32::try_from(count).ok()).unwrap_or_else(|| {
                let limit = i32::MAX;
                user.log(
                    LogLevel::Warn,
                    &format!("maximum({maximum_text}) - minimum({minimum_text}) must be <= {limit}"),
                );
                limit
            })
        };
        let seed = settings.seed.text(user);
        let seeded = if seed.is_empty() {
            None
        } else {
            let parsed = seed.parse().ok().map(JavaRandom::new);
            if parsed.is_none() {
                user.log(
                    LogLevel::Warn,
                    &format!("Cannot parse random seed: '{seed}' in element {}", settings.name),
                );
            }
            parsed
        };
        Generator { minimum, range, seeded }
    }
}

impl Generator {
    /// The next value of a generator with a seed. `None` without a seed: the caller draws from the user's random numbers.
    fn next(&mut self) -> Option<i64> {
        let offset = match &mut self.seeded {
            _ if self.range <= 0 => return None,
            Some(random) => random.next_below(self.range),
            None => return None,
        };
        Some(self.minimum + i64::from(offset))
    }
}

impl IterationStep for RandomVariableStep {
    fn step(&self, user: &mut UserState) -> Result<(), StopUser> {
        let (minimum, range, value);
        if self.settings.per_user {
            if user.existing_state::<Generator>(self.state).is_none() {
                let generator = self.create_generator(user);
                user.state(self.state, || generator);
            }
            let Some(generator) = user.existing_state::<Generator>(self.state) else { return Ok(()) };
            (minimum, range, value) = (generator.minimum, generator.range, generator.next());
        } else {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let generator = match &mut *shared {
                Some(generator) => generator,
                none => none.insert(self.create_generator(user)),
            };
            (minimum, range, value) = (generator.minimum, generator.range, generator.next());
        }
        if range <= 0 {
            return Ok(());
        }
        let value = value.unwrap_or_else(|| minimum + i64::from(user.random.random_range(0..range)));
        let name = self.settings.variable.text(user);
        self.format.set(user, &name, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{user, user_logging};

    fn step(minimum: &str, maximum: &str, seed: &str, per_user: bool) -> (RandomVariableStep, Symbols) {
        let literal = Template::literal;
        let mut symbols = Symbols::default();
        let settings = RandomVariableSettings {
            minimum: literal(minimum),
            maximum: literal(maximum),
            seed: literal(seed),
            variable: literal("r"),
            format: literal("R0"),
            per_user,
            ..RandomVariableSettings::default()
        };
        (RandomVariableStep::new(settings, &mut symbols), symbols)
    }

    fn values(step: &RandomVariableStep, user: &mut UserState, count: usize) -> String {
        let mut values = Vec::new();
        for _ in 0..count {
            step.step(user).expect("draws");
            values.push(user.variables.get("r").unwrap_or("unset").to_owned());
        }
        values.join(" ")
    }

    #[test]
    fn the_generator_matches_java() {
        // new java.util.Random(42): nextInt(100) and nextInt(64), six times each.
        let mut random = JavaRandom::new(42);
        let drawn: Vec<i32> = (0..6).map(|_| random.next_below(100)).collect();
        assert_eq!(drawn, JAVA_100);
        let mut random = JavaRandom::new(42);
        let drawn: Vec<i32> = (0..6).map(|_| random.next_below(64)).collect();
        assert_eq!(drawn, JAVA_64);
    }

    const JAVA_100: [i32; 6] = [30, 63, 48, 84, 70, 25];
    const JAVA_64: [i32; 6] = [46, 3, 43, 3, 19, 60];

    #[test]
    fn a_seed_gives_the_same_numbers() {
        let (shared, symbols) = step("1", "100", "42", false);
        let mut first = user(&symbols);
        assert_eq!(values(&shared, &mut first, 3), "R31 R64 R49");
        assert_eq!(values(&shared, &mut first, 1), "R85");
        let (separate, symbols) = step("1", "100", "42", true);
        let mut second = user_logging(&symbols, 1, std::sync::Arc::default());
        assert_eq!(values(&separate, &mut user(&symbols), 2), "R31 R64");
        assert_eq!(values(&separate, &mut second, 2), "R31 R64");
    }

    #[test]
    fn without_a_seed_the_random_numbers_of_the_run_are_used() {
        let (step, symbols) = step("5", "6", "", false);
        let mut first = user(&symbols);
        let drawn = values(&step, &mut first, 20);
        assert!(drawn.split(' ').all(|value| value == "R5" || value == "R6"));
        assert_eq!(drawn, values(&step, &mut user(&symbols), 20));
    }

    #[test]
    fn an_empty_range_sets_no_value() {
        let (step, symbols) = step("5", "4", "", false);
        assert_eq!(values(&step, &mut user(&symbols), 1), "unset");
    }
}
