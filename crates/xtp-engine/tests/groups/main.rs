//! Groups as their users see them: one transmitter, few receivers, and every loss and order of the first packets.

mod behind;
mod buckets;
mod history;
mod hostile;
mod leaving;
mod listeners;
mod orders;
mod ranges;
mod several;
mod slow;
mod small;
mod subsets;
mod world;
