//! A backup while everybody goes on, into a folder that the one who runs the server has set aside for that.

use super::{Client, flag, parameter, work};
use crate::error::HttpError;
use crate::state::AppState;
use crate::update::json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use lode_engine::store::{BackupOptions, BackupProgress, BackupReport};
use std::sync::Arc;
use std::time::Instant;

/// The longest name of a folder.
const NAME_BYTES_MAX: usize = 64;

/// Makes the folder a backup, or brings the one in it up to date; the answer comes when that is done.
pub(crate) async fn backup(
    State(state): State<Arc<AppState>>,
    client: Client,
    uri: Uri,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    let folder = state.options.backup_folder.clone().ok_or_else(|| {
        let message = "this server makes no backups: its administrator has set no folder aside for them (lode serve --backup-dir DIR); \
                       lode backup makes one without a server";
        HttpError::new(StatusCode::FORBIDDEN, message)
    })?;
    let name = parameter(&uri, "to")?;
    check_name(&name)?;
    let options = BackupOptions { link: !flag(&uri, "copy"), check: flag(&uri, "check") };
    let start = Instant::now();
    let turn = Arc::clone(&state.backups).try_acquire_owned().map_err(|_| {
        HttpError::new(StatusCode::CONFLICT, "a backup is being made already: wait for it to end")
    })?;
    let target = folder.join(&name);
    let report = work(state, move |state, cancel| {
        // Until it has really ended, also where nobody waits for it any more.
        let _turn = turn;
        state.database.store().backup(&target, &options, cancel, &BackupProgress::default())
    })
    .await?;
    Ok(json(&described(&report, &name, start.elapsed().as_secs_f64())))
}

/// A folder right below that of the backups, whose name has nothing that JSON or a shell would take for something else.
fn check_name(name: &str) -> Result<(), HttpError> {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_fit) {
        return Ok(());
    }
    let message = "the name of a backup has 1 to 64 letters, digits, and - _ . (none at its beginning): it becomes a folder among the server's backups";
    Err(HttpError::bad_request(message))
}

fn described(report: &BackupReport, name: &str, seconds: f64) -> String {
    format!(
        "{{\"backup\":\"{name}\",\"version\":{},\"quads\":{},\"segments\":{},\"segments_kept\":{},\"bytes\":{},\"bytes_kept\":{},\
         \"files_copied\":{},\"bytes_copied\":{},\"files_linked\":{},\"bytes_linked\":{},\"seconds\":{seconds:.6}}}\n",
        report.version,
        report.quads,
        report.segments,
        report.segments_kept,
        report.bytes,
        report.bytes_kept,
        report.files_copied,
        report.bytes_copied,
        report.files_linked,
        report.bytes_linked,
    )
}

#[cfg(test)]
mod tests {
    //! Names of folders.
    use super::check_name;

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["a", "2026-11-22", "my_db.backup"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in
            ["", ".", "..", "../a", "a/b", "a\\b", "/a", ".hidden", "a\n", "a\0", "a b", "\u{e4}", &long]
        {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
