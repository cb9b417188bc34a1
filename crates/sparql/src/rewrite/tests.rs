//! Tests of rewrites.
