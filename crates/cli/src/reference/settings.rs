//! The options of `lode serve` as they stand in a file and in the environment.

use super::{code, plain, table};
use crate::config_file::{is_settable, name, table_of};
use crate::serve_config::serve_command;

const HEAD: &str = "\
# Settings

What `lode serve` can be told: on the command line (`--some-name`), in the environment (`LODE_SOME_NAME`), or in the file of `--config` (`some-name = ...`, TOML). The command line goes before the
environment, and that before the file. `lode config example` writes a file with all of them ([lode.toml](../../../operations/lode.toml)), `lode config show` tells each value and where it comes from;
[Run a server](../operations.md#configuration) says more.

";

pub fn page() -> String {
    let command = serve_command();
    let settable = || command.get_arguments().filter(|arg| is_settable(arg));
    let rows = settable().map(|arg| {
        let key = table_of(arg).map_or_else(|| name(arg).to_owned(), |role| format!("[limits.{role}]"));
        let variable = format!("LODE_{}", name(arg).to_uppercase().replace('-', "_"));
        let help = arg.get_help().map(|help| plain(&help.to_string())).unwrap_or_default();
        let default = super::commands::default(arg);
        let default = if default.is_empty() { String::new() } else { code(&default) };
        vec![code(&key), code(&variable), default, help]
    });
    HEAD.to_owned()
        + table(&["In the file", "In the environment", "Default", "What it is"], rows).trim_end()
        + "\n"
}
