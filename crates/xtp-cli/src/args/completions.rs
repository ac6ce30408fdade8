//! `xtp completions`.

use clap::Args;
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  xtp completions bash > ~/.local/share/bash-completion/completions/xtp
  xtp completions zsh > ~/.zfunc/_xtp
  xtp completions fish > ~/.config/fish/completions/xtp.fish";

/// Print a shell's completions for xtp
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
