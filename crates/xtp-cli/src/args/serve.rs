//! `xtp serve`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp serve                              the current directory, to programs on this machine
  xtp serve --read-only ~/public         nothing can be written
  xtp serve --listen 0.0.0.0 ~/public    to the network, neither encrypted nor authenticated
  xtp serve --listen '[::]:4000' /srv    another UDP port

Prints `listening on ADDR` on standard error when ready. Ends with SIGINT (status
130), SIGTERM or SIGHUP (status 0).";

/// Offer a directory to `xtp cp` and `xtp ls`
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Where to listen; 127.0.0.1 if not given, so only programs on this machine get in
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,

    /// Let nobody write
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Set owner, group, set-ID and sticky bits where a client asks for it (cp -a): whoever reaches the server can then
    /// make programs that run as root; needs root
    #[arg(long)]
    pub(crate) owner: bool,

    /// The directory; no path leads out of it
    #[arg(value_name = "DIR", default_value = ".", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
}
