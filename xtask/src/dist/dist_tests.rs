//! What the recipe reads and writes.

use super::*;

#[test]
fn the_version_is_that_of_the_packages() {
    let manifest =
        "[workspace]\nversion = \"9\"\n[workspace.package]\nedition = \"2024\"\nversion = \"0.2.1\"\n";
    assert_eq!(version_in(manifest).as_deref(), Some("0.2.1"));
    assert_eq!(version_in("[package]\nversion = \"1\"\n"), None);
}

#[test]
fn a_control_file_has_a_line_a_field_and_indents_the_description() {
    let text = pack::control("0.2.1", 5_000);
    assert!(text.contains("\nVersion: 0.2.1\n"));
    assert!(text.contains("\nInstalled-Size: 5\n"));
    let (fields, description) = text.split_once("Description: ").unwrap();
    assert!(fields.lines().all(|line| line.contains(": ")), "{fields}");
    assert!(
        description.lines().skip(1).all(|line| line.starts_with(' ')),
        "{description}"
    );
    assert!(text.ends_with('\n'));
}

#[test]
fn only_what_systemd_says_of_a_line_is_about_the_unit() {
    assert!(check::is_of_a_line(
        "/usr/lib/systemd/system/xtp-serve.service:9: Unknown key name 'Exec'"
    ));
    assert!(!check::is_of_a_line(
        "xtp-serve.service: Failed to create: Unit sysinit.target not found."
    ));
}

#[test]
fn a_version_has_a_text_for_its_tag() {
    assert!(check_text("0.2.1", "xtp 0.2.1\n\nWhat it is.\n").is_ok());
    for text in [
        "",
        "xtp 0.2.0\n\nWhat it is.\n",
        "xtp 0.2.1\nWhat it is.\n",
        "xtp 0.2.1\n\n",
    ] {
        assert!(check_text("0.2.1", text).is_err(), "{text:?}");
    }
    let long = format!("xtp 0.2.1\n\n{}\n", "x".repeat(TAG_COLUMNS + 1));
    assert!(check_text("0.2.1", &long).is_err());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let version = version(root).unwrap();
    assert!(check_text(&version, &read(&text_of(root, &version)).unwrap()).is_ok());
}
