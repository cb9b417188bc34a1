//! Databases over stripe folders, whole after every crash.
