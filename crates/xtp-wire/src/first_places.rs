//! Where in a FIRST lies what differs from one to the next of the same client on the same terms: so one is made from another, and
//! compared with it, without being taken apart.

use crate::{Address, ClientId, Tlv, Traffic, tlv::TLV_HEADER_LEN};
use core::ops::Range;

/// Places in the payload of a FIRST: the time of creation, and the numbers of TLV 11, which it has once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPlaces {
    time: Range<usize>,
    /// The client itself is the same each time.
    client: usize,
    numbers: Range<usize>,
}

impl FirstPlaces {
    /// Of a payload without its data; `None` if it is none, or differs elsewhere too.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let (address, rest) = Address::take(head).ok()?;
        let (Traffic::Extended(traffic), []) = Traffic::take(rest).ok()? else {
            return None;
        };
        let tlvs = head.len() - traffic.tlvs.octets().len();
        let mut clients = traffic.tlvs.iter().scan(tlvs, |at, tlv| {
            let value = *at + TLV_HEADER_LEN;
            *at += tlv.encoded_len();
            Some(matches!(tlv, Tlv::Client(_)).then_some(value))
        });
        let (Some(client), None) = (clients.by_ref().flatten().next(), clients.flatten().next()) else {
            return None;
        };
        let time = address.encoded_len() + traffic.time_at();
        Some(Self {
            time: time..time + 4,
            client,
            numbers: client + 8..client + 24,
        })
    }

    /// Puts other numbers into a payload that begins like this one; into a shorter one nothing.
    #[inline]
    pub fn put(&self, payload: &mut [u8], time: u32, client: ClientId) {
        if let Some(place) = payload.get_mut(self.time.clone()) {
            place.copy_from_slice(&time.to_be_bytes());
        }
        if let Some((numbers, _)) = payload
            .get_mut(self.client..)
            .and_then(<[u8]>::split_first_chunk_mut)
        {
            let numbers: &mut [u8; 24] = numbers;
            for (place, number) in
                numbers
                    .as_chunks_mut()
                    .0
                    .iter_mut()
                    .zip([client.client, client.n, client.low])
            {
                *place = number.to_be_bytes();
            }
        }
    }

    /// The time and the client of a payload that begins like `head`, in which these places are; `None` if it begins otherwise.
    #[inline]
    #[must_use]
    pub fn take(&self, head: &[u8], payload: &[u8]) -> Option<(u32, ClientId)> {
        let payload = payload.get(..head.len())?;
        let equal = |range: Range<usize>| payload.get(range.clone()) == head.get(range);
        let same = equal(0..self.time.start)
            && equal(self.time.end..self.numbers.start)
            && equal(self.numbers.end..head.len());
        let time = payload.get(self.time.clone())?.first_chunk()?;
        let (numbers, _) = payload.get(self.client..)?.split_first_chunk::<24>()?;
        let ([client, n, low], _) = numbers.as_chunks::<8>() else {
            return None;
        };
        same.then(|| {
            let client = ClientId {
                client: u64::from_be_bytes(*client),
                n: u64::from_be_bytes(*n),
                low: u64::from_be_bytes(*low),
            };
            (u32::from_be_bytes(*time), client)
        })
    }
}

#[cfg(test)]
#[path = "first_places_tests.rs"]
mod tests;
