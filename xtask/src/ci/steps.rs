//! The steps: what each is for, and what it runs.

use super::rotation::{PARTS, Rotation};

/// What a step does in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    /// These commands, one after another. `xtask` is this program.
    Run(Vec<Vec<String>>),
    /// Nothing, and why.
    LeftOut(String),
}

/// One of what must hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) name: &'static str,
    /// What it is for, as `docs/testing.md` says.
    pub(super) purpose: &'static str,
    /// The target directory in which it builds, one step at a time; empty if it builds nothing that others build.
    pub(super) place: &'static str,
    /// Steps before it that must have passed.
    pub(super) needs: &'static [&'static str],
    /// Whether it is exhaustive, so that a part of it is enough for one change.
    pub(super) rotates: bool,
    pub(super) work: fn(&Rotation) -> Work,
}

/// The runner of the simulator's seeds, with assertions.
const SEEDS: &str = "checked/examples/seeds";
/// The first of the seeds that every run repeats. It moves now and then: the code is fitted to what it is tested with.
const BASE: &str = "39000001";

/// Killers of mutants in the engine, and of those in what uses sockets.
const ENGINE: &str = "wire engine units seeds proofs";
const PROGRAMS: &str = "sockets facade files";

/// A step that always runs in full.
const ALWAYS: Step = Step {
    name: "",
    purpose: "",
    place: "",
    needs: &[],
    rotates: false,
    work: |_| Work::Run(Vec::new()),
};

/// An exhaustive step.
const ROTATING: Step = Step {
    rotates: true,
    ..ALWAYS
};

