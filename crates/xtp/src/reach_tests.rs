//! Which address gets a message, and what its outcome says of the address.

use xtp_engine::CloseReason;

use super::*;

const LIMIT: Duration = Duration::from_secs(5);

fn addresses() -> Vec<SocketAddr> {
    [1, 2, 3]
        .map(|port| SocketAddr::from(([192, 0, 2, 1], port)))
        .to_vec()
}

fn with_core<T>(test: impl FnOnce(&mut Core, Time) -> T) -> T {
    let endpoint = Endpoint::client().expect("a socket");
    endpoint.shared.look(|core| test(core, Time::ZERO))
}

#[test]
fn what_answered_lately_is_asked_without_a_probe() {
    with_core(|core, now| {
        let all = addresses();
        let mut attempts = Attempts::new(all.clone(), now, None);
        assert_eq!(attempts.known(core, now), None);
        let outcome = attempts.judge(core, now, all[1], Ok(7));
        assert!(matches!(outcome, Some(Ok(7))));
        assert_eq!(attempts.known(core, now), Some(all[1]));
        // Addresses that the name no longer has do not count.
        let others = Attempts::new(vec![all[0], all[2]], now, None);
        assert_eq!(others.known(core, now), None);
    });
}

#[test]
fn only_what_was_certainly_not_executed_goes_elsewhere() {
    let refused = || Error::Closed(CloseReason::NobodyListens);
    let silent = || Error::Closed(CloseReason::Unreachable);
    let late = || Error::Timeout {
        what: "the answer",
        after: Duration::from_millis(1),
    };
    with_core(|core, now| {
        let all = addresses();
        let mut attempts = Attempts::new(all.clone(), now, Some(LIMIT));
        assert!(attempts.judge::<()>(core, now, all[0], Err(refused())).is_none());
        assert_eq!(attempts.left(), all[1..]);
        for error in [silent(), late(), Error::Interrupted] {
            let outcome = attempts.judge::<()>(core, now, all[1], Err(error));
            assert!(matches!(outcome, Some(Err(_))), "{outcome:?}");
            assert_eq!(attempts.left(), all[1..]);
        }
        assert!(attempts.judge::<()>(core, now, all[1], Err(refused())).is_none());
        // The last one needs no probe, and its failure is the call's.
        assert_eq!(attempts.known(core, now), Some(all[2]));
        let outcome = attempts.judge::<()>(core, now, all[2], Err(refused()));
        assert!(matches!(
            outcome,
            Some(Err(Error::Closed(CloseReason::NobodyListens)))
        ));
    });
}

#[test]
fn an_address_that_answers_probes_alone_is_tried_last() {
    with_core(|core, now| {
        let all = addresses();
        core.reached.note(now, all[0], true);
        let mut attempts = Attempts::new(all.clone(), now, None);
        let silent = Error::Closed(CloseReason::Unreachable);
        assert!(attempts.judge::<()>(core, now, all[0], Err(silent)).is_some());
        assert_eq!(attempts.known(core, now), None);
        let mut order = all.clone();
        core.reached.sort(now, &mut order);
        assert_eq!(order, [all[1], all[2], all[0]]);
        // A refusal is an answer; what the caller did to itself says nothing.
        let lost = Error::Closed(CloseReason::Lost);
        assert!(attempts.judge::<()>(core, now, all[1], Err(lost)).is_some());
        let interrupted = attempts.judge::<()>(core, now, all[1], Err(Error::Interrupted));
        assert!(interrupted.is_some());
        assert_eq!(attempts.known(core, now), Some(all[1]));
    });
}

#[test]
fn the_time_limit_is_one_for_the_whole_call() {
    with_core(|core, now| {
        let mut attempts = Attempts::new(addresses(), now, Some(LIMIT));
        let later = now + Duration::from_secs(2);
        assert_eq!(attempts.time(later), Some(Duration::from_secs(3)));
        assert_eq!(attempts.time(later + LIMIT), Some(Duration::ZERO));
        let error = Error::Timeout {
            what: "the answer",
            after: Duration::from_secs(3),
        };
        let outcome = attempts.judge::<()>(core, later, addresses()[0], Err(error));
        assert!(matches!(outcome, Some(Err(Error::Timeout { after: LIMIT, .. }))));
        assert_eq!(Attempts::new(addresses(), now, None).time(later), None);
    });
}
