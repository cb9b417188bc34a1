//! The work of a load in tasks: its plan, which tasks are done, and who is at which. All of it is files or objects that are put where none is, in one
//! step, or replaced as a whole, so that workers need nothing else to know of each other, and what was done stays done whoever is killed.
//!
//! ```text
//! plan                         what is loaded
//! claims/map-000003.0001       somebody is at this task, for the first time
//! beats/map-000003.0001        changes while he is; whoever sees it stand still for the lease may claim the task for the next time
//! out/map-000003.0001-9f3c…/   what he writes
//! done/map-000003              which of these counts, and what its files were
//! damaged/map-000003.0001-9f…  why one that counted does not any more: the task is done again
//! failed                       why the load cannot go on
//! over                         the load is published
//! ```

use super::folder::WorkFolder;
use super::output::{Output, OutputFile};
use super::place::WorkPlace;
use super::plan::Plan;
use super::task::{OPEN_TRIPLES, Phase, Task};
use crate::error::StoreError;
use crate::manifest::SegmentEntry;
use lode_base::checksum::checksum;
use lode_base::identity::random_identity;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::{ReadAt, Vfs};
use lode_packed::SegmentMeta;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What is in the place of a load's work besides its plan.
const NAMES: [&str; 8] = ["claims", "beats", "out", "done", "damaged", "new", FAILED, OVER];
/// Where there is none, there is no load.
pub const PLAN: &str = "plan";
/// What a worker says that has given a task up.
pub(super) const GIVEN_UP: &str = "given up";
const DAMAGED: &str = "damaged";
const FAILED: &str = "failed";
const OVER: &str = "over";

/// Why a load cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why, for people.
    pub text: String,
    /// Whether a statement of the data is wrong.
    pub is_syntax: bool,
}

/// What the text of such a failure begins with.
const SYNTAX: &str = "syntax\n";

/// How a load is, as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardState {
    /// Its tasks are there to be done.
    Open,
    /// It cannot go on.
    Failed(Failure),
    /// It is published, or was never begun.
    Over,
}

/// The work of a load.
#[derive(Debug, Clone)]
pub struct Board {
    place: Arc<dyn WorkPlace>,
}

impl Board {
    /// The work folder at a path, which need not be there.
    pub fn new(vfs: &Arc<dyn Vfs>, folder: &Path) -> Self {
        Self::at(Arc::new(WorkFolder::new(vfs, folder)))
    }

    /// The same on the disks of this machine.
    pub fn on_disk(folder: &Path) -> Self {
        Self::new(&RealVfs::shared(), folder)
    }

    /// The work in a place.
    pub fn at(place: Arc<dyn WorkPlace>) -> Self {
        Self { place }
    }

    /// The file system by which tasks read and write.
    pub fn vfs(&self) -> &Arc<dyn Vfs> {
        self.place.vfs()
    }

    /// What the place is called, for people.
    pub fn name(&self) -> String {
        self.place.name()
    }

    /// How often whoever waits for others looks.
    pub fn look_every(&self) -> Duration {
        self.place.look_every()
    }

    /// What stands for the place in errors.
    fn path(&self) -> PathBuf {
        PathBuf::from(self.name())
    }

    /// The plan, if there is one.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, or of another version of the program.
    pub fn plan(&self) -> Result<Option<Plan>, StoreError> {
        let found = self.place.get(PLAN)?;
        found.map(|bytes| Plan::decode(&self.path().join(PLAN), bytes)).transpose()
    }

    /// The plan of a load that is there.
    pub(super) fn planned(&self) -> Result<Plan, StoreError> {
        let missing = || StoreError::Refused(format!("there is no load in {}", self.name()));
        self.plan()?.ok_or_else(missing)
    }

    /// Makes this the plan where there is none; whether that is so.
    pub(super) fn put_plan(&self, plan: &Plan) -> Result<bool, StoreError> {
        self.place.prepare()?;
        self.place.put_if_absent(PLAN, &plan.encode())
    }

    /// Removes what is left of a load that has ended. A place that holds anything else is somebody else's.
    pub(super) fn clear(&self) -> Result<(), StoreError> {
        let found = self.place.list("")?;
        if found.iter().any(|name| !NAMES.contains(&name.as_str())) {
            let what = "holds other files, and no load; give a new or empty folder with --work";
            return Err(StoreError::Refused(format!("{} {what}", self.name())));
        }
        self.place.remove("")
    }

