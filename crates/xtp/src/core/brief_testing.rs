//! An endpoint for tests that look into it.

use std::time::Duration;

use crate::{Config, Endpoint};

/// Its last handle waits for no confirmation: what such a test leaves open would be waited for when it fails.
pub(super) fn brief() -> Endpoint {
    let config = Config {
        linger: Duration::ZERO,
        ..Config::client()
    };
    Endpoint::bind(config).expect("loopback")
}
