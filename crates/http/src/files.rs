//! Files to upload. Each file is read once per run.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_limits::files::{UPLOAD_BYTES, count_too_large, read_regular};

/// The contents of files that a plan uploads. Relative names are looked up in the plan's directory, then in the working
/// directory, as in JMeter.
#[derive(Debug, Default)]
pub struct FileStore {
    base: PathBuf,
    contents: Mutex<HashMap<String, Arc<[u8]>>>,
}

impl FileStore {
    /// Creates a store for a plan in the directory `base`.
    #[must_use]
    pub fn new(base: &Path) -> Self {
        Self { base: base.to_owned(), contents: Mutex::default() }
    }

    /// Returns the content of a file, which is read the first time without blocking the executor.
    ///
    /// # Errors
    /// If the file cannot be read: the system's error.
    pub async fn content(self: &Arc<Self>, name: &str) -> io::Result<Arc<[u8]>> {
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        let (store, owned) = (Arc::clone(self), name.to_owned());
        let read = tokio::task::spawn_blocking(move || read_regular(&store.resolve(&owned), UPLOAD_BYTES));
        let content: Arc<[u8]> = read.await.map_err(io::Error::other)?.inspect_err(count_too_large)?.into();
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(contents.entry(name.to_owned()).or_insert(content)))
    }

    fn known(&self, name: &str) -> Option<Arc<[u8]>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The path of a file.
    #[must_use]
    pub fn resolve(&self, name: &str) -> PathBuf {
        let path = Path::new(name);
        if path.is_absolute() {
            return path.to_owned();
        }
        let in_plan_directory = self.base.join(path);
        if in_plan_directory.exists() || !path.exists() { in_plan_directory } else { path.to_owned() }
    }
}