    /// How the load is.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub fn state(&self) -> Result<BoardState, StoreError> {
        let names = self.place.list("")?;
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        if has(OVER) || !has(PLAN) {
            return Ok(BoardState::Over);
        }
        let failure = if has(FAILED) { self.failure()? } else { None };
        Ok(failure.map_or(BoardState::Open, BoardState::Failed))
    }

    /// Names of the tasks that are done.
    pub(super) fn done(&self) -> Result<Vec<String>, StoreError> {
        self.place.list("done")
    }

    /// The folder of an attempt.
    fn folder(&self, attempt: &str) -> PathBuf {
        self.place.folder().join("out").join(attempt)
    }

    /// What came of a task that is done.
    pub(super) fn output(&self, task: Task) -> Result<Option<Output>, StoreError> {
        let key = format!("done/{task}");
        let found = self.place.get(&key)?;
        found.map(|bytes| Output::decode(&self.path().join(&key), bytes)).transpose()
    }

    /// Whether the place makes sure itself that what it gives is what was put there.
    pub(super) fn vouches(&self) -> bool {
        self.place.vouches()
    }

    /// A file of what came of a task.
    pub(super) fn open_output(&self, of: &Output, file: &OutputFile) -> Result<Arc<dyn ReadAt>, StoreError> {
        self.place.open_kept(&of.attempt, &file.name)
    }

    /// What stands for it in errors.
    pub(super) fn path_of(&self, of: &Output, file: &OutputFile) -> PathBuf {
        self.path().join("out").join(&of.attempt).join(&file.name)
    }

    /// Has a task done again whose output is damaged: this one, or what `done` says is no output at all.
    pub(super) fn reopen(&self, task: Task, damaged: Option<&Output>, why: &str) -> Result<(), StoreError> {
        let key = format!("done/{task}");
        let Some(found) = self.place.get(&key)? else { return Ok(()) };
        let unnamed = || format!("{task}.{:016x}", checksum(&found));
        let name = damaged.map_or_else(unnamed, |of| of.attempt.clone());
        if Output::decode(&self.path(), found).ok().as_ref() != damaged {
            // Somebody has done it again already.
            return Ok(());
        }
        let prefix = format!("{task}.");
        for claim in self.claims()?.iter().filter(|claim| claim.starts_with(&prefix)) {
            self.put_beat(claim, GIVEN_UP)?;
        }
        // Who begins a task before this fails at it, and then finds what is put behind it.
        self.place.remove(&key)?;
        self.place.put_if_absent(&format!("{DAMAGED}/{name}"), why.as_bytes())?;
        if let Some(of) = damaged {
            self.place.discard(&of.attempt);
        }
        Ok(())
    }

    /// Attempts that counted and were damaged.
    pub(super) fn damaged(&self) -> Result<Vec<String>, StoreError> {
        self.place.list(DAMAGED)
    }

    /// What was damaged of finished tasks, for people: each was done again, or will be.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub fn damages(&self) -> Result<Vec<String>, StoreError> {
        let mut told = Vec::new();
        for name in self.damaged()? {
            let text = self.place.get(&format!("{DAMAGED}/{name}"))?;
            told.extend(text.map(|text| String::from_utf8_lossy(&text).into_owned()));
        }
        Ok(told)
    }

    /// The folder with what came of a task on which another depends.
    pub(super) fn input(&self, task: Task) -> Result<PathBuf, StoreError> {
        let missing = || StoreError::corruption(&self.path(), 0, format!("the task {task} is not done"));
        Ok(self.folder(&self.output(task)?.ok_or_else(missing)?.attempt))
    }

    /// A new folder for what comes of a task.
    pub(super) fn new_attempt(&self, claim: &str) -> Result<Attempt<'_>, StoreError> {
        let name = format!("{claim}-{:016x}", random_identity() as u64);
        let folder = self.folder(&name);
        self.vfs().create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        Ok(Attempt { board: self, name, folder })
    }

    /// Says that triple terms have blank nodes in them, so that these have a phase of their own.
    pub(super) fn put_open_triples(&self) -> Result<(), StoreError> {
        let key = format!("done/{OPEN_TRIPLES}");
        self.place.put_if_absent(&key, &random_identity().to_le_bytes()).map(drop)
    }

    /// Claims of all tasks.
    pub(super) fn claims(&self) -> Result<Vec<String>, StoreError> {
        self.place.list("claims")
    }

    /// Claims a task; whether nobody else had.
    pub(super) fn put_claim(&self, claim: &str) -> Result<bool, StoreError> {
        self.place.put_if_absent(&format!("claims/{claim}"), &random_identity().to_le_bytes())
    }

    /// What whoever has this claim said last.
    pub(super) fn beat(&self, claim: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.place.get(&format!("beats/{claim}"))
    }

    /// Says that whoever has this claim is alive.
    pub(super) fn put_beat(&self, claim: &str, text: &str) -> Result<(), StoreError> {
        self.place.put(&format!("beats/{claim}"), text.as_bytes())
    }

    /// Why the load cannot go on, if that is so.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub fn failure(&self) -> Result<Option<Failure>, StoreError> {
        let Some(bytes) = self.place.get(FAILED)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Some(match text.strip_prefix(SYNTAX) {
            Some(text) => Failure { text: text.to_owned(), is_syntax: true },
            None => Failure { text, is_syntax: false },
        }))
    }

    /// Says why the load cannot go on.
    pub(super) fn put_failure(&self, why: &Failure) -> Result<(), StoreError> {
        let head = if why.is_syntax { SYNTAX } else { "" };
        self.place.put_if_absent(FAILED, format!("{head}{}", why.text).as_bytes()).map(drop)
    }

    /// Lets the load go on.
    pub(super) fn forget_failure(&self) -> Result<(), StoreError> {
        self.place.remove(FAILED)
    }

    /// Says that the load is published.
    ///
    /// # Errors
    /// Where that cannot be written.
    pub fn put_over(&self) -> Result<(), StoreError> {
        self.place.put_if_absent(OVER, &random_identity().to_le_bytes()).map(drop)
    }

    /// Whether there is a load like this one that is published: whoever was to remove its work was killed.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub fn has_ended(&self, plan: &Plan) -> Result<bool, StoreError> {
        Ok(self.is_over()? && self.is_of(plan)?)
    }

    /// Whether the load is one like this.
    pub(super) fn is_of(&self, plan: &Plan) -> Result<bool, StoreError> {
        Ok(self.plan()?.is_some_and(|there| there.is_like(plan)))
    }

    pub(super) fn is_over(&self) -> Result<bool, StoreError> {
        Ok(self.place.get(OVER)?.is_some())
    }

    /// Removes all of it. What tells which load it was, and that it has ended, goes last: else who begins it again, because this was stopped, would load
    /// all of it a second time.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn remove(&self) -> Result<(), StoreError> {
        let goes_first = NAMES.iter().filter(|name| **name != OVER);
        goes_first.chain([&PLAN]).try_for_each(|name| self.place.remove(name))?;
        self.place.remove("")
    }
}

