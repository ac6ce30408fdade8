//! How much may leave, and when, but for congestion: credit of both ends and how a reader's grows, rates, the pace, marks of congestion.

pub(crate) mod ecn;
pub(crate) mod flow;
pub(crate) mod growth;
pub(crate) mod pacer;
pub(crate) mod rate;
pub(crate) mod route;
