//! Parses criteria.

mod ending;
mod quantity;
mod scanner;

use self::quantity::Quantity;
use self::scanner::{ParseError, Reader};
use super::criterion::{
    Criterion, CriterionError, LabelPattern, Meaning, MeasuredQuantity, MeasuredSamples, MeasuredTime,
    Operator, Window,
};

/// The quantities that can be measured, for hints.
const SUBJECTS: &str = "mean (avg-rt), p95 (any percentile), median, max, min, stdev-rt, avg-lt, avg-ct, hits, rate, succ, \
                        fail, rc500 (rc5xx, rc4??, rc*), concurrency, apdex(500ms, 1500ms), arrivals-cov, dropped, waited";

/// JMeter's default limits of the APDEX.
const APDEX_MS: (f64, f64) = (500.0, 1_500.0);

impl Criterion {
    /// Parses a criterion.
    ///
    /// `meaning` is the default meaning. A text that begins with `require` is a requirement; one that begins with `fail if`, or
    /// ends with an action (`, stop as failed`, `, continue`), is a condition for failure.
    ///
    /// # Errors
    /// The text is not a valid criterion. The error contains the position and what was expected.
    pub fn parse(text: &str, meaning: Meaning) -> Result<Criterion, CriterionError> {
        let error = match Reader::new(text, 0, meaning).criterion(None) {
            Ok(criterion) => return Ok(criterion),
            Err(error) => error,
        };
        // The text has the form `Name: criterion`, unless the colon is part of a label.
        let Some((name, _)) = text.split_once(':').filter(|(name, _)| !begins_as_criterion(name)) else {
            return Err(error.into_error(text));
        };
        let named = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        Reader::new(text, name.len() + 1, meaning).criterion(named).map_err(|error| error.into_error(text))
    }
}

/// Whether the text before a colon is the start of a criterion rather than its name.
fn begins_as_criterion(head: &str) -> bool {
    head.contains(['<', '>', '=']) || head.split_whitespace().any(|word| word.eq_ignore_ascii_case("of"))
}

