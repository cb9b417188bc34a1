//! Which faults strike a run, where, and what the crash at its end leaves.

use crate::dice::Dice;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};

/// Where the power goes, if it goes, and what else fails.
#[derive(Debug, Clone)]
pub struct Faults {
    pub planned: Vec<(u64, Fault)>,
    reads_count: bool,
    /// What the power cut leaves, during the run or after it. `None`: it was the process only that ended, at the time of the power cut or
    /// after the run.
    pub crash: Option<CrashKind>,
    /// Whether the store is closed before a power cut that comes after the run.
    pub closes: bool,
}

impl Faults {
    /// Faults of a run of about so many operations (without and with reads).
    pub fn choose(dice: &mut Dice, operations: [u64; 2]) -> Self {
        let reads_count = dice.one_in(4);
        let [without, with] = operations;
        let operations = if reads_count { with } else { without };
        // Some strike late or not at all.
        let mut at = || dice.below(operations + operations / 8);
        let (first, second) = (at(), at());
        let mut planned = vec![(first, kind(dice))];
        if dice.one_in(3) {
            planned.push((second, kind(dice)));
        }
        let seed = dice.roll();
        let crash = match dice.below(8) {
            0 | 1 => None,
            2 => Some(CrashKind::KeepAll),
            3 | 4 => Some(CrashKind::LoseAll),
            5 | 6 => Some(CrashKind::Torn(seed)),
            _ => Some(CrashKind::Scattered(seed)),
        };
        Self { planned, reads_count, crash, closes: dice.one_in(2) }
    }

    /// None; the power goes when all is done and closed, and loses what it can.
    pub fn none(reads_count: bool) -> Self {
        Self { planned: Vec::new(), reads_count, crash: Some(CrashKind::LoseAll), closes: true }
    }

    /// The file system with these faults.
    pub fn plan(&self, vfs: &MemVfs) -> FaultVfs {
        let vfs = FaultVfs::counting(vfs.clone(), self.reads_count);
        for (at, fault) in &self.planned {
            vfs.fail_at(*fault, *at);
        }
        vfs
    }

    /// Whether the power has gone after so many operations.
    pub fn power_is_cut(&self, operations: u64) -> bool {
        self.planned.iter().any(|(at, fault)| *fault == Fault::PowerCut && operations > *at)
    }
}

fn kind(dice: &mut Dice) -> Fault {
    match dice.below(16) {
        0..7 => Fault::PowerCut,
        7 | 8 => Fault::Error,
        9 | 10 => Fault::LateError,
        11 => Fault::LostSync,
        12 => Fault::Outage(2 + dice.below(6)),
        13 => Fault::NoDescriptors,
        14 => Fault::ShortWrites,
        _ => Fault::DiskFull,
    }
}
