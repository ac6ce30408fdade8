//! `xtp serve` and `xtp cp` as people run them: real processes of the built command on loopback.
#![cfg(unix)]

mod changes;
mod choices;
mod damage;
mod devices;
mod faults;
mod kept;
mod limited;
mod links;
mod lists;
mod mirrors;
mod options;
mod outages;
mod pipes;
mod places;
mod resume;
mod rights;
mod sparse;
mod strangers;
mod support;
mod trees;
