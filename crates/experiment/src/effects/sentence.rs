//! The result of an experiment in one sentence.

use super::analysis::{Effect, ExperimentAnalysis};
use super::contrasts::EffectKind;
use crate::design::{CaseSet, DesignKind};
use crate::scale::ResponseScale;

/// The name of an effect, such as `neighbour=stream`.
#[must_use]
pub fn effect_name(cases: &CaseSet, kind: EffectKind) -> String {
    let level = |factor: usize, level: usize| {
        let factor = &cases.factors()[factor];
        format!("{}={}", factor.name, factor.levels[level])
    };
    match kind {
        EffectKind::Main { factor, level: of } => level(factor, of),
        EffectKind::Interaction { factors: [first, second], levels: [one, two] } => {
            format!("{} with {}", level(first, one), level(second, two))
        }
        EffectKind::Case { case } => match cases.case(case) {
            Some(case) => cases.case_name(case),
            None => format!("case {case}"),
        },
    }
}

/// The result of an experiment in a sentence, with its confidence interval.
///
/// The sentence names the factor with the largest effect, or the smallest effect that would have been found.
#[must_use]
pub fn sentence(cases: &CaseSet, analysis: &ExperimentAnalysis, response: &str) -> String {
    let detected = analysis.effects.iter().filter(|effect| effect.is_detected).count();
    let main = analysis.factors.iter().map(|ranked| &ranked.largest).find(|effect| effect.is_detected);
    let interaction = || analysis.effects.iter().find(|effect| effect.is_detected);
    if let Some(effect) = main.or_else(interaction) {
        return found(cases, analysis, response, (effect, detected - 1));
    }
    if analysis.effects.iter().any(|effect| effect.p.is_none()) {
        return unavailable(cases, analysis, response);
    }
    let main_effects =
        analysis.effects.iter().filter(|effect| matches!(effect.kind, EffectKind::Main { .. }));
    let smallest: Option<Vec<f64>> = main_effects.map(|effect| effect.smallest).collect();
    let smallest = smallest.into_iter().flatten().max_by(f64::total_cmp);
    let blocks = blocks_text(analysis.blocks);
    match smallest {
        Some(smallest) => format!(
            "No effect on {response} was found in {blocks}; an increase by {} would have been found in 9 of 10 such experiments.",
            change_text(smallest, analysis.scale)
        ),
        None => format!(
            "No effect on {response} was found in {blocks}; the values do not vary enough to tell what would have been found."
        ),
    }
}

fn found(
    cases: &CaseSet,
    analysis: &ExperimentAnalysis,
    response: &str,
    (effect, others): (&Effect, usize),
) -> String {
    let change = effect.change.unwrap_or(0.0);
    let direction = if change < 0.0 { "lower" } else { "higher" };
    let size = change_text(change.abs(), analysis.scale);
    let what = match effect.kind {
        EffectKind::Interaction { .. } => format!(
            "{} changes {response} differently than either alone: it is {size} {direction} than the two effects predict",
            effect_name(cases, effect.kind)
        ),
        EffectKind::Main { .. } | EffectKind::Case { .. } => {
            let against = match effect.kind {
                EffectKind::Main { factor, .. } => {
                    let factor = &cases.factors()[factor];
                    format!("{}={}", factor.name, factor.levels[factor.base])
                }
                _ => "the base case".to_owned(),
            };
            format!(
                "{response} is {size} {direction} with {} than with {against}",
                effect_name(cases, effect.kind)
            )
        }
    };
    let averaged = match (effect.kind, cases.kind(), cases.factors().len()) {
        (EffectKind::Main { .. }, DesignKind::FullFactorial, 2..) => ", averaged over the other factors",
        _ => "",
    };
    let interval = match effect.interval {
        Some(interval) => format!(
            "{} interval {} to {}",
            confidence_text(analysis.confidence),
            signed(interval.low),
            change_text_signed(interval.high, analysis.scale)
        ),
        None => "interval unavailable, because the difference is the same in all blocks".to_owned(),
    };
    let blocks = blocks_text(effect.blocks);
    let p = effect.p_adjusted.map_or_else(String::new, |p| format!(", {}", p_text(p)));
    let further = match others {
        0 => String::new(),
        1 => " One further effect was found.".to_owned(),
        others => format!(" {others} further effects were found."),
    };
    format!("{what}{averaged} ({interval}, {blocks}{p}).{further}")
}

