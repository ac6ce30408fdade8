//! Memory as an association of its own sends it, without that association.

use xtp_engine::{ContextId, Engine, EngineConfig, Frames, OpenOptions, Time};
use xtp_io::FrameMemory;

use super::{Arc, Owner, Sending, SharedFrames};

/// Names of different associations.
pub(crate) fn owners<const COUNT: usize>() -> [Owner; COUNT] {
    let mut engine = Engine::new(EngineConfig::new([7; 32])).expect("a valid configuration");
    let peer = "127.0.0.1:1".parse().expect("an address");
    let mut open = || -> ContextId {
        let options = OpenOptions::new(7);
        engine.open(Time::ZERO, peer, options).expect("room for one more")
    };
    std::array::from_fn(|_| Owner::within(open()))
}

/// All of `memory`, sent once.
pub(crate) fn sent_once(memory: FrameMemory) -> std::sync::Arc<dyn Frames> {
    let octets = memory.octets();
    let [owner] = owners();
    std::sync::Arc::new(Sending::new(Arc::new(SharedFrames::new(memory)), owner, octets))
}
