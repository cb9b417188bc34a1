//! Which source goes before which, and what is told of mistakes.

use super::{changed, parse_again, read, serve_command, settings, settings_of};
use crate::args::{Command, ServeArgs};
use crate::config_file::ConfigFile;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The outcome of a command line with a file.
fn serve(file: &str, args: &[&str]) -> Result<Box<ServeArgs>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lode.toml");
    std::fs::write(&path, file).unwrap();
    let start = ["lode", "serve", "--config"].map(OsString::from);
    let all = start.into_iter().chain([path.into_os_string()]).chain(args.iter().map(OsString::from));
    let all: Vec<OsString> = all.collect();
    let cli = read(&all).map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    match cli.command {
        Command::Serve(args) => Ok(args),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_command_line_goes_before_the_file() {
    let file = "database = \"my.db\"\ntimeout = 7\nread-only = true\ncors = [\"http://a\", \"http://b\"]\nmemory = \"256MiB\"\n";
    let args = serve(file, &[]).unwrap();
    assert_eq!((args.database.as_deref(), args.timeout), (Some(Path::new("my.db")), Duration::from_secs(7)));
    assert!(args.read_only && args.cors.len() == 2 && args.evaluation.memory == Some(256 << 20));
    let args =
        serve(file, &["other.db", "--timeout", "8", "--read-only=false", "--cors", "http://c"]).unwrap();
    assert_eq!(
        (args.database.as_deref(), args.timeout),
        (Some(Path::new("other.db")), Duration::from_secs(8))
    );
    assert!(!args.read_only && args.cors.len() == 1);
    let args = serve("", &["db", "--read-only"]).unwrap();
    assert!(args.read_only && args.timeout == Duration::from_secs(60));
    // What is served is asked for later; of the two ways one goes before the other wherever it stands.
    assert!(serve("", &[]).unwrap().place().is_none());
    let args = serve("databases = \"all\"", &["db"]).unwrap();
    assert_eq!((args.database.as_deref(), args.databases), (Some(Path::new("db")), None));
    let args = serve("databases = \"all\"", &[]).unwrap();
    assert_eq!((args.database, args.databases.as_deref()), (None, Some(Path::new("all"))));
    assert!(serve("", &["db", "--databases", "all"]).unwrap_err().contains("cannot be used with"));
}

#[test]
fn mistakes_are_told_with_their_places() {
    for (file, message) in [
        ("\n  tiemout = 3", ":2:3: unknown key tiemout: timeout is likely meant"),
        ("read_only = true", ":1:1: unknown key read_only: read-only is likely meant"),
        ("xyzzy = 1", ":1:1: unknown key xyzzy (lode"),
        ("config = \"a\"", ":1:1: unknown key config"),
        // Tests are built without workers.
        (
            "workers = [\"127.0.0.1:7979\"]",
            ":1:1: workers: this program was built without workers: cargo build",
        ),
        ("\nworkers-from = 1", ":2:1: workers-from: this program was built without workers"),
        ("[server]\ntimeout = 3", ":1:2: unknown key server"),
        ("timeout = \"soon\"", ":1:11: timeout = soon: expected a number of seconds"),
        ("timeout = [1]", ":1:11: timeout has one value, not a list"),
        ("timeout = { a = 1 }", ":1:11: timeout: expected a text"),
        ("read-only = \"perhaps\"", ":1:13: read-only = perhaps"),
        ("bind = \"nowhere\"", ":1:8: bind = nowhere: expected an address"),
        ("log-format = \"xml\"", ":1:14: log-format = xml"),
        ("cors = [\"http://a\", \"b\"]", ":1:8: cors"),
        ("timeout = 3\ntimeout = 4", ":2:1: "),
        ("[limits.read]\nrow = 3", ":2:1: limits.read = row=3: there is no limit 'row'"),
        ("[limits.read]\nrows = 0", ":2:1: limits.read = rows=0: rows=0: expected a number above 0"),
        ("[limits.reed]\nrows = 3", ":1:9: unknown key limits-reed: limits-read is likely meant"),
        ("limits.read = 3", ":1:15: limits.read: expected a table"),
        ("limits-read = \"rows=3\"\n[limits.read]\nrows = 4", "the limits of this role are there twice"),
        ("limits-read = \"rows=x\"", ":1:15: limits-read = rows=x: rows=x: expected a number"),
        ("timeout = ", ":1:"),
        ("memory = \"1KiB\"", "the least is 64 MiB"),
    ] {
        let error = serve(file, &["db"]).unwrap_err();
        assert!(error.contains(message), "{file}: {error}");
    }
    let error =
        read(&["lode", "serve", "db", "--config", "/none/lode.toml"].map(OsString::from)).unwrap_err();
    assert!(error.to_string().starts_with("/none/lode.toml: "), "{error}");
}

#[test]
fn limits_are_tables_of_files_and_lists_of_the_command_line() {
    let file =
        "database = \"db\"\n[limits.anonymous]\ntime = 1.5\nreads = \"3B\"\n[limits.update]\nrows = 1_000\n";
    let roles = serve(file, &["--limits-update", "rows=7,requests=2"]).unwrap().limits.roles();
    assert_eq!(roles.anonymous.to_string(), "time=1.5,reads=3000000000");
    assert_eq!(
        (roles.update.to_string(), roles.read.to_string()),
        ("rows=7,requests=2".to_owned(), String::new())
    );
    let file = ConfigFile::parse(Path::new("a.toml"), file, &serve_command()).unwrap();
    let matches = file.put_into(serve_command()).try_get_matches_from(["serve"]).unwrap();
    let all = settings_of(&matches, Some(&file));
    let found = all.iter().find(|setting| setting.name == "limits-update").unwrap();
    assert_eq!((found.source.as_str(), &*found.values), ("a.toml:5", &["rows=1000".to_owned()][..]));
}

#[test]
fn variables_that_are_misspelt_are_found() {
    let known: Vec<String> =
        ["LODE_TIMEOUT", "LODE_UPDATE_TIMEOUT", "LODE_LIMITS_READ", "LODE_ADMIN_TOKEN", "LODE_MEMORY"]
            .map(str::to_owned)
            .into();
    for (name, meant) in [
        ("LODE_TIMEOT", "LODE_TIMEOUT"),
        ("LODE_UPDATE_TIME_OUT", "LODE_UPDATE_TIMEOUT"),
        ("LODE_LIMIT_READ", "LODE_LIMITS_READ"),
        ("LODE_ADMINTOKEN", "LODE_ADMIN_TOKEN"),
    ] {
        assert_eq!(super::nearest(name, &known).as_deref(), Some(meant), "{name}");
    }
    for name in ["LODE_TIMEOUT", "LODE_SUITES", "LODE_SEED", "TIMEOUT", "LODE_", "LODE_KILLS"] {
        assert_eq!(super::nearest(name, &known), None, "{name}");
    }
}

#[test]
fn every_setting_tells_where_it_comes_from() {
    let (path, command) = (Path::new("a.toml"), serve_command());
    let file = ConfigFile::parse(
        path,
        "# one\ntimeout = 5\nhost = [\"a\", \"b\"]\nadmin-token = \"secret\"",
        &command,
    )
    .unwrap();
    let matches = file.put_into(command).try_get_matches_from(["serve", "db", "--host", "c"]).unwrap();
    let all = settings_of(&matches, Some(&file));
    let of = |name: &str| all.iter().find(|setting| setting.name == name).unwrap();
    assert_eq!((of("timeout").source.as_str(), &*of("timeout").values), ("a.toml:2", &["5".to_owned()][..]));
    assert_eq!((of("host").source.as_str(), &*of("host").values), ("command line", &["c".to_owned()][..]));
    assert_eq!((of("update-timeout").source.as_str(), of("memory").values.len()), ("default", 0));
    let mut other = all.clone();
    other
        .iter_mut()
        .filter(|setting| setting.name == "bind")
        .for_each(|setting| setting.values = vec!["80".to_owned()]);
    assert_eq!(changed(&all, &other), ["bind"]);
    assert!(changed(&all, &all).is_empty());
    // What the test itself was started with is no server.
    assert!(parse_again().is_err() || settings().is_empty());
}
