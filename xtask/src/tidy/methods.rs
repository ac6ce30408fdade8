//! How many public methods the types have that programs meet first.

use std::collections::HashSet;

use super::Finding;
use super::source::Source;

/// Most public methods of `Stream`; what sets parameters belongs behind `Stream::tuning`.
pub(super) const STREAM_METHODS: usize = 44;
const FACADE: &str = "crates/xtp/src/";
const TOKIO: &str = "crates/xtp/src/tokio/";

pub(super) fn check(files: &[Source], tests: &HashSet<String>, findings: &mut Vec<Finding>) {
    let product = |file: &&Source| file.path.starts_with(FACADE) && !tests.contains(&file.path);
    for (tokio, place) in [
        (false, "crates/xtp/src/stream/mod.rs"),
        (true, "crates/xtp/src/tokio/stream.rs"),
    ] {
        let of_runtime = |file: &&Source| file.path.starts_with(TOKIO) == tokio;
        let methods: usize = files
            .iter()
            .filter(product)
            .filter(of_runtime)
            .map(|file| public_methods(file, "Stream"))
            .sum();
        if methods > STREAM_METHODS {
            let message = format!(
                "`Stream` has {methods} public methods, at most {STREAM_METHODS}: parameters belong to `StreamTuning`"
            );
            findings.push(Finding::new(place, 0, message));
        }
    }
}

/// Public methods in the `impl` blocks of `name` itself, as rustfmt lays them out.
fn public_methods(file: &Source, name: &str) -> usize {
    let opening = format!("impl {name} {{");
    let mut inside = false;
    let mut methods = 0;
    for (_, line) in file.code_lines() {
        match line {
            line if line == opening => inside = true,
            "}" => inside = false,
            line => {
                let public = line.starts_with("    pub fn ") || line.starts_with("    pub async fn ");
                methods += usize::from(inside && public);
            }
        }
    }
    methods
}

#[cfg(test)]
#[path = "methods_tests.rs"]
mod tests;