/// What somebody writes for a task.
#[derive(Debug)]
pub struct Attempt<'a> {
    board: &'a Board,
    name: String,
    /// Where.
    pub folder: PathBuf,
}

impl Attempt<'_> {
    fn output(&self, phase: Phase) -> Result<Output, StoreError> {
        Output::of_folder(&self.name, phase, self.board.vfs(), &self.folder)
    }

    /// Has what was written for a task of a phase be there for all, durably; what that is.
    pub fn keep(&self, phase: Phase) -> Result<Output, StoreError> {
        self.board.place.keep(&self.name)?;
        self.output(phase)
    }

    /// The same for a segment, which goes to the database right away where the place takes it, as what `describe` makes of its description.
    pub fn keep_segment(
        &self,
        describe: impl FnOnce(SegmentMeta) -> SegmentMeta,
    ) -> Result<Output, StoreError> {
        let (place, vfs) = (&self.board.place, self.board.vfs());
        if !place.takes_segments() {
            return self.keep(Phase::Orders);
        }
        let meta = SegmentMeta::read(&**vfs, &self.folder)?;
        if meta.quads() == 0 && meta.dictionary.is_none() {
            return self.keep(Phase::Orders);
        }
        let meta = describe(meta);
        let mut description = meta.write(&**vfs, &self.folder)?;
        description.flush().map_err(StoreError::io(&self.folder))?;
        let written = self.output(Phase::Orders)?;
        place.keep_segment(&self.name, &SegmentEntry::of(&meta))?;
        // What it keeps beside the segment.
        Ok(written.with(self.output(Phase::Orders)?))
    }

    /// Says that this, which is kept, is what comes of a task; whether it is, and not what another has made.
    pub fn commit(&self, task: Task, output: &Output) -> Result<bool, StoreError> {
        self.board.place.put_if_absent(&format!("done/{task}"), &output.encode())
    }

    /// Removes it, as far as that can be done now.
    pub fn discard(&self) {
        self.board.place.discard(&self.name);
    }
}
