//! Matching, limits and refusals.

use xtp_wire::Options;

use core::net::IpAddr;

use super::{Full, ListenRefusal, Listeners};
use crate::error::Error;
use crate::event::ContextId;
use crate::options::ListenOptions;

fn listeners() -> Listeners {
    Listeners::new([5; 16])
}

fn serving(port: u16, services: u32) -> ListenOptions {
    ListenOptions {
        services,
        ..ListenOptions::new(port)
    }
}

#[test]
fn the_exact_number_goes_before_the_wildcard() {
    let mut listeners = listeners();
    let wild = listeners.add(ListenOptions::wildcard()).expect("free");
    let echo = listeners.add(ListenOptions::new(7)).expect("free");
    assert_eq!(listeners.find(0, Some(7), 3), Ok(echo));
    assert_eq!(listeners.find(0, Some(8), 3), Ok(wild));
    assert_eq!(
        listeners.find(0, None, 3),
        Ok(wild),
        "an address segment without a port"
    );
    assert_eq!(
        listeners.find(1, Some(7), 3),
        Err(ListenRefusal::NoListener),
        "another domain"
    );
    assert!(listeners.remove(wild).is_ok());
    assert_eq!(listeners.find(0, None, 3), Err(ListenRefusal::NoListener));
    assert_eq!(listeners.find(0, Some(7), 3), Ok(echo));
}

#[test]
fn services_are_matched_by_bit() {
    let mut listeners = listeners();
    let calls = listeners.add(serving(10, 1 << 3)).expect("free");
    assert_eq!(listeners.find(0, Some(10), 3), Ok(calls));
    assert_eq!(listeners.find(0, Some(10), 4), Err(ListenRefusal::ServiceRefused));
    assert_eq!(
        listeners.find(0, Some(10), 35),
        Err(ListenRefusal::ServiceRefused),
        "no bit of its own"
    );
    let rest = listeners.add(ListenOptions::wildcard()).expect("free");
    assert_eq!(
        listeners.find(0, Some(10), 4),
        Ok(rest),
        "the wildcard takes what the other does not serve"
    );
    assert_eq!(
        listeners.find(0, Some(10), 255),
        Ok(rest),
        "all services are really all"
    );
}

#[test]
fn a_place_is_taken_once() {
    let mut listeners = listeners();
    let first = listeners.add(ListenOptions::new(7)).expect("free");
    assert_eq!(listeners.add(ListenOptions::new(7)), Err(Error::PortInUse(7)));
    assert!(listeners.add(ListenOptions::wildcard()).is_ok());
    assert!(matches!(
        listeners.add(ListenOptions::wildcard()),
        Err(Error::InvalidOption(_))
    ));
    assert_eq!(listeners.remove(first), Ok(ListenOptions::new(7)));
    assert_eq!(listeners.remove(first), Err(Error::NoListener));
    let again = listeners.add(ListenOptions::new(7)).expect("free again");
    assert_ne!(first, again, "identifiers are not reused");
    assert!(listeners.get(first).is_none());
}

#[test]
fn options_that_refuse_everything_are_errors() {
    let mut listeners = listeners();
    let both = ListenOptions {
        required: Options::SREQ,
        refused: Options::SREQ,
        ..ListenOptions::new(1)
    };
    let none = ListenOptions {
        backlog: 0,
        ..ListenOptions::new(1)
    };
    for options in [serving(1, 0), both, none] {
        assert!(matches!(listeners.add(options), Err(Error::InvalidOption(_))));
    }
    assert_eq!(listeners.find(0, Some(1), 4), Err(ListenRefusal::NoListener));
}

#[test]
fn option_bits_are_required_and_refused() {
    let mut listeners = listeners();
    let required = Options::SREQ | Options::WCLOSE;
    let options = ListenOptions {
        required,
        refused: Options::NOERR,
        ..ListenOptions::new(7)
    };
    let id = listeners.add(options).expect("free");
    assert_eq!(listeners.check(id, required), Ok(()));
    assert_eq!(listeners.check(id, required | Options::EOM), Ok(()));
    assert_eq!(
        listeners.check(id, Options::SREQ),
        Err(ListenRefusal::OptionsRefused)
    );
    assert_eq!(
        listeners.check(id, required | Options::NOERR),
        Err(ListenRefusal::OptionsRefused)
    );
}

#[test]
fn the_backlog_is_a_limit_and_frees_itself() {
    let mut listeners = listeners();
    let id = listeners
        .add(ListenOptions {
            backlog: 2,
            ..ListenOptions::new(7)
        })
        .expect("free");
    let source = IpAddr::from([10, 0, 0, 1]);
    for _ in 0..2 {
        assert!(listeners.has_place(id, source));
        assert_eq!(listeners.accepted(id, ContextId(1), source, true), None);
    }
    assert!(!listeners.has_place(id, source));
    listeners.taken(id, None, source);
    assert!(listeners.has_place(id, source));
    listeners.taken(id, None, source);
    listeners.taken(id, None, source);
    listeners.accepted(id, ContextId(2), source, true);
    listeners.accepted(id, ContextId(3), source, true);
    assert!(!listeners.has_place(id, source), "never below none waiting");
}

#[test]
fn whoever_has_not_proved_its_address_takes_no_place_of_those_who_have() {
    let mut listeners = listeners();
    let id = listeners
        .add(ListenOptions {
            backlog: 2,
            ..ListenOptions::new(7)
        })
        .expect("free");
    let source = |number| IpAddr::from([10, 0, 0, number]);
    let places: Vec<_> = (1..3)
        .map(|number| listeners.accepted(id, ContextId(number.into()), source(number), false))
        .collect();
    assert_eq!(listeners.place_for_stranger(id, source(3), false), Err(Full::All));
    assert!(listeners.has_place(id, source(1)));
    // One proves itself, and takes a place among those.
    listeners.proved(id, places[0].expect("a place"), source(1));
    assert_eq!(listeners.place_for_stranger(id, source(3), false), Ok(()));
    listeners.accepted(id, ContextId(3), source(4), true);
    assert!(!listeners.has_place(id, source(5)));
    assert_eq!(listeners.oldest_unproved(id), Some(ContextId(2)));
    listeners.taken(id, places[1], source(2));
    assert_eq!(listeners.oldest_unproved(id), None);
}

#[test]
fn listeners_are_narrow_unless_told_otherwise() {
    let (messages, streams) = (ListenOptions::new(1).services, ListenOptions::streams(1).services);
    assert_eq!((messages, streams), (0b0_1110, 0b1_0001));
    assert_eq!(
        ListenOptions::new(1).serving(&[3, 31, 32, 255]).services,
        1 << 3 | 1 << 31
    );
    for every in [ListenOptions::every_service(1), ListenOptions::wildcard()] {
        assert_eq!(every.services, u32::MAX);
    }
}
