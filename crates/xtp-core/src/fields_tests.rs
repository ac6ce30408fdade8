//! What is written comes back, in few octets.

use super::*;
use proptest::prelude::*;

fn round<T>(value: &mut T, fresh: &mut T, walk: impl Fn(&mut dyn Walk, &mut T)) -> usize {
    let mut writer = FieldWriter::new(Vec::new());
    walk(&mut writer, value);
    let octets = writer.into_octets();
    walk(&mut FieldReader::new(&octets), fresh);
    octets.len()
}

/// The few calls the tests make, for either direction.
trait Walk {
    fn numbers(&mut self, values: &mut [u64]);
    fn times(&mut self, values: &mut [Time]);
    fn addresses(&mut self, values: &mut [SocketAddr]);
    fn options(&mut self, values: &mut [Option<u64>]);
}

impl<F: Fields> Walk for F {
    fn numbers(&mut self, values: &mut [u64]) {
        values.iter_mut().for_each(|value| self.number(value));
    }
    fn times(&mut self, values: &mut [Time]) {
        values.iter_mut().for_each(|value| self.time(value));
    }
    fn addresses(&mut self, values: &mut [SocketAddr]) {
        values.iter_mut().for_each(|value| self.address(value));
    }
    fn options(&mut self, values: &mut [Option<u64>]) {
        values
            .iter_mut()
            .for_each(|value| self.option(value, |fields, inner| fields.number(inner)));
    }
}

proptest! {
    #[test]
    fn numbers_come_back(mut values in prop::collection::vec(
        prop_oneof![Just(0), 0..200_u64, any::<u64>(), Just(u64::MAX)], 0..40))
    {
        let mut fresh = vec![7; values.len()];
        round(&mut values, &mut fresh, |walk, values| walk.numbers(values));
        prop_assert_eq!(values, fresh);
    }

    #[test]
    fn moments_come_back(nanos in prop::collection::vec(any::<u64>(), 0..20)) {
        let mut values: Vec<Time> = nanos.into_iter().map(Time::from_nanos).collect();
        let mut fresh = vec![Time::ZERO; values.len()];
        round(&mut values, &mut fresh, |walk, values| walk.times(values));
        prop_assert_eq!(values, fresh);
    }

    #[test]
    fn addresses_come_back(ip: std::net::IpAddr, port: u16, flow: u32, scope: u32) {
        let mut values = vec![SocketAddr::new(ip, port), SocketAddr::from(([1, 2, 3, 4], port))];
        if let SocketAddr::V6(v6) = &mut values[0] {
            v6.set_flowinfo(flow);
            v6.set_scope_id(scope);
        }
        let mut fresh = vec![SocketAddr::from(([0, 0, 0, 0], 9)); 2];
        round(&mut values, &mut fresh, |walk, values| walk.addresses(values));
        prop_assert_eq!(values, fresh);
    }

    #[test]
    fn options_come_back(mut values: Vec<Option<u64>>) {
        let mut fresh = vec![Some(3); values.len()];
        round(&mut values, &mut fresh, |walk, values| walk.options(values));
        prop_assert_eq!(values, fresh);
    }
}

#[test]
fn zeros_cost_a_bit_and_neighbouring_moments_little() {
    assert_eq!(
        round(&mut [0; 64], &mut [1; 64], |walk, values| walk.numbers(values)),
        8
    );
    let moment = |nanos| Time::from_nanos(nanos);
    let mut moments = [
        moment(5_000_000_000_000),
        moment(5_000_000_000_003),
        moment(5_000_000_000_000),
    ];
    let mut fresh = [Time::ZERO; 3];
    let octets = round(&mut moments, &mut fresh, |walk, values| walk.times(values));
    assert_eq!(octets, 1 + 7 + 1 + 1);
}
