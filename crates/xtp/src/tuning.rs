//! For those who measured: what changes how something is done, and what it cost.
//!
//! Every association has a [`Tuning`], in its [`OpenOptions`](crate::OpenOptions), [`ListenOptions`](crate::ListenOptions) or
//! [`CallOptions`](crate::CallOptions): memory, rates, priority, error control, and the congestion control. An endpoint has its own
//! in [`Config`](crate::Config). The defaults are those that were best over the paths in `docs/performance.md`.
//!
//! ```
//! use xtp::tuning::CongestionKind;
//! use xtp::{Config, Endpoint, paradigm};
//!
//! let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
//! let listener = server.listen_streams(100)?;
//! let receiving = std::thread::spawn(move || listener.accept()?.into_stream().recv_message());
//!
//! // The receiver computes the window and ships it, as in the transport library of 1995.
//! let mut options = paradigm::stream(100);
//! options.tuning.congestion = CongestionKind::Kdd;
//! let stream = Endpoint::client()?.open(server.local_addr(), options)?;
//! stream.send_message("under another control")?;
//! stream.close()?;
//! assert_eq!(receiving.join().unwrap()?.as_deref(), Some(&b"under another control"[..]));
//! # Ok::<(), xtp::Error>(())
//! ```
//!
//! What a running association may be told otherwise, and how much it has queued: [`StreamTuning`], from
//! [`Stream::tuning`](crate::Stream::tuning).
//!
//! Memory that packets leave from without a copy: [`FrameBuffer`], [`FileBuffers`], [`Retained`], [`Octets`]. Several calls in one system call:
//! [`Cork`]. What was sent and received: [`EndpointStats`], [`ContextStats`], with the feature `capture` a `Trace` for Wireshark.

#[cfg(feature = "capture")]
pub use crate::capture::{Framing, Trace};
pub use crate::cork::Cork;
pub use crate::file::FileBuffers;
pub use crate::frames::{FrameBuffer, FrameBytes};
#[doc(no_inline)]
pub use crate::stats::EndpointStats;
pub use crate::stream::{Retained, StreamTuning};
pub use xtp_engine::group::{BucketOptions, Cycle, Fec, Mode};
#[doc(no_inline)]
pub use xtp_engine::group::{CastStats, SubscriptionStats};
pub use xtp_engine::{CongestionKind, EngineConfig, ErrorControl, Rate, Tuning};
#[doc(no_inline)]
pub use xtp_engine::{ContextStats, EngineStats, Octets};
#[doc(no_inline)]
pub use xtp_io::Counters;
pub use xtp_io::{Backend, Capabilities, SocketOptions};