/// All steps in the order in which they begin, as far as cores and target directories are free: what takes longest comes
/// first, so that no core waits at the end.
pub(super) const STEPS: [Step; 29] = [
    Step {
        name: "tests",
        purpose: "every test and every example of the documentation passes, tokio's included",
        place: "debug",
        work: |_| run(&["xtask test"]),
        ..ALWAYS
    },
    Step {
        name: "format",
        purpose: "the source is formatted, that of the fuzz targets too",
        work: |_| {
            run(&[
                "cargo fmt --all --check",
                "cargo fmt --manifest-path fuzz/Cargo.toml --check",
            ])
        },
        ..ALWAYS
    },
    Step {
        name: "tidy",
        purpose: "the house rules that a machine can check hold",
        work: |_| run(&["xtask tidy"]),
        ..ALWAYS
    },
    Step {
        name: "mutants",
        purpose: "the engine's tests notice bugs that are put in by hand",
        place: "mutants",
        work: mutants,
        ..ROTATING
    },
    Step {
        name: "program-mutants",
        purpose: "so do those of the sockets, the library and the file service",
        place: "mutants",
        work: program_mutants,
        ..ROTATING
    },
    Step {
        name: "release",
        purpose: "what ships builds, optimised",
        place: "release",
        work: |_| run(&["cargo build --release -p xtp-cli"]),
        ..ALWAYS
    },
    Step {
        name: "fuzz",
        purpose: "no input makes what parses, or the engine, panic, hang or grow",
        place: "fuzz",
        work: fuzz,
        ..ROTATING
    },
    Step {
        name: "checked",
        purpose: "the simulator builds as it ships, with the assertions of a debug build",
        place: "checked",
        work: |_| run(&["cargo build --profile checked -p xtp-sim --example seeds"]),
        ..ALWAYS
    },
    Step {
        name: "simulator",
        purpose: "seeds of associations keep every invariant, and liveness once faults end",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "12000"]),
        ..ALWAYS
    },
    Step {
        name: "groups",
        purpose: "seeds of groups do",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "15000", "--cast"]),
        ..ALWAYS
    },
    Step {
        name: "injector",
        purpose: "seeds with injected packets do",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "1000", "--hostile"]),
        ..ALWAYS
    },
    Step {
        name: "exchanges",
        purpose: "seeds of short exchanges do",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "2000", "--exchange"]),
        ..ALWAYS
    },
    Step {
        name: "rough",
        purpose: "seeds with hosts that sleep and carriers that take a part do",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "1000", "--rough"]),
        ..ALWAYS
    },
    Step {
        name: "roles",
        purpose: "seeds of groups beside liars, deaf and crowds do",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "2500", "--roles"]),
        ..ALWAYS
    },
    Step {
        name: "meshes",
        purpose: "seeds of meshes: each message once, to the receive that MPI names",
        needs: &["checked"],
        work: |_| program(SEEDS, &[BASE, "4000", "--mesh"]),
        ..ALWAYS
    },
    Step {
        name: "coverage",
        purpose: "the simulator's seeds run the lines of the engine",
        place: "coverage",
        work: |rotation| {
            let places = [
                "crates/xtp-core/src/",
                "crates/xtp-congestion/src/",
                "crates/xtp-group/src/",
                "crates/xtp-engine/src/",
                "crates/xtp-sim/src/",
                "xtask/src/coverage/",
            ];
            in_turn(rotation, 3, &places, "cargo xtask coverage", &["xtask coverage"])
        },
        ..ROTATING
    },
    Step {
        name: "miri",
        purpose: "what is done with memory may be done with memory",
        place: "miri",
        work: miri,
        ..ROTATING
    },
    Step {
        name: "model",
        purpose: "shared memory is right in every order in which threads may see it",
        place: "model",
        work: |rotation| {
            let places = [
                "crates/xtp-io/src/",
                "crates/xtp/src/flusher/",
                "crates/xtp/src/frames",
                "crates/xtp/src/sync.rs",
            ];
            in_turn(rotation, 1, &places, "cargo xtask model", &["xtask model"])
        },
        ..ROTATING
    },
    Step {
        name: "counts",
        purpose: "the main flows take no more instructions than their ceilings",
        place: "release",
        work: |_| run(&["xtask counts"]),
        ..ALWAYS
    },
    Step {
        name: "real",
        purpose: "real kernels, links and captures: what needs root, namespaces, strace or tshark",
        place: "debug",
        needs: &["release"],
        work: real,
        ..ALWAYS
    },
    Step {
        name: "lints",
        purpose: "the compiler and clippy have nothing to say, with every feature and in every test",
        place: "debug",
        work: |_| run(&["cargo clippy --workspace --all-targets --all-features -- -D warnings"]),
        ..ALWAYS
    },
    Step {
        name: "documents",
        purpose: "the documentation builds without a warning; the command builds without its default features",
        place: "debug",
        work: |_| {
            run(&[
                "cargo doc --no-deps --workspace --all-features",
                "cargo check -p xtp-cli --no-default-features",
            ])
        },
        ..ALWAYS
    },
    Step {
        name: "c",
        purpose: "the C library's header is C++ too, and valgrind finds nothing in its programs",
        place: "debug",
        work: |_| run(&["cargo test -p xtp-ffi --test c -- --ignored"]),
        ..ALWAYS
    },
    Step {
        name: "demo",
        purpose: "the README's first command runs, and every paradigm takes the packets it promises",
        needs: &["release"],
        work: |_| program("release/xtp", &["demo", "--json"]),
        ..ALWAYS
    },
    Step {
        name: "oldest-compiler",
        purpose: "the oldest compiler that Cargo.toml promises builds what ships",
        place: "oldest",
        work: |rotation| {
            let places = ["Cargo.toml", "Cargo.lock"];
            in_turn(rotation, 2, &places, "cargo xtask oldest", &["xtask oldest"])
        },
        ..ROTATING
    },
    Step {
        name: "elsewhere",
        purpose: "the library compiles for macOS, FreeBSD, Windows and 64-bit ARM, without a warning",
        place: "elsewhere",
        work: |rotation| {
            let places = [
                "Cargo.lock",
                "crates/xtp/",
                "crates/xtp-io/",
                "crates/xtp-core/",
                "crates/xtp-congestion/",
                "crates/xtp-group/",
                "crates/xtp-engine/",
                "crates/xtp-mesh/",
                "crates/xtp-wire/",
            ];
            in_turn(
                rotation,
                1,
                &places,
                "cargo xtask elsewhere",
                &["xtask elsewhere"],
            )
        },
        ..ROTATING
    },
    Step {
        name: "packages",
        purpose: "what would be published builds from its packages alone",
        place: "packages",
        work: |rotation| {
            let places = ["Cargo.toml", "Cargo.lock"];
            in_turn(rotation, 2, &places, "cargo xtask packages", &["xtask packages"])
        },
        ..ROTATING
    },
    Step {
        name: "dist",
        purpose: "what is packed for people who build nothing runs in an empty root",
        place: "dist",
        work: |rotation| {
            let places = ["Cargo.lock", "packaging/", "xtask/src/dist/"];
            in_turn(rotation, 0, &places, "cargo xtask dist", &["xtask dist"])
        },
        ..ROTATING
    },
    Step {
        name: "dependencies",
        purpose: "licences, origins and known faults of what xtp is built from",
        work: |rotation| {
            let places = ["Cargo.lock", "deny.toml"];
            in_turn(
                rotation,
                3,
                &places,
                "cargo xtask dependencies",
                &["xtask dependencies"],
            )
        },
        ..ROTATING
    },
];

