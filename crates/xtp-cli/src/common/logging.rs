//! What the library reports, on standard error: nothing but errors unless `-v` or `RUST_LOG` ask for more.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::CommonArgs;

/// Starts logging as the options say.
pub(crate) fn start(args: &CommonArgs) {
    let level = match args.verbose {
        _ if args.quiet => "off",
        0 => "error",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    // A second call, in tests, changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // A file or pipe has no use for colours.
        .with_ansi(std::io::stderr().is_terminal())
        // That standard error is closed or full would be told there, by a panic.
        .log_internal_errors(false)
        .try_init();
}
