//! The system under test before and after a change. Values are compared without a significance test.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::run::MeasuredRun;
use crate::system::{FigureKind, FigureUnit, SubjectKind, SystemFigures, SystemSubject};

/// The figures of the system under test on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemComparison {
    /// Number of runs before the change that were observed.
    pub base_observed: usize,
    /// Number of runs after the change that were observed.
    pub new_observed: usize,
    /// Parts of the system that were observed on both sides.
    pub subjects: Vec<ComparedSubject>,
    /// Parts that were observed only before the change, by kind and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_base: Vec<String>,
    /// Parts that were observed only after the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_new: Vec<String>,
}

/// A part of the system that was observed on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedSubject {
    /// The kind of this part of the system.
    pub kind: SubjectKind,
    /// Its name, or its sources.
    pub name: String,
    /// Its figures, without those that are unavailable on both sides.
    pub figures: Vec<ComparedFigure>,
}

/// A figure on both sides. There is no interval and no verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedFigure {
    /// The figure.
    pub figure: FigureKind,
    /// Its values before the change.
    pub base: FigureRuns,
    /// Its values after the change.
    pub new: FigureRuns,
    /// The mean after the change divided by the mean before it; `None` if either is unknown or the mean before is 0.
    pub ratio: Option<f64>,
    /// The mean after the change minus the mean before it; `None` if either is unknown.
    pub difference: Option<f64>,
}

/// The values of a figure in the runs of a side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureRuns {
    /// The value of each run; `None` where it is unavailable.
    pub runs: Vec<Option<f64>>,
    /// The mean of the known values.
    pub mean: Option<f64>,
    /// Smallest known value.
    pub min: Option<f64>,
    /// Largest known value.
    pub max: Option<f64>,
    /// The reason in the first run in which the figure is unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

impl FigureRuns {
    fn of(subjects: &[Option<&SystemSubject>], figure: FigureKind) -> FigureRuns {
        let runs: Vec<Option<f64>> =
            subjects.iter().map(|subject| subject.and_then(|subject| subject.value(figure))).collect();
        let known: Vec<f64> = runs.iter().copied().flatten().collect();
        let reason = |subject: &Option<&SystemSubject>| match subject {
            Some(subject) => subject.figures.get(&figure)?.reason().map(str::to_owned),
            None => Some("not observed".to_owned()),
        };
        FigureRuns {
            mean: (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
            min: known.iter().copied().reduce(f64::min),
            max: known.iter().copied().reduce(f64::max),
            unavailable: subjects.iter().find_map(reason),
            runs,
        }
    }
}

impl ComparedFigure {
    fn new(figure: FigureKind, base: FigureRuns, new: FigureRuns) -> ComparedFigure {
        let both = base.mean.zip(new.mean);
        ComparedFigure {
            figure,
            ratio: both.filter(|(base, _)| *base > 0.0).map(|(base, new)| new / base),
            difference: both.map(|(base, new)| new - base),
            base,
            new,
        }
    }

    /// Whether the change is shown as a difference in percentage points instead of a ratio.
    #[must_use]
    pub fn is_share(&self) -> bool {
        self.figure.unit() == FigureUnit::Share
    }
}

/// Identifies a subject across runs by kind and name, because process IDs differ from run to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SubjectName {
    kind: SubjectKind,
    name: String,
    /// The index among the subjects with the same name.
    index: usize,
}

/// The subjects of a run with their names. `names` has the order of the run.
struct NamedSubjects<'r> {
    names: Vec<SubjectName>,
    subjects: HashMap<SubjectName, &'r SystemSubject>,
}

