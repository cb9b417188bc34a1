//! Debian's package of this binary: unpacked into a root of its own, and its service started as systemd would, by a user who may nothing.

use crate::lode::note;
use packaging::{Content, Metadata, debian};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Of a user and a group that nobody else has.
const USER: u32 = 61_234;

fn root_of_source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Made once: it takes seconds.
fn package() -> &'static [u8] {
    static PACKAGE: OnceLock<Vec<u8>> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let root = root_of_source();
        let metadata = Metadata::read(&root, &["x86_64-unknown-linux-musl"]).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_lode"));
        let content = Content::collect(&root, &metadata, program, program).unwrap();
        debian::package(&content, "amd64").unwrap()
    })
}

/// The members of an archive of `ar`.
fn members(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut rest = archive.strip_prefix(b"!<arch>\n").unwrap();
    let mut members = BTreeMap::new();
    while !rest.is_empty() {
        let header = std::str::from_utf8(&rest[..60]).unwrap();
        let (name, size) = (header[..16].trim(), header[48..58].trim().parse::<usize>().unwrap());
        assert!(header.ends_with("`\n"));
        members.insert(name.to_owned(), rest[60..60 + size].to_vec());
        rest = &rest[60 + size.next_multiple_of(2)..];
    }
    members
}

fn unpack(archive: &[u8], to: &Path) {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    archive.set_preserve_permissions(true);
    archive.unpack(to).unwrap();
}

/// The values of a key in a unit.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// A program that is not static needs its libraries in the root, too: those of a development build.
fn copy_libraries(program: &Path, root: &Path) {
    let Ok(output) = Command::new("ldd").arg(program).output() else { return };
    for word in
        String::from_utf8_lossy(&output.stdout).split_whitespace().filter(|word| word.starts_with('/'))
    {
        let to = root.join(&word[1..]);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(word, to).unwrap();
    }
}

fn make_folder(path: &Path, mode: u32) {
    std::fs::create_dir_all(path).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Who has asked to be told.
struct Manager(UnixDatagram);

impl Manager {
    fn at(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(socket)
    }

    /// The next message with this in it.
    fn wait_for(&self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let mut bytes = [0; 4096];
            let size = self.0.recv(&mut bytes).unwrap();
            let message = String::from_utf8(bytes[..size].to_vec()).unwrap();
            if message.contains(text) {
                return message;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{text}: {message}");
        }
    }
}

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn count_of(base: &str, token: &str) -> String {
    let query = "query=SELECT%20(COUNT(*)%20AS%20%3Fn)%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D";
    let request = ureq::get(format!("{base}/sparql?{query}")).header("Accept", "text/csv");
    let mut answer = request.header("Authorization", token).call().unwrap();
    answer.body_mut().read_to_string().unwrap()
}

#[test]
fn the_package_is_one_of_debian() {
    let members = members(package());
    assert_eq!(members["debian-binary"], b"2.0\n");
    let folder = tempfile::tempdir().unwrap();
    let (control, data) = (folder.path().join("control"), folder.path().join("data"));
    unpack(&members["control.tar.gz"], &control);
    unpack(&members["data.tar.gz"], &data);
    let read = |path: &str| std::fs::read_to_string(control.join(path)).unwrap();
    assert_eq!(read("conffiles"), "/etc/lode/lode.toml\n");
    for line in ["Package: lode", "Architecture: amd64", "Depends: passwd"] {
        assert!(read("control").lines().any(|said| said == line), "{line}");
    }
    for line in read("md5sums").lines() {
        assert!(data.join(line.split_once("  ").unwrap().1).is_file(), "{line}");
    }
    for script in ["postinst", "prerm", "postrm"] {
        let path = control.join(script);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(Command::new("sh").arg("-n").arg(&path).status().unwrap().success(), "{script}");
    }
    for path in [
        "usr/share/man/man1/lode-serve.1.gz",
        "usr/share/doc/lode/copyright",
        "usr/share/doc/lode/THIRD-PARTY.txt.gz",
        "usr/share/bash-completion/completions/lode",
    ] {
        assert!(data.join(path).is_file(), "{path}");
    }
    // Debian's own program reads it, where it is installed.
    let file = folder.path().join("lode.deb");
    std::fs::write(&file, package()).unwrap();
    match Command::new("dpkg-deb").arg("--info").arg(&file).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => note(format_args!("skipped: what dpkg-deb says, which is not installed")),
    }
}

#[test]
fn the_service_starts_in_a_clean_root() {
    let members = members(package());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    unpack(&members["data.tar.gz"], &root);
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/system/lode.service")).unwrap();
    assert_eq!(values(&unit, "Type"), ["notify"]);
    assert_eq!(values(&unit, "User"), ["lode"]);
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    if !is_root {
        return note(format_args!("skipped: the service in a root of its own, which only root can give it"));
    }
    copy_libraries(&root.join("usr/bin/lode"), &root);
    // What the package's script and systemd make of StateDirectory, RuntimeDirectory and PrivateTmp.
    for name in ["var/lib/lode", "var/log/lode", "run/lode"] {
        make_folder(&root.join(name), 0o750);
        std::os::unix::fs::chown(root.join(name), Some(USER), Some(USER)).unwrap();
    }
    make_folder(&root.join("var/tmp"), 0o777);
    make_folder(folder.path(), 0o755);
    std::os::unix::fs::chown(root.join("etc/lode/lode.toml"), Some(0), Some(USER)).unwrap();
    let manager = Manager::at(&root.join("run/notify"));
    let mut command = Command::new("chroot");
    command.arg(format!("--userspec={USER}:{USER}")).arg("--groups=").arg(&root);
    command.args(values(&unit, "ExecStart")[0].split(' ')).env_clear();
    command.envs(values(&unit, "Environment").iter().map(|pair| pair.split_once('=').unwrap()));
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("NOTIFY_SOCKET", "/run/notify");
    // Another port than that of the file, which something else may have; and signs of life ten times a second.
    command.env("LODE_BIND", "127.0.0.1:0").env("LODE_ADMIN_TOKEN", "sesame").env("WATCHDOG_USEC", "200000");
    let mut running = Running(command.stderr(Stdio::piped()).spawn().unwrap());
    let ready = manager.wait_for("READY=1");
    let base = ready.lines().find_map(|line| line.strip_prefix("STATUS=serving at ")).unwrap().to_owned();
    assert!(ready.contains(&format!("MAINPID={}", running.0.id())), "{ready}");
    assert_eq!(count_of(&base, "Bearer sesame").trim(), "n\r\n0");
    manager.wait_for("WATCHDOG=1");
    // Whose the process is.
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.0.id())).unwrap();
    let owner = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    assert!(owner.split_whitespace().skip(1).all(|id| id == USER.to_string()), "{owner}");
    let asked = Instant::now();
    let id = running.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    manager.wait_for("STOPPING=1");
    let ended = running.0.wait().unwrap();
    let (took, mut said) = (asked.elapsed(), String::new());
    running.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(ended.success(), "{said}");
    assert!(took < Duration::from_secs(2), "{took:?}: {said}");
    assert!(root.join("var/lib/lode/db/MANIFEST").is_file());
}
