//! Laws as text: `exponential(50ms)`, `erlang(50ms, phases=4)`, or just a time for the exponential law with this mean.

use super::error::NotationError;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use busyhour_diagnostic::nearest_name as nearest;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::law::TimeLaw;
use super::quantity::{number, rate_per_s, seconds, seconds_text, text_or_number, text_or_number_schema};

/// The kind of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParameterKind {
    Time,
    Rate,
    Number,
    Count,
}

use ParameterKind::{Count, Number, Rate, Time};

/// The notations of laws: the name, and the parameters in their order.
const FORMS: [(&str, &[(&str, ParameterKind)]); 14] = [
    ("exponential", &[("mean", Time)]),
    ("constant", &[("mean", Time)]),
    ("deterministic", &[("mean", Time)]),
    ("erlang", &[("mean", Time), ("phases", Count)]),
    ("hyperexponential", &[("mean", Time), ("cv", Number)]),
    ("hyperexponential", &[("p", Number), ("first", Time), ("second", Time)]),
    ("coxian", &[("first", Time), ("second", Time), ("continue", Number)]),
    ("gamma", &[("mean", Time), ("cv", Number)]),
    ("lognormal", &[("mean", Time), ("cv", Number)]),
    ("normal", &[("mean", Time), ("sd", Time)]),
    ("pareto", &[("mean", Time), ("shape", Number)]),
    ("uniform", &[("from", Time), ("to", Time)]),
    ("weibull", &[("mean", Time), ("shape", Number)]),
    ("mmpp2", &[("rate0", Rate), ("rate1", Rate), ("leave0", Rate), ("leave1", Rate)]),
];

/// The notation of a law, for messages.
fn usage(name: &str) -> String {
    let forms: Vec<String> = FORMS
        .iter()
        .filter(|(form, _)| *form == name)
        .map(|(form, parameters)| {
            let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
            format!("{form}({})", names.join(", "))
        })
        .collect();
    forms.join(" or ")
}

impl FromStr for TimeLaw {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('(') else {
            return match seconds(text) {
                Ok(mean_s) => Ok(Self::Exponential { mean_s }),
                Err(_) if text.starts_with(char::is_alphabetic) => Err(NotationError::Law(format!(
                    "{text:?} is neither a time nor a law; an example of a law is exponential(50ms)"
                ))),
                Err(error) => Err(error),
            };
        };
        let name = name.trim();
        let inside = rest
            .strip_suffix(')')
            .ok_or_else(|| NotationError::Law(format!("the closing parenthesis is missing in {text:?}")))?;
        if name == "replay" {
            let file = inside.trim().trim_matches(['"', '\'']);
            if file.is_empty() {
                return Err(NotationError::Law(
                    "replay needs the name of a file: replay(times.txt)".to_owned(),
                ));
            }
            return Ok(Self::Replay { file: file.to_owned(), values_s: Vec::new() });
        }
        let arguments: Vec<(Option<&str>, &str)> = inside
            .split(',')
            .map(|argument| match argument.split_once('=') {
                Some((key, value)) => (Some(key.trim()), value.trim()),
                None => (None, argument.trim()),
            })
            .filter(|argument| *argument != (None, ""))
            .collect();
        let (name, parameters) = find_form(name, &arguments)?;
        let values = parse_values(name, parameters, &arguments)?;
        build_law(name, &values)
    }
}