impl<'t> Reader<'t> {
    fn criterion(mut self, name: Option<String>) -> Result<Criterion, ParseError> {
        let explicit = self.meaning_words();
        let clock = self.clock();
        let subject_at = self.place();
        let (subject, like_k6) = self.subject(name.as_deref())?;
        let scope_at = self.place();
        let scope = self.scope()?;
        if subject.is_of_run() && scope != MeasuredSamples::Total {
            let message = format!("{subject} is measured only for the whole run, not for a label");
            return Err(self.wrong_from(scope_at, message).hint("omit `of …`"));
        }
        let comparison_at = self.place();
        let comparison = self.comparison()?;
        let quantity = self.quantity()?;
        let rest = self.rest()?;
        let meaning = match (explicit, rest.has_action) {
            (Some(meaning), _) => meaning,
            (None, true) => Meaning::FailIf,
            (None, false) => self.meaning,
        };
        let limit = self.limit(&subject, &quantity, meaning, like_k6)?;
        let rest_end = self.at;
        if clock == MeasuredTime::Service
            && !(subject.is_time() || matches!(subject, MeasuredQuantity::Apdex { .. }))
        {
            return Err(self.wrong(subject_at, scope_at, format!("{subject} is not a time: omit `service`")));
        }
        let upwards = matches!(comparison, Operator::More | Operator::MoreOrEqual);
        let bad_when_large = subject.is_time()
            || matches!(
                subject,
                MeasuredQuantity::Failed
                    | MeasuredQuantity::DiscardedArrivals
                    | MeasuredQuantity::WaitedArrivals
            )
            || matches!(&subject, MeasuredQuantity::Codes(pattern) if pattern.starts_with(['4', '5']));
        if meaning == Meaning::Require && explicit.is_none() && upwards && bad_when_large {
            let condition = self.text.get(subject_at..rest_end).unwrap_or_default().trim();
            let turned = if comparison == Operator::More { "<=" } else { "<" };
            let message = format!("this would require {subject} {} …", comparison.as_str());
            return Err(self.wrong(comparison_at, comparison_at + comparison.as_str().len(), message).hint(format!(
                "write `{turned}` for a requirement, or `fail if {condition}` for a condition that must not occur"
            )));
        }
        let window = match (rest.window, meaning) {
            (Some((Window::For(_), at)), Meaning::Require) => {
                let message =
                    "`for` sets the shortest duration of a failure, so it cannot be used in a requirement";
                return Err(self.wrong_from(at, message).hint(
                    "write `over 30s` for every window of 30 s, or reverse the condition: `fail if … for 30s`",
                ));
            }
            (window, _) => window.map_or(Window::Run, |(window, _)| window),
        };
        if subject == MeasuredQuantity::ArrivalsCov && matches!(window, Window::Over(_)) {
            let at = rest.window.map_or(rest_end, |(_, at)| at);
            let message =
                "the CoV of a second is measured over the preceding ten seconds, and has no other windows";
            return Err(self.wrong_from(at, message).hint("write `for 10s`, or omit the window"));
        }
        // As in Taurus, a condition for failure that has a window stops the run by default.
        let stop = rest.stop.unwrap_or(meaning == Meaning::FailIf);
        if let Some(at) = rest.or_stop
            && window == Window::Run
        {
            let message = "a criterion that stops the run needs a window, which is evaluated during the run";
            return Err(self.wrong_from(at, message).hint("add `over 30s` before it"));
        }
        if let Some(until) = rest.until_s.filter(|until| *until <= rest.after_s) {
            let message = format!("there is no time after {} s and before {until} s", rest.after_s);
            return Err(self.wrong(comparison_at, rest_end, message));
        }
        Ok(Criterion {
            text: self.text.trim().to_owned(),
            name,
            meaning,
            subject,
            clock,
            scope,
            comparison,
            limit,
            window,
            after_s: rest.after_s,
            until_s: rest.until_s,
            stops_run: stop && window != Window::Run,
            fails_run: rest.fails,
            passes_without_data: rest.passes_without_data,
        })
    }

    /// Parses `require` or `fail if`, if one of them is next.
    fn meaning_words(&mut self) -> Option<Meaning> {
        let from = self.at;
        if self.word("require") {
            return Some(Meaning::Require);
        }
        if self.word("fail") && self.word("if") {
            return Some(Meaning::FailIf);
        }
        self.at = from;
        None
    }

    fn clock(&mut self) -> MeasuredTime {
        if self.word("service") {
            return MeasuredTime::Service;
        }
        self.word("response");
        MeasuredTime::Response
    }

