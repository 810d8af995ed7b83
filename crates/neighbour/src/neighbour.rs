//! A neighbour as a whole: checks, threads, summary.

use std::path::Path;
use std::time::Duration;

use crate::cache::{CacheOptions, CacheWork, LINE_BYTES};
use crate::cache_size::{CORES_DIR, UnknownCacheSize, last_level_bytes};
use crate::cores::CoreList;
use crate::cpu::CpuWork;
use crate::disk::{DiskOptions, DiskWork};
use crate::duty_cycle::Intensity;
use crate::error::{NeighbourError, size};
use crate::free_memory::{MemoryFiles, prefer_as_victim};
use crate::memory::{MemoryOptions, MemoryWork};
use crate::network::{NetworkOptions, NetworkProtocol, NetworkWork};
use crate::stop::{EndReason, StopFlag};
use crate::stream::{StreamOptions, StreamWork};
use crate::summary::{NeighbourSummary, WorkDetail};
use crate::workers::{Assignment, Finished, Work, Worked, run};

/// A neighbour that can be run.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// The resource that it loads.
    pub kind: NeighbourKind,
    /// The cores it runs on, with a thread for each.
    pub cores: CoreList,
    /// The share of the time in which it works.
    pub intensity: Intensity,
    /// The time after which it ends.
    pub limit: Duration,
}

/// The resource that a neighbour loads, with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeighbourKind {
    /// Memory bandwidth.
    Stream(StreamOptions),
    /// Integer units.
    Cpu,
    /// Caches.
    Cache(CacheOptions),
    /// Free memory.
    Memory(MemoryOptions),
    /// A disk.
    Disk(DiskOptions),
    /// The network code of the kernel.
    Network(NetworkOptions),
}

impl NeighbourKind {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::Cpu => "cpu",
            Self::Cache(_) => "cache",
            Self::Memory(_) => "memory",
            Self::Disk(_) => "disk",
            Self::Network(_) => "network",
        }
    }
}

impl Neighbour {
    /// Checks the cores and the free memory, and works until the time limit or until `stop` is set. This thread is
    /// restricted to the cores, too, and the kernel kills this process before others if memory runs out. `started` is called once with a description of the work immediately before it starts,
    /// unless `stop` is already set.
    ///
    /// # Errors
    /// The cores, the memory, the disk space or something else that is needed is not available, or a thread failed.
    pub fn run(
        &self,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        self.cores.check_within(&CoreList::allowed()?)?;
        prefer_as_victim();
        match &self.kind {
            NeighbourKind::Stream(options) => self.run_stream(options, stop, started),
            NeighbourKind::Cpu => self.run_cpu(stop, started),
            NeighbourKind::Cache(options) => self.run_cache(options, stop, started),
            NeighbourKind::Memory(options) => self.run_memory(options, stop, started),
            NeighbourKind::Disk(options) => self.run_disk(options, stop, started),
            NeighbourKind::Network(options) => self.run_network(options, stop, started),
        }
    }

    fn run_stream(
        &self,
        options: &StreamOptions,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        let cache_bytes = match (self.cache_bytes(), options.array_bytes) {
            (Ok(bytes), _) => Some(bytes),
            (Err(_), Some(_)) => None,
            (Err(error), None) => return Err(error.into()),
        };
        let work = StreamWork::new(options, cache_bytes, self.threads())?;
        MemoryFiles::live().check(work.array_bytes().saturating_mul(3))?;
        let detail = format!("3 arrays of {}", size(work.array_bytes()));
        let finished = self.run_threads(&work, stop, &detail, started)?;
        let result = work.result();
        let operations = result.kernels.iter().map(|kernel| kernel.executions).sum();
        let bytes = result.kernels.iter().map(|kernel| kernel.executions * kernel.bytes).sum();
        let mut summary = summary(&finished, stop, operations, WorkDetail::Stream(result));
        summary.bytes = Some(bytes);
        // The first thread decides on the pauses of all threads.
        summary.busy = finished.workers.first().map_or(Duration::ZERO, |first| first.busy);
        Ok(summary)
    }

    fn run_cpu(
        &self,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        let finished = self.run_threads(&CpuWork, stop, "integer work", started)?;
        let count = total(&finished, |sequences| sequences.count);
        Ok(summary(&finished, stop, count, WorkDetail::Cpu {}))
    }

