//! Hostile queries, asked of the engine.

#![expect(clippy::expect_used, reason = "a test that fails may panic")]

mod limits;
