//! The mutants, read from `xtask/mutants`: one TOML file a concern.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use super::kind::Kind;

/// The folder of the catalogue, from the root of the repository.
pub(super) const FOLDER: &str = "xtask/mutants";
/// The concern of the mutants that kinds of killers must notice.
const CANARY: &str = "canary";

/// A bug at one place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mutant {
    /// Words with hyphens, unique in the catalogue.
    pub(super) name: String,
    pub(super) place: MutantPlace,
    /// Source text that occurs there exactly once (blanks, line ends and comments do not matter). If only a part of it
    /// is replaced, that part stands between « and »; an empty part is a place where statements are put in.
    pub(super) text: String,
    /// The replacement. A statement replaces statements, an expression an expression.
    pub(super) becomes: String,
    /// The consequence in words.
    pub(super) breaks: String,
    /// Why nothing can notice the mutant, if nothing can.
    pub(super) explained: Option<String>,
}

/// File and function of a mutant: `xtp-engine/src/context/peer.rs: budget`, or the file alone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(super) struct MutantPlace {
    /// Path below `crates/`.
    pub(super) file: String,
    /// `None` for a place outside every function.
    pub(super) function: Option<String>,
}

impl From<String> for MutantPlace {
    fn from(place: String) -> Self {
        match place.split_once(':') {
            Some((file, function)) => Self {
                file: file.trim().to_owned(),
                function: Some(function.trim().to_owned()),
            },
            None => Self {
                file: place,
                function: None,
            },
        }
    }
}

/// A mutant with its number (the canaries come first, from 1 on) and its concern.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) number: u32,
    pub(super) concern: String,
    pub(super) mutant: Mutant,
}

impl Numbered {
    /// Whether it is there to be noticed by kinds of killers, before anything else is asked of them.
    pub(super) fn is_canary(&self) -> bool {
        self.concern == CANARY
    }

    /// An error about this mutant.
    pub(super) fn error(&self, defect: Defect) -> CatalogueError {
        CatalogueError {
            file: path(&self.concern),
            mutant: Some(self.mutant.name.clone()),
            defect,
        }
    }
}

/// What is wrong with the catalogue, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CatalogueError {
    /// The TOML file, from the root of the repository.
    pub(super) file: String,
    /// The mutant: its name, or its place in the file if it has no name. `None` if the whole file is concerned.
    pub(super) mutant: Option<String>,
    pub(super) defect: Defect,
}

/// What is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// The TOML file cannot be read.
    Unreadable(String),
    /// The TOML file is not TOML, or has other keys than `mutant`.
    Syntax(String),
    /// A field is unknown, missing or no string.
    Fields(String),
    /// Another mutant, in this file, has the same name.
    Duplicate(String),
    /// There is no canary of this name.
    Canary(&'static str),
    /// The source file cannot be read.
    NoSource { file: String, error: String },
    /// The source file has no function of that name.
    NoFunction { file: String, function: String },
    /// The text does not occur once.
    Occurs {
        place: String,
        text: String,
        count: usize,
        breaks: String,
    },
    /// One mark, more than two, or the wrong way round.
    Marks(String),
    /// There is no text to look for.
    Empty,
    /// The place overlaps that of this mutant, and neither is inside the other.
    Overlap(String),
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(mutant) = &self.mutant {
            write!(f, "`{mutant}`: ")?;
        }
        write!(f, "{}", self.defect)
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "unreadable: {error}"),
            Self::Syntax(error) | Self::Fields(error) => f.write_str(error.trim_end()),
            Self::Duplicate(other) => write!(f, "{other} has a mutant of this name too: rename one"),
            Self::Canary(name) => write!(f, "there is no canary `{name}`"),
            Self::NoSource { file, error } => write!(f, "crates/{file}: {error}"),
            Self::NoFunction { file, function } => {
                write!(
                    f,
                    "crates/{file} has no function `{function}`: name that of the place"
                )
            }
            Self::Occurs {
                place,
                text,
                count,
                breaks,
            } => write!(
                f,
                "the text occurs {count} times in {place}, and not once: `{text}`. Adapt it to the source, so that the \
                 mutant breaks the same rule (\"{breaks}\")"
            ),
            Self::Marks(text) => write!(f, "one « and one » behind it, or neither: `{text}`"),
            Self::Empty => f.write_str("the text is empty"),
            Self::Overlap(other) => write!(f, "its place and that of `{other}` overlap"),
        }
    }
}

