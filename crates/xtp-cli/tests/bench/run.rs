//! Runs of the command, none of them without end.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Packets a call, at least: the END of the last one leaves up to 3 ms after what is measured (`docs/decisions/deferred-end.md`), and a busy
/// host makes only some dozens of calls in a round.
pub(crate) const THREE_BUT_THE_LAST_END: f64 = 2.9;

/// After this a run counts as hanging. Generous: nothing is measured by it.
const HANGS: Duration = Duration::from_secs(240);

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Starts `xtp bench`.
pub(crate) fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_xtp"))
        .arg("bench")
        .args(args)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Waits for the end of a run.
pub(crate) fn finish(mut child: Child) -> Done {
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > HANGS {
            let _ = child.kill();
            panic!("still running: {:?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("ended");
    Done {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs `xtp bench` to its end, with this exit status.
#[track_caller]
pub(crate) fn bench(args: &[&str], status: i32) -> Done {
    let done = finish(start(args));
    assert_eq!(done.status, Some(status), "{args:?}: {done:?}");
    done
}

/// The rows of a run on standard output.
#[track_caller]
pub(crate) fn rows(args: &[&str]) -> Vec<Value> {
    let done = bench(&[args, &["--json", "-"]].concat(), 0);
    match serde_json::from_str(&done.stdout) {
        Ok(Value::Array(rows)) => rows,
        other => panic!("no list of rows: {other:?}, {done:?}"),
    }
}

/// The row of a transport.
#[track_caller]
pub(crate) fn row<'a>(rows: &'a [Value], transport: &str) -> &'a Value {
    let mut rows = rows.iter().filter(|row| row["transport"] == transport);
    let first = rows.next().unwrap_or_else(|| panic!("no row of {transport}"));
    assert_eq!(rows.next(), None, "one row for each transport");
    first
}

/// A figure of a row.
#[track_caller]
pub(crate) fn figure(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"))
}

/// Whether this process may make namespaces.
pub(crate) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id");
    output.stdout == b"0\n"
}
