//! Completions and manual pages.

use crate::support::xtp;

#[test]
fn every_shell_gets_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = xtp(&["completions", shell]).expect(0);
        for word in ["ping", "listen", "doctor", "trace-format"] {
            assert!(done.text().contains(word), "{shell}: {word}");
        }
        let hidden = done.text().contains("directory that copied files");
        assert!(!hidden, "{shell}");
    }
}

#[test]
fn every_command_has_a_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let pages = directory.path().join("man1");
    let done = xtp(&["man", pages.to_str().expect("text")]).expect(0);
    let mut names: Vec<String> = std::fs::read_dir(&pages)
        .expect("made")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    let mut commands = vec!["xtp.1".to_owned()];
    for command in [
        "answer",
        "call",
        "cast",
        "cast-recv",
        "cast-send",
        "completions",
        "cp",
        "demo",
        "doctor",
        "linkem",
        "listen",
        "ls",
        "man",
        "ping",
        "send",
        "serve",
        "sim",
        "top",
    ] {
        commands.push(format!("xtp-{command}.1"));
    }
    if cfg!(target_os = "linux") {
        commands.push("xtp-bench.1".to_owned());
    }
    commands.sort();
    assert_eq!(names, commands);
    assert_eq!(done.text().lines().count(), commands.len());
    let page = std::fs::read_to_string(pages.join("xtp-ping.1")).expect("a page");
    assert!(
        page.contains(".TH") && page.contains("xtp ping") && page.contains(".SH \"EXAMPLES\""),
        "{page}"
    );
}
