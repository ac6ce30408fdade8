//! What made the worlds go apart once, each as a few actions.

use super::action::{Action, Kind, Place};
use super::calls::Way;
use super::compare::run;
use super::host::Bookkeeping;
use super::profile::{PORT, Profile};
use super::world::{Told, World, later};
use crate::{CloseReason, Confirm, CongestionKind, DiagReason, Event, OpenOptions, Time, paradigm};
use xtp_wire::HEADER_LEN;

/// Where alloc lies in a control segment, and maxdata in the specifier of a FIRST to an IPv4 address.
const ALLOC: usize = HEADER_LEN + 8;
const MAX_DATA: usize = HEADER_LEN + 16 + 4;
/// Where the sequence number lies in a header.
const SEQUENCE: usize = 24;

const SERVER: usize = 0;
const CLIENT: usize = 1;

fn at(host: usize, kind: Kind) -> Action {
    Action {
        after: 2_000,
        host,
        kind,
    }
}

fn turn(host: usize) -> Action {
    at(host, Kind::Turn(Bookkeeping::Now))
}

fn begin(kind: usize, len: usize) -> Action {
    at(CLIENT, Kind::Begin { kind, len })
}

fn receive(host: usize) -> Action {
    let (all, joined, shared) = (true, false, false);
    at(host, Kind::Receive { all, joined, shared })
}

fn receive_first() -> Action {
    let (limit, shared, when) = (1 << 16, false, Bookkeeping::Now);
    at(SERVER, Kind::ReceiveFirst { limit, shared, when })
}

fn receive_answer() -> Action {
    let (limit, shared, when) = (1 << 16, false, Bookkeeping::Now);
    at(CLIENT, Kind::ReceiveAnswer { limit, shared, when })
}

fn receive_end() -> Action {
    let (goes, when) = (true, Bookkeeping::Now);
    at(SERVER, Kind::ReceiveEnd { goes, when })
}

fn respond(unconfirmed: bool) -> Action {
    let (len, when) = (60, Bookkeeping::Now);
    at(
        SERVER,
        Kind::Respond {
            len,
            unconfirmed,
            when,
        },
    )
}

fn release(host: usize) -> Action {
    at(host, Kind::Release { back: 0 })
}

fn patch(host: usize, at_octet: usize, octets: &[u8]) -> Action {
    let octets = octets.to_vec();
    at(host, Kind::Patch { at: at_octet, octets })
}

/// An answered exchange up to its end.
fn exchange(kind: usize) -> Vec<Action> {
    let first = vec![begin(kind, 60), turn(CLIENT), receive_first(), respond(false)];
    let last = [receive_answer(), receive_end(), release(CLIENT)];
    first.into_iter().chain(last).collect()
}

/// Both worlds do all of it alike.
fn agree(kinds: Vec<OpenOptions>, actions: Vec<Action>) {
    agree_in(&Profile::plain(kinds), actions);
}

fn agree_in(profile: &Profile, actions: Vec<Action>) {
    let actions: Vec<_> = actions.into_iter().chain([at(SERVER, Kind::Audit)]).collect();
    for way in [Way::Shortcuts, Way::Driver] {
        if let Err(found) = run(&profile.clone().driven(way), &actions) {
            panic!("{way:?}, action {} of {actions:#?}: {}", found.step, found.what);
        }
    }
}

/// What hosts of one world were told, in all of it.
fn told(way: Way, kinds: Vec<OpenOptions>, actions: &[Action]) -> Vec<(usize, Told)> {
    let mut world = World::new(&Profile::plain(kinds), way);
    let mut now = Time::from_nanos(1_000_000_000);
    let mut all = Vec::new();
    for action in actions {
        now = later(now, action.after);
        world.act(action, now);
        for (host, state) in world.hosts.iter().enumerate() {
            all.extend(state.told.iter().cloned().map(|told| (host, told)));
        }
    }
    all
}

/// An acknowledgement whose alloc lies below its rseq is no packet (§2.9): nobody may believe in delivery for it.
#[test]
fn an_implausible_answer_confirms_nothing() {
    let actions = vec![
        begin(0, 60),
        turn(CLIENT),
        receive_first(),
        patch(CLIENT, ALLOC, &59_u64.to_be_bytes()),
        receive_answer(),
    ];
    for way in [Way::General, Way::Shortcuts, Way::Driver] {
        let told = told(way, vec![paradigm::one_shot(PORT)], &actions);
        let closed = |(_, told): &&(usize, Told)| matches!(told, Told::Event(_, Event::Closed(_)));
        assert_eq!(told.iter().filter(closed).count(), 0, "{way:?}: {told:?}");
    }
    agree(vec![paradigm::one_shot(PORT)], actions);
}

