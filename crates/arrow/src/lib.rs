//! Results as Arrow record batches, Arrow IPC streams and Parquet files, and databases as Parquet files.
//!
//! A stream's schema comes before its first row, so a column's type must be known by then: [`ArrowReader`] holds rows back, as ids, until the
//! answer has ended or there are many of them. Of an answer that has ended by then, each column gets the type that all of its values have. Of a
//! longer one, a column gets such a type only if the plan and the indexes prove that all values to come have it, too; else it is one of
//! structs, which hold any term. So no value is ever changed or lost to fit a column.
//!
//! ```
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Int64Type;
//! use lode_arrow::{ArrowOptions, ArrowReader};
//! use lode_engine::{Database, QueryOptions, UpdateOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let database = Database::in_memory()?;
//! database.update("INSERT DATA { <e:ann> <e:age> 41 . <e:bob> <e:age> 7 }", &UpdateOptions::default())?;
//! let results = database.query("SELECT ?age { ?who <e:age> ?age } ORDER BY ?age", &QueryOptions::default())?;
//! let mut reader = ArrowReader::new(results, &ArrowOptions::default())?;
//! let batch = reader.next_batch()?.expect("two rows");
//! assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[7, 41]);
//! assert!(reader.next_batch()?.is_none());
//! # Ok(())
//! # }
//! ```

mod by_class;
mod column;
mod column_type;
mod dictionary;
mod dump;
mod memory;
mod names;
mod number;
mod options;
mod output;
mod parquet_file;
mod reader;
mod structs;
mod window;
mod write;

pub use by_class::{ClassFile, dump_by_class};
pub use dump::dump_quads;
pub use options::ArrowOptions;
pub use reader::ArrowReader;
pub use write::{write_arrow, write_parquet, write_results};

pub use arrow_array;
pub use arrow_schema;