/// Returns the form of law `name` that has all keys of `arguments`, preferably one with as many parameters as `arguments`.
fn find_form(
    name: &str,
    arguments: &[(Option<&str>, &str)],
) -> Result<(&'static str, &'static [(&'static str, ParameterKind)]), NotationError> {
    let mut forms = FORMS.iter().filter(|(form, _)| *form == name).peekable();
    if forms.peek().is_none() {
        let known = FORMS.iter().map(|(form, _)| *form).chain(["replay"]);
        return Err(NotationError::Law(match nearest(name, known.clone()) {
            Some(near) => format!("{name:?} is not a known law; did you mean {near:?}?"),
            None => {
                let mut names: Vec<&str> = known.collect();
                names.dedup();
                format!("{name:?} is not a known law; the known laws are {}", names.join(", "))
            }
        }));
    }
    let has_all_keys = |(_, parameters): &&&(&str, &'static [(&str, ParameterKind)])| {
        arguments
            .iter()
            .filter_map(|(key, _)| *key)
            .all(|key| parameters.iter().any(|(name, _)| *name == key))
    };
    let possible: Vec<_> = forms.filter(|form| has_all_keys(&form)).collect();
    let matching = possible.iter().find(|(_, parameters)| parameters.len() == arguments.len());
    match matching.or(possible.first()) {
        Some((name, parameters)) => Ok((name, parameters)),
        None => {
            let keys: Vec<&str> = arguments.iter().filter_map(|(key, _)| *key).collect();
            Err(NotationError::Law(format!(
                "{name} has no parameters {}; its form is {}",
                keys.join(", "),
                usage(name)
            )))
        }
    }
}

/// Parses the arguments; the values are in the order of the parameters.
fn parse_values(
    name: &str,
    parameters: &[(&str, ParameterKind)],
    arguments: &[(Option<&str>, &str)],
) -> Result<Vec<f64>, NotationError> {
    let mut values: Vec<Option<f64>> = vec![None; parameters.len()];
    for (key, text) in arguments {
        let at = match key {
            Some(key) => parameters.iter().position(|(name, _)| name == key),
            None => values.iter().position(Option::is_none),
        };
        let Some(at) = at else {
            return Err(NotationError::Law(format!(
                "{name} has too many parameters; its form is {}",
                usage(name)
            )));
        };
        let (parameter, kind) = parameters[at];
        let value = match kind {
            Time => seconds(text),
            Rate => rate_per_s(text),
            Number => number(text),
            Count => number(text).and_then(|value| {
                if value.fract() == 0.0 && (1.0..=1e6).contains(&value) {
                    Ok(value)
                } else {
                    Err(NotationError::NotACount((*text).to_owned()))
                }
            }),
        };
        let value = value.map_err(|error| NotationError::Parameter {
            parameter: parameter.to_owned(),
            law: name.to_owned(),
            source: Box::new(error),
        })?;
        if values[at].replace(value).is_some() {
            return Err(NotationError::Law(format!("{parameter} of {name} is given twice")));
        }
    }
    match values.iter().position(Option::is_none) {
        Some(at) => Err(NotationError::Law(format!(
            "{} of {name} is missing; its form is {}",
            parameters[at].0,
            usage(name)
        ))),
        None => Ok(values.into_iter().flatten().collect()),
    }
}

/// Builds law `name` from the values of its parameters.
fn build_law(name: &str, values: &[f64]) -> Result<TimeLaw, NotationError> {
    Ok(match (name, values) {
        ("exponential", &[mean_s]) => TimeLaw::Exponential { mean_s },
        ("constant" | "deterministic", &[mean_s]) => TimeLaw::Deterministic { mean_s },
        ("erlang", &[mean_s, phases]) => TimeLaw::Erlang { mean_s, phases: phases as u32 },
        ("hyperexponential", &[mean_s, cv]) if cv >= 1.0 => TimeLaw::hyperexponential(mean_s, cv),
        ("hyperexponential", &[_, cv]) => {
            return Err(NotationError::Law(format!(
                "the coefficient of variation of a hyperexponential law must be at least 1, not {cv}"
            )));
        }
        ("hyperexponential", &[first_probability, first_mean_s, second_mean_s]) => {
            TimeLaw::Hyperexponential { first_probability, first_mean_s, second_mean_s }
        }
        ("coxian", &[first_mean_s, second_mean_s, second_probability]) => {
            TimeLaw::Coxian { first_mean_s, second_mean_s, second_probability }
        }
        ("gamma", &[mean_s, cv]) => TimeLaw::Gamma { mean_s, cv },
        ("lognormal", &[mean_s, cv]) => TimeLaw::Lognormal { mean_s, cv },
        ("normal", &[untruncated_mean_s, untruncated_sd_s]) => {
            TimeLaw::NormalTruncated { untruncated_mean_s, untruncated_sd_s }
        }
        ("pareto", &[mean_s, shape]) => TimeLaw::Pareto { mean_s, shape },
        ("uniform", &[from_s, to_s]) => TimeLaw::Uniform { from_s, to_s },
        ("weibull", &[mean_s, shape]) => TimeLaw::Weibull { mean_s, shape },
        ("mmpp2", &[r0, r1, l0, l1]) => TimeLaw::Mmpp2 { rates_per_s: [r0, r1], leave_per_s: [l0, l1] },
        _ => return Err(NotationError::Law(format!("the form of {name} is {}", usage(name)))),
    })
}

/// The notation of model files; parsing the text returns the same law.
impl fmt::Display for TimeLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |value_s: &f64| seconds_text(*value_s);
        match self {
            Self::Deterministic { mean_s } => write!(f, "constant({})", time(mean_s)),
            Self::Exponential { mean_s } => write!(f, "exponential({})", time(mean_s)),
            Self::Erlang { mean_s, phases } => write!(f, "erlang({}, phases={phases})", time(mean_s)),
            Self::Hyperexponential { first_probability: p, first_mean_s, second_mean_s } => {
                write!(
                    f,
                    "hyperexponential(p={p}, first={}, second={})",
                    time(first_mean_s),
                    time(second_mean_s)
                )
            }
            Self::Coxian { first_mean_s, second_mean_s, second_probability: p } => {
                write!(
                    f,
                    "coxian(first={}, second={}, continue={p})",
                    time(first_mean_s),
                    time(second_mean_s)
                )
            }
            Self::Gamma { mean_s, cv } => write!(f, "gamma({}, cv={cv})", time(mean_s)),
            Self::Lognormal { mean_s, cv } => write!(f, "lognormal({}, cv={cv})", time(mean_s)),
            Self::NormalTruncated { untruncated_mean_s, untruncated_sd_s } => {
                write!(f, "normal({}, sd={})", time(untruncated_mean_s), time(untruncated_sd_s))
            }
            Self::Pareto { mean_s, shape } => write!(f, "pareto({}, shape={shape})", time(mean_s)),
            Self::Uniform { from_s, to_s } => write!(f, "uniform({}, {})", time(from_s), time(to_s)),
            Self::Weibull { mean_s, shape } => write!(f, "weibull({}, shape={shape})", time(mean_s)),
            Self::Mmpp2 { rates_per_s: [r0, r1], leave_per_s: [l0, l1] } => {
                write!(f, "mmpp2(rate0={r0}/s, rate1={r1}/s, leave0={l0}/s, leave1={l1}/s)")
            }
            Self::Replay { file, .. } => write!(f, "replay({file})"),
        }
    }
}

