//! Measures what four disks are faster than one, all emulated: a load, one that spills, an external sort, and a cold scan of one order. Run with
//! `--ignored --nocapture`.

use super::*;
use crate::load::{LoadOptions, LoadProgress, Source, Stage, load};
use crate::store::Store;
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const FOLDER: &str = "/db";

/// How a database is on its devices.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// In one folder, on one device.
    Plain,
    Striped(usize),
}

/// Emulated devices over files in memory.
struct Devices {
    mem: MemVfs,
    layout: Layout,
    model: DeviceModel,
    /// Those of the files that were opened last, that of the folder of the database first.
    opened: Mutex<Vec<DeviceVfs>>,
}

impl Devices {
    fn new(layout: Layout, model: DeviceModel) -> Self {
        let mem = MemVfs::new();
        if let Layout::Striped(count) = layout {
            let folders: Vec<PathBuf> = (0..count).map(|number| format!("/disk{number}").into()).collect();
            // Scaled down with the speed: else a file of a small database has two chunks.
            let kib = std::env::var("LODE_CHUNK_KIB").ok().and_then(|n| n.parse().ok()).unwrap_or(256);
            stripe_by(&mem, Path::new(FOLDER), &folders, kib << 10).unwrap();
        }
        Self { mem, layout, model, opened: Mutex::default() }
    }

    /// How long each device has had something to do.
    fn working(&self) -> Vec<Duration> {
        self.opened.lock().unwrap().iter().map(DeviceVfs::working).collect()
    }

    /// As after a start: nothing is in any cache.
    fn files(&self) -> Arc<dyn Vfs> {
        let mem: Arc<dyn Vfs> = Arc::new(self.mem.clone());
        self.opened.lock().unwrap().clear();
        let device = || {
            let device = DeviceVfs::new(Arc::clone(&mem), self.model).with_slow_writes();
            self.opened.lock().unwrap().push(device.clone());
            Arc::new(device) as Arc<dyn Vfs>
        };
        match self.layout {
            Layout::Plain => device(),
            Layout::Striped(_) => {
                let stripes = stripe_folders(&*mem, Path::new(FOLDER)).unwrap().unwrap();
                Arc::new(StripedVfs::new(&device(), Path::new(FOLDER), stripes, |_| device()).unwrap())
            }
        }
    }

    /// As it is after a load, which nobody has waited for.
    fn fill(&self, text: &str) {
        let files = striped(&(Arc::new(self.mem.clone()) as Arc<dyn Vfs>), Path::new(FOLDER)).unwrap();
        self.load_into(files, text, 1 << 30);
    }

    fn load(&self, text: &str, memory_bytes: usize) -> Duration {
        self.load_into(self.files(), text, memory_bytes)
    }

