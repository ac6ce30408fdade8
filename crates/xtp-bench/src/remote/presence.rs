//! Whether the client of a measurement is still there, asked while another one waits for its turn.

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use xtp::{CallOptions, Endpoint, service_numbers};

/// Time between two questions.
const AGAIN: Duration = Duration::from_secs(1);
/// How long an answer is waited for: processors and links may be full of what is measured.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many questions in a row without an answer, and the client is gone.
const MISSES: u32 = 3;

/// What is known of one client.
#[derive(Debug, Default)]
pub(super) struct Presence {
    asked: Option<(Instant, JoinHandle<bool>)>,
    missed: u32,
}

impl Presence {
    /// Looks whether an answer has come, and asks again when that is due. Returns whether the client is gone.
    pub(super) fn is_gone(&mut self, endpoint: &Endpoint, client: SocketAddr, now: Instant) -> bool {
        match self.asked.take() {
            Some((at, answer)) if !answer.is_finished() || now.saturating_duration_since(at) < AGAIN => {
                self.asked = Some((at, answer));
            }
            before => {
                if let Some((_, answer)) = before {
                    self.note(answer.join().unwrap_or(true));
                }
                let endpoint = endpoint.clone();
                let ask = move || {
                    let options = CallOptions::within(PATIENCE);
                    endpoint.call(client, service_numbers::ECHO, "", &options).is_ok()
                };
                // Without a thread for it nothing is known.
                let asking = std::thread::Builder::new().name("presence".into()).spawn(ask);
                self.asked = asking.ok().map(|answer| (now, answer));
            }
        }
        self.missed >= MISSES
    }

    fn note(&mut self, answered: bool) {
        self.missed = match answered {
            true => 0,
            false => self.missed + 1,
        };
    }
}
