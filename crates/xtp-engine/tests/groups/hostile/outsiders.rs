//! Who knows no key, and who knows them all and is somewhere else: nothing changes, to the octet.

use super::forge::View;
use super::scene::{KINDS, Kind, Outcome, RECEIVERS, Scene, format_of, options, outside, quiet};
use crate::world::{Sent, address, group};
use std::net::SocketAddr;
use xtp_wire::Format;

/// Everything that can be said, a packet a turn: where it goes, from where, and what it is.
fn barrage(view: &View, from: &dyn Fn(SocketAddr) -> SocketAddr) -> Vec<(SocketAddr, SocketAddr, Vec<u8>)> {
    let mut all = Vec::new();
    let transmitter = from(address(0));
    all.extend(
        view.to_group()
            .into_iter()
            .map(|octets| (transmitter, group(1), octets)),
    );
    for told in &view.members {
        let forged = view.to_transmitter(*told, 1 << 30);
        all.extend(
            forged
                .into_iter()
                .map(|octets| (from(told.at), address(0), octets)),
        );
        let forged = view.to_member(*told);
        all.extend(forged.into_iter().map(|octets| (transmitter, told.at, octets)));
    }
    all
}

/// The run beside somebody who says all of that, again and again, once everybody is a member.
fn beside(
    kind: Kind,
    forge: impl Fn(&Scene<'_>) -> Vec<(SocketAddr, SocketAddr, Vec<u8>)>,
) -> (Outcome, usize) {
    let mut injected = 0;
    let outcome = Scene::new(options(kind)).play(|scene| {
        if scene.view().members.len() < RECEIVERS {
            return;
        }
        for (src, dst, octets) in forge(scene) {
            scene.world.inject(src, dst, &octets);
            injected += 1;
        }
    });
    outcome.assert_good();
    (outcome, injected)
}

/// What left but for words of endpoints that do not know a key.
fn but_for_diags(sent: &[Sent]) -> Vec<&Sent> {
    sent.iter().filter(|one| format_of(one) != Format::Diag).collect()
}

#[track_caller]
fn assert_same(kind: Kind, attacked: &Outcome, quiet: &Outcome) {
    assert_eq!(attacked.complete, quiet.complete, "{kind:?}");
    assert_eq!(attacked.ended, quiet.ended, "{kind:?}");
    let (ours, theirs) = (but_for_diags(&attacked.sent), but_for_diags(&quiet.sent));
    let differ = ours.iter().zip(&theirs).position(|(one, other)| one != other);
    assert_eq!(differ, None, "{kind:?}: the first packet that differs");
    assert_eq!(ours.len(), theirs.len(), "{kind:?}");
}

/// Keys are guessed, addresses are those of the parties.
#[test]
fn who_knows_no_key_changes_nothing() {
    for kind in KINDS {
        let quiet = quiet(options(kind));
        let (attacked, injected) = beside(kind, |scene| {
            let guess = scene.view().guessed(scene.turn as u64 + 1);
            barrage(&guess, &|party| party)
        });
        assert!(injected > 2_000, "{kind:?}: {injected}");
        assert_same(kind, &attacked, &quiet);
        // Endpoints say that they do not know a key: each a hundred times a second at most.
        let words = attacked.sent.len() - quiet.sent.len();
        let most =
            100 * (RECEIVERS + 1) * (1 + attacked.ended.expect("it ended").as_secs_f64().ceil() as usize);
        assert!(words > 0 && words <= most, "{kind:?}: {words}");
    }
}

/// Keys and numbers are right, as a reader of the path or a member has them; the address is not the party's.
#[test]
fn right_keys_from_elsewhere_change_nothing() {
    for kind in KINDS {
        let quiet = quiet(options(kind));
        // Somebody who is nobody here, a member, and the transmitter's host under another port.
        let port = SocketAddr::from((address(0).ip(), 40_000));
        for source in [outside(), address(RECEIVERS), port] {
            let (attacked, injected) = beside(kind, |scene| {
                let mut view = scene.view();
                view.members.retain(|told| told.at != source);
                barrage(&view, &|_| source)
            });
            assert!(injected > 2_000, "{kind:?}: {injected}");
            assert_same(kind, &attacked, &quiet);
        }
    }
}

/// A member's own key, from the addresses of the others: nobody is spoken for.
#[test]
fn a_member_speaks_for_nobody_else() {
    for kind in KINDS {
        let quiet = quiet(options(kind));
        let (attacked, _) = beside(kind, |scene| {
            let view = scene.view();
            let Some(liar) = view.member(address(RECEIVERS)) else {
                return Vec::new();
            };
            let others = view.members.iter().filter(|told| told.at != liar.at);
            let said = others.flat_map(|told| {
                let forged = view.to_transmitter(liar, 1 << 30);
                forged.into_iter().map(|octets| (told.at, address(0), octets))
            });
            said.collect()
        });
        assert_same(kind, &attacked, &quiet);
    }
}
