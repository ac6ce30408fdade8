//! Every order in which up to six packets may arrive.

use crate::world::{ARRIVES, DELAY, Fate, World, group, is_done};
use std::time::Duration;
use xtp_engine::group::{BucketOptions, Fec, GroupClose, Mode, ReceiverOptions, Target, TransmitterOptions};
use xtp_wire::Format;

const DATAGRAM: usize = 576;
/// Octets of a symbol.
const SYMBOL: usize = DATAGRAM - 32 - 24;

/// Every order of `count` things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for order in orders(count - 1) {
        for place in 0..count {
            let mut longer = order.clone();
            longer.insert(place, count - 1);
            all.push(longer);
        }
    }
    all
}

fn play(order: &[usize], fec: Option<Fec>, mode: Mode) {
    let what = format!("{order:?}, parity {}, {mode:?}", fec.is_some());
    let places = order.to_vec();
    let mut data = 0;
    // The first receiver gets the data in this order, the second as it was sent.
    let mut world = World::new(3, move |copy| {
        if copy.format != Format::Data || copy.to != 1 {
            return ARRIVES;
        }
        data += 1;
        match places.get(data - 1) {
            Some(&place) => Fate::After(DELAY + Duration::from_micros(50 * place as u64)),
            None => ARRIVES,
        }
    });
    let mut options = TransmitterOptions::default();
    options.expect = Some(2);
    options.datagram = DATAGRAM;
    options.fec = fec;
    options.mode = mode;
    options.window = 32 * DATAGRAM as u64;
    let cast = world.cast(0, Target::Group(group(1)), options);
    let mut join = ReceiverOptions::default();
    join.group = Some(group(1));
    let receivers = [1, 2].map(|host| (host, world.join(host, join.clone())));
    let message: Vec<u8> = (0..order.len() * SYMBOL).map(|place| (place / 3) as u8).collect();
    world.write(0, cast, &message, true);
    let now = world.now;
    world.engine(0).group_finish(now, cast).unwrap();
    assert!(world.run(), "{what}: not everybody ended");
    for (host, id) in receivers {
        let party = world.party(host, id);
        assert_eq!(party.octets, message, "{what}: receiver {host}");
        assert_eq!(party.ends, [message.len()], "{what}: receiver {host}");
        assert_eq!(
            party.closed(),
            Some(&GroupClose::Normal),
            "{what}: receiver {host}"
        );
    }
    assert!(world.members(0, cast).iter().all(is_done), "{what}");
}

#[test]
fn every_order_is_put_right() {
    for count in 1..=6 {
        for order in orders(count) {
            let fec = Some(Fec {
                symbols: 4,
                rows: 4,
                proactive: 0,
            });
            play(&order, None, Mode::Unicast);
            play(&order, fec, Mode::Unicast);
            play(&order, None, Mode::Bucket(BucketOptions::default()));
        }
    }
}

/// Where nothing is lost nothing is repaired, if packets overtake each other by less than three.
#[test]
fn orders_that_hardly_differ_cost_no_repair() {
    for order in orders(4) {
        let mut moved = order.iter().enumerate().map(|(place, &at)| place.abs_diff(at));
        if moved.any(|by| by > 1) {
            continue;
        }
        let places = order.clone();
        let mut data = 0;
        let mut world = World::new(2, move |copy| {
            if copy.format != Format::Data {
                // No poll overtakes the data before it.
                return Fate::After(DELAY + Duration::from_micros(50));
            }
            data += 1;
            let place = places.get(data - 1).copied().unwrap_or(data);
            Fate::After(DELAY + Duration::from_micros(place as u64))
        });
        let mut options = TransmitterOptions::default();
        options.expect = Some(1);
        options.datagram = DATAGRAM;
        options.fec = None;
        let cast = world.cast(0, Target::Group(group(1)), options);
        let mut join = ReceiverOptions::default();
        join.group = Some(group(1));
        let _ = world.join(1, join);
        world.write(0, cast, &vec![7; 8 * SYMBOL], true);
        let now = world.now;
        world.engine(0).group_finish(now, cast).unwrap();
        assert!(world.run(), "{order:?}");
        let stats = world.engine(0).cast_stats(now, cast).unwrap();
        assert_eq!(stats.repair_packets, 0, "{order:?}");
    }
}
