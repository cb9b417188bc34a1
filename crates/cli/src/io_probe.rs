//! `lode io-probe`: what a local device can do, measured, and kept for reading ahead.

use crate::args::IoProbeArgs;
use crate::exit::{Done, wrong_usage};
use crate::number;
use crate::talk::{say, write_json};
use anyhow::{Context, bail};
use lode_engine::io_probe::{Device, ProbeCell, ProbeLimits, SIZES, device_of, probe_folder};
use lode_engine::keep_device;
use serde_json::{Value, json};
use std::time::Duration;

/// Of a device no request takes less; what does is memory.
const FASTEST: Duration = Duration::from_micros(15);
/// A smaller file tells nothing.
const FILE_BYTES_MIN: usize = 16 << 20;

pub fn run(args: &IoProbeArgs) -> anyhow::Result<Done> {
    if !args.folder.is_dir() {
        return Err(wrong_usage(format!("there is no folder {}", args.folder.display())));
    }
    if args.file_bytes < FILE_BYTES_MIN {
        return Err(wrong_usage(format!(
            "--file-bytes must be at least {}",
            number::bytes(FILE_BYTES_MIN as u64)
        )));
    }
    let limits = ProbeLimits { file_bytes: args.file_bytes as u64, ..ProbeLimits::default() };
    let cells = probe_folder(&args.folder, &limits, &mut |_| {})
        .with_context(|| format!("probing {}", args.folder.display()))?;
    let Some(device) = device_of(&cells) else { bail!("nothing could be read") };
    let is_memory = cells.first().is_some_and(|cell| cell.latency < FASTEST);
    let is_database = args.folder.join("MANIFEST").exists();
    let keeps = is_database && !args.dry_run && !is_memory;
    if keeps {
        keep_device(&args.folder, &device)?;
    }
    if args.json {
        write_json(&as_json(&cells, &device, keeps))?;
    } else {
        write_table(&cells, &mut std::io::stdout().lock())?;
    }
    say!(
        "{} at once, blocks up to {} apart are read as one, requests of up to {}",
        device.parallel,
        number::bytes(device.gap_bytes_max),
        number::bytes(device.request_bytes_max)
    );
    match (keeps, is_memory) {
        (true, _) => say!("kept in {}", args.folder.join("io-profile").display()),
        (false, true) => {
            say!("requests of 4 KiB take less than 15 us: that is the system's memory, and nothing is kept")
        }
        (false, false) => {}
    }
    Ok(Done::Ok)
}

fn write_table(cells: &[ProbeCell], out: &mut impl std::io::Write) -> std::io::Result<()> {
    writeln!(out, "| bytes | at once | a request | requests/s | bytes/s |\n|--:|--:|--:|--:|--:|")?;
    for size in SIZES {
        for cell in cells.iter().filter(|cell| cell.bytes == size) {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                number::bytes(size as u64),
                cell.depth,
                number::duration(cell.latency),
                number::grouped(cell.requests_per_second as u64),
                number::bytes(cell.bytes_per_second() as u64)
            )?;
        }
    }
    Ok(())
}

fn as_json(cells: &[ProbeCell], device: &Device, is_kept: bool) -> Value {
    let cell = |cell: &ProbeCell| {
        json!({
            "bytes": cell.bytes,
            "depth": cell.depth,
            "latency_seconds": cell.latency.as_secs_f64(),
            "requests_per_second": cell.requests_per_second,
            "bytes_per_second": cell.bytes_per_second(),
        })
    };
    json!({
        "cells": cells.iter().map(cell).collect::<Vec<_>>(),
        "parallel": device.parallel,
        "gap_bytes_max": device.gap_bytes_max,
        "request_bytes_max": device.request_bytes_max,
        "is_kept": is_kept,
    })
}
