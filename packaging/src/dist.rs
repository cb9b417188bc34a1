//! `cargo xtask dist`: everything that is given to users, for each kind of machine.

use crate::archive::{Entry, hex, tar_gz, with_folders};
use crate::binary::{self, Target};
use crate::content::Content;
use crate::metadata::Metadata;
use crate::{debian, sbom};
use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is to be made.
#[derive(Debug, Default)]
pub struct Asked {
    /// For which machines; if none is named, for x86-64.
    pub targets: Vec<Target>,
    /// A binary to package instead of building one.
    pub binary: Option<PathBuf>,
    pub output: Option<PathBuf>,
}

const SUMS: &str = "SHA256SUMS";

/// Makes it; the files that are there then.
///
/// # Errors
/// Where something is missing or wrong.
pub fn dist(root: &Path, asked: &Asked) -> anyhow::Result<Vec<PathBuf>> {
    let targets = if asked.targets.is_empty() { vec![Target::X86_64] } else { asked.targets.clone() };
    if asked.binary.is_some() && targets.len() > 1 {
        bail!("--binary is one program: name one target");
    }
    let output = asked.output.clone().unwrap_or_else(|| root.join("target/packages"));
    std::fs::create_dir_all(&output).with_context(|| output.display().to_string())?;
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
    let (mut made, mut speaker) = (Vec::new(), None);
    for target in targets {
        let program = match &asked.binary {
            Some(program) => program.clone(),
            None => binary::build(root, target)?,
        };
        if !binary::is_static(&std::fs::read(&program).with_context(|| program.display().to_string())?)? {
            bail!("{}: it needs libraries; packages have static programs", program.display());
        }
        if runs(&program) {
            speaker = Some(program.clone());
        }
        let Some(speaker) = &speaker else {
            bail!(
                "{}: it does not run here, so it cannot write its manual; name a target that does before it",
                target.triple()
            )
        };
        let metadata = Metadata::read(root, &[target.triple()])?;
        let content = Content::collect(root, &metadata, &program, speaker)?;
        let name = format!("lode-{}-{}", content.version, target.short());
        let bill = sbom::bill(&metadata, &lock, content.time)?;
        let files = [
            (format!("{name}.tar.gz"), archive(&content, &bill, &name)?),
            (debian::file_name(&content, target.debian()), debian::package(&content, target.debian())?),
            (format!("{name}.cdx.json"), bill.clone().into_bytes()),
        ];
        for (name, bytes) in files {
            let path = output.join(name);
            std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
            made.push(path);
        }
        made.push(image(&output.join("image").join(target.debian()), &content)?);
    }
    made.push(sums(&output, &made)?);
    Ok(made)
}

fn runs(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// For machines without packages of their own: unpack it anywhere.
fn archive(content: &Content, bill: &str, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut files = vec![
        Entry::program("bin/lode", content.program.clone()),
        Entry::file("README.md", content.readme.clone()),
        Entry::file("CHANGELOG.md", content.changes.clone()),
        Entry::file("THIRD-PARTY.txt", content.third_party.clone()),
        Entry::file("lode.cdx.json", bill),
        Entry::file("lode.service", include_str!("../debian/lode.service")),
        Entry::file("share/bash-completion/completions/lode", content.completions.bash.clone()),
        Entry::file("share/zsh/site-functions/_lode", content.completions.zsh.clone()),
        Entry::file("share/fish/vendor_completions.d/lode.fish", content.completions.fish.clone()),
    ];
    files.extend(
        content.pages.iter().map(|(name, page)| Entry::file(format!("share/man/man1/{name}"), page.clone())),
    );
    files.extend(content.licences.iter().map(|(name, text)| Entry::file(name.clone(), text.clone())));
    let monitoring = content.monitoring.iter();
    files.extend(monitoring.map(|(name, text)| Entry::file(format!("monitoring/{name}"), text.clone())));
    let files = with_folders(files);
    Ok(tar_gz(&files, &format!("{name}/"), content.time)?)
}

/// The folder that an image is built of: `docker build FOLDER`.
fn image(folder: &Path, content: &Content) -> anyhow::Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let files: [(&str, &[u8], u32); 5] = [
        ("Dockerfile", include_bytes!("../oci/Dockerfile"), 0o644),
        ("compose.yaml", include_bytes!("../oci/compose.yaml"), 0o644),
        ("root/usr/bin/lode", &content.program, 0o755),
        ("root/etc/passwd", include_bytes!("../oci/passwd"), 0o644),
        ("root/usr/share/doc/lode/THIRD-PARTY.txt", content.third_party.as_bytes(), 0o644),
    ];
    // The volume begins as this folder, which belongs to the user.
    std::fs::create_dir_all(folder.join("data"))?;
    for (name, bytes, mode) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
    }
    // A folder that is empty would not be taken along by all that carry it about.
    std::fs::write(folder.join("data/.keep"), "")?;
    Ok(folder.join("Dockerfile"))
}

/// What `sha256sum --check` takes.
fn sums(output: &Path, files: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let mut text = String::new();
    for file in files.iter().filter(|file| file.parent() == Some(output)) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        text += &format!("{}  {name}\n", hex(&Sha256::digest(std::fs::read(file)?)));
    }
    let path = output.join(SUMS);
    std::fs::write(&path, text)?;
    Ok(path)
}
