//! Recursive descent parser for the grammar in the crate's documentation.

use std::str::FromStr;

use super::limits::{check_cov, check_duration, check_listed, check_states};
use super::scanner::Scanner;
use crate::error::{ParseError, nearest};
use crate::process::{ArrivalProcess, Piece};
use crate::stage::{Mmpp, MmppState, Process, Rate, Replay};

/// The laws whose only positional parameter is a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Poisson,
    Even,
    Jittered,
    Gamma,
    Weibull,
    Fixed,
}

const WORDS: [(&str, Word); 6] = [
    ("poisson", Word::Poisson),
    ("even", Word::Even),
    ("jittered", Word::Jittered),
    ("gamma", Word::Gamma),
    ("weibull", Word::Weibull),
    ("fixed", Word::Fixed),
];

/// All words that can start a stage.
const HEADS: [&str; 10] =
    ["poisson", "even", "jittered", "gamma", "weibull", "fixed", "ramp", "pause", "mmpp", "replay"];

/// The first part of a stage's notation: the law with its parameters.
enum Head {
    Rates { word: Option<Word>, begin: Rate, end: Rate, ramp: bool },
    Mmpp(Mmpp),
    Replay(String),
}

/// The clauses after the head, such as the duration.
#[derive(Default)]
struct Tail {
    duration_ns: Option<u64>,
    word: Option<Word>,
    cov: Option<f64>,
    speed: Option<f64>,
    count: Option<u64>,
    java_random: Option<u64>,
}

impl ArrivalProcess {
    /// Parses the notation of an arrival process.
    ///
    /// # Errors
    /// The text is not a valid arrival process.
    pub fn parse(text: &str) -> Result<ArrivalProcess, ParseError> {
        parse(text, None)
    }

    /// Parses the notation for a run whose duration is given separately: if the last stage has no time, it lasts `last_ns`.
    ///
    /// # Errors
    /// The text is not a valid arrival process.
    pub fn parse_for(text: &str, last_ns: u64) -> Result<ArrivalProcess, ParseError> {
        parse(text, Some(last_ns))
    }
}

impl FromStr for ArrivalProcess {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ArrivalProcess, ParseError> {
        ArrivalProcess::parse(text)
    }
}

/// Parses a text. If the last stage has no time, it lasts `last_ns`; if that is `None`, the text is invalid.
fn parse(text: &str, last_ns: Option<u64>) -> Result<ArrivalProcess, ParseError> {
    let mut scanner = Scanner { text, at: 0 };
    let mut pieces = Vec::new();
    let mut total_ns = 0_u128;
    loop {
        scanner.skip_space();
        let at = scanner.at;
        let piece = stage(&mut scanner, last_ns)?;
        total_ns += u128::from(piece.duration_ns);
        check_duration(total_ns, at)?;
        pieces.push(piece);
        if scanner.peek().is_none() {
            return Ok(ArrivalProcess::assemble(pieces));
        }
        if !scanner.take(",") && !scanner.take(";") {
            let error = ParseError::new(scanner.at, format!("unexpected {}", scanner.here()));
            return Err(error.with_hint("stages are separated by commas"));
        }
    }
}

fn stage(scanner: &mut Scanner<'_>, last_ns: Option<u64>) -> Result<Piece, ParseError> {
    let begin = scanner.at;
    if scanner.take_word(&["pause"]) {
        let _ = scanner.take_word(&["for"]);
        let duration_ns = scanner.time()?;
        return Ok(Piece {
            process: Process::Pause,
            rate_begin: Rate::ZERO,
            rate_end: Rate::ZERO,
            duration_ns,
        });
    }
    let mut tail = Tail::default();
    let head = head(scanner, &mut tail)?;
    clauses(scanner, &head, &mut tail)?;
    let at_end = scanner.peek().is_none();
    let duration_ns = tail.duration_ns.or(last_ns.filter(|_| at_end));
    let missing = |word: &str| {
        let error = ParseError::new(scanner.at, "the duration of this stage is missing");
        error.with_hint(format!("add a time: {word} 60s"))
    };
    match head {
        Head::Replay(file) => {
            let speed = tail.speed.unwrap_or(1.0);
            let replay = Replay { file, speed, limit_ns: duration_ns, offsets_ns: None };
            let duration_ns = replay.duration_ns();
            let process = Process::Replay(replay);
            Ok(Piece { process, rate_begin: Rate::ZERO, rate_end: Rate::ZERO, duration_ns })
        }
        Head::Mmpp(mmpp) => {
            let duration_ns = duration_ns.ok_or_else(|| missing("for"))?;
            let process = Process::Mmpp(mmpp);
            Ok(Piece { process, rate_begin: Rate::ZERO, rate_end: Rate::ZERO, duration_ns })
        }
        Head::Rates { word, begin: rate_begin, end: rate_end, ramp } => {
            let duration_ns = duration_ns.ok_or_else(|| missing(if ramp { "over" } else { "for" }))?;
            let word = word.or(tail.word).unwrap_or(Word::Poisson);
            let process = law(word, &tail, (rate_begin, rate_end), duration_ns, begin)?;
            Ok(Piece { process, rate_begin, rate_end, duration_ns })
        }
    }
}

