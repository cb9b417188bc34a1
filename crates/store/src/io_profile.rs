//! What was measured of the device that a database is on: a small text beside the data, by which reading ahead is set. It is a hint: without it, or where
//! it cannot be read, the numbers are those of flash.

use crate::error::StoreError;
use crate::small_file::{read_file, replace_file};
use lode_base::device::Device;
use lode_base::io_probe::believable;
use lode_base::vfs::Vfs;
use lode_packed::CacheMemory;
use std::path::Path;

/// Name of the file in the folder of a database.
const IO_PROFILE: &str = "io-profile";
const FIRST_LINE: &str = "lodestore io 1";
const FILE_BYTES_MAX: usize = 4096;

fn encode(device: &Device) -> String {
    let Device { parallel, gap_bytes_max, request_bytes_max, .. } = device;
    format!("{FIRST_LINE}\nparallel {parallel}\ngap {gap_bytes_max}\nrequest {request_bytes_max}\n")
}

/// None where the text is another's.
fn decode(text: &str) -> Option<Device> {
    let mut lines = text.lines();
    if lines.next() != Some(FIRST_LINE) {
        return None;
    }
    let mut number = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok();
    let (parallel, gap, request) = (number("parallel")?, number("gap")?, number("request")?);
    let parallel = usize::try_from(parallel).ok()?;
    let device = Device { parallel, gap_bytes_max: gap, request_bytes_max: request, ..Device::LOCAL };
    Some(believable(device))
}

/// What is kept of the device of a database; none where nothing is, or nothing that can be read.
pub fn kept_device(vfs: &dyn Vfs, folder: &Path) -> Option<Device> {
    let text = read_file(vfs, &folder.join(IO_PROFILE), FILE_BYTES_MAX).ok()??;
    decode(&String::from_utf8(text).ok()?)
}

/// Keeps what was measured, durably, in place of what was before.
///
/// # Errors
/// Where the file cannot be written: then it is as it was.
pub fn keep_device(vfs: &dyn Vfs, folder: &Path, device: &Device) -> Result<(), StoreError> {
    replace_file(vfs, folder, IO_PROFILE, encode(device).as_bytes())
}

/// The memory of a cache for files in a folder.
pub(crate) fn with_device(memory: CacheMemory, vfs: &dyn Vfs, folder: &Path) -> CacheMemory {
    CacheMemory { device: memory.device.or_else(|| kept_device(vfs, folder)), ..memory }
}

#[cfg(test)]
mod tests {
    //! What is kept comes back in bounds, and what is none counts as none.
    use super::*;
    use lode_base::mem_vfs::MemVfs;

    #[test]
    fn what_is_kept_comes_back() {
        let (vfs, folder) = (MemVfs::default(), Path::new("/db"));
        vfs.create_dir_all(folder).unwrap();
        assert_eq!(kept_device(&vfs, folder), None);
        for parallel in [1, 7, 32] {
            let device = Device { parallel, gap_bytes_max: 9000, ..Device::LOCAL };
            keep_device(&vfs, folder, &device).unwrap();
            assert_eq!(kept_device(&vfs, folder), Some(device));
        }
        for text in [
            "",
            "lodestore io 2\n",
            "lodestore io 1\nparallel 3\ngap 1\n",
            "lodestore io 1\nparallel x\ngap 1\nrequest 1\n",
            "\u{0}",
        ] {
            vfs.create(&folder.join(IO_PROFILE)).unwrap().write_all(text.as_bytes()).unwrap();
            assert_eq!(kept_device(&vfs, folder), None, "{text}");
        }
        let wild = format!("{FIRST_LINE}\nparallel 99999\ngap {}\nrequest 0\n", u64::MAX);
        vfs.create(&folder.join(IO_PROFILE)).unwrap().write_all(wild.as_bytes()).unwrap();
        let tame = kept_device(&vfs, folder).unwrap();
        assert!(tame.parallel <= 64 && tame.gap_bytes_max <= 4 << 20 && tame.request_bytes_max >= 1 << 18);
        vfs.create(&folder.join(IO_PROFILE)).unwrap().write_all(&[b'x'; 9000]).unwrap();
        assert_eq!(kept_device(&vfs, folder), None);
    }
}