fn unavailable(cases: &CaseSet, analysis: &ExperimentAnalysis, response: &str) -> String {
    let unknown: Vec<&Effect> = analysis.effects.iter().filter(|effect| effect.p.is_none()).collect();
    let reason = if analysis.unusable > 0 {
        format!("{} values are not above 0 and cannot be compared by ratios", analysis.unusable)
    } else {
        "fewer than 2 blocks have all its trials".to_owned()
    };
    let name = unknown.first().map_or_else(String::new, |effect| effect_name(cases, effect.kind));
    let more = match unknown.len() {
        0 | 1 => String::new(),
        count => format!(" and {} others", count - 1),
    };
    format!("No effect on {response} was found; the effect of {name}{more} is unavailable: {reason}.")
}

fn blocks_text(blocks: usize) -> String {
    if blocks == 1 { "1 block".to_owned() } else { format!("{blocks} blocks") }
}

fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 || size == 0.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn signed(value: f64) -> String {
    let text = digits(value);
    if value > 0.0 { format!("+{text}") } else { text.replace('-', "−") }
}

fn change_text(value: f64, scale: ResponseScale) -> String {
    format!("{} {}", digits(value), scale.unit())
}

fn change_text_signed(value: f64, scale: ResponseScale) -> String {
    format!("{} {}", signed(value), scale.unit())
}

fn confidence_text(confidence: f64) -> String {
    let text = format!("{:.1}", 100.0 * confidence);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

fn p_text(p: f64) -> String {
    if p < 0.000_1 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DesignFactor;
    use crate::effects::analysis::{AnalysisSettings, analyse};
    use crate::effects::table::{ResponseTable, TrialValue};

    fn cases(kind: DesignKind, factors: &[(&str, [&str; 2])]) -> CaseSet {
        let factors = factors
            .iter()
            .map(|(name, levels)| DesignFactor {
                name: (*name).to_owned(),
                levels: levels.iter().map(|level| (*level).to_owned()).collect(),
                base: 0,
            })
            .collect();
        CaseSet::new(kind, factors, 100).unwrap()
    }

    fn told(cases: &CaseSet, scale: ResponseScale, rows: &[&[f64]]) -> String {
        let values = rows.iter().zip(1..).flat_map(|(row, block)| {
            row.iter().zip(1..).map(move |(value, case)| TrialValue { block, case, value: *value })
        });
        let table = ResponseTable::new(cases.count(), scale, values).unwrap();
        sentence(cases, &analyse(cases, &table, AnalysisSettings::default()), "p95 of checkout")
    }

    #[test]
    fn the_sentence_states_the_effect_or_what_would_have_been_found() {
        let paired = cases(DesignKind::Paired, &[("neighbour", ["none", "stream"])]);
        let full = cases(
            DesignKind::FullFactorial,
            &[("neighbour", ["none", "stream"]), ("control", ["none", "cache"])],
        );
        let ratio = ResponseScale::Ratio;
        let texts = [
            told(&paired, ratio, &[&[106.0, 141.0], &[107.0, 142.0], &[104.0, 139.0], &[108.0, 143.5]]),
            told(&paired, ratio, &[&[141.0, 106.0], &[142.0, 107.0], &[139.0, 104.0]]),
            told(&paired, ratio, &[&[106.0, 104.0], &[107.0, 110.0], &[104.0, 103.0]]),
            told(&paired, ratio, &[&[10.0, 11.0], &[10.0, 11.0], &[10.0, 11.0]]),
            told(&paired, ratio, &[&[10.0, 11.0] as &[f64]; 8]),
            told(&paired, ratio, &[&[10.0, 10.0] as &[f64]; 3]),
            told(&paired, ratio, &[&[10.0, 11.0]]),
            told(&paired, ratio, &[]),
            told(&paired, ratio, &[&[0.0, 11.0], &[10.0, 11.0], &[0.0, 12.0]]),
            told(
                &paired,
                ResponseScale::Difference,
                &[&[0.0, 0.012], &[0.001, 0.014], &[0.0, 0.015], &[0.0, 0.012]],
            ),
            told(
                &full,
                ratio,
                &[&[100.0, 101.0, 150.0, 102.0], &[90.0, 92.0, 136.0, 90.0], &[80.0, 81.0, 121.0, 81.0]],
            ),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
