//! The proof: what `docs/protocol` promises, shown in virtual time.

mod common;
mod driving;
mod excuses;
mod exhaustive;
mod golden;
mod goodput;
mod hostile;
mod injected;
mod kdd;
mod ladders;
mod links;
mod losses;
mod once;
mod pace;
mod parking;
mod paths;
mod pingpong;
mod rates;
mod readers;
mod repair;
mod round_trips;
mod seeds;
mod soak;
mod throng;
mod urgency;
mod wan;
