//! The commands that an attached JVM understands, with parsed answers.

use std::path::Path;

use super::attach::{AttachError, AttachedJvm};
use super::class_histogram::ClassHistogram;
use super::recording::{self, RecordingError, RecordingSettings};
use super::thread_dump::ThreadDump;
use super::vm_flags::VmFlag;

/// Why a command that concerns a recording fails.
#[derive(Debug, thiserror::Error)]
pub enum RecordingCommandError {
    /// The JVM does not answer, or refuses the command.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The name or path of the recording is not valid, or the JVM could not start, write or stop it.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// Which instances a class histogram counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistogramScope {
    /// Live instances: the JVM collects the whole heap first.
    Live,
    /// All instances, also unreachable ones that are not collected yet. The application is stopped while the heap is walked.
    All,
}

impl AttachedJvm {
    /// The name and version of the virtual machine, as it states them.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn version(&self) -> Result<String, AttachError> {
        Ok(self.command("VM.version")?.trim().to_owned())
    }

    /// Counts the instances of each class. Stops the application meanwhile; do not use it while the application is under load.
    ///
    /// # Errors
    /// The JVM does not answer, or its answer is not understood.
    pub fn class_histogram(&self, scope: HistogramScope) -> Result<ClassHistogram, AttachError> {
        let command = match scope {
            HistogramScope::Live => "GC.class_histogram",
            HistogramScope::All => "GC.class_histogram -all",
        };
        let text = self.command(command)?;
        ClassHistogram::parse(&text)
            .map_err(|error| AttachError::Answer { command: "GC.class_histogram", detail: error.to_string() })
    }

    /// Collects the whole heap, even if the JVM ignores `System.gc()`. ZGC and Shenandoah do most of the work while the application runs.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn collect_garbage(&self) -> Result<(), AttachError> {
        self.command("GC.run").map(drop)
    }

    /// The threads with their states and locks. `with_synchronizers` adds the owners of locks of `java.util.concurrent`, for which
    /// the JVM walks the heap while the application is stopped.
    ///
    /// # Errors
    /// The JVM does not answer, or its answer is not understood.
    pub fn thread_dump(&self, with_synchronizers: bool) -> Result<ThreadDump, AttachError> {
        let text = self.command(if with_synchronizers { "Thread.print -l" } else { "Thread.print" })?;
        ThreadDump::parse(&text)
            .map_err(|error| AttachError::Answer { command: "Thread.print", detail: error.to_string() })
    }

    /// All flags with their values and origins.
    ///
    /// # Errors
    /// The JVM does not answer, or its answer is not understood.
    pub fn flags(&self) -> Result<Vec<VmFlag>, AttachError> {
        let text = self.command("VM.flags -all")?;
        VmFlag::parse_all(&text)
            .map_err(|error| AttachError::Answer { command: "VM.flags", detail: error.to_string() })
    }

    /// Starts a recording of the Java Flight Recorder. The first one of a JVM takes seconds of CPU time: start it before the load.
    ///
    /// # Errors
    /// The name is not valid, the JVM does not answer, or it cannot record.
    pub fn start_recording(
        &self,
        name: &str,
        settings: RecordingSettings,
    ) -> Result<(), RecordingCommandError> {
        let answer = self.command(&recording::start(name, settings)?)?;
        Ok(recording::check(&answer, "Started recording")?)
    }

    /// Writes a recording to a file on the target's file system. With `with_roots`, the application is stopped to find the paths from
    /// garbage collection roots to old objects.
    ///
    /// # Errors
    /// The name or path is not valid, the JVM does not answer, or it cannot write the file.
    pub fn dump_recording(
        &self,
        name: &str,
        file: &Path,
        with_roots: bool,
    ) -> Result<(), RecordingCommandError> {
        let answer = self.command(&recording::dump(name, file, with_roots)?)?;
        Ok(recording::check(&answer, "Dumped recording")?)
    }

    /// Ends a recording and discards what was not written.
    ///
    /// # Errors
    /// The name is not valid, the JVM does not answer, or there is no such recording.
    pub fn stop_recording(&self, name: &str) -> Result<(), RecordingCommandError> {
        let answer = self.command(&recording::stop(name)?)?;
        Ok(recording::check(&answer, "Stopped recording")?)
    }
}
