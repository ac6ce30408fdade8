//! The traffic class of what leaves: the engine's ECN mark, and the DSCP that the program chose for a priority.

use xtp_engine::{Ecn, Train};
use xtp_io::TrafficClass;

/// DSCPs by priority, the most urgent first; empty where all packets are alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes(Box<[(u16, u8)]>);

/// The largest DSCP.
const MOST: u8 = 63;

impl Classes {
    /// As [`Config::dscp`](crate::Config::dscp) has them; `None` if one is no DSCP.
    pub(crate) fn new(chosen: &[(u16, u8)]) -> Option<Self> {
        let mut sorted: Box<[_]> = chosen.into();
        sorted.sort_by_key(|&(sort, _)| sort);
        sorted
            .iter()
            .all(|&(_, dscp)| dscp <= MOST)
            .then_some(Self(sorted))
    }

    /// What a train is marked with.
    #[inline]
    pub(super) fn of(&self, train: &Train) -> TrafficClass {
        let fits = |&&(most, _): &&(u16, u8)| train.sort.is_some_and(|sort| sort <= most);
        let dscp = self.0.iter().find(fits).map_or(0, |&(_, dscp)| dscp);
        TrafficClass::new(dscp, to_io(train.ecn))
    }
}

pub(super) fn to_io(ecn: Ecn) -> xtp_io::EcnCodepoint {
    match ecn {
        Ecn::NotEct => xtp_io::EcnCodepoint::NotEct,
        Ecn::Ect0 => xtp_io::EcnCodepoint::Ect0,
        Ecn::Ect1 => xtp_io::EcnCodepoint::Ect1,
        Ecn::Ce => xtp_io::EcnCodepoint::Ce,
    }
}

#[cfg(test)]
#[path = "class_tests.rs"]
mod tests;
