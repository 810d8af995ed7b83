//! Runs of shares of a load: together they send the same requests as one run of the whole load.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

use busyhour_arrivals::{ArrivalProcess, LoadShare, ScheduleChanges};
use busyhour_compile::OpenOptions;
use busyhour_launch::{FinishedRun, Launch, PropertySources, RunEvent, RunHandle, RunObserver, RunRequest};
use busyhour_program::open::NoFreeUser;
use busyhour_record::SamplesReader;
use busyhour_sample::{Nanos, RunEnd};
use busyhour_standin::StandIn;

/// A setUp group, and five users that each send three requests with their number and a random number.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
  <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shares"/>
  <hashTree>
    <SetupThreadGroup guiclass="SetupThreadGroupGui" testclass="SetupThreadGroup" testname="Prepare">
      <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <stringProp name="LoopController.loops">1</stringProp>
      </elementProp>
      <stringProp name="ThreadGroup.num_threads">${__P(SETUP_USERS,2)}</stringProp>
      <stringProp name="ThreadGroup.ramp_time">0</stringProp>
    </SetupThreadGroup>
    <hashTree>
      <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Prepare">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.port">${__P(PORT)}</stringProp>
        <stringProp name="HTTPSampler.path">/prepare?n=${__threadNum}</stringProp>
        <stringProp name="HTTPSampler.method">GET</stringProp>
      </HTTPSamplerProxy>
      <hashTree/>
    </hashTree>
    <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
      <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <stringProp name="LoopController.loops">3</stringProp>
      </elementProp>
      <stringProp name="ThreadGroup.num_threads">5</stringProp>
      <stringProp name="ThreadGroup.ramp_time">${__P(RAMP_UP,1)}</stringProp>
    </ThreadGroup>
    <hashTree>
      <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Request">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.port">${__P(PORT)}</stringProp>
        <stringProp name="HTTPSampler.path">/${__P(PATH,user/${__threadNum})}?drawn=${__Random(1,1000000)}</stringProp>
        <stringProp name="HTTPSampler.method">GET</stringProp>
      </HTTPSamplerProxy>
      <hashTree/>
    </hashTree>
  </hashTree>
</hashTree></jmeterTestPlan>
"#;

const USERS: u64 = 5;
/// One second of ramp-up for five users.
const SPACING_NS: u64 = 200_000_000;

/// The requests and samples of a run, or of several runs together.
#[derive(Debug, Default, PartialEq)]
struct Done {
    /// Requests with numbers of users and random numbers, sorted.
    requests: Vec<String>,
    /// Names of threads in the results file.
    threads: BTreeSet<String>,
    /// Samples of each user in the main group.
    samples: BTreeMap<u32, usize>,
    /// First intended start of each user in the main group, in ns since the start of the group.
    starts: BTreeMap<u32, u64>,
    /// Scheduled times of arrivals, in ns since the start of the schedule, sorted.
    arrivals: Vec<u64>,
}

fn request(server: &StandIn, share: &LoadShare, dir: &Path) -> RunRequest {
    RunRequest {
        plan: "shares.jmx".into(),
        plan_text: Some(PLAN.into()),
        properties: PropertySources {
            jmeter: vec![("PORT".into(), server.port().to_string())],
            ..PropertySources::default()
        },
        dir: Some(dir.to_owned()),
        seed: Some(7),
        share: share.clone(),
        cores: Some(2),
        ..RunRequest::default()
    }
}

