//! Numbers of methods.

use super::*;

fn file(path: &str, methods: usize) -> Source {
    let method = "    pub fn a(&self) {\n    }\n    pub(crate) fn b(&self) {\n        // pub fn c\n    }\n";
    let others = "impl Other {\n    pub fn d() {}\n}\nimpl Read for Stream {\n    pub fn e() {}\n}\n";
    Source::new(
        path,
        format!("impl Stream {{\n{}}}\n{others}", method.repeat(methods)),
    )
}

fn found(files: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let tests = HashSet::from(["crates/xtp/src/stream/io_tests.rs".to_owned()]);
    check(files, &tests, &mut findings);
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn methods_of_all_impl_blocks_of_a_runtime_count_together() {
    let at_most = [
        file("crates/xtp/src/stream/mod.rs", STREAM_METHODS - 1),
        file("crates/xtp/src/matching.rs", 1),
        file("crates/xtp/src/stream/io_tests.rs", 5),
        file("crates/xtp/src/tokio/stream.rs", STREAM_METHODS),
        file("crates/xtp-engine/src/stream.rs", 5),
    ];
    assert_eq!(found(&at_most), Vec::<String>::new());
    let mut above = at_most.to_vec();
    above.push(file("crates/xtp/src/tokio/matching.rs", 1));
    let message = "crates/xtp/src/tokio/stream.rs:1: `Stream` has 45 public methods, at most 44: parameters belong to `StreamTuning`";
    assert_eq!(found(&above), [message]);
    above.push(file("crates/xtp/src/stream/send.rs", 2));
    assert!(found(&above)[0].contains("stream/mod.rs:1: `Stream` has 46 public methods"));
}

#[test]
fn asynchronous_methods_count() {
    let text = "impl Stream {\n    pub async fn a(&self) {}\n    async fn b(&self) {}\n}\n";
    let file = Source::new("a.rs", text.to_owned());
    assert_eq!(public_methods(&file, "Stream"), 1);
}
