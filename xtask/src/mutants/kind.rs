//! Kinds of killers, and which mutants each is asked about.

/// The source of the program that runs seeds, in `xtp-sim`.
pub(super) const SEEDS: &str = "examples/seeds.rs";

/// A kind of killer; each must notice its canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Tests of `xtp-wire`.
    Wire,
    /// `crates/xtp-engine/tests`.
    Engine,
    /// Tests beside the code of the engine and of what it is made of.
    Units,
    /// Seeds of the simulator.
    Seeds,
    /// Tests of the simulator.
    Proofs,
    /// Tests of `xtp-io`.
    Sockets,
    /// Tests of `xtp`.
    Facade,
    /// Tests of the file service of `xtp-cli`: those beside its code, and those that run its command.
    Files,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Wire,
        Self::Engine,
        Self::Units,
        Self::Seeds,
        Self::Proofs,
        Self::Sockets,
        Self::Facade,
        Self::Files,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Engine => "engine",
            Self::Units => "units",
            Self::Seeds => "seeds",
            Self::Proofs => "proofs",
            Self::Sockets => "sockets",
            Self::Facade => "facade",
            Self::Files => "files",
        }
    }

    /// The folders of the packages whose programs they are.
    pub(super) const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Wire => &["xtp-wire"],
            Self::Engine => &["xtp-engine"],
            Self::Units => &[
                "xtp-core",
                "xtp-congestion",
                "xtp-group",
                "xtp-engine",
                "xtp-mesh",
            ],
            Self::Seeds | Self::Proofs => &["xtp-sim"],
            Self::Sockets => &["xtp-io"],
            Self::Facade => &["xtp"],
            Self::Files => &["xtp-cli"],
        }
    }

    /// The mutant that this kind must notice before its verdicts count.
    pub(super) const fn canary(self) -> &'static str {
        match self {
            Self::Wire | Self::Engine | Self::Units | Self::Seeds | Self::Proofs => "canary",
            Self::Sockets => "canary-sockets",
            Self::Facade => "canary-facade",
            Self::Files => "canary-files",
        }
    }

    /// Whether killers of this kind are asked about mutants in `file`, a path below `crates/`. What uses sockets is proved
    /// by its own package alone: its tests take real time, and what they notice of the engine says little about the engine.
    pub(super) fn judges(self, file: &str) -> bool {
        match file.split('/').next() {
            Some("xtp-io") => self == Self::Sockets,
            Some("xtp") => self == Self::Facade,
            Some("xtp-cli") => self == Self::Files,
            _ => !matches!(self, Self::Sockets | Self::Facade | Self::Files),
        }
    }

    /// The kind of a program of a package, named by its source below the folder of the package; `None` if it is asked
    /// about nothing.
    pub(super) fn of_program(package: &str, name: &str) -> Option<Self> {
        match (package, name) {
            ("xtp-wire", _) => Some(Self::Wire),
            ("xtp-core" | "xtp-congestion" | "xtp-group" | "xtp-mesh", _) | ("xtp-engine", "src/lib.rs") => {
                Some(Self::Units)
            }
            ("xtp-engine", _) => Some(Self::Engine),
            ("xtp-sim", SEEDS) => Some(Self::Seeds),
            ("xtp-sim", _) => Some(Self::Proofs),
            ("xtp-io", _) => Some(Self::Sockets),
            ("xtp", _) => Some(Self::Facade),
            ("xtp-cli", "src/lib.rs" | "tests/files/main.rs") => Some(Self::Files),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "kind_tests.rs"]
mod tests;