impl<'r> NamedSubjects<'r> {
    /// `is_single(kind)` returns whether every run has exactly one subject of this kind.
    fn of(figures: &'r SystemFigures, is_single: &dyn Fn(SubjectKind) -> bool) -> NamedSubjects<'r> {
        let mut seen: HashMap<(SubjectKind, String), usize> = HashMap::new();
        let (mut names, mut subjects) = (Vec::new(), HashMap::new());
        for subject in &figures.subjects {
            let name = if is_single(subject.kind) { String::new() } else { stable_name(subject) };
            let index = seen.entry((subject.kind, name.clone())).or_insert(0);
            let name = SubjectName { kind: subject.kind, name, index: *index };
            *index += 1;
            names.push(name.clone());
            subjects.insert(name, subject);
        }
        NamedSubjects { names, subjects }
    }
}

/// A name that is the same in other runs; empty if there is none.
fn stable_name(subject: &SystemSubject) -> String {
    match (&subject.name, subject.kind) {
        (Some(name), _) => name.clone(),
        (None, SubjectKind::Process | SubjectKind::Jvm | SubjectKind::Network) => String::new(),
        (None, _) => subject.source.clone(),
    }
}

impl SystemComparison {
    /// Compares the figures of the runs; `None` if no run was observed.
    pub(super) fn of(base: &[MeasuredRun], new: &[MeasuredRun]) -> Option<SystemComparison> {
        let observed = |runs: &[MeasuredRun]| runs.iter().filter(|run| run.system.is_some()).count();
        let (base_observed, new_observed) = (observed(base), observed(new));
        if base_observed + new_observed == 0 {
            return None;
        }
        let figures = || base.iter().chain(new).filter_map(|run| run.system.as_ref());
        let singles: HashSet<SubjectKind> = SubjectKind::ALL
            .into_iter()
            .filter(|kind| figures().all(|figures| figures.of_kind(*kind).count() == 1))
            .collect();
        let is_single = |kind| singles.contains(&kind);
        fn named<'r>(
            runs: &'r [MeasuredRun],
            is_single: &dyn Fn(SubjectKind) -> bool,
        ) -> Vec<Option<NamedSubjects<'r>>> {
            let of = |run: &'r MeasuredRun| {
                run.system.as_ref().map(|figures| NamedSubjects::of(figures, is_single))
            };
            runs.iter().map(of).collect()
        }
        let (base, new) = (named(base, &is_single), named(new, &is_single));
        let mut known = HashSet::new();
        let all = base.iter().chain(&new).flatten().flat_map(|run| &run.names);
        let mut names: Vec<&SubjectName> = all.filter(|name| known.insert(*name)).collect();
        names.sort_by_key(|name| name.kind);
        let mut comparison = SystemComparison {
            base_observed,
            new_observed,
            subjects: Vec::new(),
            only_base: Vec::new(),
            only_new: Vec::new(),
        };
        for name in names {
            comparison.add(name, &of_runs(&base, name), &of_runs(&new, name));
        }
        Some(comparison)
    }

    fn add(&mut self, name: &SubjectName, base: &[Option<&SystemSubject>], new: &[Option<&SystemSubject>]) {
        let first =
            |side: &[Option<&SystemSubject>]| side.iter().flatten().next().map(|subject| subject.title());
        let shown = |title: &str| format!("{} {title}", name.kind.noun());
        match (first(base), first(new)) {
            (Some(before), Some(after)) => {
                let title = if before == after { before } else { format!("{before} before, {after} after") };
                let figures = FigureKind::of(name.kind)
                    .map(|kind| {
                        ComparedFigure::new(kind, FigureRuns::of(base, kind), FigureRuns::of(new, kind))
                    })
                    .filter(|figure| figure.base.mean.is_some() || figure.new.mean.is_some());
                let subject = ComparedSubject { kind: name.kind, name: title, figures: figures.collect() };
                self.subjects.push(subject);
            }
            (Some(before), None) => self.only_base.push(shown(&before)),
            (None, Some(after)) => self.only_new.push(shown(&after)),
            (None, None) => {}
        }
    }
}

