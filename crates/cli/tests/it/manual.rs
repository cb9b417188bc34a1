//! What shells and `man` are told of the command line.

use crate::lode::Lode;
use std::process::Command;

/// The commands that the help names.
fn commands(lode: &Lode) -> Vec<String> {
    let help = lode.run(&["--help"]).ok();
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // What goes on in the next line is further in.
    let begins = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    begins.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn a_page_for_every_command() {
    let lode = Lode::new();
    lode.run(&["man", "pages"]).ok();
    let read = |name: &str| std::fs::read_to_string(lode.path("pages").join(name)).unwrap();
    assert!(read("lode.1").contains(".TH lode 1"));
    let commands = commands(&lode);
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let name = format!("lode-{command}").replace('-', "\\-");
        assert!(read(&format!("lode-{command}.1")).contains(&name), "{command}");
    }
    let serve = read("lode-serve.1");
    for part in ["\\-\\-trusted\\-proxy", "\\-\\-memory", "\\-\\-durability"] {
        assert!(serve.contains(part), "{part}: {serve}");
    }
    assert!(read("lode-bench-bsbm-run.1").contains("\\-\\-runs"));
    // Where pages can be set, all of them can without complaints.
    if Command::new("groff").arg("--version").output().is_ok() {
        for page in std::fs::read_dir(lode.path("pages")).unwrap() {
            let page = page.unwrap().path();
            let set =
                Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(&page).output().unwrap();
            let said = String::from_utf8_lossy(&set.stderr);
            assert!(!said.contains("warning: macro"), "{}: {said}", page.display());
        }
    }
}

#[test]
fn completions_of_each_shell() {
    let lode = Lode::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = lode.run(&["completions", shell]).ok();
        for command in commands(&lode) {
            assert!(text.contains(&command), "{shell}: {command}");
        }
        assert!(text.contains("trusted-proxy"), "{shell}");
    }
    assert!(lode.run(&["completions", "csh"]).fails(2).contains("possible values"));
    // What bash offers behind `lode se` and a tabulator.
    lode.write("lode.bash", lode.run(&["completions", "bash"]).ok());
    let script = "source ./lode.bash && COMP_WORDS=(lode se) COMP_CWORD=1 && _lode lode se lode && echo \"${COMPREPLY[@]}\"";
    if let Ok(output) = Command::new("bash").args(["-c", script]).current_dir(lode.path("")).output() {
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "serve", "{:?}", output.stderr);
    }
}
