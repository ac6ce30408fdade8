//! What a host's receive call brings to its driver: datagrams, some of them joined.

use bytes::{Bytes, BytesMut};
use xtp_engine::{Arrivals, Arrived, Datagram};

use crate::net::Flying;

/// Octets of one train at most.
const LONGEST: usize = 65_507;

/// Datagrams of one receive call, from the oldest on.
pub(crate) struct Inbox<'a> {
    flying: &'a [Flying],
    /// For each datagram the train it is in, and where in it.
    places: Vec<Option<(usize, usize)>>,
    trains: &'a [Bytes],
    taken: usize,
}

/// Joins neighbours that differ in nothing but their octets, of which all but the last are equally long.
pub(crate) fn join(flying: &[Flying]) -> (Vec<Bytes>, Vec<Option<(usize, usize)>>) {
    let (mut trains, mut places) = (Vec::new(), vec![None; flying.len()]);
    let mut from = 0;
    while from < flying.len() {
        let first = &flying[from];
        let (mut to, mut octets) = (from + 1, first.data.len());
        while let Some(next) = flying.get(to)
            && (next.src, next.dst, next.ecn) == (first.src, first.dst, first.ecn)
            && flying[to - 1].data.len() == first.data.len()
            && next.data.len() <= first.data.len()
            && octets + next.data.len() <= LONGEST
        {
            octets += next.data.len();
            to += 1;
        }
        if to > from + 1 {
            let mut train = BytesMut::with_capacity(octets);
            for place in from..to {
                places[place] = Some((trains.len(), train.len()));
                train.extend_from_slice(&flying[place].data);
            }
            trains.push(train.freeze());
        }
        from = to;
    }
    (trains, places)
}

impl<'a> Inbox<'a> {
    pub(crate) fn new(
        flying: &'a [Flying],
        trains: &'a [Bytes],
        places: Vec<Option<(usize, usize)>>,
    ) -> Self {
        Self {
            flying,
            places,
            trains,
            taken: 0,
        }
    }

    /// How many datagrams were taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    fn arrived(&self, at: usize) -> Option<Arrived<'a>> {
        let flying = self.flying.get(at)?;
        let place = self.places.get(at).copied().flatten();
        let train = place.and_then(|(train, from)| Some((self.trains.get(train)?, from)));
        Some(Arrived {
            joined: Datagram {
                src: flying.src,
                dst: Some(flying.dst.ip()),
                ecn: flying.ecn,
                data: train.map_or(&flying.data[..], |(train, from)| &train[from..]),
                backing: train.map(|(train, _)| train),
            },
            stride: flying.data.len(),
        })
    }
}

impl<'a> Arrivals<'a> for Inbox<'a> {
    fn only(&self) -> Option<Arrived<'a>> {
        let only = self.arrived(0)?;
        let octets: usize = self.flying.iter().map(|flying| flying.data.len()).sum();
        (only.joined.data.len() == octets).then_some(only)
    }

    fn next(&mut self) -> Option<Arrived<'a>> {
        let arrived = self.arrived(self.taken)?;
        self.taken += 1;
        Some(arrived)
    }

    fn skip_joined(&mut self, count: usize) {
        self.taken += count;
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
