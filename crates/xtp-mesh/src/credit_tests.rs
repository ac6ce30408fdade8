//! Credit that comes back, is exceeded, or taken back.

use super::*;

fn receive(grant: &mut Grant, octets: u64) -> Result<(), Fault> {
    grant.admit(octets)?;
    grant.receive(octets);
    Ok(())
}

#[test]
fn both_ends_count_the_same() {
    let (mut allowance, mut grant) = (Allowance::new(), Grant::new());
    let (mut credits, mut waiting) = (0, Vec::new());
    for n in 0..100_000_u64 {
        let octets = n % 3_000;
        assert!(allowance.has_message());
        let octets = if allowance.has_octets(octets) { octets } else { 0 };
        allowance.spend(octets);
        receive(&mut grant, octets).unwrap();
        waiting.push(octets);
        // They have their receives two by two.
        if waiting.len() == 2 {
            waiting.drain(..).for_each(|octets| grant.consume(octets));
        }
        if let Some((octets, messages)) = grant.due() {
            credits += 1;
            allowance.grant(octets, messages).unwrap();
        }
    }
    // One for each half of a share.
    assert!((1_000..6_000).contains(&credits), "{credits}");
}

#[test]
fn what_was_not_granted_is_a_fault() {
    let mut grant = Grant::new();
    receive(&mut grant, FIRST_OCTETS).unwrap();
    assert_eq!(receive(&mut grant, 1), Err(Fault::Credit));
    assert_eq!(receive(&mut grant, 0), Ok(()));
    let mut grant = Grant::new();
    (0..FIRST_MESSAGES).for_each(|_| receive(&mut grant, 0).unwrap());
    assert_eq!(receive(&mut grant, 0), Err(Fault::Credit));
    assert!(
        grant.waiting().fits(&Amount::FIRST)
            && !Amount {
                octets: 1,
                ..grant.waiting()
            }
            .fits(&Amount {
                octets: 0,
                ..Amount::FIRST
            })
    );
    let mut allowance = Allowance::new();
    assert_eq!(
        allowance.grant(FIRST_OCTETS, FIRST_MESSAGES - 1),
        Err(Fault::Revoked)
    );
    assert_eq!(
        allowance.grant(FIRST_OCTETS - 1, FIRST_MESSAGES),
        Err(Fault::Revoked)
    );
}

#[test]
fn more_messages_may_wait_where_all_that_may_do() {
    let mut grant = Grant::new();
    (0..FIRST_MESSAGES).for_each(|_| receive(&mut grant, 0).unwrap());
    assert_eq!(grant.due(), None);
    grant.widen(0);
    assert_eq!(grant.due(), None);
    grant.widen(u64::MAX);
    assert_eq!(grant.due(), Some((FIRST_OCTETS, 2 * FIRST_MESSAGES)));
    // Half of it is free: nothing more is needed.
    (0..10).for_each(|_| grant.consume(0));
    assert_eq!(grant.due(), None);
}
