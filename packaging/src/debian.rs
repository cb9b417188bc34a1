//! A package for Debian and what is made of it, with a service of systemd.

use crate::archive::{Entry, ar, gz, hex, tar_gz, with_folders};
use crate::content::Content;
use md5::{Digest, Md5};
use std::io;

/// Where the service finds its options; kept as the administrator has changed it.
const CONFIGURATION: &str = "etc/lode/lode.toml";
const DESCRIPTION: &str = "\
Description: RDF quad store and SPARQL endpoint
 Lodestore loads large RDF graphs into packed, sorted, compressed files, and
 answers SPARQL queries and updates over them, on the command line and over
 HTTP, within a memory budget. The package has a service for systemd, which
 runs as a user of its own and listens on this machine only until
 /etc/lode/lode.toml says otherwise.
";
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Lodestore

Files: *
Copyright: the authors of Lodestore
License: MIT or Apache-2.0
 The texts are in LICENSE-MIT and LICENSE-APACHE beside this file. The
 program is linked with the packages that THIRD-PARTY.txt.gz names, each under
 the licence that is there.
";

/// The package's bytes, for an architecture as Debian calls it.
///
/// # Errors
/// A path that no archive can have.
pub fn package(content: &Content, architecture: &str) -> io::Result<Vec<u8>> {
    let files = with_folders(files(content)?);
    let data = tar_gz(&files, "./", content.time)?;
    let control = tar_gz(&control(content, architecture, &files), "./", content.time)?;
    let members: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    Ok(ar(&members, content.time))
}

/// As dpkg wants files to be called.
pub fn file_name(content: &Content, architecture: &str) -> String {
    format!("lode_{}_{architecture}.deb", content.version)
}

fn files(content: &Content) -> io::Result<Vec<Entry>> {
    let mut files = vec![
        Entry::program("usr/bin/lode", content.program.clone()),
        Entry::file("usr/lib/systemd/system/lode.service", include_str!("../debian/lode.service")),
        // It may come to hold the administration's token.
        Entry { mode: 0o640, ..Entry::file(CONFIGURATION, include_str!("../debian/lode.toml")) },
        Entry::file("usr/share/bash-completion/completions/lode", content.completions.bash.clone()),
        Entry::file("usr/share/zsh/vendor-completions/_lode", content.completions.zsh.clone()),
        Entry::file("usr/share/fish/vendor_completions.d/lode.fish", content.completions.fish.clone()),
        Entry::file("usr/share/doc/lode/copyright", COPYRIGHT),
        Entry::file("usr/share/doc/lode/README.md.gz", gz(&content.readme)?),
        Entry::file("usr/share/doc/lode/changelog.gz", gz(&content.changes)?),
        Entry::file("usr/share/doc/lode/THIRD-PARTY.txt.gz", gz(content.third_party.as_bytes())?),
    ];
    for (name, page) in &content.pages {
        files.push(Entry::file(format!("usr/share/man/man1/{name}.gz"), gz(page)?));
    }
    for (name, text) in &content.licences {
        files.push(Entry::file(format!("usr/share/doc/lode/{name}"), text.clone()));
    }
    for (name, text) in &content.monitoring {
        files.push(Entry::file(format!("usr/share/doc/lode/monitoring/{name}"), text.clone()));
    }
    Ok(files)
}

fn control(content: &Content, architecture: &str, files: &[Entry]) -> Vec<Entry> {
    let (mut bytes, mut sums) = (0, String::new());
    for file in files {
        let Some(text) = &file.bytes else { continue };
        bytes += text.len();
        if file.path != CONFIGURATION {
            sums += &format!("{}  {}\n", hex(&Md5::digest(text)), file.path);
        }
    }
    let control = format!(
        "Package: lode\nVersion: {}\nArchitecture: {architecture}\nMaintainer: The authors of Lodestore <lode@localhost>\n\
         Installed-Size: {}\nDepends: passwd\nSection: database\nPriority: optional\n{DESCRIPTION}",
        content.version,
        bytes.div_ceil(1024),
    );
    vec![
        Entry::file("control", control),
        Entry::file("conffiles", format!("/{CONFIGURATION}\n")),
        Entry::file("md5sums", sums),
        Entry::program("postinst", include_str!("../debian/postinst")),
        Entry::program("prerm", include_str!("../debian/prerm")),
        Entry::program("postrm", include_str!("../debian/postrm")),
    ]
}
