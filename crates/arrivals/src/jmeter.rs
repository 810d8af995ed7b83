//! Parses the schedule of Apache JMeter's Open Model Thread Group and generates its arrivals as JMeter 5.6.3 does.
//!
//! ```text
//! schedule = { "rate" "(" number ( "/" | "per" ) unit ")"
//!            | ( "random_arrivals" | "even_arrivals" | "pause" ) "(" { number unit } ")" }
//! unit     = "ms" | "s" | "sec…" | "m" | "min…" | "h" | "hour…" | "d" | "day…"
//! ```
//!
//! Words are case-insensitive. `//` and `/* */` start comments. A time of 0 needs no unit. The rate of a stage changes linearly
//! from the rate before the stage to the rate immediately after the stage; it is constant if no rate follows. A stage has exactly
//! ⌊Λ⌋ arrivals, where Λ is the integral of the rate over the stage. Even arrivals start at the start of the stage. Random
//! arrivals consist of ⌊lowest rate · time⌋ uniform points, and further points with a triangular density. A text that is only
//! a whole number N means N even arrivals in one second, followed by a pause of an hour in which they can finish.
//!
//! JMeter's property `OpenModelThreadGroup.random_seed` is the seed of one `java.util.Random` for the whole schedule. If it is
//! 0 or not set, each run has a new schedule. [`parse_seeded`] generates exactly the arrivals of JMeter for that seed, except
//! that JMeter rounds starts to milliseconds, while they are in nanoseconds here.

use crate::error::{ParseError, nearest};
use crate::java_random::JavaRandom;
use crate::notation::{check_duration, check_listed, check_rate};
use crate::process::{ArrivalProcess, Piece};
use crate::stage::{Per, Process, Rate};

/// A step of the schedule. `seconds` is computed with JMeter's arithmetic, so that ⌊Λ⌋ equals JMeter's count.
#[derive(Clone, Copy, Debug)]
enum Step {
    Rate(Rate),
    Arrivals { scattered: bool, seconds: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Open,
    Close,
    Divide,
    Number(&'a str),
    Word(&'a str),
}

const COMMANDS: [&str; 4] = ["rate", "random_arrivals", "even_arrivals", "pause"];

/// Parses a schedule in which functions and variables have already been replaced by their values.
///
/// As in JMeter, an empty schedule, or one without arrivals, is valid: a process without arrivals.
pub fn parse(text: &str) -> Result<ArrivalProcess, ParseError> {
    parse_seeded(text, 0)
}

/// Parses a schedule with JMeter's random seed. If that seed is not 0, random arrivals are exactly those of JMeter, regardless
/// of the seed from which the schedule is generated later.
pub fn parse_seeded(text: &str, random_seed: i64) -> Result<ArrivalProcess, ParseError> {
    let random = (random_seed != 0).then(|| JavaRandom::new(random_seed));
    place(&steps(text)?, random)
}

/// Parses the steps.
fn steps(text: &str) -> Result<Vec<Step>, ParseError> {
    // As in Java and Kotlin, a whole number has 32 bits.
    if let Ok(count) = text.parse::<i32>() {
        let count = u32::try_from(count).map_err(|_| {
            ParseError::new(0, "the number of arrivals is negative").with_hint("write 0 or more")
        })?;
        let rate = Rate { value: f64::from(count), per: Per::Second };
        return Ok(vec![
            Step::Rate(rate),
            Step::Arrivals { scattered: false, seconds: 1.0 },
            Step::Rate(rate),
            Step::Rate(Rate::ZERO),
            Step::Arrivals { scattered: false, seconds: 3_600.0 },
        ]);
    }
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, next: 0, end: text.len() };
    let mut steps = Vec::new();
    let mut last_rate = Rate::ZERO;
    while reader.next < tokens.len() {
        reader.steps(&mut steps, &mut last_rate)?;
    }
    Ok(steps)
}

/// Determines the rates and the number of arrivals of each stage.
fn place(steps: &[Step], mut random: Option<JavaRandom>) -> Result<ArrivalProcess, ParseError> {
    let mut pieces = Vec::new();
    let mut begin = Rate::ZERO;
    let mut total_ns = 0_u128;
    for (number, step) in steps.iter().enumerate() {
        let (scattered, seconds) = match *step {
            Step::Rate(rate) => {
                begin = rate;
                continue;
            }
            Step::Arrivals { scattered, seconds } => (scattered, seconds),
        };
        let end = match steps.get(number + 1) {
            Some(Step::Rate(rate)) => *rate,
            _ => begin,
        };
        let duration_ns = (seconds * 1e9).round() as u128;
        total_ns += duration_ns;
        check_duration(total_ns, 0)?;
        // The count is rounded down: 3.7 expected arrivals are 3 arrivals.
        let count = ((begin.per_s() + end.per_s()) / 2.0 * seconds) as u64;
        let process = match scattered {
            _ if begin.value == 0.0 && end.value == 0.0 => Process::Pause,
            true => {
                let java_random = random.map(JavaRandom::state);
                if let Some(random) = &mut random {
                    *random = random.skip_doubles(check_listed(count, 0)?);
                }
                Process::FixedCount { count, java_random }
            }
            false => Process::Even { count: Some(count) },
        };
        pieces.push(Piece { process, rate_begin: begin, rate_end: end, duration_ns: duration_ns as u64 });
    }
    Ok(ArrivalProcess::assemble(pieces))
}

/// Splits the text into tokens with their positions.
fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let run = |of: fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
        let (token, length) = if first.is_ascii_whitespace() {
            (None, run(|c| c.is_ascii_whitespace()))
        } else if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                return Err(ParseError::new(at, "the comment is not closed").with_hint("close it with */"));
            };
            (None, end + 2)
        } else if rest.starts_with("//") {
            (None, rest.find(['\n', '\r']).unwrap_or(rest.len()))
        } else if first == '(' {
            (Some(Token::Open), 1)
        } else if first == ')' {
            (Some(Token::Close), 1)
        } else if first == '/' {
            (Some(Token::Divide), 1)
        } else if let Some(length) = number_length(rest) {
            (Some(Token::Number(&rest[..length])), length)
        } else if first.is_ascii_alphabetic() {
            let length = run(|c| c.is_ascii_alphanumeric() || c == '_');
            (Some(Token::Word(&rest[..length])), length)
        } else {
            let error = ParseError::new(at, format!("unexpected `{first}`"));
            return Err(error.with_hint("write for example rate(10/sec) random_arrivals(1 min) pause(5 sec)"));
        };
        tokens.extend(token.map(|token| (token, at)));
        at += length;
    }
    Ok(tokens)
}