    /// Parses the subject. Also returns whether it is written in the notation of k6.
    fn subject(&mut self, name: Option<&str>) -> Result<(MeasuredQuantity, bool), ParseError> {
        let from = self.place();
        let len = self.left().find(|c: char| !(c.is_alphanumeric() || "-_.?*".contains(c)));
        let word = &self.left()[..len.unwrap_or(self.left().len())];
        self.at += word.len();
        let arguments = self.arguments()?;
        let lower = word.to_ascii_lowercase();
        let known = |subject| Ok((subject, false));
        let unknown = |reader: &Self| {
            let message = if word.is_empty() {
                "the quantity to measure is missing".to_owned()
            } else {
                format!("`{word}` cannot be measured")
            };
            reader.wrong(from, from + word.len(), message).hint(format!("write one of: {SUBJECTS}"))
        };
        // In the notation of k6 the name of the metric precedes the colon.
        let of_k6 = name.filter(|name| name.starts_with("http_req") || name.starts_with("iteration"));
        let is_duration = of_k6.is_none_or(|metric| metric == "http_req_duration");
        if let Some(arguments) = arguments.filter(|_| is_duration) {
            return match (lower.as_str(), arguments.as_slice()) {
                ("p", [p]) if p.unit.is_empty() => {
                    Ok((MeasuredQuantity::Percentile(self.percentile(p)?), true))
                }
                ("apdex", [satisfied]) => {
                    let satisfied_ms = self.ms(satisfied)?;
                    known(MeasuredQuantity::Apdex { satisfied_ms, tolerating_ms: 4.0 * satisfied_ms })
                }
                ("apdex", [satisfied, tolerating]) => {
                    let (satisfied_ms, tolerating_ms) = (self.ms(satisfied)?, self.ms(tolerating)?);
                    if tolerating_ms < satisfied_ms {
                        return Err(self.wrong_from(tolerating.from, "the second limit is below the first"));
                    }
                    known(MeasuredQuantity::Apdex { satisfied_ms, tolerating_ms })
                }
                ("p", _) => Err(self.wrong_from(from, "a percentile is one number, as in p(95)")),
                ("apdex", _) => {
                    Err(self.wrong_from(from, "an APDEX has one or two limits, as in apdex(500ms, 1500ms)"))
                }
                _ => Err(unknown(self)),
            };
        }
        if let Some(metric) = of_k6 {
            match (metric, lower.as_str()) {
                ("http_req_failed", "rate") => return Ok((MeasuredQuantity::Failed, true)),
                ("http_reqs", "rate") => return known(MeasuredQuantity::Rate),
                ("http_reqs", "count") => return known(MeasuredQuantity::Hits),
                ("http_req_duration", "avg" | "min" | "max" | "med") => {}
                _ => {
                    let message = format!("`{word}` of k6's {metric} is not measured by Busyhour");
                    return Err(self.wrong(from, from + word.len(), message).hint(
                        "http_req_duration has avg, min, med, max and p(N), http_req_failed has rate, http_reqs has count and rate",
                    ));
                }
            }
        }
        let subject = match lower.as_str() {
            "mean" | "avg" | "avg-rt" | "average" => MeasuredQuantity::Mean,
            "median" | "med" => MeasuredQuantity::Percentile(50.0),
            "max" => MeasuredQuantity::Max,
            "min" => MeasuredQuantity::Min,
            "stdev-rt" | "stdev" | "stddev" => MeasuredQuantity::Deviation,
            "avg-lt" | "latency" => MeasuredQuantity::Latency,
            "avg-ct" | "connect" => MeasuredQuantity::Connect,
            "hits" | "samples" => MeasuredQuantity::Hits,
            "rate" | "rps" | "throughput" => MeasuredQuantity::Rate,
            "succ" | "success" | "successes" => MeasuredQuantity::Passed,
            "fail" | "failures" | "failed" | "errors" => MeasuredQuantity::Failed,
            "concurrency" | "concurr" | "users" => MeasuredQuantity::Users,
            "apdex" => MeasuredQuantity::Apdex { satisfied_ms: APDEX_MS.0, tolerating_ms: APDEX_MS.1 },
            "arrivals-cov" | "cov" => MeasuredQuantity::ArrivalsCov,
            "dropped" => MeasuredQuantity::DiscardedArrivals,
            "waited" => MeasuredQuantity::WaitedArrivals,
            _ => {
                // The code after `rc` is case-sensitive, as in `rcException`.
                let code = word.get(2..).filter(|code| lower.starts_with("rc") && !code.is_empty());
                if let Some(code) = code {
                    return known(MeasuredQuantity::Codes(code_pattern(code)));
                }
                let percentile =
                    lower.strip_prefix('p').filter(|p| p.starts_with(|c: char| c.is_ascii_digit()));
                let Some(percentile) = percentile else { return Err(unknown(self)) };
                let value = percentile.parse().map_err(|_| unknown(self))?;
                let quantity = Quantity { value, unit: "", from: from + 1 };
                return known(MeasuredQuantity::Percentile(self.percentile(&quantity)?));
            }
        };
        Ok((subject, of_k6.is_some()))
    }