/// The process of a stage whose law has rates.
fn law(
    word: Word,
    tail: &Tail,
    (rate_begin, rate_end): (Rate, Rate),
    duration_ns: u64,
    at: usize,
) -> Result<Process, ParseError> {
    let cov = || {
        tail.cov.ok_or_else(|| {
            let error = ParseError::new(at, "missing coefficient of variation of the gaps");
            error.with_hint("write it after the rate: gamma(100/s, cov 0.5)")
        })
    };
    let area = (rate_begin.per_s() + rate_end.per_s()) / 2.0 * (duration_ns as f64 / 1e9);
    let whole = |count: Option<u64>| count.unwrap_or(area as u64);
    if tail.cov.is_some() && !matches!(word, Word::Gamma | Word::Weibull) {
        let error =
            ParseError::new(at, "only gamma and weibull have a coefficient of variation as a parameter");
        return Err(error.with_hint("write gamma(100/s, cov 0.5)"));
    }
    if tail.count.is_some() && !matches!(word, Word::Even | Word::Fixed) {
        return Err(ParseError::new(at, "only even and fixed arrivals can have a count"));
    }
    // Because of rounding, a printed count may exceed the expected number by one arrival.
    if word == Word::Even && tail.count.is_some_and(|count| count as f64 > (area * (1.0 - 1e-9)).ceil()) {
        let error = ParseError::new(at, "the count is larger than the expected number of arrivals");
        return Err(error.with_hint("increase the rate, or omit the count"));
    }
    if tail.java_random.is_some() && word != Word::Fixed {
        return Err(ParseError::new(at, "only fixed arrivals can be placed by java_random"));
    }
    Ok(match word {
        Word::Poisson => Process::Poisson,
        Word::Even => Process::Even { count: tail.count.map(|count| whole(Some(count))) },
        Word::Jittered => Process::Jittered,
        Word::Gamma => Process::Gamma { cov: cov()? },
        Word::Weibull => Process::Weibull { cov: cov()? },
        Word::Fixed => {
            let count = whole(tail.count);
            if tail.java_random.is_some() {
                check_listed(count, at)?;
            }
            Process::FixedCount { count, java_random: tail.java_random }
        }
    })
}

fn head(scanner: &mut Scanner<'_>, tail: &mut Tail) -> Result<Head, ParseError> {
    if scanner.starts_number() {
        let rate = scanner.rate()?;
        return Ok(Head::Rates { word: Some(Word::Poisson), begin: rate, end: rate, ramp: false });
    }
    let at = scanner.at;
    let Some(word) = scanner.peek_word() else {
        let error = ParseError::new(at, format!("expected a stage, found {}", scanner.here()));
        return Err(error.with_hint("write for example poisson(500/s) for 60s"));
    };
    let lower = word.to_lowercase();
    if !HEADS.contains(&lower.as_str()) {
        let error = ParseError::new(at, format!("unknown kind of arrivals {}", scanner.here()));
        return Err(error.with_hint(match nearest(word, &HEADS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the kinds are {}", HEADS.join(", ")),
        }));
    }
    scanner.at += word.len();
    scanner.expect("(", &format!("after `{lower}`"))?;
    let head = match lower.as_str() {
        "ramp" => {
            let begin = scanner.rate()?;
            if !(scanner.take("→") || scanner.take("->") || scanner.take_word(&["to"])) {
                let error = ParseError::new(
                    scanner.at,
                    format!("expected `→` between the rates, found {}", scanner.here()),
                );
                return Err(error.with_hint("write ramp(100/s → 500/s) or ramp(100/s -> 500/s)"));
            }
            Head::Rates { word: None, begin, end: scanner.rate()?, ramp: true }
        }
        "mmpp" => {
            let first = state(scanner)?;
            scanner.expect(",", "between the two states")?;
            let states = [first, state(scanner)?];
            check_states(&states, at)?;
            Head::Mmpp(Mmpp { states })
        }
        "replay" => Head::Replay(file(scanner)?),
        _ => {
            let word = WORDS.iter().find(|(name, _)| *name == lower).map(|(_, word)| *word);
            let rate = scanner.rate()?;
            if scanner.take(",") {
                if !scanner.take_word(&["cov"]) {
                    let error =
                        ParseError::new(scanner.at, format!("expected `cov`, found {}", scanner.here()));
                    return Err(error.with_hint("write gamma(100/s, cov 0.5)"));
                }
                tail.cov = Some(cov(scanner)?);
            }
            Head::Rates { word, begin: rate, end: rate, ramp: false }
        }
    };
    scanner.expect(")", &format!("to close `{lower}(`"))?;
    Ok(head)
}

