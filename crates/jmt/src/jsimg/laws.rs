//! Reads and writes distributions of times.

use busyhour_queueing::network::TimeLaw;

use crate::element::Element;
use crate::findings::Findings;
use crate::text::decimal;

/// The service, interarrival or think time of a class.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Service {
    /// The class is not served.
    None,
    /// A load-independent distribution.
    Law(TimeLaw),
    /// The distribution with one customer, and the speeds with 1, 2, 3 … customers.
    LoadDependent(TimeLaw, Vec<f64>),
}

/// Maximum length of a table of speeds.
const SPEEDS_MAX: usize = 100_000;

/// Largest difference between the squared coefficients of variation of distributions that are treated as having the same shape.
const SAME_SHAPE: f64 = 1e-9;

/// Reads the distribution of a service strategy; reports an error and returns `None` if it cannot be read.
pub(super) fn read_service(strategy: &Element, findings: &mut Findings<'_>) -> Option<Service> {
    if strategy.value() == Some("null") {
        return Some(Service::None);
    }
    match strategy.java_class() {
        "DisabledServiceTimeStrategy" => Some(Service::None),
        "ZeroServiceTimeStrategy" => Some(Service::Law(TimeLaw::Deterministic { mean_s: 0.0 })),
        "ServiceTimeStrategy" => {
            let mut inner = strategy.inner();
            let (Some(law), Some(parameters)) = (inner.next(), inner.next()) else {
                findings.error(strategy, "has no distribution");
                return None;
            };
            read_law(law, parameters, findings).map(Service::Law)
        }
        "LoadDependentStrategy" => read_load_dependent(strategy, findings),
        other => {
            findings.error(strategy, format!("is not supported as a service strategy: {other}"));
            None
        }
    }
}

/// Reads a load-dependent service. It consists of ranges of the number of customers. Each range has a distribution whose mean
/// is given by a function.
fn read_load_dependent(strategy: &Element, findings: &mut Findings<'_>) -> Option<Service> {
    let mut ranges: Vec<(usize, TimeLaw)> = Vec::new();
    for range in strategy.inner().flat_map(Element::inner) {
        let parts: Vec<&Element> = range.inner().collect();
        let [from, law, parameters, rest @ ..] = &parts[..] else {
            findings.error(range, "has no distribution");
            return None;
        };
        let from: usize = findings.number(from, from.value().unwrap_or_default())?;
        let mut law = read_law(law, parameters, findings)?;
        if let Some(function) = rest.first().and_then(|rest| rest.value()) {
            let Ok(mean_s) = function.parse::<f64>() else {
                findings.error(
                    range,
                    format!("has a mean with the formula {function:?}; only numbers are supported"),
                );
                return None;
            };
            if law.mean_s() > 0.0 {
                law = law.scaled(mean_s / law.mean_s());
            }
        }
        ranges.push((from, law));
    }
    ranges.sort_by_key(|(from, _)| *from);
    let Some((_, first)) = ranges.first().cloned() else {
        findings.error(strategy, "has no ranges");
        return None;
    };
    let mut speeds = Vec::new();
    for (at, (from, law)) in ranges.iter().enumerate() {
        if (law.scv() - first.scv()).abs() > SAME_SHAPE || law.mean_s() <= 0.0 || *from > SPEEDS_MAX {
            findings.error(
                strategy,
                "has ranges with distributions of different shapes or with a mean of 0; load-dependent service must have one \
                 distribution with different speeds",
            );
            return None;
        }
        let speed = first.mean_s() / law.mean_s();
        let next = ranges.get(at + 1).map_or(speeds.len() + 1, |(from, _)| from.saturating_sub(1));
        speeds.resize(next.max(speeds.len()), speed);
    }
    Some(Service::LoadDependent(first, speeds))
}