    /// Parses arguments such as `(number, number)`, if a parenthesis is next.
    fn arguments(&mut self) -> Result<Option<Vec<Quantity<'t>>>, ParseError> {
        if !self.sign("(") {
            return Ok(None);
        }
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.quantity()?);
            if self.sign(")") {
                return Ok(Some(arguments));
            }
            if !self.sign(",") {
                return Err(self.wrong_here("expected `,` or `)`"));
            }
        }
    }

    fn percentile(&self, quantity: &Quantity<'_>) -> Result<f64, ParseError> {
        if quantity.value > 0.0 && quantity.value <= 100.0 {
            return Ok(quantity.value);
        }
        Err(self
            .wrong_from(quantity.from, "a percentile must be above 0 and at most 100, as in p95 or p99.9"))
    }

    /// Parses `of label`, `of 'label'`, `of /pattern/` or `of each`.
    fn scope(&mut self) -> Result<MeasuredSamples, ParseError> {
        if !self.word("of") {
            return Ok(MeasuredSamples::Total);
        }
        if self.word("each") {
            return Ok(MeasuredSamples::Each(self.pattern()?));
        }
        if let Some(pattern) = self.pattern()? {
            return Ok(MeasuredSamples::Matching(pattern));
        }
        let from = self.place();
        if let Some(quote @ ('\'' | '"')) = self.left().chars().next() {
            self.at += 1;
            let label = self.up_to(quote).ok_or_else(|| {
                self.wrong(from, self.text.len(), "the label's quotation mark is not closed".to_owned())
            })?;
            return Ok(MeasuredSamples::Label(label));
        }
        let left = self.left();
        let end = left.find(['<', '>', '=']).unwrap_or(left.len());
        let label = left[..end].trim();
        if label.is_empty() {
            return Err(self.wrong_here("a label is missing after `of`"));
        }
        self.at += end;
        Ok(match label.to_ascii_lowercase().as_str() {
            "total" | "all" => MeasuredSamples::Total,
            _ => MeasuredSamples::Label(label.to_owned()),
        })
    }

    fn pattern(&mut self) -> Result<Option<LabelPattern>, ParseError> {
        let from = self.place();
        // A label may begin with a slash. In a pattern, a second slash precedes the comparison.
        if !self.left().starts_with('/') {
            return Ok(None);
        }
        self.at += 1;
        let pattern = self.up_to_slash();
        let following = self.left().trim_start();
        let Some(pattern) =
            pattern.filter(|_| following.is_empty() || following.starts_with(['<', '>', '=']))
        else {
            self.at = from;
            return Ok(None);
        };
        let compiled = regex::Regex::new(&pattern).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            self.wrong(from, self.at, format!("the pattern is not a valid regular expression: {reason}"))
                .hint("put labels that contain a slash in quotes: of '/path'")
        })?;
        Ok(Some(LabelPattern(compiled)))
    }

    fn comparison(&mut self) -> Result<Operator, ParseError> {
        let signs = [
            ("<=", Operator::LessOrEqual),
            (">=", Operator::MoreOrEqual),
            ("==", Operator::Equal),
            ("<", Operator::Less),
            (">", Operator::More),
            ("=", Operator::Equal),
        ];
        let found = signs.into_iter().find(|(sign, _)| self.sign(sign));
        found.map(|(_, comparison)| comparison).ok_or_else(|| {
            self.wrong_here("expected `of LABEL` or one of < <= > >= =")
                .hint("a criterion is: WHAT of LABEL < LIMIT, as in `p95 of checkout < 800ms`")
        })
    }
}

/// Replaces `5xx` by `5??`.
fn code_pattern(code: &str) -> String {
    let digits_and_x =
        |code: &str| code.starts_with(|c: char| c.is_ascii_digit()) && code.ends_with(['x', 'X']);
    if digits_and_x(code) && code.chars().all(|c| c.is_ascii_digit() || matches!(c, 'x' | 'X')) {
        return code.replace(['x', 'X'], "?");
    }
    code.to_owned()
}

#[cfg(test)]
mod tests;