/// Commands of words between blanks.
fn run(commands: &[&str]) -> Work {
    Work::Run(commands.iter().map(|command| words(command)).collect())
}

/// What runs if its part is the commit's or one of its places changed.
fn in_turn(rotation: &Rotation, turn: u32, places: &[&str], by_hand: &str, commands: &[&str]) -> Work {
    match rotation.is_due(turn, places) {
        true => run(commands),
        false => Work::LeftOut(format!(
            "nothing it checks changed; part {turn} runs it, or `{by_hand}`"
        )),
    }
}

/// The commit's part of all mutants, and all in files that changed; for a release those that nothing can notice, too.
fn mutants(rotation: &Rotation) -> Work {
    let Some(part) = rotation.part() else {
        return run(&[&format!("xtask mutants --killers {ENGINE}")]);
    };
    let mut words = words(&format!("xtask mutants --quick --killers {ENGINE} --part"));
    words.push(format!("{part}/{PARTS}"));
    push_changed(&mut words, rotation, &["crates/", "xtask/mutants/"]);
    Work::Run(vec![words])
}

/// As [`mutants`], of what uses sockets, when a file of it changed or it is their turn: the killers take longer to build than to run, and what runs
/// in real time is a quarter of an hour of all.
fn program_mutants(rotation: &Rotation) -> Work {
    const TURN: u32 = 0;
    let mut words = words(&format!("xtask mutants --quick --killers {PROGRAMS}"));
    let Some(part) = rotation.part() else {
        words.retain(|word| word != "--quick");
        return Work::Run(vec![words]);
    };
    let places = [
        "crates/xtp/",
        "crates/xtp-io/",
        "crates/xtp-cli/src/files/",
        "xtask/mutants/",
    ];
    if !rotation.is_due(TURN, &places) {
        let text = format!(
            "nothing it checks changed; part {TURN} runs it, or `cargo {}`",
            words.join(" ")
        );
        return Work::LeftOut(text);
    }
    words.extend(["--part".to_owned(), format!("{part}/{PARTS}")]);
    push_changed(&mut words, rotation, &places);
    Work::Run(vec![words])
}

/// The commit's part of every target's inputs, and all inputs of the targets whose crates changed.
fn fuzz(rotation: &Rotation) -> Work {
    let mut words = words("xtask fuzz");
    if let Some(part) = rotation.part() {
        words.extend(["--part".to_owned(), format!("{part}/{PARTS}")]);
        push_changed(&mut words, rotation, &["crates/", "fuzz/"]);
    }
    Work::Run(vec![words])
}

/// The commit's part of the cases of suites that have many, or all if what they are about changed.
fn real(rotation: &Rotation) -> Work {
    let places = [
        "crates/xtp-io/src/",
        "crates/xtp/src/carrier",
        "crates/xtp-core/src/path/",
        "xtask/src/real/narrow/",
    ];
    let changed = rotation
        .changed_below(&places)
        .is_none_or(|changed| !changed.is_empty());
    match rotation.part().filter(|_| !changed) {
        None => run(&["xtask real"]),
        Some(part) => run(&[&format!("xtask real --part {part}/{PARTS}")]),
    }
}

/// The packages whose turn it is, or that changed.
fn miri(rotation: &Rotation) -> Work {
    let due = (0..).zip(crate::miri::PACKAGES).filter(|(turn, package)| {
        let place = format!("crates/{package}/src/");
        rotation.is_due(*turn, &[&place])
    });
    let packages: Vec<&str> = due.map(|(_, package)| package).collect();
    match packages.as_slice() {
        [] => {
            Work::LeftOut("nothing it checks changed; parts 0 to 2 run it, or `cargo xtask miri`".to_owned())
        }
        packages => run(&[&format!("xtask miri {}", packages.join(" "))]),
    }
}

fn push_changed(words: &mut Vec<String>, rotation: &Rotation, places: &[&str]) {
    let changed = rotation.changed_below(places).unwrap_or_default();
    if !changed.is_empty() {
        words.push("--changed".to_owned());
        words.extend(changed.into_iter().map(str::to_owned));
    }
}

/// Runs a program in the target directory.
fn program(path: &str, words: &[&str]) -> Work {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let words = words.iter().map(|word| (*word).to_owned());
    Work::Run(vec![
        std::iter::once(format!("{target}/{path}")).chain(words).collect(),
    ])
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
