//! Traffic of network interfaces, from `/proc/net/dev`.

use super::super::measure::PerfMonMeasure;
use super::super::request::{MetricUnit, NetworkField};
use super::snapshot::{MetricError, SystemCounters, column, in_unit, missing, read_text};

/// Sums over the interfaces, or the value of one.
pub(super) fn measure(
    snapshot: &SystemCounters<'_>,
    field: NetworkField,
    interface: Option<&str>,
    unit: MetricUnit,
) -> Result<PerfMonMeasure, MetricError> {
    let path = snapshot.proc("net/dev");
    let text = read_text(&path)?;
    let lines = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    let (mut sum, mut found) = (0.0, false);
    for (name, numbers) in lines.map(|(name, numbers)| (name.trim(), numbers)) {
        if interface.is_some_and(|wanted| wanted != name) {
            continue;
        }
        found = true;
        sum += match column_of(field) {
            Some(at) => column(numbers, at).ok_or_else(|| missing(&path, format!("traffic of {name}")))?,
            None => match speed(snapshot, name) {
                Ok(speed) => speed,
                // Interfaces without a speed, such as the loopback, add nothing to the sum of all.
                Err(_) if interface.is_none() => 0.0,
                Err(error) => return Err(error),
            },
        };
    }
    if !found {
        let name = interface.map_or_else(
            || "network interface".to_owned(),
            |name| format!("network interface `{}`", name.chars().take(40).collect::<String>()),
        );
        return Err(MetricError::NoPart(name));
    }
    Ok(match field {
        NetworkField::Speed | NetworkField::Used => PerfMonMeasure::Value(sum),
        NetworkField::BytesReceived | NetworkField::BytesSent => {
            PerfMonMeasure::Counter(in_unit(sum, unit, false))
        }
        _ => PerfMonMeasure::Counter(sum),
    })
}

/// The column after the name; `None` for the speed, which is in another file.
const fn column_of(field: NetworkField) -> Option<usize> {
    Some(match field {
        NetworkField::BytesReceived => 0,
        NetworkField::PacketsReceived => 1,
        NetworkField::ReceiveErrors => 2,
        NetworkField::ReceiveDrops => 3,
        NetworkField::ReceiveOverruns => 4,
        NetworkField::ReceiveFrame => 5,
        NetworkField::BytesSent => 8,
        NetworkField::PacketsSent | NetworkField::Used => 9,
        NetworkField::SendErrors => 10,
        NetworkField::SendDrops => 11,
        NetworkField::SendOverruns => 12,
        NetworkField::Collisions => 13,
        NetworkField::Carrier => 14,
        NetworkField::Speed => return None,
    })
}

/// The speed of an interface in bit/s.
fn speed(snapshot: &SystemCounters<'_>, interface: &str) -> Result<f64, MetricError> {
    let path = snapshot.root().path("/sys/class/net").join(interface).join("speed");
    let megabits = column(&read_text(&path)?, 0).filter(|speed| *speed > 0.0);
    megabits.map(|speed| speed * 1e6).ok_or_else(|| missing(&path, "speed"))
}
