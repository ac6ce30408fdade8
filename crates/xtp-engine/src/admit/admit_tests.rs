//! Tests of `admit`.
