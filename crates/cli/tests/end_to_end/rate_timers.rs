//! Tests timers with a schedule.

use busyhour_arrivals::PreciseSchedule;
use busyhour_record::SamplesReader;
use busyhour_sample::Nanos;

use crate::plans::{element, get, group, plan, text};
use crate::program::Room;
use crate::servers::Server;

/// Intended and actual starts of the run, ordered by intended start.
fn starts(room: &Room) -> Vec<(Nanos, Nanos)> {
    let mut all = Vec::new();
    let reader = SamplesReader::open(&room.run_dir().samples_path()).unwrap();
    reader.read(|_, sample| all.push((sample.times.intended, sample.times.start))).unwrap();
    all.sort();
    all
}

fn precise(settings: &[(&str, &str)]) -> String {
    let properties: String = settings.iter().map(|(name, value)| text(name, value)).collect();
    element("PreciseThroughputTimer", "Precise", &properties, "")
}

#[test]
fn intended_starts_of_the_precise_timer_do_not_depend_on_users() {
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
    ended.prints(&["200 requests", "window of 1 s a fixed number of starts", "--ignore-rate-timers"]);
    let mut schedule = PreciseSchedule::new(77, 0, 1);
    let expected: Vec<u64> = (0..200).map(|_| schedule.next_ns(200.0, 1).unwrap()).collect();
    let starts = starts(&room);
    let begun = starts[0].0.since(Nanos(expected[0]));
    assert_eq!(starts.iter().map(|(intended, _)| intended.0 - begun).collect::<Vec<_>>(), expected);
    assert!(starts.iter().all(|(intended, start)| start >= intended), "{starts:?}");
}

/// A Throughput Shaping Timer with these rows; cells have arbitrary names, as written by the plugin.
fn shaping(name: &str, rows: &[[&str; 3]]) -> String {
    let cell = |value: &&str| text("49", value);
    let row = |cells: &[&str; 3]| {
        format!(
            "<collectionProp name=\"-7\">{}</collectionProp>\n",
            cells.iter().map(cell).collect::<String>()
        )
    };
    let rows: String = rows.iter().map(row).collect();
    let table = format!("<collectionProp name=\"load_profile\">{rows}</collectionProp>\n");
    element("kg.apc.jmeter.timers.VariableThroughputTimer", name, &table, "")
}

#[test]
fn the_shaping_timer_sets_the_rate_of_each_second_and_ends_the_run() {
    let server = Server::quick();
    let room = Room::new();
    let timer = shaping("shape", &[["${__P(rate)}", "40", "1"], ["100", "20", "1"]]);
    // There are more users than starts, so that none is skipped on a slow machine.
    room.file("plan.jmx", plan(&group("150", "-1", &(timer + &get("get", "/")))));
    let port = format!("-JPORT={}", server.port());
    room.run(["run", "plan.jmx", &port, "-Jrate=80"]).expect(0).prints(&["140 requests", "none failed"]);
    let starts = starts(&room);
    let first = starts[0].0;
    let intended: Vec<u64> = starts.iter().map(|(intended, _)| intended.since(first) / 1_000).collect();
    let second = |second: u64, rate: u64| (0..rate).map(move |k| second * 1_000_000 + k * 1_000_000 / rate);
    assert_eq!(intended, second(0, 80).chain(second(1, 40)).chain(second(2, 20)).collect::<Vec<_>>());
    assert!(starts.iter().all(|(intended, start)| start >= intended), "{starts:?}");
}

#[test]
fn starts_without_a_free_user_are_counted_and_reported() {
    let server = Server::quick();
    let room = Room::new();
    let think = element("ConstantTimer", "think", &text("ConstantTimer.delay", "1300"), "");
    let below = shaping("shape", &[["50", "50", "1"]]) + &think + &get("get", "/");
    room.file("plan.jmx", plan(&group("1", "-1", &below)));
    let port = format!("-JPORT={}", server.port());
    // One start in the first second, and at most one in the second second.
    let ended = room.run(["run", "plan.jmx", &port]).expect(0);
    ended.prints(&["shape: skipped ", "Give the thread group more users"]);
    let notes = room.manifest().notes;
    assert!(notes.iter().any(|note| note.code == "missed-starts"), "{notes:?}");
}

#[test]
fn the_table_on_the_command_line_replaces_that_of_the_plan() {
    let server = Server::quick();
    let room = Room::new();
    let timer = shaping("shape", &[["9", "9", "3600"]]);
    room.file("plan.jmx", plan(&group("70", "-1", &(timer + &get("get", "/")))));
    let port = format!("-JPORT={}", server.port());
    let line = |profile: &str| room.run(["run", "plan.jmx", &port, profile, "-Jload_profile=const(1,9h)"]);
    line("-Jshape.load_profile=const(30,1s)")
        .expect(0)
        .prints(&["60 requests", "60 samples where its rows ask for 30.0"]);
    line("-Jshape.load_profile=const(30)").expect(3).reports(&["is not a part of a load profile"]);
}

#[test]
fn an_invalid_shaping_timer_is_refused() {
    let room = Room::new();
    let check = |rows: &[[&str; 3]], path: &str| {
        room.file("plan.jmx", plan(&group("1", "1", &(shaping("shape", rows) + &get("get", path)))));
        room.run_line("check plan.jmx")
    };
    check(&[["10", "10", "60"], ["${a}", "0.5", "${b}"]], "/").expect(0);
    check(&[], "/").expect(0).prints(&["has no schedule"]);
    check(&[["10", "x", "60"]], "/").expect(3).prints(&["\"x\" is not a rate"]);
    check(&[["10", "-1", "60"]], "/").expect(3).prints(&["\"-1\" is not a rate"]);
    check(&[["10", "1", "1.5"]], "/").expect(3).prints(&["\"1.5\" is not a number of seconds"]);
    check(&[["10", "10", "60"]], "/?rps=${__P(shape_rps)}").expect(0);
}

#[test]
fn a_precise_timer_without_starts_is_refused() {
    let room = Room::new();
    let good = [("throughput", "5"), ("throughputPeriod", "1"), ("duration", "1"), ("batchSize", "1")];
    let check = |settings: &[(&str, &str)]| {
        room.file("plan.jmx", plan(&group("1", "1", &(precise(settings) + &get("get", "/")))));
        room.run_line("check plan.jmx")
    };
    check(&good).expect(0).prints(&["fixed number of starts"]);
    for (number, (name, _)) in good.iter().enumerate().take(3) {
        for value in ["0", "-1", "soon"] {
            let mut settings = good;
            settings[number].1 = value;
            check(&settings).expect(3).prints(&["cannot schedule any sample", name, &format!("{value:?}")]);
        }
        let mut settings = good.to_vec();
        settings.remove(number);
        check(&settings).expect(3).prints(&["cannot schedule any sample", name]);
    }
    let mut settings = good;
    settings[1].1 = "0.5";
    check(&settings).expect(3).prints(&["throughputPeriod is \"0.5\""]);
    let mut settings = good.to_vec();
    settings.push(("batchThreadDelay", "3"));
    settings[3].1 = "0";
    check(&settings).expect(0).prints(&["does not use batchThreadDelay", "nothing sets a rate"]);
}
