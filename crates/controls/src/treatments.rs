//! Changes of a machine, recorded in a journal.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::change::Change;
use crate::change::cgroup::CgroupChange;
use crate::error::ControlError;
use crate::journal::{self, Content, JournalError, JournalStore, Pending, Record};
use crate::reversible::{Reversible, Undone};
use crate::system::System;

/// The changes of one control, which were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    ids: BTreeSet<u64>,
}

/// The result of undoing one change.
#[derive(Debug)]
pub struct UndoneChange {
    /// The change.
    pub change: Change,
    /// Its result.
    pub result: Result<Undone, ControlError>,
}

/// The results of undoing changes, in the order in which they were undone.
#[derive(Debug, Default)]
pub struct Restoration {
    /// The results.
    pub changes: Vec<UndoneChange>,
}

impl Restoration {
    /// Whether no change is left.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.changes.iter().all(|undone| undone.result.is_ok())
    }

    /// The first error.
    ///
    /// # Errors
    /// A change could not be undone. It remains in the journal.
    pub fn into_result(self) -> Result<(), ControlError> {
        self.changes.into_iter().find_map(|undone| undone.result.err()).map_or(Ok(()), Err)
    }
}

/// The changes that were made to a machine and not undone yet. They are undone when this is dropped.
pub struct Treatments {
    system: Box<dyn System>,
    journal: Box<dyn JournalStore>,
    path: PathBuf,
    pending: Vec<Pending>,
    next_id: u64,
    /// Changes that are undone together with the last treatment that needs them.
    postponed: BTreeSet<u64>,
}

impl fmt::Debug for Treatments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Treatments")
            .field("path", &self.path)
            .field("pending", &self.pending)
            .finish_non_exhaustive()
    }
}

