//! How long the emulator may look away.

use super::*;

fn nap_of(there: Duration, back: Duration) -> u64 {
    let [there, back] = [there, back].map(|delay| LinkConfig {
        delay,
        ..LinkConfig::default()
    });
    nap(&Duplex::<()>::new(there, back, 1).expect("valid"))
}

#[test]
fn a_nap_is_a_hundredth_of_the_smaller_delay_and_bounded() {
    let ms = Duration::from_millis;
    assert_eq!(nap_of(ms(3), ms(50)), 30_000);
    assert_eq!(nap_of(ms(50), ms(3)), 30_000);
    assert_eq!(nap_of(ms(50), ms(50)), LONGEST_NAP);
    assert_eq!(nap_of(ms(1), ms(50)), 0);
    assert_eq!(nap_of(ms(0), ms(0)), 0);
}

#[test]
fn directions_start_at_their_own_ends() {
    assert_eq!(DIRECTIONS.map(origin), [0, 1]);
}