fn state(scanner: &mut Scanner<'_>) -> Result<MmppState, ParseError> {
    let rate = scanner.rate()?;
    if !scanner.take_word(&["for"]) {
        let error = ParseError::new(scanner.at, "expected `for` and the mean time in this state");
        return Err(error.with_hint("write mmpp(100/s for 5s, 1000/s for 1s) for 60s"));
    }
    Ok(MmppState { rate, sojourn_ns: scanner.time()? })
}

fn cov(scanner: &mut Scanner<'_>) -> Result<f64, ParseError> {
    let _ = scanner.take("=");
    let number = scanner.number("a coefficient of variation")?;
    check_cov(number.value, number.at)
}

/// Parses a file name, which is in quotes or extends to the closing parenthesis.
fn file(scanner: &mut Scanner<'_>) -> Result<String, ParseError> {
    let at = scanner.at;
    let quote = scanner.peek().filter(|c| matches!(c, '"' | '\''));
    let name = match quote {
        Some(quote) => {
            let inside = &scanner.rest()[1..];
            let Some(end) = inside.find(quote) else {
                return Err(ParseError::new(at, format!("missing closing {quote}")));
            };
            scanner.at += end + 2;
            &inside[..end]
        }
        None => {
            let rest = scanner.rest();
            let name = &rest[..rest.find(')').unwrap_or(rest.len())];
            scanner.at += name.len();
            name.trim()
        }
    };
    if name.is_empty() {
        return Err(ParseError::new(at, "missing file name").with_hint("write replay(access.jtl)"));
    }
    Ok(name.to_owned())
}

/// Parses the clauses after the head, in any order, each at most once.
fn clauses(scanner: &mut Scanner<'_>, head: &Head, tail: &mut Tail) -> Result<(), ParseError> {
    const KNOWN: [&str; 11] =
        ["for", "over", "speed", "count", "cov", "poisson", "even", "jittered", "gamma", "weibull", "fixed"];
    loop {
        let Some(word) = scanner.peek_word() else { return Ok(()) };
        let at = scanner.at;
        let lower = word.to_lowercase();
        let twice = |again: bool| {
            let error = || ParseError::new(at, format!("`{lower}` is given twice"));
            if again { Err(error()) } else { Ok(()) }
        };
        scanner.at += word.len();
        match (lower.as_str(), head) {
            ("for" | "over", _) => {
                twice(tail.duration_ns.is_some())?;
                tail.duration_ns = Some(scanner.time()?);
            }
            ("speed", Head::Replay(_)) => {
                twice(tail.speed.is_some())?;
                let number = scanner.number("how many times faster")?;
                if !(1e-6..=1e6).contains(&number.value) {
                    return Err(ParseError::new(number.at, "a speed must be between 0.000001 and 1000000"));
                }
                tail.speed = Some(number.value);
            }
            ("count", Head::Rates { .. }) => {
                twice(tail.count.is_some())?;
                let number = scanner.number("a number of arrivals")?;
                if number.value.fract() != 0.0 || number.value > 1e15 {
                    return Err(ParseError::new(number.at, "a count must be a whole number up to 10^15"));
                }
                tail.count = Some(number.value as u64);
            }
            ("java_random", Head::Rates { .. }) => {
                twice(tail.java_random.is_some())?;
                let number = scanner.number("the inner state of a java.util.Random")?;
                if number.value.fract() != 0.0 || number.value >= (1_u64 << 48) as f64 {
                    return Err(ParseError::new(number.at, "a state must be a whole number below 2^48"));
                }
                tail.java_random = Some(number.value as u64);
            }
            ("cov", Head::Rates { .. }) => {
                twice(tail.cov.is_some())?;
                tail.cov = Some(cov(scanner)?);
            }
            (other, Head::Rates { ramp: true, .. }) if WORDS.iter().any(|(name, _)| *name == other) => {
                twice(tail.word.is_some())?;
                tail.word = WORDS.iter().find(|(name, _)| *name == other).map(|(_, word)| *word);
                if scanner.take("(") {
                    let _ = scanner.take_word(&["cov"]);
                    twice(tail.cov.is_some())?;
                    tail.cov = Some(cov(scanner)?);
                    scanner.expect(")", "after the coefficient of variation")?;
                }
            }
            (other, _) => {
                scanner.at = at;
                let error = ParseError::new(at, format!("unexpected {}", scanner.here()));
                return Err(match nearest(other, &KNOWN) {
                    Some(near) if near != other => error.with_hint(format!("did you mean `{near}`?")),
                    _ => error.with_hint("stages are separated by commas"),
                });
            }
        }
    }
}
