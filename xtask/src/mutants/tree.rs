//! The copy of the crates with all mutants in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::catalogue::Numbered;
use super::resolve;
use super::rewrite::rewrite;

/// The crates whose tests and programs are the killers; those they depend on are copied with them.
pub(super) const TESTED: [&str; 10] = [
    "xtp-wire",
    "xtp-core",
    "xtp-congestion",
    "xtp-group",
    "xtp-engine",
    "xtp-mesh",
    "xtp-sim",
    "xtp-io",
    "xtp",
    "xtp-cli",
];

/// The crate that everything mutated depends on, if need be in the copy alone: the number of the chosen mutant is kept there.
const BASE: &str = "xtp-wire";

/// Which mutant runs, in the copy of [`BASE`]. What comes to its place says so in a file: with a mutant chosen, that it was
/// reached; with none and the word `trace`, the number of each place that was come to.
const CHOICE: &str = r#"
pub mod mutant {
    //! Which mutant runs.
    extern crate std;
    use std::io::Write;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    const TRACE: u32 = u32::MAX;
    static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

    /// Whether this one does.
    #[inline]
    pub fn is(number: u32) -> bool {
        static CHOSEN: LazyLock<u32> = LazyLock::new(|| {
            let word = std::env::var("XTP_MUTANT").unwrap_or_default();
            if word == "trace" { TRACE } else { word.parse().unwrap_or(0) }
        });
        let chosen = *CHOSEN;
        if (chosen == number || chosen == TRACE) && !SEEN[number as usize].load(Ordering::Relaxed) {
            reached(number);
        }
        chosen == number
    }

    #[cold]
    fn reached(number: u32) {
        if SEEN[number as usize].swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(path) = std::env::var_os("XTP_MUTANT_REACHED") {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(std::format!("{number}\n").as_bytes()));
        }
    }
}
"#;

/// What the copy has instead of the lints and profiles of the workspace: a mutant may be what a lint forbids, and
/// assertions and overflow checks are as in every test.
const SETTINGS: &str = "
[workspace.lints.rust]
warnings = \"allow\"
arithmetic_overflow = \"allow\"
overflowing_literals = \"allow\"
unconditional_panic = \"allow\"

[profile.dev]
opt-level = 1
debug = false
incremental = true
";

/// Copies and rewrites; returns the folder of the copy. Files that are right already keep their time.
pub(super) fn copy(root: &Path, place: &Path, mutants: &[Numbered]) -> Result<PathBuf, String> {
    let changes = resolve::places(root, mutants).map_err(|errors| super::lines(&errors))?;
    let copy = place.join("tree");
    let crates = crates(root)?;
    let mut files = BTreeMap::new();
    for name in &crates {
        gather(&root.join("crates"), Path::new(name), &mut files)?;
    }
    for (file, (source, list)) in &changes {
        let function = match file.strip_prefix(BASE) {
            Some(_) => "crate::mutant::is",
            None => "xtp_wire::mutant::is",
        };
        let text = rewrite(source, list, function).map_err(|_| format!("{file}: mutants overlap"))?;
        files.insert(PathBuf::from(file), text.into_bytes());
    }
    let base = Path::new(BASE).join("src/lib.rs");
    if let Some(text) = files.get_mut(&base) {
        text.extend_from_slice(CHOICE.as_bytes());
    }
    for name in mutated_without_base(&changes, &files) {
        let path = Path::new(name).join("Cargo.toml");
        if let Some(text) = files.get_mut(&path) {
            *text = with_base(&String::from_utf8_lossy(text)).into_bytes();
        }
    }
    let mut texts: BTreeMap<PathBuf, Vec<u8>> = files
        .into_iter()
        .map(|(path, text)| (Path::new("crates").join(path), text))
        .collect();
    let workspace = read(&root.join("Cargo.toml"))?;
    let workspace = manifest(&String::from_utf8_lossy(&workspace), &crates);
    texts.insert("Cargo.toml".into(), workspace.into_bytes());
    texts.insert("Cargo.lock".into(), read(&root.join("Cargo.lock"))?);
    clear(&copy.join("crates"), &texts, &copy)?;
    for (path, text) in texts {
        write(&copy.join(path), &text)?;
    }
    Ok(copy)
}

/// The crates with mutants that do not depend on [`BASE`].
fn mutated_without_base<'c>(
    changes: &resolve::Changes<'c>,
    files: &BTreeMap<PathBuf, Vec<u8>>,
) -> BTreeSet<&'c str> {
    let mutated = changes.keys().filter_map(|file| file.split('/').next());
    let lacks = |name: &&str| {
        let manifest = files.get(&Path::new(name).join("Cargo.toml"));
        *name != BASE && manifest.is_some_and(|text| !String::from_utf8_lossy(text).contains(BASE))
    };
    mutated.filter(lacks).collect()
}

/// A package's manifest with a dependency on [`BASE`].
fn with_base(manifest: &str) -> String {
    const TABLE: &str = "[dependencies]\n";
    manifest.replacen(TABLE, &format!("{TABLE}{BASE}.workspace = true\n"), 1)
}

/// The tested crates and those of ours that they depend on.
fn crates(root: &Path) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    let mut left: Vec<String> = TESTED.iter().map(|name| (*name).to_owned()).collect();
    while let Some(name) = left.pop() {
        if found.contains(&name) {
            continue;
        }
        let manifest = read(&root.join("crates").join(&name).join("Cargo.toml"))?;
        let manifest = String::from_utf8_lossy(&manifest).into_owned();
        let ours = |line: &str| {
            let word = line.split(['.', ' ', '=']).next()?;
            let ours = word.starts_with("xtp") && root.join("crates").join(word).is_dir();
            ours.then(|| word.to_owned())
        };
        left.extend(manifest.lines().filter_map(ours));
        found.insert(name);
    }
    Ok(found)
}

/// The manifest of the workspace with these members only, and [`SETTINGS`] instead of its own.
fn manifest(text: &str, crates: &BTreeSet<String>) -> String {
    let members: Vec<String> = crates.iter().map(|name| format!("\"crates/{name}\"")).collect();
    let mut replaced = false;
    let lines = text.lines().filter_map(|line| {
        if line.starts_with('[') {
            replaced = line.starts_with("[profile.") || line.starts_with("[workspace.lints.");
        }
        if replaced || line.starts_with("default-members") || line.starts_with("exclude") {
            None
        } else if line.starts_with("members") {
            Some(format!("members = [{}]\n", members.join(", ")))
        } else {
            Some(line.to_owned() + "\n")
        }
    });
    lines.collect::<String>() + SETTINGS
}

/// Every file below `folder` of `base`.
fn gather(base: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<(), String> {
    let whole = base.join(folder);
    let entries = whole
        .read_dir()
        .map_err(|error| format!("{}: {error}", whole.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            // What a property test wrote down is tried again by it, whatever the mutant.
            if entry.file_name() != "proptest-regressions" && entry.file_name() != "target" {
                gather(base, &path, files)?;
            }
        } else {
            files.insert(path.clone(), read(&base.join(&path))?);
        }
    }
    Ok(())
}

/// Removes what an earlier copy had and this one has not.
fn clear(folder: &Path, texts: &BTreeMap<PathBuf, Vec<u8>>, copy: &Path) -> Result<(), String> {
    let Ok(entries) = folder.read_dir() else {
        return Ok(());
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            clear(&path, texts, copy)?;
        } else if path
            .strip_prefix(copy)
            .is_ok_and(|path| !texts.contains_key(path))
        {
            std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let written = match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)),
        None => std::fs::write(path, text),
    };
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
