//! The manifest of the copy.

use super::*;

#[test]
fn the_copy_has_its_own_members_lints_and_profiles() {
    let text = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"xtask\"]\ndefault-members = [\"crates/*\"]\n\
                exclude = [\"fuzz\"]\n\n[workspace.dependencies]\nbytes = \"1\"\n\n[workspace.lints.rust]\n\
                missing_docs = \"warn\"\n[workspace.lints.clippy]\ntodo = \"warn\"\n\n[profile.dev]\nopt-level = 3\n\
                [workspace.metadata]\nkept = true\n";
    let crates = ["xtp-sim", "xtp-wire"].map(str::to_owned).into();
    let expected = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/xtp-sim\", \"crates/xtp-wire\"]\n\n\
                    [workspace.dependencies]\nbytes = \"1\"\n\n[workspace.metadata]\nkept = true\n";
    assert_eq!(manifest(text, &crates), format!("{expected}{SETTINGS}"));
}

#[test]
fn a_package_is_given_the_crate_that_keeps_the_number() {
    let text = "[package]\nname = \"xtp-io\"\n\n[dependencies]\nlibc.workspace = true\n";
    let expected =
        "[package]\nname = \"xtp-io\"\n\n[dependencies]\nxtp-wire.workspace = true\nlibc.workspace = true\n";
    assert_eq!(with_base(text), expected);
}
