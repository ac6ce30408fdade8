//! What is left out, and why.

use super::*;

fn suite(name: &'static str, needs: &'static [Need]) -> Suite {
    Suite {
        name,
        needs,
        run: |_| Ok(String::new()),
    }
}

#[test]
fn the_first_line_names_each_suite_left_out_with_every_reason() {
    let suites = [
        suite("dissect", &[Need::Tshark]),
        suite("netns", &[Need::Root, Need::Namespaces]),
        suite("plain", &[]),
    ];
    let suites: Vec<&Suite> = suites.iter().collect();
    assert_eq!(left_out(&suites, |_| None), "real: leaving out: nothing");
    let line = left_out(&suites, |need| Some(format!("no {need:?}")));
    assert_eq!(
        line,
        "real: leaving out: dissect (no Tshark), netns (no Root, no Namespaces)"
    );
}

#[test]
fn an_unknown_suite_is_refused_with_the_list() {
    let error = run(Path::new("."), &["nothing"]);
    assert_eq!(
        error,
        Err(
            "no suite `nothing`; there are: relay, namespaces, narrow, cast, linkem, wan, priority, multicast, dissect, wireshark, strace, readme"
                .to_owned()
        )
    );
}

#[test]
fn what_is_left_out_fails_where_changes_are_checked() {
    let suites = [suite("dissect", &[Need::Tshark]), suite("plain", &[])];
    let suites: Vec<&Suite> = suites.iter().collect();
    let lacking = |need| (need == Need::Tshark).then(|| "not installed".to_owned());
    assert_eq!(names_left_out(&suites, lacking), ["dissect"]);
    assert_eq!(names_left_out(&suites, |_| None), Vec::<&str>::new());
}