/// The length of a number such as `12`, `12.5` or `.5`.
fn number_length(text: &str) -> Option<usize> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let fraction = if text[whole..].starts_with('.') { digits(whole + 1) } else { 0 };
    match (whole, fraction) {
        (0, 0) => None,
        (_, 0) => Some(whole),
        _ => Some(whole + 1 + fraction),
    }
}

struct Reader<'a> {
    tokens: &'a [(Token<'a>, usize)],
    next: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(token, _)| *token)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(_, at)| *at)
    }

    fn expected(&self, what: &str) -> ParseError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Open) => "`(`".to_owned(),
            Some(Token::Close) => "`)`".to_owned(),
            Some(Token::Divide) => "`/`".to_owned(),
            Some(Token::Number(text) | Token::Word(text)) => {
                format!("`{}`", text.chars().take(24).collect::<String>())
            }
        };
        ParseError::new(self.at(), format!("expected {what}, found {found}"))
    }

    fn take(&mut self, token: Token<'_>, what: &str) -> Result<(), ParseError> {
        if self.peek() != Some(token) {
            return Err(self.expected(what));
        }
        self.next += 1;
        Ok(())
    }

    /// Parses one command into its steps.
    fn steps(&mut self, steps: &mut Vec<Step>, last_rate: &mut Rate) -> Result<(), ParseError> {
        let what = "rate, random_arrivals, even_arrivals or pause";
        let Some(Token::Word(word)) = self.peek() else { return Err(self.expected(what)) };
        let Some(command) = COMMANDS.iter().find(|command| word.eq_ignore_ascii_case(command)) else {
            let error = self.expected(what);
            return Err(match nearest(word, &COMMANDS) {
                Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                None => error,
            });
        };
        self.next += 1;
        self.take(Token::Open, &format!("`(` after {command}"))?;
        match *command {
            "rate" => {
                *last_rate = self.rate()?;
                steps.push(Step::Rate(*last_rate));
            }
            "pause" => {
                let arrivals = Step::Arrivals { scattered: false, seconds: self.seconds()? };
                // The stage before a pause ends at the last rate, and the stage after the pause starts at that rate.
                match last_rate.value == 0.0 {
                    true => steps.extend([arrivals, Step::Rate(*last_rate)]),
                    false => steps.extend([
                        Step::Rate(*last_rate),
                        Step::Rate(Rate::ZERO),
                        arrivals,
                        Step::Rate(Rate::ZERO),
                        Step::Rate(*last_rate),
                    ]),
                }
            }
            command => {
                let seconds = self.seconds()?;
                steps.push(Step::Arrivals { scattered: command == "random_arrivals", seconds });
            }
        }
        self.take(Token::Close, "`)`")
    }

    fn number(&mut self, what: &str) -> Result<f64, ParseError> {
        let value = match self.peek() {
            Some(Token::Number(text)) => text.parse::<f64>().ok().filter(|value| value.is_finite()),
            _ => None,
        };
        let value = value.ok_or_else(|| self.expected(what))?;
        self.next += 1;
        Ok(value)
    }

    fn rate(&mut self) -> Result<Rate, ParseError> {
        let at = self.at();
        let value = self.number("a rate like 10/sec")?;
        if value == 0.0 && self.peek() == Some(Token::Close) {
            return Ok(Rate::ZERO);
        }
        match self.peek() {
            Some(Token::Divide) => {}
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("per") => {}
            _ => return Err(self.expected("`/` and a unit").with_hint(format!("write rate({value}/sec)"))),
        }
        self.next += 1;
        check_rate(Rate { value, per: self.unit()? }, at)
    }

    fn seconds(&mut self) -> Result<f64, ParseError> {
        let mut seconds = 0.0;
        loop {
            let value = self.number("a time like 1 min")?;
            if value == 0.0 && self.peek() == Some(Token::Close) {
                return Ok(seconds);
            }
            seconds += value * self.unit()?.seconds();
            if !matches!(self.peek(), Some(Token::Number(_))) {
                return Ok(seconds);
            }
        }
    }

    fn unit(&mut self) -> Result<Per, ParseError> {
        let what = "a unit: ms, sec, min, hour, day";
        let Some(Token::Word(word)) = self.peek() else { return Err(self.expected(what)) };
        let lower = word.to_ascii_lowercase();
        let unit = match lower.as_str() {
            "ms" => Per::Millisecond,
            "s" => Per::Second,
            "m" => Per::Minute,
            "h" => Per::Hour,
            "d" => Per::Day,
            word if word.starts_with("sec") => Per::Second,
            word if word.starts_with("min") => Per::Minute,
            word if word.starts_with("hour") => Per::Hour,
            word if word.starts_with("day") => Per::Day,
            _ => return Err(self.expected(what)),
        };
        self.next += 1;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Law;

    fn seconds(process: &ArrivalProcess) -> Vec<String> {
        process.schedule(0).map(|arrival| format!("{:.4}", arrival.at_ns as f64 / 1e9)).collect()
    }

    /// The schedule and its times come from JMeter's test of its generator.
    #[test]
    fn even_arrivals_are_placed_as_by_jmeter() {
        let text = "rate(1/sec) even_arrivals(2 sec) rate(1/sec) // two
            rate(2/sec) even_arrivals(3 sec) rate(2/sec) /* six */
            even_arrivals(1 sec) rate(5/sec)
            even_arrivals(2 sec) rate(3/sec)";
        assert_eq!(
            seconds(&parse(text).unwrap()),
            [
                "0.0000", "1.0000", "2.0000", "2.5000", "3.0000", "3.5000", "4.0000", "4.5000", "5.0000",
                "5.3874", "5.6667", "6.0000", "6.2042", "6.4174", "6.6411", "6.8769", "7.1270", "7.3944",
                "7.6834"
            ]
        );
        assert_eq!(parse(text).unwrap().law(), Law::Even);
    }

    /// The schedule and its times come from JMeter's test of its generator, which uses a `java.util.Random` with the seed 0.
    #[test]
    fn seeded_arrivals_equal_those_of_jmeter() {
        let text = "rate(0) random_arrivals(2 sec) rate(2/sec) random_arrivals(3 sec) pause(10 sec)
            random_arrivals(4 sec) rate(1/sec)";
        let process = place(&steps(text).unwrap(), Some(JavaRandom::new(0))).unwrap();
        assert_eq!(
            seconds(&process),
            [
                "0.9809", "1.7099", "2.9997", "3.1556", "3.6513", "3.7926", "3.9123", "4.9545", "15.5156",
                "16.0998", "17.4685", "18.3902", "18.5167", "18.7650"
            ]
        );
        assert_eq!(ArrivalProcess::parse(&process.to_string()).unwrap(), process);
        let seeded = parse_seeded(text, 5).unwrap();
        assert!(seeded.schedule(1).map(|a| a.at_ns).eq(seeded.schedule(2).map(|a| a.at_ns)));
        assert_ne!(seconds(&seeded), seconds(&process));
        assert_eq!(parse_seeded(text, 0), parse(text));
    }

    #[test]
    fn random_arrivals_have_the_counts_of_jmeter() {
        let text = "rate(0) random_arrivals(2 sec) rate(2/sec) random_arrivals(3 sec) pause(10 sec)
            random_arrivals(4 sec) rate(1/sec)";
        let process = parse(text).unwrap();
        assert_eq!(
            process.to_string(),
            "ramp(0/s → 2/s) over 2s fixed count 2, fixed(2/s) for 3s count 6, pause 10s, \
             ramp(2/s → 1/s) over 4s fixed count 6"
        );
        assert_eq!(process.law(), Law::FixedCount);
        assert_eq!(process.expected_count(), 14.0);
        for seed in 0..200 {
            let stages: Vec<u32> = process.schedule(seed).map(|arrival| arrival.stage).collect();
            assert_eq!(stages, [0, 0, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3]);
        }
    }

    #[test]
    fn schedules_are_parsed_as_by_jmeter() {
        let text = |text| parse(text).unwrap().to_string();
        assert_eq!(
            text("RATE(50 per min) Even_Arrivals(2d 1m 30s)"),
            "even(50/min) for 172890s count 144075"
        );
        assert_eq!(text("random_arrivals(0) /* 0 does not require time unit */"), "pause 0s");
        assert_eq!(text(""), "pause 0s");
        assert_eq!(text("pause(.5 minutes)"), "pause 30s");
        assert_eq!(text("rate(36000/hour) random_arrivals(1 min)"), "fixed(36000/h) for 1min count 600");
        assert_eq!(text("7"), "even(7/s) for 1s count 7, pause 1h");
        assert_eq!(text("rate(10/sec) random_arrivals(1 min) rate(0) pause(5 sec)"), {
            "ramp(10/s → 0/s) over 1min fixed count 300, pause 5s"
        });
        assert_eq!(text("rate(1/sec)random_arrivals(1min)random_arrivals(2min)rate(3/sec)"), {
            "fixed(1/s) for 1min count 60, ramp(1/s → 3/s) over 2min fixed count 240"
        });
    }

    #[test]
    fn errors_have_a_position() {
        let texts = [
            "rate(10) random_arrivals(1 min)",
            "rate(10/sec) random_arrival(1 min)",
            "rate(10/sec)\nrandom_arrivals(1 fortnight)",
            "rate(10/sec) /* forever",
            "rate(10/sec",
            "rate(1/sec) even_arrivals(200 years)",
            "-3",
        ];
        let pages = texts.map(|text| parse(text).unwrap_err().render(text)).join("\n\n");
        insta::assert_snapshot!(pages, @r"
        expected `/` and a unit, found `)`
          rate(10) random_arrivals(1 min)
                 ^
        hint: write rate(10/sec)

        expected rate, random_arrivals, even_arrivals or pause, found `random_arrival`
          rate(10/sec) random_arrival(1 min)
                       ^
        hint: did you mean `random_arrivals`?

        expected a unit: ms, sec, min, hour, day, found `fortnight`
          random_arrivals(1 fortnight)
                            ^

        the comment is not closed
          rate(10/sec) /* forever
                       ^
        hint: close it with */

        expected `)`, found the end
          rate(10/sec
                     ^

        expected a unit: ms, sec, min, hour, day, found `years`
          rate(1/sec) even_arrivals(200 years)
                                        ^

        the number of arrivals is negative
          -3
          ^
        hint: write 0 or more
        ");
    }
}
