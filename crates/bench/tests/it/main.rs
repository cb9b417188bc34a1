//! Hostile queries, asked of the engine.

mod limits;
