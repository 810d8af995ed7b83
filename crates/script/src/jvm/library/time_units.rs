//! Methods of `TimeUnit` and `ChronoUnit`.

use super::super::fault::Outcome;
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::unknown;

/// The length of a unit in nanoseconds.
fn unit_ns(unit: &str) -> Option<i128> {
    Some(match unit.to_ascii_uppercase().as_str() {
        "NANOS" | "NANOSECONDS" => 1,
        "MICROS" | "MICROSECONDS" => 1_000,
        "MILLIS" | "MILLISECONDS" => 1_000_000,
        "SECONDS" => 1_000_000_000,
        "MINUTES" => 60_000_000_000,
        "HOURS" => 3_600_000_000_000,
        "DAYS" => 86_400_000_000_000,
        _ => return None,
    })
}

/// Calls a method of a unit.
pub fn call(machine: &mut Machine<'_>, unit: &str, object: &V, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("sleep", [time]) => {
            let factor = match unit {
                "MILLISECONDS" | "MILLIS" => 1,
                "SECONDS" => 1000,
                "MINUTES" => 60_000,
                _ => return Err(unknown(object, method)),
            };
            machine
                .scope
                .pause_ms(u64::try_from(time.as_long().unwrap_or(0)).unwrap_or(0).saturating_mul(factor));
            Ok(V::NULL)
        }
        ("between", [V::Object(from), V::Object(to)]) if matches!(unit, "MONTHS" | "YEARS") => {
            let (Object::Temporal(_, from, _), Object::Temporal(_, to, _)) = (&**from, &**to) else {
                return Err(unknown(object, method));
            };
            let largest = if unit == "MONTHS" { jiff::Unit::Month } else { jiff::Unit::Year };
            let span = from.until((largest, *to)).map_err(|_| unknown(object, method))?;
            Ok(V::long(if unit == "MONTHS" {
                i64::from(span.get_months())
            } else {
                i64::from(span.get_years())
            }))
        }
        (
            "toNanos" | "toMicros" | "toMillis" | "toSeconds" | "toMinutes" | "toHours" | "toDays",
            [amount],
        ) => {
            let to = method.strip_prefix("to").and_then(unit_ns);
            let (Some(from), Some(to), Some(amount)) = (unit_ns(unit), to, amount.as_long()) else {
                return Err(unknown(object, method));
            };
            Ok(V::long(i64::try_from(i128::from(amount) * from / to).unwrap_or(i64::MAX)))
        }
        ("convert", [amount, V::Object(other)]) => {
            let Object::Unit(other) = &**other else { return Err(unknown(object, method)) };
            let (Some(from), Some(to), Some(amount)) = (unit_ns(other), unit_ns(unit), amount.as_long())
            else {
                return Err(unknown(object, method));
            };
            Ok(V::long(i64::try_from(i128::from(amount) * from / to).unwrap_or(i64::MAX)))
        }
        ("name", []) => Ok(V::text(unit)),
        ("between", [V::Object(from), V::Object(to)]) => {
            let (Some(from), Some(to)) = (from.instant(), to.instant()) else {
                return Err(unknown(object, method));
            };
            let by = match unit {
                "MILLIS" => 1,
                "SECONDS" => 1000,
                "MINUTES" => 60_000,
                "HOURS" => 3_600_000,
                "DAYS" => 86_400_000,
                "WEEKS" => 7 * 86_400_000,
                _ => return Err(unknown(object, method)),
            };
            Ok(V::long((to - from) / by))
        }
        _ => Err(unknown(object, method)),
    }
}
