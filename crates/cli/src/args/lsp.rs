//! Arguments of the language server.

use super::top::LoginArgs;
use clap::Args;

/// `lode lsp`.
#[derive(Debug, Args)]
#[command(
    after_help = "A language server for SPARQL, over standard input and output, as editors start them: completion by what gives answers in the \
database, hover (label, class, counts), formatting, errors and warnings. Without a database it knows the language alone. A folder is opened for reading, \
beside whoever writes to it, and shows the data of the moment at which it was opened; a server is asked over HTTP (/api), where a token with the role read is enough.\n\n\
Neovim: vim.lsp.start({ name = 'lode', cmd = { 'lode', 'lsp', '/data/my.db' } }). Helix, languages.toml: [language-server.lode] command = \"lode\", \
args = [\"lsp\", \"http://127.0.0.1:7878\"]. Files that end in .ru, and texts that begin with INSERT, DELETE and so on, are updates."
)]
pub struct LspArgs {
    /// A database folder, or the address of a lode serve (of one with several databases, with /NAME behind it)
    #[arg(value_name = "DB|URL")]
    pub target: Option<String>,
    /// How to be let in.
    #[command(flatten)]
    pub login: LoginArgs,
}