fn of_runs<'r>(runs: &[Option<NamedSubjects<'r>>], name: &SubjectName) -> Vec<Option<&'r SystemSubject>> {
    runs.iter().map(|run| run.as_ref()?.subjects.get(name).copied()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::comparison::run::tests::empty_run;
    use crate::system::Figure;

    fn process(pid: u32, name: Option<&str>, cpu: Option<f64>) -> SystemSubject {
        let cpu = cpu.map_or_else(|| Figure::unavailable("no permission"), Figure::known);
        SystemSubject {
            kind: SubjectKind::Process,
            source: format!("process:{pid}"),
            name: name.map(str::to_owned),
            observed_s: 60.0,
            restarts: 0,
            disk: None,
            pauses_at_least: false,
            figures: BTreeMap::from([(FigureKind::CpuPerRequest, cpu)]),
        }
    }

    fn run(subjects: Vec<SystemSubject>) -> MeasuredRun {
        MeasuredRun { system: Some(SystemFigures { subjects, ..SystemFigures::default() }), ..empty_run() }
    }

    #[test]
    fn runs_without_observation_have_no_comparison() {
        assert_eq!(SystemComparison::of(&[empty_run()], &[empty_run()]), None);
        let one = SystemComparison::of(&[empty_run()], &[run(vec![process(1, None, Some(1.0))])]).unwrap();
        assert_eq!((one.base_observed, one.new_observed), (0, 1));
        assert_eq!((one.subjects.len(), one.only_new), (0, vec!["process process:1".to_owned()]));
    }

    #[test]
    fn the_only_process_of_each_run_is_compared_whatever_its_name_is() {
        let base = [run(vec![process(7, Some("shop-1.jar"), Some(0.002))])];
        let new = [run(vec![process(9, Some("shop-2.jar"), Some(0.003))])];
        let compared = SystemComparison::of(&base, &new).unwrap();
        let subject = &compared.subjects[0];
        assert_eq!(subject.name, "shop-1.jar (process:7) before, shop-2.jar (process:9) after");
        let figure = &subject.figures[0];
        assert!(
            (figure.ratio.unwrap() - 1.5).abs() < 1e-9 && (figure.difference.unwrap() - 0.001).abs() < 1e-9
        );
    }

    #[test]
    fn several_processes_are_found_by_their_names() {
        let base = [run(vec![process(1, Some("java"), Some(2.0)), process(2, Some("nginx"), Some(1.0))])];
        let new = [run(vec![process(3, Some("nginx"), Some(4.0)), process(4, Some("python"), Some(3.0))])];
        let compared = SystemComparison::of(&base, &new).unwrap();
        assert_eq!(compared.subjects.len(), 1);
        assert_eq!(compared.subjects[0].figures[0].ratio, Some(4.0));
        assert_eq!(compared.only_base, ["process java (process:1)"]);
        assert_eq!(compared.only_new, ["process python (process:4)"]);
    }

    #[test]
    fn several_runs_have_a_range_and_unknown_values_are_left_out() {
        let of = |cpu| run(vec![process(1, None, cpu)]);
        let base = [of(Some(1.0)), of(Some(3.0)), of(None)];
        let compared = SystemComparison::of(&base, &[of(Some(0.0)), empty_run()]).unwrap();
        let figure = &compared.subjects[0].figures[0];
        assert_eq!((figure.base.mean, figure.base.min, figure.base.max), (Some(2.0), Some(1.0), Some(3.0)));
        assert_eq!(figure.base.unavailable.as_deref(), Some("no permission"));
        assert_eq!((figure.new.runs.as_slice(), figure.ratio), (&[Some(0.0), None][..], Some(0.0)));
        let reversed = SystemComparison::of(&[of(Some(0.0))], &[of(Some(2.0))]).unwrap();
        let figure = &reversed.subjects[0].figures[0];
        assert_eq!((figure.ratio, figure.difference), (None, Some(2.0)));
    }
}
