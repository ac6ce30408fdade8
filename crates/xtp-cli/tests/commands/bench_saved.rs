//! `xtp bench --from`: pages made of what earlier runs wrote, without measuring.

use std::fs;

use crate::support::xtp;

const FIRST: &str = r#"[
  {"experiment": "pingpong", "transport": "xtp", "path": "loopback", "size": 64, "wait": "spin", "rounds": 5, "p50_us": 7.0},
  {"experiment": "pingpong", "transport": "tcp", "path": "loopback", "size": 64, "wait": "spin", "rounds": 5, "p50_us": 8.5}
]"#;
const SECOND: &str = r#"[
  {"experiment": "bulk", "transport": "xtp", "path": "veth", "size": 65536, "rounds": 5, "gbit_s": 34.5}
]"#;

#[test]
fn several_files_become_one_page_and_one_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    let (first, second) = (path("first.json"), path("second.json"));
    fs::write(&first, FIRST).expect("a file");
    fs::write(&second, SECOND).expect("a file");
    let (page, whole) = (path("page.html"), path("whole.json"));
    xtp(&[
        "bench", "--from", &first, "--from", &second, "--html", &page, "--report", &whole,
    ])
    .expect(0);
    let html = fs::read_to_string(&page).expect("the page");
    assert!(html.starts_with("<!doctype html>") && html.contains("id=\"bulk\"") && html.contains("1.21×"));

    let rows = xtp(&["bench", "--from", &whole, "--json", "-"]).expect(0);
    assert!(rows.text().contains("\"gbit_s\""), "{}", rows.text());
}

#[test]
fn what_is_no_report_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let wrong = folder.path().join("wrong.json");
    fs::write(&wrong, "{}").expect("a file");
    let page = page.to_str().expect("a name");
    let wrong = wrong.to_str().expect("a name");
    let done = xtp(&["bench", "--from", wrong, "--html", page]).expect(1);
    assert!(done.sentence().contains("no report"), "{}", done.sentence());
    xtp(&["bench", "--from", "/nowhere/at/all.json", "--html", page]).expect(1);
    assert!(!std::path::Path::new(page).exists());
}

#[test]
fn reading_and_measuring_exclude_each_other() {
    xtp(&["bench", "pingpong", "--from", "some.json"]).expect(2);
    xtp(&["bench"]).expect(2);
}
