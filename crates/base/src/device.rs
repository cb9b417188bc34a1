//! What is known of the device that a file is on: how far apart blocks may be to be read as one, and how many requests it serves at once.

/// What reading costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Requests that are served at once; 0 where nothing is to be gained by asking ahead, as in memory.
    pub parallel: usize,
    /// Two blocks are read as one where no more bytes lie between them: to pass these over costs less than a further request.
    pub gap_bytes_max: u64,
    /// What is read as one is no longer, so that urgent reads need not wait long for it.
    pub request_bytes_max: u64,
    /// Where several devices have a file between them, so many bytes in a row have parts on all of them: to read less keeps some of them idle. 0 where
    /// there is one.
    pub stripe_bytes: u64,
    /// Whether reads are known to be slow. Of other devices that is measured: what the system has in memory needs no help.
    pub is_slow: bool,
}

impl Device {
    /// Memory: nothing is asked for ahead.
    pub const MEMORY: Self =
        Self { parallel: 0, gap_bytes_max: 0, request_bytes_max: 0, stripe_bytes: 0, is_slow: false };

    /// A local disk of which nothing is known. The numbers are those of flash.
    pub const LOCAL: Self = Self {
        parallel: 16,
        gap_bytes_max: 64 << 10,
        request_bytes_max: 1 << 20,
        stripe_bytes: 0,
        is_slow: false,
    };
}