/// Reads a distribution with its parameters.
fn read_law(law: &Element, parameters: &Element, findings: &mut Findings<'_>) -> Option<TimeLaw> {
    let mut number = |name: &str| -> Option<f64> {
        let Some(parameter) = parameters.inner_named(name) else {
            findings.error(parameters, format!("has no parameter {name:?}"));
            return None;
        };
        findings.number(parameter, parameter.value().unwrap_or_default())
    };
    let found = match law.java_class() {
        "DeterministicDistr" => TimeLaw::Deterministic { mean_s: number("t")? },
        "Exponential" => TimeLaw::Exponential { mean_s: 1.0 / number("lambda")? },
        "Erlang" => {
            let (rate, phases) = (number("alpha")?, number("r")?);
            if !(1.0..1e9).contains(&phases) || phases.fract() != 0.0 {
                findings.error(law, format!("has {phases} phases; it must be a whole number of at least 1"));
                return None;
            }
            TimeLaw::Erlang { mean_s: phases / rate, phases: phases as u32 }
        }
        "HyperExp" => TimeLaw::Hyperexponential {
            first_probability: number("p")?,
            first_mean_s: 1.0 / number("lambda1")?,
            second_mean_s: 1.0 / number("lambda2")?,
        },
        // JMT's phi0 is the probability that there is no second phase.
        "CoxianDistr" => TimeLaw::Coxian {
            first_mean_s: 1.0 / number("lambda0")?,
            second_mean_s: 1.0 / number("lambda1")?,
            second_probability: 1.0 - number("phi0")?,
        },
        "GammaDistr" => {
            let (shape, scale_s) = (number("alpha")?, number("beta")?);
            TimeLaw::Gamma { mean_s: shape * scale_s, cv: 1.0 / shape.sqrt() }
        }
        "Lognormal" => {
            let (mu, sigma) = (number("mu")?, number("sigma")?);
            let variance = sigma * sigma;
            TimeLaw::Lognormal { mean_s: (mu + 0.5 * variance).exp(), cv: variance.exp_m1().sqrt() }
        }
        "Normal" => TimeLaw::NormalTruncated {
            untruncated_mean_s: number("mean")?,
            untruncated_sd_s: number("standardDeviation")?,
        },
        "Pareto" => {
            let (shape, least_s) = (number("alpha")?, number("k")?);
            if shape <= 1.0 {
                findings.error(law, format!("has an infinite mean: its shape alpha is {shape}"));
                return None;
            }
            TimeLaw::Pareto { mean_s: shape * least_s / (shape - 1.0), shape }
        }
        "Uniform" => TimeLaw::Uniform { from_s: number("min")?, to_s: number("max")? },
        "Weibull" => {
            let (scale_s, shape) = (number("alpha")?, number("r")?);
            TimeLaw::Weibull { mean_s: scale_s / TimeLaw::weibull_scale_s(1.0, shape), shape }
        }
        "MMPP2Distr" => TimeLaw::Mmpp2 {
            rates_per_s: [number("lambda0")?, number("lambda1")?],
            leave_per_s: [number("sigma0")?, number("sigma1")?],
        },
        "Replayer" => {
            let Some(file) = parameters.inner_named("fileName").and_then(Element::value) else {
                findings.error(parameters, "has no parameter \"fileName\"");
                return None;
            };
            return Some(TimeLaw::Replay { file: file.to_owned(), values_s: Vec::new() });
        }
        other => {
            findings.error(law, format!("is not supported as a distribution: {other}"));
            return None;
        }
    };
    if !found.mean_s().is_finite() || found.mean_s() < 0.0 {
        findings.error(law, "has invalid parameters: its mean is negative or not finite");
        return None;
    }
    Some(found)
}

pub(super) fn sub_parameter(class_path: &str, name: &str, content: &str) -> String {
    if content.is_empty() {
        format!("<subParameter classPath=\"{class_path}\" name=\"{name}\"/>\n")
    } else {
        format!("<subParameter classPath=\"{class_path}\" name=\"{name}\">\n{content}</subParameter>\n")
    }
}

