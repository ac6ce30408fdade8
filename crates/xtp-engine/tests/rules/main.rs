//! Single rules of `docs/protocol/`, each held against one engine by packets written by hand.

mod blocked;
mod clients;
mod closing;
mod datagrams;
mod dropped;
mod extensions;
mod fall_back;
mod first;
mod host;
mod least;
mod least_peer;
mod octets;
mod waiting;
