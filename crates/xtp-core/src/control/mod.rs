//! How much may leave, and when, but for congestion: credit of both ends and how a reader's grows, rates, the pace, marks of congestion.

pub mod ecn;
pub mod flow;
pub mod growth;
pub mod pacer;
pub mod rate;
pub mod route;