/// The whole catalogue, the canaries first, then the concerns by name.
///
/// # Errors
/// Every defect that shows without a look at the sources.
pub(super) fn load(root: &Path) -> Result<Vec<Numbered>, Vec<CatalogueError>> {
    let mut errors = Vec::new();
    let mut found = Vec::new();
    let concerns =
        concerns(root).map_err(|error| vec![of_file(FOLDER, Defect::Unreadable(error.to_string()))])?;
    for concern in concerns {
        let file = path(&concern);
        let text = match std::fs::read_to_string(root.join(&file)) {
            Ok(text) => text,
            Err(error) => {
                errors.push(of_file(&file, Defect::Unreadable(error.to_string())));
                continue;
            }
        };
        let before = errors.len();
        let mutants = parse(&file, &text, &mut errors);
        if concern == CANARY && errors.len() == before {
            let lacks = |name: &&str| mutants.iter().all(|mutant| mutant.name != **name);
            let names: BTreeSet<&'static str> = Kind::ALL.map(Kind::canary).into();
            let missing = names.into_iter().filter(lacks);
            errors.extend(missing.map(|name| of_file(&file, Defect::Canary(name))));
        }
        found.extend(mutants.into_iter().map(|mutant| (concern.clone(), mutant)));
    }
    let numbered = found.into_iter().zip(1..);
    let numbered = numbered.map(|((concern, mutant), number)| Numbered {
        number,
        concern,
        mutant,
    });
    let all: Vec<Numbered> = numbered.collect();
    errors.extend(duplicates(&all));
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// The names of the TOML files, the canaries' first.
fn concerns(root: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in root.join(FOLDER).read_dir()? {
        let name = entry?.file_name();
        let concern = name.to_str().and_then(|name| name.strip_suffix(".toml"));
        names.extend(concern.filter(|concern| *concern != CANARY).map(str::to_owned));
    }
    names.sort();
    names.insert(0, CANARY.to_owned());
    Ok(names)
}

/// The mutants of one file that have all their fields; the defects of the others.
fn parse(file: &str, text: &str, errors: &mut Vec<CatalogueError>) -> Vec<Mutant> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Document {
        #[serde(default)]
        mutant: Vec<toml::Table>,
    }
    let document: Document = match toml::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            errors.push(of_file(file, Defect::Syntax(error.to_string())));
            return Vec::new();
        }
    };
    let mut mutants = Vec::new();
    for (number, table) in (1..).zip(document.mutant) {
        let name = table.get("name").and_then(toml::Value::as_str);
        let name = name.map_or_else(|| format!("mutant {number}"), str::to_owned);
        match table.try_into() {
            Ok(mutant) => mutants.push(mutant),
            Err(error) => errors.push(CatalogueError {
                file: file.to_owned(),
                mutant: Some(name),
                defect: Defect::Fields(error.message().to_owned()),
            }),
        }
    }
    mutants
}

/// Mutants whose name is that of an earlier one.
fn duplicates(all: &[Numbered]) -> Vec<CatalogueError> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut errors = Vec::new();
    for one in all {
        match first.get(one.mutant.name.as_str()) {
            Some(concern) => errors.push(one.error(Defect::Duplicate(path(concern)))),
            None => {
                first.insert(&one.mutant.name, &one.concern);
            }
        }
    }
    errors
}

fn of_file(file: &str, defect: Defect) -> CatalogueError {
    CatalogueError {
        file: file.to_owned(),
        mutant: None,
        defect,
    }
}

/// The file of a concern, from the root of the repository.
pub(super) fn path(concern: &str) -> String {
    format!("{FOLDER}/{concern}.toml")
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
