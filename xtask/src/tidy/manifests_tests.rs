//! Direction of dependency.

use super::*;

fn found(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(
        &Source::new("crates/a/Cargo.toml", text.to_owned()),
        &mut findings,
    );
    findings
        .iter()
        .map(|finding| format!("{}: {}", finding.line, finding.message))
        .collect()
}

#[test]
fn dependencies_point_down_only() {
    let engine = "[package]\nname = \"xtp-engine\"\n[dependencies]\nbytes.workspace = true\nxtp-wire.workspace = true\n";
    assert_eq!(found(engine), Vec::<String>::new());
    let upwards = format!("{engine}xtp-io = {{ path = \"../xtp-io\" }}\n");
    assert_eq!(
        found(&upwards),
        ["6: xtp-engine must not depend on xtp-io: see docs/ARCHITECTURE.md"]
    );
    let section = "[package]\nname = \"xtp-io\"\n[target.'cfg(unix)'.dependencies.xtp]\npath = \"../xtp\"\n";
    assert_eq!(found(section).len(), 1);
    let target = "[package]\nname = \"xtp-io\"\n[target.'cfg(unix)'.dependencies]\n\"xtp-wire\" = \"1\"\n";
    assert_eq!(found(target).len(), 1);
}

#[test]
fn tests_may_use_the_link_model_but_nothing_above() {
    let text = "[package]\nname = \"xtp-transport\"\n[dev-dependencies]\nxtp-link.workspace = true\nxtp-cli.workspace = true\n";
    assert_eq!(
        found(text),
        ["5: xtp-transport must not depend on xtp-cli: see docs/ARCHITECTURE.md"]
    );
    let normal = "[package]\nname = \"xtp-transport\"\n[dependencies]\nxtp-link.workspace = true\n";
    assert_eq!(found(normal).len(), 1);
}

#[test]
fn pure_crates_bring_in_nothing_impure() {
    let text = "[package]\nname = \"xtp-wire\"\n[dependencies]\nlibc = \"1\" # why\n[dev-dependencies]\ngetrandom = \"1\"\n";
    assert_eq!(
        found(text),
        ["4: xtp-wire is pure state and must not depend on libc"]
    );
}

#[test]
fn a_new_crate_needs_its_line_and_the_workspace_none() {
    assert_eq!(found("[package]\nname = \"xtp-new\"\n").len(), 1);
    assert_eq!(
        found("[workspace]\n[workspace.dependencies]\nxtp = { path = \"x\" }\n"),
        Vec::<String>::new()
    );
}