/// Runs all shares of a load at the same time.
fn run_shares(shares: &[LoadShare], change: impl Fn(&mut RunRequest)) -> (Done, Vec<FinishedRun>) {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let start = |(part, share): (usize, &LoadShare)| -> RunHandle {
        let mut request = request(&server, share, &room.path().join(part.to_string()));
        change(&mut request);
        Launch::new(request).prepare().unwrap().start().unwrap()
    };
    let handles: Vec<RunHandle> = shares.iter().enumerate().map(start).collect();
    let runs: Vec<FinishedRun> = handles.into_iter().map(RunHandle::wait).collect();
    let mut done = Done::default();
    for run in &runs {
        assert_eq!((run.end(), run.nothing_sent, &run.failure), (RunEnd::Completed, false, &None));
        done.add(run);
    }
    let received = server.take_requests();
    done.requests = received.iter().map(|received| received.request.target()).collect();
    done.requests.sort();
    done.arrivals.sort_unstable();
    (done, runs)
}

impl Done {
    fn add(&mut self, run: &FinishedRun) {
        let open = run.manifest.outcome.as_ref().and_then(|outcome| outcome.open.first());
        let rows = std::fs::read_to_string(run.dir.jtl_path()).unwrap();
        let column =
            rows.lines().next().and_then(|head| head.split(',').position(|name| name == "threadName"));
        let names = rows.lines().skip(1).map(|row| row.split(',').nth(column.unwrap()).unwrap().to_owned());
        let mut of_run: BTreeSet<String> = names.collect();
        assert!(open.is_some() || of_run.is_disjoint(&self.threads), "a thread belongs to one share");
        self.threads.append(&mut of_run);
        let first = Nanos(open.map_or(0, |open| open.first_ns));
        let mut starts: BTreeMap<u32, u64> = BTreeMap::new();
        let mut see_sample = |group: u32, user: u32, intended: Nanos| {
            if group == 1 {
                *self.samples.entry(user).or_default() += 1;
                let start = starts.entry(user).or_insert(intended.0);
                *start = intended.0.min(*start);
            }
        };
        let reader = SamplesReader::open(&run.dir.samples_path()).unwrap();
        reader
            .read_with_arrivals(
                |_, sample| see_sample(sample.group, sample.user, sample.times.intended),
                |_, arrival| self.arrivals.push(arrival.scheduled.since(first)),
            )
            .unwrap();
        // Users that serve arrivals have no starts of their own.
        if open.is_some() {
            return;
        }
        // The group starts with the first user of the whole run, which may belong to another share.
        let begin = starts.first_key_value().map(|(user, start)| start - u64::from(user - 1) * SPACING_NS);
        self.starts.extend(starts.into_iter().map(|(user, start)| (user, start - begin.unwrap_or_default())));
    }
}

fn divisions() -> [Vec<LoadShare>; 3] {
    let whole = LoadShare::WHOLE;
    // The last one has more shares than users.
    [[1, 1].as_slice(), &[3, 1, 2], &[1; 7]].map(|weights| whole.divide(weights).unwrap())
}

#[test]
fn shares_of_a_closed_load_together_equal_the_whole_load() {
    let (whole, runs) = run_shares(&[LoadShare::WHOLE], |_| {});
    assert_eq!(runs[0].manifest.share, None);
    let threads: BTreeSet<String> = (1..3)
        .map(|user| format!("Prepare 1-{user}"))
        .chain((1..6).map(|user| format!("Users 1-{user}")))
        .collect();
    assert_eq!(whole.threads, threads);
    assert_eq!(whole.samples, (1..6).map(|user| (user, 3)).collect());
    assert_eq!(whole.starts, (0..5).map(|user| (user + 1, u64::from(user) * SPACING_NS)).collect());
    for shares in divisions() {
        let (together, runs) = run_shares(&shares, |_| {});
        assert_eq!(together, whole, "{shares:?}");
        for (share, run) in shares.iter().zip(&runs) {
            assert_eq!(run.manifest.share, Some(share.to_string()));
            // The setUp group runs in the share with the first user.
            let users = 3 * share.count_below(USERS) + if share.is_first() { 2 } else { 0 };
            assert_eq!(run.summary.total.samples, users, "{share}");
        }
    }
}

