//! The check of a database in whatever folders its files are: what is wrong with its stripe folders is damage like any other, and what in them belongs to
//! nobody is worth a word, since nobody else sees it.

use crate::check::{CheckReport, Problem, Remedy, check};
use crate::error::StoreError;
use crate::stripes::stripe_folders_or_lost;
use lode_base::cancel::CancelToken;
use lode_base::stripes::{FolderSurvey, STRIPES_FILE, StripeFolders, StripedVfs, Whose};
use lode_base::vfs::Vfs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// Checks the database in `folder` as [`check()`] does, and the stripe folders that it may have.
///
/// # Errors
/// Like [`check()`].
pub fn check_all_folders(
    vfs: &Arc<dyn Vfs>,
    folder: &Path,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(u64),
) -> Result<CheckReport, StoreError> {
    let list = folder.join(STRIPES_FILE);
    let stripes = match stripe_folders_or_lost(&**vfs, folder) {
        Ok(None) => return check(vfs, folder, cancel, progress),
        Ok(Some(stripes)) => stripes,
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::InvalidData => {
            return Ok(damaged(vec![problem(&list, source.to_string(), Remedy::StripeList)]));
        }
        Err(error) => return Err(error),
    };
    let problems = missing(&**vfs, &stripes);
    if !problems.is_empty() {
        return Ok(damaged(problems));
    }
    let striped = StripedVfs::new(vfs, folder, stripes, |_| Arc::clone(vfs));
    let striped = striped.map_err(|source| StoreError::Io { path: list, source })?;
    let files: Arc<dyn Vfs> = Arc::new(striped.clone());
    let mut report = check(&files, folder, cancel, progress)?;
    match striped.survey() {
        Ok(found) => {
            let wrong = found.iter().filter(|found| found.is_owner_damaged || found.is_owner_missing);
            report.problems.extend(wrong.map(|found| {
                let state = if found.is_owner_missing { "missing" } else { "damaged" };
                let what = format!("the mark that tells whose folder this is (owner) is {state}");
                problem(&found.own, what, Remedy::WriteOwner)
            }));
            found.iter().for_each(|found| report.notes.extend(notes(found)));
        }
        Err(error) => report.notes.push(format!("the stripe folders cannot be looked through: {error}")),
    }
    Ok(report)
}

fn problem(file: &Path, what: String, remedy: Remedy) -> Problem {
    Problem { file: file.display().to_string(), offset: 0, what, remedy }
}

fn damaged(problems: Vec<Problem>) -> CheckReport {
    CheckReport { problems, ..CheckReport::default() }
}

/// Folders that are not there, or not the right ones.
fn missing(vfs: &dyn Vfs, stripes: &StripeFolders) -> Vec<Problem> {
    let of_folder = |(number, folder)| {
        let error = stripes.verify(vfs, number).err()?;
        Some(problem(folder, error.to_string(), Remedy::Stripes))
    };
    stripes.folders.iter().map(|folder| &**folder).enumerate().filter_map(of_folder).collect()
}

/// What there is to say of a folder.
fn notes(found: &FolderSurvey) -> Vec<String> {
    let FolderSurvey { own, parts, bytes, lost_parts, lost_bytes, .. } = found;
    let shown = own.display();
    let files = |count: u64| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let sharing = match found.others.iter().filter(|(_, whose)| *whose == Whose::OfDatabase).count() {
        0 => String::new(),
        1 => "; another database has files there, too".to_owned(),
        others => format!("; {others} other databases have files there, too"),
    };
    let folder = found.folder.display();
    let mut notes =
        vec![format!("stripe folder {folder}: parts of {}, {bytes} bytes{sharing}", files(*parts))];
    if *lost_parts > 0 {
        notes.push(format!(
            "{shown}: parts of {} that are not there, {lost_bytes} bytes: somebody is writing them now, or was stopped; the next command that writes to the \
             database removes what is left",
            files(*lost_parts)
        ));
    }
    for path in &found.foreign {
        notes.push(format!("{}: this is no file of a database", path.display()));
    }
    for (path, whose) in &found.others {
        notes.extend(note_of_other(&path.display(), whose));
    }
    notes
}

/// What there is to say of the folder of another database in the same stripe folder.
fn note_of_other(path: &dyn std::fmt::Display, whose: &Whose) -> Option<String> {
    Some(match whose {
        Whose::OfDatabase => return None,
        Whose::Unfinished => format!(
            "{path}: left by a command that was stopped while it made or removed stripe folders; unless one does so just now, nobody needs it, and \
             `rm -r {path}` removes it"
        ),
        Whose::Gone(root) => format!(
            "{path}: files of a database that was at {} and is not there; unless it was moved, nobody needs them, and `rm -r {path}` removes them",
            root.display()
        ),
        Whose::ListDamaged(root) => {
            let root = root.display();
            format!(
                "{path}: files of the database {root}, whose list of stripe folders ({root}/{STRIPES_FILE}) is damaged or missing; `lode check {root}` says what to do"
            )
        }
        Whose::MarkDamaged => format!(
            "{path}: files of another database; the mark that tells whose (owner) is damaged, and the next command that writes to that database writes it again"
        ),
        Whose::Unsaid => format!(
            "{path}: it does not say whose files it has: those of a database that no newer program has written to, or of one whose removal was stopped; \
             the file {STRIPES_FILE} of its database has the number in its name"
        ),
        Whose::Unknown => format!("{path}: files of another database; whether it is there cannot be read"),
    })
}
