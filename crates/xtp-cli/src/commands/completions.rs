//! `xtp completions`: what a shell can complete, from the definition of the arguments.

use crate::args::{CompletionsArgs, definition};
use crate::common::{Common, Outcome};

/// Prints the completions of one shell.
pub(crate) fn run(args: &CompletionsArgs, common: &Common) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "xtp", &mut script);
    if common.out.is_json() {
        let script = String::from_utf8_lossy(&script);
        let shell = args.shell.to_string();
        return common
            .out
            .object(&serde_json::json!({ "ok": true, "shell": shell, "script": script }));
    }
    common.out.raw(&script)
}
