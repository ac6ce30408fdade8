//! What is remembered on this machine between runs, beyond one clone: JSON in the user's state directory.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is remembered under this name; `None` if nothing is, or nothing that can be read.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> Option<T> {
    let text = std::fs::read_to_string(folder()?.join(name)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Remembers it: the file is written beside the old one, which a run that is stopped leaves as it was.
pub(crate) fn write<T: Serialize>(name: &str, value: &T) -> Result<(), String> {
    let folder = folder().ok_or("neither XDG_STATE_HOME nor HOME is set")?;
    let text = serde_json::to_string(value).map_err(|error| error.to_string())?;
    let (file, new) = (
        folder.join(name),
        folder.join(format!("{name}.{}", std::process::id())),
    );
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&new, text))
        .and_then(|()| std::fs::rename(&new, &file))
        .map_err(|error| format!("{}: {error}", file.display()))
}

fn folder() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    // The directory's specification says that a relative path counts as none.
    let state = state.filter(|state| state.is_absolute()).or_else(home)?;
    Some(state.join("xtp-ci"))
}
