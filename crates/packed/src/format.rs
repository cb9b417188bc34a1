//! The numbers that the file format fixes. `docs/format.md` describes the bytes.

/// Version of permutations and dictionaries. A reader reads exactly this one.
pub const FORMAT_VERSION: u32 = 4;
/// Version of descriptions of segments. A reader reads exactly this one.
pub const SEGMENT_VERSION: u32 = 4;
/// Version of a segment's characteristic sets.
pub const STARS_VERSION: u32 = 1;

/// Most rows of a permutation block.
pub const BLOCK_ROWS: usize = 8192;
/// Rows of a mini-block, the unit that is decoded.
pub const MINI_ROWS: usize = lode_base::bitpack::GROUP;
/// Most mini-blocks of a block.
pub const MINIS_MAX: usize = BLOCK_ROWS / MINI_ROWS;

/// Blocks of a page of a permutation's index; the last has fewer.
pub const PERMUTATION_PAGE_BLOCKS: usize = 512;

/// First bytes of a permutation file, and the end of its footer.
pub const PERMUTATION_MAGIC: [u8; 8] = *b"LODEperm";
/// First bytes of a dictionary file, and the end of its footer.
pub const DICTIONARY_MAGIC: [u8; 8] = *b"LODEdict";
/// First bytes of a segment's description.
pub const SEGMENT_MAGIC: [u8; 8] = *b"LODEsegm";
/// First bytes of a segment's characteristic sets.
pub const STARS_MAGIC: [u8; 8] = *b"LODEstar";
/// The longest file of characteristic sets.
pub const STARS_BYTES_MAX: u64 = 1 << 24;

/// Magic, version, and what kind of file it is.
pub const HEADER_BYTES: usize = 16;

/// Terms that share one restart of front coding in a dictionary block.
pub const GROUP_TERMS: usize = 16;
/// A dictionary block is closed once its front-coded text has this many bytes.
pub const DICTIONARY_BLOCK_BYTES: usize = 8 * 1024;
/// Most blocks of a page of a dictionary's index.
pub const DICTIONARY_PAGE_BLOCKS_MAX: usize = 512;
/// The longest separator of dictionary blocks, so that an index is small whatever the keys are.
pub const SEPARATOR_BYTES_MAX: usize = 256;
/// The longest key, so that lengths and offsets inside one block fit 32 bits.
pub const KEY_BYTES_MAX: usize = 1 << 30;
/// The largest block before compression: one longest key after an almost full block, and its lengths.
pub const RAW_BLOCK_BYTES_MAX: u64 = (KEY_BYTES_MAX + 2 * DICTIONARY_BLOCK_BYTES) as u64;