#[test]
fn shares_of_an_open_load_together_equal_the_whole_load() {
    let process = ArrivalProcess::parse("poisson(150/s) for 1s, even(80/s) for 500ms").unwrap();
    for no_free_user in [NoFreeUser::Grow(100), NoFreeUser::Queue] {
        let open = |request: &mut RunRequest| {
            let property = ("PATH".to_owned(), "session".to_owned());
            request.properties.jmeter.push(property);
            request.open = Some(OpenOptions {
                process: process.clone(),
                weights: Vec::new(),
                no_free_user: Some(no_free_user),
                users: (no_free_user == NoFreeUser::Queue).then_some(20),
                ignore_rate_timers: false,
            });
        };
        let (whole, runs) = run_shares(&[LoadShare::WHOLE], open);
        let seed = runs[0].manifest.outcome.as_ref().unwrap().open[0].seed;
        let expected: Vec<u64> = process.schedule(seed).map(|arrival| arrival.at_ns).collect();
        assert_eq!(whole.arrivals, expected);
        for shares in divisions() {
            let (together, runs) = run_shares(&shares, open);
            assert_eq!(together.arrivals, whole.arrivals, "{no_free_user:?} {shares:?}");
            for (share, run) in shares.iter().zip(&runs) {
                assert_judged_as_share(run, share, &process);
            }
            assert_eq!(together.requests, whole.requests, "sessions make the same choices");
        }
    }
}

/// Asserts that the arrivals of a share are compared with this share of the schedule, not with the whole schedule.
fn assert_judged_as_share(run: &FinishedRun, share: &LoadShare, process: &ArrivalProcess) {
    let outcome = run.manifest.outcome.as_ref().unwrap();
    let mut changes = ScheduleChanges::of_share(share.clone());
    changes.pause(process.duration_ns(), u64::MAX);
    let expected = changes.schedule(process, outcome.open[0].seed).count() as u64;
    assert_eq!(run.summary.run.share, Some(share.to_string()));
    // A share without arrivals has no verdict.
    let Some(verdict) = run.summary.arrivals.first() else {
        assert_eq!(expected, 0, "{share}");
        return;
    };
    let scheduled = verdict.schedule.as_ref().map(|schedule| schedule.arrivals);
    assert_eq!(
        (scheduled, verdict.observed.arrivals),
        (Some(expected), expected),
        "{share}: {}",
        verdict.line
    );
}

/// Sends the texts of notices to the test.
struct Notices(Sender<String>);

impl RunObserver for Notices {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Notice(text) = event {
            let _ = self.0.send(text.clone());
        }
    }
}

#[test]
fn a_share_without_users_completes_and_is_reported() {
    let (server, room) = (StandIn::start_application().unwrap(), tempfile::tempdir().unwrap());
    let share: LoadShare = "7/7".parse().unwrap();
    let mut launch = Launch::new(request(&server, &share, &room.path().join("run")));
    let (send, notices) = channel();
    launch.observe("the test", Box::new(Notices(send))).unwrap();
    let run = launch.prepare().unwrap().start().unwrap().wait();
    assert_eq!((run.end(), run.nothing_sent, run.is_incomplete), (RunEnd::Completed, false, false));
    assert_eq!((run.summary.total.samples, server.take_requests().len()), (0, 0));
    let text = "the share 7/7 of the load has no users and no arrivals, so this run sent no request";
    assert_eq!(notices.into_iter().collect::<Vec<_>>(), [text]);
    let note = run.manifest.notes.iter().find(|note| note.code == "empty-share");
    assert_eq!(note.map(|note| note.message.as_str()), Some(text));
    assert_eq!(run.dir.read_manifest().unwrap(), run.manifest);
    // The same without a share is an error of the plan.
    let mut whole = request(&server, &LoadShare::WHOLE, &room.path().join("whole"));
    whole.plan_text = Some(PLAN.replace(">5<", ">0<").replace("SETUP_USERS,2", "SETUP_USERS,0"));
    let run = Launch::new(whole).prepare().unwrap().start().unwrap().wait();
    assert!(run.nothing_sent);
}
