//! What manual pages consist of.

use super::*;

#[test]
fn what_stands_below_the_options_becomes_sections_of_manual_pages() {
    let text = "Examples:\n  xtp a -b     c\n\nBetween hosts:\n  xtp d\n\nA remark.\nNeeds root. Exit status: 0 done,\n1 failed.";
    let written = sections(text);
    let at = |part: &str| {
        written
            .find(part)
            .unwrap_or_else(|| panic!("no {part:?} in {written}"))
    };
    assert!(at(".SH \"NOTES\"\n.nf\nA remark.\nNeeds root.\n.fi") < at(".SH \"EXAMPLES\""));
    at("  xtp a \\-b     c\n\nBetween hosts:\n  xtp d");
    at(".SH \"EXIT STATUS\"\n.nf\n0 done,\n1 failed.\n.fi");
    let other = sections("Exit status 3 if nothing does.");
    assert!(other.contains("130 interrupted") && other.contains("\n\nExit status 3 if nothing does."));
    assert!(!written.contains("Examples:"));
}

#[test]
fn no_line_is_a_command_of_the_formatter() {
    assert_eq!(plain(".x\n'y\nz \\ -"), "\\&.x\n\\&'y\nz \\e \\-");
}

#[test]
fn every_page_has_examples_or_notes_and_names_the_others() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut written = Vec::new();
    write_pages(&definition(), folder.path(), &mut written).expect("pages");
    assert!(written.len() > 15, "{written:?}");
    for name in &written {
        let page = std::fs::read_to_string(folder.path().join(name)).expect("a page");
        assert!(page.contains(".SH \"SEE ALSO\""), "{name}");
        assert!(!page.contains(".SH EXTRA"), "{name}");
        assert!(page.contains(".SH \"EXIT STATUS\""), "{name}");
        if name == "xtp-cp.1" || name == "xtp.1" {
            assert!(page.contains(".SH \"EXAMPLES\""), "{page}");
        }
    }
}