#[test]
fn a_first_with_a_small_maxdata_tells_every_event_once() {
    for max_data in [1_u32, 100, 1_000] {
        let patch = patch(SERVER, MAX_DATA, &max_data.to_be_bytes());
        let actions = vec![begin(0, 60), turn(CLIENT), patch, receive_first(), respond(false)];
        agree(vec![paradigm::transaction(PORT)], actions);
    }
}

/// It grants ten times as much as the largest segment it states.
#[test]
fn a_first_beyond_what_it_grants_is_no_message() {
    let patch = patch(SERVER, MAX_DATA, &20_u32.to_be_bytes());
    let actions = vec![begin(0, 300), turn(CLIENT), patch, receive_first(), turn(SERVER)];
    agree(vec![paradigm::one_shot(PORT)], actions);
}

#[test]
fn a_message_longer_than_the_send_buffer_is_not_taken_whole() {
    let usual = paradigm::transaction(PORT);
    let mut small = usual.clone();
    small.tuning.send_capacity = 50;
    let actions = exchange(0)
        .into_iter()
        .chain([begin(1, 60), turn(CLIENT)])
        .collect();
    agree(vec![usual, small], actions);
}

/// END waits for the delivery of a request that asked for it.
#[test]
fn an_answer_that_leaves_a_delivery_open_ends_nothing() {
    let mut options = paradigm::transaction(PORT);
    options.confirm = Confirm::Delivered;
    agree(vec![options], exchange(0));
}

/// Its numbers would pass the last one there is.
#[test]
fn a_first_near_the_last_sequence_number_is_refused() {
    for way in [Way::General, Way::Shortcuts, Way::Driver] {
        let actions = [
            begin(0, 60),
            turn(CLIENT),
            patch(SERVER, SEQUENCE, &(u64::MAX - 100).to_be_bytes()),
            receive(SERVER),
            turn(SERVER),
            receive(CLIENT),
        ];
        let told = told(way, vec![paradigm::one_shot(PORT)], &actions);
        let refused = Event::Closed(CloseReason::Refused(DiagReason(0)));
        assert!(told.contains(&(CLIENT, Told::Event(0, refused))), "{told:?}");
    }
}

#[test]
fn a_repeated_first_has_the_first_ones_sequence_number() {
    let again = at(SERVER, Kind::Network(Place::Oldest, 1, 0));
    let mut options = paradigm::one_shot(PORT);
    options.confirm = Confirm::Delivered;
    let actions = vec![
        begin(0, 60),
        turn(CLIENT),
        again,
        receive_first(),
        patch(SERVER, SEQUENCE, &(u64::MAX - 10).to_be_bytes()),
        receive(SERVER),
        turn(SERVER),
    ];
    agree(vec![options], actions);
}

/// A record that goes because there are too many of them must not leave its slot to the next association.
#[test]
fn the_next_association_keeps_its_slot() {
    let exchanges = (0..6).flat_map(|_| exchange(0));
    let next = [begin(0, 60), release(CLIENT), turn(CLIENT)];
    let profile = Profile::plain(vec![paradigm::transaction(PORT)]).with_few_records();
    agree_in(&profile, exchanges.chain(next).collect());
}

/// Whoever waits for an end has waited long enough: a turn is pressing.
#[test]
fn an_end_that_fails_to_come_is_pressing() {
    let late = Action {
        after: 8_000_000,
        ..at(SERVER, Kind::TurnIfPressing(Bookkeeping::Idle))
    };
    let unanswered = [begin(0, 60), turn(CLIENT), receive_first(), late];
    let actions = exchange(0).into_iter().chain(exchange(0)).chain(unanswered);
    agree(vec![paradigm::one_shot(PORT)], actions.collect());
}

/// What its user asks for besides decides what its END says: it is no model of those that follow, nor like those before.
#[test]
fn one_about_which_its_user_said_more_is_not_like_the_others() {
    for what in 0..14 {
        for options in [paradigm::one_shot(PORT), paradigm::transaction(PORT)] {
            let more = at(
                CLIENT,
                Kind::Odd {
                    back: 0,
                    what,
                    number: 1,
                },
            );
            let odd = |now_turn: bool| {
                let head = vec![begin(0, 60), turn(CLIENT), more.clone()];
                let at_once = now_turn.then(|| turn(CLIENT));
                let rest = [
                    receive_first(),
                    respond(false),
                    receive_answer(),
                    turn(CLIENT),
                    receive_end(),
                ];
                head.into_iter()
                    .chain(at_once)
                    .chain(rest)
                    .chain([release(CLIENT)])
            };
            for now_turn in [false, true] {
                let usual = || exchange(0).into_iter();
                let first = odd(now_turn).chain(usual()).chain(usual());
                agree(vec![options.clone()], first.collect());
                let later = usual().chain(usual()).chain(odd(now_turn)).chain(usual());
                agree(vec![options.clone()], later.collect());
            }
        }
    }
}