impl Serialize for TimeLaw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Exponential { mean_s } => serializer.serialize_str(&seconds_text(*mean_s)),
            law => serializer.collect_str(law),
        }
    }
}

impl<'de> Deserialize<'de> for TimeLaw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(
            deserializer,
            "a time such as \"50ms\" or a law such as \"erlang(50ms, 4)\"",
            Self::from_str,
        )
    }
}

impl JsonSchema for TimeLaw {
    fn schema_name() -> Cow<'static, str> {
        "TimeLaw".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let forms: Vec<String> = FORMS.iter().map(|(name, _)| usage(name)).collect();
        let mut forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        forms.dedup();
        text_or_number_schema(&format!(
            "A time, which is the mean of an exponential law: \"50ms\"; or a law: {}, replay(file).",
            forms.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_round_trip_through_their_text() {
        for text in [
            "exponential(50ms)",
            "constant(700ms)",
            "erlang(50ms, phases=4)",
            "hyperexponential(p=0.9, first=10ms, second=90ms)",
            "coxian(first=10ms, second=20ms, continue=0.25)",
            "gamma(50ms, cv=0.5)",
            "lognormal(50ms, cv=1.5)",
            "normal(50ms, sd=10ms)",
            "pareto(50ms, shape=2.5)",
            "uniform(10ms, 90ms)",
            "weibull(50ms, shape=0.7)",
            "mmpp2(rate0=20/s, rate1=100/s, leave0=1/s, leave1=3/s)",
            "replay(times.txt)",
        ] {
            let law: TimeLaw = text.parse().unwrap();
            assert_eq!(law.to_string(), text);
        }
        assert_eq!("50ms".parse(), Ok(TimeLaw::Exponential { mean_s: 0.05 }));
        assert_eq!("deterministic(1)".parse(), Ok(TimeLaw::Deterministic { mean_s: 1.0 }));
        // Both forms of the hyperexponential law, with positional arguments.
        assert_eq!(
            "hyperexponential(0.9, 0.5s, 5.5s)".parse(),
            "hyperexponential(p=0.9, first=0.5s, second=5.5s)".parse::<TimeLaw>()
        );
        assert_eq!("hyperexponential(2s, 3)".parse(), "hyperexponential(mean=2s, cv=3)".parse::<TimeLaw>());
        assert_eq!("erlang( phases = 3 , 1s )".parse(), Ok(TimeLaw::Erlang { mean_s: 1.0, phases: 3 }));
    }

    #[test]
    fn errors_name_the_wrong_part() {
        let reported = |text: &str| text.parse::<TimeLaw>().unwrap_err().to_string();
        assert_eq!(
            reported("exponental(50ms)"),
            "\"exponental\" is not a known law; did you mean \"exponential\"?"
        );
        assert!(
            reported("fancy(50ms)")
                .starts_with("\"fancy\" is not a known law; the known laws are exponential, constant")
        );
        assert_eq!(reported("erlang(50ms)"), "phases of erlang is missing; its form is erlang(mean, phases)");
        assert_eq!(
            reported("erlang(50ms, 2.5)"),
            "phases of erlang: 2.5 is not a whole number from 1 to 1000000"
        );
        assert_eq!(
            reported("uniform(1s, 2s, 3s)"),
            "uniform has too many parameters; its form is uniform(from, to)"
        );
        assert_eq!(reported("gamma(1s, mean=2s)"), "mean of gamma is given twice");
        assert_eq!(
            reported("hyperexponential(1s, cw=2)"),
            "hyperexponential has no parameters cw; its form is hyperexponential(mean, cv) or \
             hyperexponential(p, first, second)"
        );
        assert_eq!(
            reported("hyperexponential(1s)"),
            "cv of hyperexponential is missing; its form is hyperexponential(mean, cv) or \
             hyperexponential(p, first, second)"
        );
        assert!(reported("uniform(1s, 2s").contains("closing parenthesis"));
        assert!(reported("fast").contains("neither a time nor a law"));
        assert!(reported("5 years").contains("not a unit of time"));
    }

    #[test]
    fn moments_match_known_values() {
        let law: TimeLaw = "hyperexponential(2s, cv=3)".parse().unwrap();
        assert!((law.mean_s() - 2.0).abs() < 1e-12 && (law.scv() - 9.0).abs() < 1e-12);
        // An MMPP2 with the same rate in both states is a Poisson process.
        let law: TimeLaw = "mmpp2(5, 5, 1, 2)".parse().unwrap();
        assert!((law.mean_s() - 0.2).abs() < 1e-12 && law.scv() == 1.0 && law.is_exponential());
        // A Weibull of shape 2 is a Rayleigh law: scv = 4/π − 1.
        let law: TimeLaw = "weibull(1, shape=2)".parse().unwrap();
        assert!((law.scv() - (4.0 / std::f64::consts::PI - 1.0)).abs() < 1e-12);
        // A normal law that is truncated at its mean is half-normal: mean σ√(2/π).
        let law: TimeLaw = "normal(0, sd=1)".parse().unwrap();
        assert!((law.mean_s() - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-12);
        assert!((law.scaled(3.0).mean_s() - 3.0 * law.mean_s()).abs() < 1e-12);
        let law: TimeLaw = "coxian(1s, 2s, 0.5)".parse().unwrap();
        assert!((law.mean_s() - 2.0).abs() < 1e-12 && (law.scv() - 1.0).abs() < 1e-12);
    }
}