    fn load_into(&self, files: Arc<dyn Vfs>, text: &str, memory_bytes: usize) -> Duration {
        let store = Store::create_or_open(files, Path::new(FOLDER), 1 << 20).unwrap();
        let options = LoadOptions { threads: 2, memory_bytes, ..LoadOptions::default() };
        let start = Instant::now();
        let source = Source::bytes("x.nt", text.to_owned());
        let progress = Arc::new(LoadProgress::default());
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| self.tell_stages(&progress, &is_done));
            load(&store, vec![source], options, &progress).unwrap();
            is_done.store(true, Ordering::Relaxed);
        });
        start.elapsed()
    }

    /// Tells of each stage of a load which share of the time each device had something to do: where all of them are idle, processors are waited for.
    fn tell_stages(&self, progress: &LoadProgress, is_done: &AtomicBool) {
        let (mut stage, mut since, mut before) = (Stage::Reading, Instant::now(), self.working());
        let mut is_last = false;
        while !is_last {
            std::thread::sleep(Duration::from_millis(5));
            is_last = is_done.load(Ordering::Relaxed);
            let now = progress.sample().stage;
            if now != stage || is_last {
                let (elapsed, working) = (since.elapsed().as_secs_f64(), self.working());
                let shares: Vec<u64> = working
                    .iter()
                    .zip(&before)
                    .map(|(now, before)| (100.0 * (*now - *before).as_secs_f64() / elapsed) as u64)
                    .collect();
                println!("    {:>16} {elapsed:8.2} s, devices at work {shares:?} %", stage.name());
                (stage, since, before) = (now, Instant::now(), working);
            }
        }
    }

    fn scan(&self) -> Duration {
        let store = Store::open(self.files(), Path::new(FOLDER), 64 << 20).unwrap();
        let start = Instant::now();
        let snapshot = store.snapshot();
        let mut scan = snapshot.scan(Order::Ospg, &[], 0b1111).unwrap();
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        while scan.next(8192, &mut columns).unwrap() > 0 {
            columns.iter_mut().for_each(Vec::clear);
        }
        start.elapsed()
    }

    fn sort(&self, rows: u64) -> Duration {
        let files = self.files();
        let folder = Path::new(FOLDER).join("spill-000001");
        files.create_dir_all(&folder).unwrap();
        let name = "x".to_owned();
        let (memory_bytes, threads) = (16 << 20, 2);
        let options = SortOptions { vfs: files, folder, name, bits: 0..128, memory_bytes, threads };
        let start = Instant::now();
        let mut sorter = ExternalSorter::<u128>::new(options, rows as usize);
        let mut number = 1_u64;
        let mut block = Vec::new();
        for _ in 0..rows / 4096 {
            block.clear();
            for _ in 0..4096 {
                number =
                    number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                block.push(u128::from(number) << 64 | u128::from(number >> 7));
            }
            sorter.push(&block).unwrap();
        }
        if let SortedRows::Runs(mut merge) = sorter.finish().unwrap() {
            while merge.next(&mut block).unwrap() {}
        }
        start.elapsed()
    }
}

fn data(statements: u64) -> String {
    let mut text = String::new();
    let mut number = 1_u64;
    for _ in 0..statements {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (s, o) = (number >> 44, number >> 40);
        writeln!(text, "<http://example.org/{s}> <http://example.org/p{}> \"{o:x} {number:x}\" .", s % 7)
            .unwrap();
    }
    text
}

#[test]
#[ignore = "tells times"]
fn one_disk_and_four() {
    let statements = std::env::var("LODE_STATEMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(600_000);
    let megabytes: f64 = std::env::var("LODE_MB_PER_SECOND").ok().and_then(|n| n.parse().ok()).unwrap_or(2.0);
    let bytes_per_second = (megabytes * 1e6) as u64;
    let text = data(statements);
    // The speed is scaled down with the data: a test program is slow, and the disks are to be what is waited for.
    let flash = DeviceModel { bytes_per_second, ..DeviceModel::SSD };
    let disk = DeviceModel { bytes_per_second, ..DeviceModel::DISK };
    println!("{} MB of N-Triples, devices of {megabytes} MB/s", text.len() >> 20);
    let only = std::env::var("LODE_DEVICE").ok();
    let is_wanted = |(name, _): &(&str, _)| only.as_ref().is_none_or(|only| only == name);
    for (device, model) in [("flash", flash), ("disk", disk)].into_iter().filter(is_wanted) {
        let mut first = None;
        let sorts = std::env::var_os("LODE_NO_SORT").is_none();
        let loads = std::env::var_os("LODE_NO_LOAD").is_none();
        for layout in [Layout::Plain, Layout::Striped(1), Layout::Striped(4)] {
            println!("{device} {layout:?}");
            let devices = Devices::new(layout, model);
            let load_all = || {
                devices.fill(&text);
                Duration::ZERO
            };
            let times = [
                if loads { devices.load(&text, 1 << 30) } else { load_all() },
                devices.scan(),
                if loads { Devices::new(layout, model).load(&text, 48 << 20) } else { Duration::ZERO },
                if sorts { Devices::new(layout, model).sort(statements * 8) } else { Duration::ZERO },
            ]
            .map(|time| time.as_secs_f64());
            let base = *first.get_or_insert(times);
            for ((name, time), one) in
                ["load", "cold scan", "load in 48 MiB", "external sort"].iter().zip(times).zip(base)
            {
                if time > 0.0 {
                    println!("{device:>6} {layout:?} {name:>16}: {time:8.2} s, {:5.2} times", one / time);
                }
            }
        }
    }
}