    fn run_cache(
        &self,
        options: &CacheOptions,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        let bytes = match options.buffer_bytes {
            Some(bytes) => bytes,
            None => self.cache_bytes()?,
        };
        let work = CacheWork::new(bytes, self.threads(), options.pattern)?;
        let buffer_bytes = work.total_bytes(self.threads());
        MemoryFiles::live().check(buffer_bytes)?;
        let detail = format!("buffers of {} in total", size(buffer_bytes));
        let finished = self.run_threads(&work, stop, &detail, started)?;
        let accesses = total(&finished, |buffer| buffer.accesses);
        let detail = WorkDetail::Cache { buffer_bytes, pattern: options.pattern };
        let summary = summary(&finished, stop, accesses, detail);
        Ok(NeighbourSummary { bytes: Some(accesses * LINE_BYTES), ..summary })
    }

    fn run_memory(
        &self,
        options: &MemoryOptions,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        let work = MemoryWork::new(options, self.threads())?;
        let requested_bytes = work.total_bytes(self.threads());
        MemoryFiles::live().check(requested_bytes)?;
        let detail = format!("grows to {}", size(requested_bytes));
        let finished = self.run_threads(&work, stop, &detail, started)?;
        let detail = WorkDetail::Memory {
            requested_bytes,
            allocated_bytes: total(&finished, |blocks| blocks.bytes()),
            is_scarce: finished.workers.iter().any(|worked| worked.state.is_scarce),
        };
        Ok(summary(&finished, stop, total(&finished, |blocks| blocks.touches), detail))
    }

    fn run_disk(
        &self,
        options: &DiskOptions,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        let work = DiskWork::new(options, self.threads())?;
        let is_in_memory = work.is_in_memory()?;
        let place = if is_in_memory { ", which is in memory: no disk is written to" } else { "" };
        let file_bytes = work.file_bytes() * self.threads() as u64;
        let detail = format!("files of {} in total in {}{place}", size(file_bytes), options.dir.display());
        let finished = self.run_threads(&work, stop, &detail, started)?;
        let writes = total(&finished, |file| file.writes);
        let detail = WorkDetail::Disk {
            dir: options.dir.clone(),
            file_bytes,
            block_bytes: work.block_bytes(),
            is_in_memory,
        };
        let summary = summary(&finished, stop, writes, detail);
        Ok(NeighbourSummary { bytes: Some(writes * work.block_bytes()), ..summary })
    }

    fn run_network(
        &self,
        options: &NetworkOptions,
        stop: &StopFlag,
        started: &mut dyn FnMut(&str),
    ) -> Result<NeighbourSummary, NeighbourError> {
        let work = NetworkWork { protocol: options.protocol };
        let detail = match options.protocol {
            NetworkProtocol::Tcp => "a TCP connection per core on 127.0.0.1",
            NetworkProtocol::Udp => "UDP datagrams on 127.0.0.1",
        };
        let finished = self.run_threads(&work, stop, detail, started)?;
        let sent_bytes = total(&finished, |flow| flow.sent_bytes);
        let detail = WorkDetail::Network { protocol: options.protocol, sent_bytes };
        let summary = summary(&finished, stop, total(&finished, |flow| flow.sent), detail);
        Ok(NeighbourSummary { bytes: Some(total(&finished, |flow| flow.received_bytes)), ..summary })
    }

    fn run_threads<W: Work>(
        &self,
        work: &W,
        stop: &StopFlag,
        detail: &str,
        started: &mut dyn FnMut(&str),
    ) -> Result<Finished<W::State>, NeighbourError> {
        let Self { cores, intensity, limit, .. } = self;
        let assignment = Assignment { cores, intensity: *intensity, limit: *limit, stop };
        run(assignment, work, || started(detail))
    }

    fn threads(&self) -> usize {
        self.cores.cores().len()
    }

    fn cache_bytes(&self) -> Result<u64, UnknownCacheSize> {
        last_level_bytes(Path::new(CORES_DIR), &self.cores)
    }
}

/// The sum of a figure of all threads.
fn total<S>(finished: &Finished<S>, figure: impl Fn(&S) -> u64) -> u64 {
    finished.workers.iter().map(|worked| figure(&worked.state)).sum()
}

/// A summary without bytes.
fn summary<S>(
    finished: &Finished<S>,
    stop: &StopFlag,
    operations: u64,
    detail: WorkDetail,
) -> NeighbourSummary {
    let workers = &finished.workers;
    let sum = |time: fn(&Worked<S>) -> Duration| workers.iter().map(time).sum::<Duration>();
    let threads = u32::try_from(workers.len()).unwrap_or(u32::MAX).max(1);
    NeighbourSummary {
        elapsed: finished.elapsed,
        ended_by: stop.reason().unwrap_or(EndReason::TimeLimit),
        busy: sum(|worked| worked.busy) / threads,
        cpu: sum(|worked| worked.cpu),
        operations,
        bytes: None,
        detail,
    }
}
