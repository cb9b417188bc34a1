//! Measures what four disks are faster than one, all emulated: a load, one that spills, an external sort, and a cold scan of one order. Run with
//! `--ignored --nocapture`.

use super::*;
use crate::load::{LoadOptions, LoadProgress, Source, load};
use crate::store::Store;
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::fmt::Write as _;
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
}

impl Devices {
    fn new(layout: Layout, model: DeviceModel) -> Self {
        let mem = MemVfs::new();
        if let Layout::Striped(count) = layout {
            let folders: Vec<PathBuf> = (0..count).map(|number| format!("/disk{number}").into()).collect();
            stripe(&mem, Path::new(FOLDER), &folders).unwrap();
        }
        Self { mem, layout, model }
    }

    /// As after a start: nothing is in any cache.
    fn files(&self) -> Arc<dyn Vfs> {
        let mem: Arc<dyn Vfs> = Arc::new(self.mem.clone());
        let device =
            || Arc::new(DeviceVfs::new(Arc::clone(&mem), self.model).with_slow_writes()) as Arc<dyn Vfs>;
        match self.layout {
            Layout::Plain => device(),
            Layout::Striped(_) => {
                let stripes = stripe_folders(&*mem, Path::new(FOLDER)).unwrap().unwrap();
                Arc::new(StripedVfs::new(&device(), Path::new(FOLDER), stripes, |_| device()).unwrap())
            }
        }
    }

    fn load(&self, text: &str, memory_bytes: usize) -> Duration {
        let store = Store::create_or_open(self.files(), Path::new(FOLDER), 1 << 20).unwrap();
        let options = LoadOptions { threads: 2, memory_bytes, ..LoadOptions::default() };
        let start = Instant::now();
        let source = Source::bytes("x.nt", text.to_owned());
        load(&store, vec![source], options, &Arc::new(LoadProgress::default())).unwrap();
        start.elapsed()
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
    let megabytes = std::env::var("LODE_MB_PER_SECOND").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let text = data(statements);
    // The speed is scaled down with the data: a test program is slow, and the disks are to be what is waited for.
    let flash = DeviceModel { bytes_per_second: megabytes * 1_000_000, ..DeviceModel::SSD };
    let disk = DeviceModel { bytes_per_second: megabytes * 1_000_000, ..DeviceModel::DISK };
    println!("{} MB of N-Triples, devices of {megabytes} MB/s", text.len() >> 20);
    for (device, model) in [("flash", flash), ("disk", disk)] {
        let mut first = None;
        for layout in [Layout::Plain, Layout::Striped(1), Layout::Striped(4)] {
            let devices = Devices::new(layout, model);
            let times = [
                devices.load(&text, 1 << 30),
                devices.scan(),
                Devices::new(layout, model).load(&text, 48 << 20),
                Devices::new(layout, model).sort(statements * 8),
            ]
            .map(|time| time.as_secs_f64());
            let base = *first.get_or_insert(times);
            for ((name, time), one) in
                ["load", "cold scan", "load in 48 MiB", "external sort"].iter().zip(times).zip(base)
            {
                println!("{device:>6} {layout:?} {name:>16}: {time:8.2} s, {:5.2} times", one / time);
            }
        }
    }
}
