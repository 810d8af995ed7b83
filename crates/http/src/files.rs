//! Files to upload, read once per run.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_limits::files::{UPLOAD_BYTES, count_too_large, read_regular};

/// The contents of files a plan uploads. Relative names are looked up in the plan's directory, then in the working
/// directory, as JMeter does.
#[derive(Debug, Default)]
pub struct FileStore {
    base: PathBuf,
    contents: Mutex<HashMap<String, Arc<[u8]>>>,
}

impl FileStore {
    /// A store for a plan in the directory `base`.
    #[must_use]
    pub fn new(base: &Path) -> Self {
        Self { base: base.to_owned(), contents: Mutex::default() }
    }

    /// The content of a file; read off the executor the first time.
    ///
    /// # Errors
    /// The system's error when it cannot be read.
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

    /// Where a file is looked for.
    #[must_use]
    pub fn resolve(&self, name: &str) -> PathBuf {
        let path = Path::new(name);
        if path.is_absolute() {
            return path.to_owned();
        }
        let beside = self.base.join(path);
        if beside.exists() || !path.exists() { beside } else { path.to_owned() }
    }
}