impl Treatments {
    /// Creates a journal, which must not exist.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn begin(system: Box<dyn System>, journal: &Path) -> Result<Self, JournalError> {
        let file = journal::create(journal, &boot(&*system))?;
        share_lock(&*system, &file, journal)?;
        Ok(Self::with_store(system, Box::new(file), journal, Content::default()))
    }

    /// Opens the journal of a program that was killed.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or its program still runs.
    pub fn reopen(system: Box<dyn System>, journal: &Path) -> Result<Self, JournalError> {
        let (file, content) = journal::open(journal)?;
        share_lock(&*system, &file, journal)?;
        Ok(Self::with_store(system, Box::new(file), journal, content))
    }

    /// Uses a journal that was opened by the caller.
    #[must_use]
    pub fn with_store(
        system: Box<dyn System>,
        journal: Box<dyn JournalStore>,
        path: &Path,
        content: Content,
    ) -> Self {
        let mut treatments = Self {
            system,
            journal,
            path: path.to_owned(),
            pending: content.pending,
            next_id: content.next_id,
            postponed: BTreeSet::new(),
        };
        // The changes of controls do not survive a restart of the machine, and process IDs are reused after it.
        if !content.boot.is_empty() && content.boot != boot(&*treatments.system) {
            let ids: Vec<u64> = treatments.pending.drain(..).map(|pending| pending.id).collect();
            for id in ids {
                // A missing record has no effect, because the next reader also finds another boot.
                let _ = treatments.append(&Record::Undone { id });
            }
        }
        treatments
    }

    /// The machine.
    #[must_use]
    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    /// The changes that were made and not undone, the first one first.
    #[must_use]
    pub fn pending(&self) -> &[Pending] {
        &self.pending
    }

    /// Makes changes. If one fails, those before it are undone.
    ///
    /// # Errors
    /// A change is refused, or changes something that another treatment changed.
    pub fn make(&mut self, changes: Vec<Change>) -> Result<Applied, ControlError> {
        let targets: BTreeSet<String> =
            self.pending.iter().flat_map(|pending| pending.change.targets()).collect();
        let mut wanted = changes.iter().flat_map(Change::targets);
        if let Some(target) = wanted.find(|target| targets.contains(target)) {
            return Err(ControlError::invalid(format!(
                "another treatment already changed {target}; undo it first, or combine both in one control"
            )));
        }
        let mut applied = Applied::default();
        for change in changes {
            if let Err(source) = self.make_one(change, &mut applied) {
                return Err(match self.undo(&applied).into_result() {
                    Ok(()) => source,
                    Err(undo) => ControlError::Rollback { source: Box::new(source), undo: Box::new(undo) },
                });
            }
        }
        Ok(applied)
    }

    fn make_one(&mut self, change: Change, applied: &mut Applied) -> Result<(), ControlError> {
        let id = self.next_id;
        self.append(&Record::Change { id, change: change.clone() })?;
        self.next_id += 1;
        applied.ids.insert(id);
        let result = change.make(&*self.system);
        let existed = matches!(&result, Err(ControlError::File { source, .. })
            if source.kind() == io::ErrorKind::AlreadyExists);
        if existed {
            // The object belongs to another program.
            self.append(&Record::NotMade { id })?;
        } else {
            self.pending.push(Pending { id, change });
        }
        result
    }

    /// Undoes the changes of one control, the last one first. Has no effect if they were undone before.
    pub fn undo(&mut self, applied: &Applied) -> Restoration {
        let mut restoration = Restoration::default();
        self.undo_some(
            |treatments, pending| applied.ids.contains(&pending.id) && !treatments.postpone(pending, applied),
            &mut restoration,
        );
        let none = Applied::default();
        let postponed = std::mem::take(&mut self.postponed);
        self.undo_some(
            |treatments, pending| postponed.contains(&pending.id) && !treatments.postpone(pending, &none),
            &mut restoration,
        );
        restoration
    }

    /// Undoes all changes, the last one first. Changes that cannot be undone remain in the journal.
    pub fn undo_all(&mut self) -> Restoration {
        let mut restoration = Restoration::default();
        self.undo_some(|_, _| true, &mut restoration);
        restoration
    }

    /// Whether groups of other treatments still need the controller that a change enabled.
    fn postpone(&mut self, pending: &Pending, applied: &Applied) -> bool {
        let Change::Cgroup(CgroupChange::Enable { directory, .. }) = &pending.change else { return false };
        let is_needed = self.pending.iter().any(|other| {
            let Change::Cgroup(CgroupChange::Create { directory: group, .. }) = &other.change else {
                return false;
            };
            !applied.ids.contains(&other.id) && group.parent() == Some(directory)
        });
        if is_needed {
            self.postponed.insert(pending.id);
        }
        is_needed
    }

    fn undo_some(
        &mut self,
        mut is_selected: impl FnMut(&mut Self, &Pending) -> bool,
        restoration: &mut Restoration,
    ) {
        for at in (0..self.pending.len()).rev() {
            let pending = self.pending[at].clone();
            if !is_selected(self, &pending) {
                continue;
            }
            let undone = pending.change.undo(&*self.system);
            let result = undone.and_then(|undone| {
                self.append(&Record::Undone { id: pending.id })?;
                self.pending.remove(at);
                Ok(undone)
            });
            restoration.changes.push(UndoneChange { change: pending.change, result });
        }
    }

    fn append(&mut self, record: &Record) -> Result<(), ControlError> {
        self.journal
            .append(&journal::line(record))
            .map_err(|source| ControlError::Journal { path: self.path.clone(), source })
    }
}

impl Drop for Treatments {
    fn drop(&mut self) {
        // Failures remain in the journal.
        let _ = self.undo_all();
    }
}

/// Undoes the changes in the journal of a program that was killed. Has no effect if they were undone before.
///
/// # Errors
/// The journal cannot be read, is damaged, or its program still runs.
pub fn restore(system: Box<dyn System>, journal: &Path) -> Result<Restoration, JournalError> {
    Ok(Treatments::reopen(system, journal)?.undo_all())
}

fn boot(system: &dyn System) -> String {
    system.read(Path::new("/proc/sys/kernel/random/boot_id")).unwrap_or_default().trim().to_owned()
}

fn share_lock(system: &dyn System, file: &std::fs::File, path: &Path) -> Result<(), JournalError> {
    let failed = |source| JournalError::Io { action: "lock", path: path.to_owned(), source };
    system.share_lock(file).map_err(failed)
}
