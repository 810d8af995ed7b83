//! Writes blocks to files in a directory and waits until each of them is on the disk.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{statfs, statvfs};

use crate::error::NeighbourError;
use crate::free_memory::MemoryFiles;
use crate::pacer::Pacer;
use crate::random::SplitMix;
use crate::stop::StopFlag;
use crate::workers::Work;

/// The type of `tmpfs`, a file system in memory, in `statfs`.
const TMPFS_MAGIC: i128 = 0x0102_1994;

/// Options of the disk neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// The directory for the files.
    pub dir: PathBuf,
    /// Bytes of the files of all threads; a file is overwritten from its beginning when it is full.
    pub bytes: u64,
    /// Bytes per write.
    pub block_bytes: u64,
}

/// Writes and synchronizes blocks.
pub(crate) struct DiskWork {
    dir: PathBuf,
    blocks_per_file: u64,
    block_bytes: usize,
}

/// The file of a thread, which is removed when this is dropped.
pub(crate) struct DiskFile {
    path: PathBuf,
    file: File,
    block: Vec<u8>,
    /// Blocks that were written and synchronized.
    pub(crate) writes: u64,
}

impl DiskWork {
    /// Checks the directory and its free space.
    pub(crate) fn new(options: &DiskOptions, threads: usize) -> Result<Self, NeighbourError> {
        let blocks_per_file = options.bytes / threads as u64 / options.block_bytes.max(1);
        let too_small =
            NeighbourError::TooSmall { bytes: options.bytes, threads, least: options.block_bytes };
        let block_bytes = match usize::try_from(options.block_bytes) {
            Ok(block_bytes) if block_bytes > 0 && blocks_per_file > 0 => block_bytes,
            Ok(_) | Err(_) => return Err(too_small),
        };
        if !options.dir.is_dir() {
            return Err(NeighbourError::NotADirectory { dir: options.dir.clone() });
        }
        let work = Self { dir: options.dir.clone(), blocks_per_file, block_bytes };
        let needed = work.file_bytes() * threads as u64;
        let space = statvfs(&options.dir).map_err(|error| failed("use", &options.dir, error.into()))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        if needed > free {
            return Err(NeighbourError::NotEnoughSpace { dir: options.dir.clone(), needed, free });
        }
        if work.is_in_memory()? {
            MemoryFiles::live().check(needed)?;
        }
        Ok(work)
    }

    /// Bytes of one file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.blocks_per_file * self.block_bytes as u64
    }

    pub(crate) fn block_bytes(&self) -> u64 {
        self.block_bytes as u64
    }

    /// Whether the directory is on a file system without a disk.
    pub(crate) fn is_in_memory(&self) -> Result<bool, NeighbourError> {
        let found = statfs(&self.dir).map_err(|error| failed("use", &self.dir, error.into()))?;
        Ok(i128::from(found.f_type) == TMPFS_MAGIC)
    }
}

fn failed(action: &'static str, path: &Path, source: std::io::Error) -> NeighbourError {
    NeighbourError::File { action, path: path.to_owned(), source }
}

impl Work for DiskWork {
    type State = DiskFile;

    fn set_up(&self, index: usize, _stop: &StopFlag) -> Result<DiskFile, NeighbourError> {
        let name = format!("busyhour-neighbour-{}-{index}.tmp", std::process::id());
        let path = self.dir.join(name);
        let file = File::create_new(&path).map_err(|error| failed("create", &path, error))?;
        let mut random = SplitMix::new(index as u64);
        let mut block = vec![0; self.block_bytes];
        // Random contents cannot be compressed or deduplicated.
        for part in block.chunks_mut(8) {
            part.copy_from_slice(&random.next().to_le_bytes()[..part.len()]);
        }
        Ok(DiskFile { path, file, block, writes: 0 })
    }

    fn work(&self, file: &mut DiskFile, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
        while pacer.proceed() {
            file.write(self.blocks_per_file)?;
        }
        Ok(())
    }
}

impl DiskFile {
    fn write(&mut self, blocks_per_file: u64) -> Result<(), NeighbourError> {
        let offset = self.writes % blocks_per_file * self.block.len() as u64;
        let stamp = self.writes.to_le_bytes();
        let stamped = stamp.len().min(self.block.len());
        self.block[..stamped].copy_from_slice(&stamp[..stamped]);
        self.file.write_all_at(&self.block, offset).map_err(|error| failed("write", &self.path, error))?;
        self.file.sync_all().map_err(|error| failed("synchronize", &self.path, error))?;
        self.writes += 1;
        Ok(())
    }
}

impl Drop for DiskFile {
    fn drop(&mut self) {
        // There is nothing else to do if that fails, for example because somebody else removed the file.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(dir: &Path, bytes: u64) -> DiskOptions {
        DiskOptions { dir: dir.to_owned(), bytes, block_bytes: 4_096 }
    }

    #[test]
    fn files_are_overwritten_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let work = DiskWork::new(&options(dir.path(), 3 * 4_096 + 1), 1).unwrap();
        let mut file = work.set_up(0, &StopFlag::new()).unwrap();
        for _ in 0..7 {
            file.write(work.blocks_per_file).unwrap();
        }
        let contents = std::fs::read(&file.path).unwrap();
        assert_eq!((contents.len(), file.writes), (3 * 4_096, 7));
        assert_eq!(contents[..8], 6u64.to_le_bytes(), "the seventh block is the first of the file");
        assert!(work.set_up(0, &StopFlag::new()).is_err(), "a file is never overwritten that exists already");
        drop(file);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn missing_directories_and_missing_space_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let message = |options: DiskOptions| DiskWork::new(&options, 2).err().unwrap().to_string();
        assert!(message(options(&dir.path().join("none"), 1 << 20)).ends_with(" is not a directory"));
        assert!(message(options(dir.path(), 1 << 60)).contains("are free"));
        assert!(message(options(dir.path(), 4_096)).contains("too little for 2 threads"));
    }
}
