//! Timers that hand out starts from a schedule.

use busyhour_arrivals::PreciseSchedule;
use busyhour_record::{Nanos, SamplesReader};

use crate::plans::{element, get, group, plan, text};
use crate::program::Room;
use crate::servers::Server;

/// Intended and actual starts in the record of the room's run, by intention.
fn starts(room: &Room) -> Vec<(Nanos, Nanos)> {
    let mut all = Vec::new();
    let reader = SamplesReader::open(&room.run_dir().samples_path()).unwrap();
    reader.read(|_, sample| all.push((sample.intended, sample.start))).unwrap();
    all.sort();
    all
}

fn precise(settings: &[(&str, &str)]) -> String {
    let properties: String = settings.iter().map(|(name, value)| text(name, value)).collect();
    element("PreciseThroughputTimer", "Precise", &properties, "")
}

#[test]
fn the_precise_timers_starts_are_intended_whenever_their_users_come() {
    let server = Server::quick();
    let timer = precise(&[
        ("throughput", "${__P(rate)}"),
        ("throughputPeriod", "60"),
        ("duration", "1"),
        ("batchSize", "1"),
        ("randomSeed", "77"),
    ]);
    let room = Room::new();
    room.file("plan.jmx", plan(&group("10", "20", &(timer + &get("get", "/")))));
    let port = format!("-JPORT={}", server.port());
    let ended = room.run(["run", "plan.jmx", &port, "-Jrate=12000"]).expect(0);
    ended.prints(&["200 requests", "window of 1 s a fixed number of starts"]);
    let mut schedule = PreciseSchedule::new(77, 0, 1);
    let expected: Vec<Nanos> = (0..200).map(|_| Nanos(schedule.next_ns(200.0, 1).unwrap())).collect();
    let starts = starts(&room);
    assert_eq!(starts.iter().map(|(intended, _)| *intended).collect::<Vec<_>>(), expected);
    assert!(starts.iter().all(|(intended, start)| start >= intended), "{starts:?}");
}

#[test]
fn a_precise_timer_without_starts_is_refused() {
    let room = Room::new();
    let good = [("throughput", "5"), ("throughputPeriod", "1"), ("duration", "1"), ("batchSize", "1")];
    let check = |settings: &[(&str, &str)]| {
        room.file("plan.jmx", plan(&group("1", "1", &(precise(settings) + &get("get", "/")))));
        room.type_in("check plan.jmx")
    };
    check(&good).expect(0).prints(&["fixed number of starts"]);
    for (number, (name, _)) in good.iter().enumerate().take(3) {
        for value in ["0", "-1", "soon"] {
            let mut settings = good;
            settings[number].1 = value;
            check(&settings).expect(3).prints(&["has no starts to give", name, &format!("{value:?}")]);
        }
        let mut settings = good.to_vec();
        settings.remove(number);
        check(&settings).expect(3).prints(&["has no starts to give", name]);
    }
    let mut settings = good.to_vec();
    settings.push(("batchThreadDelay", "3"));
    settings[3].1 = "0";
    check(&settings).expect(0).prints(&["does not use batchThreadDelay", "nothing sets a rate"]);
}