pub(super) fn value_parameter(class_path: &str, name: &str, value: impl std::fmt::Display) -> String {
    sub_parameter(class_path, name, &format!("<value>{value}</value>\n"))
}

/// Writes a distribution with its parameters in the notation of JMT.
pub(super) fn distribution(law: &TimeLaw) -> String {
    let double = |name: &str, value: f64| value_parameter("java.lang.Double", name, decimal(value));
    let (class, parameters_class, name, parameters) = match law {
        TimeLaw::Deterministic { mean_s } => {
            ("DeterministicDistr", "DeterministicDistrPar", "Deterministic", double("t", *mean_s))
        }
        TimeLaw::Exponential { mean_s } => {
            ("Exponential", "ExponentialPar", "Exponential", double("lambda", 1.0 / mean_s))
        }
        TimeLaw::Erlang { mean_s, phases } => (
            "Erlang",
            "ErlangPar",
            "Erlang",
            double("alpha", f64::from(*phases) / mean_s) + &value_parameter("java.lang.Long", "r", phases),
        ),
        TimeLaw::Hyperexponential { first_probability, first_mean_s, second_mean_s } => (
            "HyperExp",
            "HyperExpPar",
            "Hyperexponential",
            double("p", *first_probability)
                + &double("lambda1", 1.0 / first_mean_s)
                + &double("lambda2", 1.0 / second_mean_s),
        ),
        // JMT's phi0 is the probability that there is no second phase.
        TimeLaw::Coxian { first_mean_s, second_mean_s, second_probability } => (
            "CoxianDistr",
            "CoxianPar",
            "Coxian",
            double("lambda0", 1.0 / first_mean_s)
                + &double("lambda1", 1.0 / second_mean_s)
                + &double("phi0", 1.0 - second_probability),
        ),
        TimeLaw::Gamma { mean_s, cv } => (
            "GammaDistr",
            "GammaDistrPar",
            "Gamma",
            double("alpha", 1.0 / (cv * cv)) + &double("beta", mean_s * cv * cv),
        ),
        TimeLaw::Lognormal { mean_s, cv } => {
            let variance = (cv * cv).ln_1p();
            let mu = mean_s.ln() - 0.5 * variance;
            ("Lognormal", "LognormalPar", "Lognormal", double("mu", mu) + &double("sigma", variance.sqrt()))
        }
        TimeLaw::NormalTruncated { untruncated_mean_s, untruncated_sd_s } => (
            "Normal",
            "NormalPar",
            "Normal",
            double("mean", *untruncated_mean_s) + &double("standardDeviation", *untruncated_sd_s),
        ),
        TimeLaw::Pareto { mean_s, shape } => {
            let least = mean_s * (shape - 1.0) / shape;
            ("Pareto", "ParetoPar", "Pareto", double("alpha", *shape) + &double("k", least))
        }
        TimeLaw::Uniform { from_s, to_s } => {
            ("Uniform", "UniformPar", "Uniform", double("min", *from_s) + &double("max", *to_s))
        }
        TimeLaw::Weibull { mean_s, shape } => {
            let scale = TimeLaw::weibull_scale_s(*mean_s, *shape);
            ("Weibull", "WeibullPar", "Weibull", double("alpha", scale) + &double("r", *shape))
        }
        TimeLaw::Mmpp2 { rates_per_s: [r0, r1], leave_per_s: [l0, l1] } => (
            "MMPP2Distr",
            "MMPP2Par",
            "Burst (MMPP2)",
            double("lambda0", *r0)
                + &double("lambda1", *r1)
                + &double("sigma0", *l0)
                + &double("sigma1", *l1),
        ),
        TimeLaw::Replay { .. } => return String::new(),
    };
    let random = "jmt.engine.random";
    sub_parameter(&format!("{random}.{class}"), name, "")
        + &sub_parameter(&format!("{random}.{parameters_class}"), "distrPar", &parameters)
}
