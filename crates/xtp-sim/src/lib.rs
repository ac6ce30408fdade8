//! Deterministic simulation of XTP engines over emulated links, with checkers
