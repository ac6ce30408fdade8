//! The XTP protocol engine: pure state, no socket, clock, thread or randomness of its own
