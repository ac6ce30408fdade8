//! A seeded, sans-I/O model of a network link: rate, delay, loss, duplication, reordering, corruption, queue
