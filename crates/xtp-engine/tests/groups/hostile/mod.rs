//! What strangers and members of a group can do to the others (§9.18): each run beside the same run without them.

mod announcements;
mod buckets;
mod catch_ups;
mod forge;
mod ghosts;
mod liars;
mod outsiders;
mod scene;
mod twins;
