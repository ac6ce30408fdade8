//! The two directions of a clock's reading agree.

use super::Clock;
use xtp_engine::Time;

#[test]
fn the_first_moment_at_which_a_time_shows_is_exact() {
    for drift_ppm in [-100_000, -37, 0, 1, 20_000, 100_000] {
        let clock = Clock {
            origin: 5_000,
            drift_ppm,
        };
        for local in [0, 5_000, 5_001, 6_789, 1_000_000_007, 3_600_000_000_123] {
            let world = clock.world(Time::from_nanos(local));
            assert!(clock.local(world).as_nanos() >= local, "{drift_ppm} {local}");
            assert!(
                world == 0 || clock.local(world - 1).as_nanos() < local,
                "{drift_ppm} {local}"
            );
        }
    }
}