/// What an abort has to tell the peer is counted, whatever leaves with it.
#[test]
fn an_abort_leaves_beside_the_next_first() {
    let aborted = [
        begin(0, 60),
        turn(CLIENT),
        at(
            CLIENT,
            Kind::Odd {
                back: 0,
                what: 0,
                number: 0,
            },
        ),
    ];
    let next = [release(CLIENT), begin(0, 60), turn(CLIENT)];
    let actions = aborted.into_iter().chain(next).collect();
    agree(vec![paradigm::transaction(PORT)], actions);
}

/// All that was sent was acknowledged in ranges but for octets below, which were acknowledged before: what is written leaves
/// although the window is counted from them.
#[test]
fn a_peer_that_contradicts_itself_stops_no_writer() {
    let mut kdd = paradigm::stream(PORT);
    kdd.tuning.congestion = CongestionKind::Kdd;
    let send = |len| {
        at(
            CLIENT,
            Kind::Send {
                back: 0,
                len,
                eom: true,
            },
        )
    };
    let lost = at(SERVER, Kind::Network(Place::Oldest, 0, 0));
    let lie = patch(CLIENT, HEADER_LEN, &2_502_u64.to_be_bytes());
    let begins = [
        at(CLIENT, Kind::Open { kind: 0 }),
        send(1_900),
        turn(CLIENT),
        receive(SERVER),
    ];
    let loses = [send(1_040), turn(CLIENT), lost, send(39_311), turn(CLIENT)];
    let round = || [receive(SERVER), turn(SERVER), receive(CLIENT), turn(CLIENT)];
    let lied = [receive(SERVER), turn(SERVER), lie, receive(CLIENT), turn(CLIENT)];
    let actions = begins
        .into_iter()
        .chain(loses)
        .chain(lied)
        .chain(round())
        .chain(round());
    let profile = Profile::plain(vec![paradigm::one_shot(PORT)]).with_lasting(kdd);
    agree_in(&profile, actions.collect());
}

/// Without XDATA every packet closes a reply gap, and opens the next while something is under way.
#[test]
fn every_packet_of_a_legacy_peer_closes_a_gap() {
    let (back, when) = (0, Bookkeeping::Now);
    let message = |host, len| at(host, Kind::SendMessage { back, len, when });
    let late = Action {
        after: 5_000_000,
        ..message(SERVER, 4_400)
    };
    let (all, joined, shared) = (true, true, true);
    let joined = at(CLIENT, Kind::Receive { all, joined, shared });
    let timer = Action {
        after: Action::NEXT_TIMER,
        ..turn(CLIENT)
    };
    let begins = [
        at(CLIENT, Kind::Open { kind: 0 }),
        message(CLIENT, 1_040),
        receive(SERVER),
    ];
    // The window opens.
    let round = || {
        [
            message(SERVER, 4_400),
            receive(CLIENT),
            turn(CLIENT),
            receive(SERVER),
            turn(SERVER),
        ]
    };
    let settles = [turn(SERVER), receive(CLIENT), turn(CLIENT)];
    let answers = [message(CLIENT, 1_040), late, joined, turn(CLIENT), timer];
    let actions = begins
        .into_iter()
        .chain(settles)
        .chain(round())
        .chain(round())
        .chain(answers)
        .collect();
    agree_in(
        &Profile::plain(vec![paradigm::one_shot(PORT)]).with_legacy_server(),
        actions,
    );
}

/// Long after `action` was to follow.
fn late(action: Action) -> Action {
    Action {
        after: 137_438_953_472,
        ..action
    }
}

/// Two exchanges, after which no timer is left at either end.
fn exchanges_long_ago() -> impl Iterator<Item = Action> {
    let rests = (0..4).flat_map(|_| [late(turn(CLIENT)), late(turn(SERVER))]);
    exchange(0).into_iter().chain(exchange(0)).chain(rests)
}

/// What leaves long after it was asked for leaves as the timers of its context demand, which the general way had set.
#[test]
fn a_first_that_leaves_late_is_one_of_the_general_way() {
    for kind in [paradigm::one_shot(PORT), paradigm::transaction(PORT)] {
        let again = [begin(0, 60), late(turn(CLIENT)), receive_first(), respond(false)];
        let ends = [receive(CLIENT), turn(CLIENT), receive(SERVER), turn(SERVER)];
        agree(
            vec![kind],
            exchanges_long_ago().chain(again).chain(ends).collect(),
        );
    }
}

/// The same for what answers an answer.
#[test]
fn an_end_that_leaves_late_is_one_of_the_general_way() {
    for kind in [paradigm::one_shot(PORT), paradigm::transaction(PORT)] {
        let again = [begin(0, 60), turn(CLIENT), receive_first(), respond(false)];
        let ends = [receive(CLIENT), late(turn(CLIENT)), receive(SERVER), turn(SERVER)];
        agree(
            vec![kind],
            exchanges_long_ago().chain(again).chain(ends).collect(),
        );
    }
}
