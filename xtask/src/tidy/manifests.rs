//! Direction of dependency between the crates.

use super::Finding;
use super::source::Source;

/// Which of our crates each crate may depend on. A front end sits on `xtp` alone, the name by which the workspace knows
/// `xtp-transport`; a new crate gets a line.
const ALLOWED: &[(&str, &[&str])] = &[
    ("xtp-wire", &[]),
    ("xtp-io", &[]),
    ("xtp-link", &[]),
    ("xtp-core", &["xtp-wire"]),
    ("xtp-congestion", &["xtp-core", "xtp-wire"]),
    ("xtp-group", &["xtp-congestion", "xtp-core", "xtp-wire"]),
    (
        "xtp-engine",
        &["xtp-congestion", "xtp-core", "xtp-group", "xtp-wire"],
    ),
    ("xtp-mesh", &["xtp-core", "xtp-engine", "xtp-wire"]),
    ("xtp-transport", &["xtp-engine", "xtp-io", "xtp-mesh", "xtp-wire"]),
    ("xtp-sim", &["xtp-engine", "xtp-link", "xtp-mesh", "xtp-wire"]),
    // `xtp sim` is a command like the others; the simulator sits beside, not below.
    ("xtp-cli", &["xtp", "xtp-bench", "xtp-linkem", "xtp-sim"]),
    ("xtp-ffi", &["xtp"]),
    ("xtp-python", &["xtp"]),
    ("xtp-fabric", &["xtp"]),
    ("xtp-linkem", &["xtp-io", "xtp-link"]),
    (
        "xtp-bench",
        &[
            "xtp",
            "xtp-engine",
            "xtp-io",
            "xtp-link",
            "xtp-linkem",
            "xtp-sim",
            "xtp-wire",
        ],
    ),
    ("xtask", &[]),
];

/// Our crates that any crate's tests may use beside those above.
const FOR_TESTS: &[&str] = &["xtp-link"];

/// Crates that would bring a clock, a socket, a thread or chance into the pure ones.
const IMPURE: &[&str] = &[
    "getrandom",
    "libc",
    "mio",
    "rand",
    "rustix",
    "socket2",
    "tokio",
    "tracing",
];

/// Crates whose normal dependencies must not be [`IMPURE`].
const PURE: &[&str] = &[
    "xtp-wire",
    "xtp-core",
    "xtp-congestion",
    "xtp-group",
    "xtp-engine",
    "xtp-mesh",
];

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    let Some(name) = package_name(file) else { return };
    if file.path.starts_with("fuzz/") {
        return;
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(crate_name, _)| *crate_name == name) else {
        let message = format!("say in xtask/src/tidy/manifests.rs which crates `{name}` may depend on");
        findings.push(Finding::new(&file.path, 1, message));
        return;
    };
    for Dependency {
        line,
        name: dependency,
        for_tests,
    } in dependencies(file)
    {
        let ours = dependency == "xtp" || dependency.starts_with("xtp-");
        let fine = allowed.contains(&dependency) || for_tests && FOR_TESTS.contains(&dependency);
        if ours && !fine {
            let message = format!("{name} must not depend on {dependency}: see docs/ARCHITECTURE.md");
            findings.push(Finding::new(&file.path, line, message));
        }
        if !for_tests && PURE.contains(&name) && IMPURE.contains(&dependency) {
            let message = format!("{name} is pure state and must not depend on {dependency}");
            findings.push(Finding::new(&file.path, line, message));
        }
    }
}

/// The name in `[package]`.
fn package_name(file: &Source) -> Option<&str> {
    let mut lines = file
        .text
        .lines()
        .skip_while(|line| line.trim() != "[package]")
        .skip(1);
    let line = lines.find(|line| line.starts_with("name") || line.starts_with('['))?;
    line.split('"').nth(1)
}

struct Dependency<'a> {
    line: usize,
    name: &'a str,
    for_tests: bool,
}

/// Dependencies of every kind and target, written `name = ...`, `name.workspace = true` or as a section.
fn dependencies(file: &Source) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = "";
    for (line, text) in file.text_lines() {
        let text = text.split('#').next().unwrap_or("").trim();
        if let Some(header) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            section = header;
            let own = header.rsplit_once("dependencies.").map(|(_, name)| name);
            if let Some(name) = own.filter(|_| !header.starts_with("workspace")) {
                found.push(Dependency {
                    line,
                    name,
                    for_tests: header.contains("dev-dependencies"),
                });
            }
        } else if section.ends_with("dependencies") && !section.starts_with("workspace") {
            let name = text.split(['.', '=', ' ']).next().unwrap_or("").trim_matches('"');
            if !name.is_empty() {
                found.push(Dependency {
                    line,
                    name,
                    for_tests: section.contains("dev-dependencies"),
                });
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
