//! `lode completions` and `lode man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// `lode completions`.
#[derive(Debug, Args)]
#[command(after_help = "bash: lode completions bash > /usr/share/bash-completion/completions/lode\n\
zsh:  lode completions zsh > /usr/share/zsh/vendor-completions/_lode\n\
fish: lode completions fish > /usr/share/fish/vendor_completions.d/lode.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `lode man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder; made where there is none
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
