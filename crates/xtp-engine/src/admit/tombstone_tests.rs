//! Tests of `tombstone`.
