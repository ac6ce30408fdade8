//! Does it work here at all? Two endpoints talk over the loopback interface, and a listener is tried on the usual
//! UDP port.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use xtp::{CallOptions, Config, Endpoint, UDP_PORT, service_numbers};

use super::Finding;
use crate::common::{Common, span_text};

/// Transactions of which the median is told.
const TRIES: usize = 21;
/// Longest wait for an answer over loopback.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tries both families and the port; false if nothing works.
pub(super) fn run(common: &Common) -> (bool, Vec<Finding>) {
    let mut works = false;
    let mut findings = Vec::new();
    let families = [
        ("loopback over IPv4", SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        ("loopback over IPv6", SocketAddr::from((Ipv6Addr::LOCALHOST, 0))),
    ];
    for (name, bind) in families {
        match talk(common, bind) {
            Ok(span) => {
                works = true;
                findings.push(Finding::good(
                    name,
                    format!("a transaction takes {}", span_text(span)),
                ));
            }
            Err(error) => findings.push(Finding::judged(
                name,
                error.to_string(),
                false,
                "let UDP pass between programs of this host, or use the other family",
            )),
        }
    }
    let usual = SocketAddr::from((Ipv4Addr::UNSPECIFIED, UDP_PORT));
    findings.push(match Endpoint::bind(Config::server(usual)) {
        Ok(_) => Finding::good("UDP port", format!("{UDP_PORT} is free to listen on")),
        Err(error) => Finding::noted(
            "UDP port",
            format!("{UDP_PORT} is in use"),
            Some(format!(
                "fine if an xtp program listens there; else name another port ({error})"
            )),
        ),
    });
    (works, findings)
}

fn talk(common: &Common, bind: SocketAddr) -> xtp::Result<Duration> {
    let server = Endpoint::bind(common.config(Some(bind)))?;
    server.enable_echo()?;
    let _driver = server.spawn_driver()?;
    let client = Endpoint::bind(common.config(None))?;
    let peer = SocketAddr::new(bind.ip(), server.local_addr().port());
    let mut spans = Vec::new();
    for _ in 0..TRIES {
        let begin = Instant::now();
        client.call(
            peer,
            service_numbers::ECHO,
            "doctor",
            &CallOptions::within(PATIENCE),
        )?;
        spans.push(begin.elapsed());
    }
    spans.sort_unstable();
    Ok(spans[TRIES / 2])
}
