//! Suite `dissect`: what tshark's own XTP dissector, written by others from the specification, says of our packets.
//!
//! The library captures every paradigm, as IP protocol 36 and as UDP; the reference packets become a capture too.
//! Every packet must dissect with a good checksum and without an expert error; besides the remarks that our
//! extensions cause, nothing may be unknown to the dissector.

use std::collections::BTreeSet;
use std::path::Path;

use super::captures::{capture, paradigms, tshark, vectors, write};
use super::host::Host;

const SCRIPT: &str = include_str!("xtp_udp.lua");
/// Severity tshark gives to errors, and checksums it finds good.
const SEVERITY_ERROR: u32 = 0x0080_0000;
const GOOD: &str = "1";
/// What a line of the result holds, in this order.
const FIELDS: &[&str] = &[
    "frame.number",
    "xtp.key",
    "xtp.cmd.ptype.pformat",
    "xtp.checksum.status",
    "ip.checksum.status",
    "udp.checksum.status",
    "_ws.expert.severity",
    "_ws.expert.message",
];
/// Formats the captures of the paradigms must show: DATA, CNTL, FIRST, ECNTL, TCNTL, JCNTL, DIAG, PATH, XCNTL, COOKIE, XDATA,
/// PARITY.
const FORMATS: &[u8] = &[0, 1, 2, 3, 5, 7, 8, 16, 17, 18, 19, 20];
/// The first format the dissector does not know.
const FIRST_EXTENSION: u8 = 16;
/// The reference packets with an IPv6 address or none: the dissector reads IPv4 addresses only.
const NOT_IPV4: &[&str] = &["V11", "V12"];

pub(super) fn run(host: &Host) -> Result<String, String> {
    let folder = host.scratch("dissect")?;
    let script = folder.join("xtp_udp.lua");
    write(&script, SCRIPT.as_bytes())?;
    let mut vectors = vectors()?;
    vectors.retain(|(name, _)| !NOT_IPV4.contains(&name.as_str()));
    check_ourselves(&script, &folder, &vectors)?;
    let packets = inspect(&script, &capture(&folder, "vectors.pcap", &vectors)?)?.0;
    if packets != vectors.len() {
        return Err(format!(
            "{packets} of {} reference packets dissect",
            vectors.len()
        ));
    }
    let (mut files, mut packets, mut formats) = (0, 0, BTreeSet::new());
    for (path, parts) in paradigms(host, &folder)? {
        let (count, seen) = inspect(&script, &path)?;
        files += parts;
        packets += count;
        formats.extend(seen);
    }
    match FORMATS.iter().find(|format| !formats.contains(format)) {
        Some(missing) => Err(format!("no capture shows packet format {missing}")),
        None => Ok(format!(
            "{packets} packets in {files} captures and the reference packets, every checksum good"
        )),
    }
}

/// A capture with one bit flipped must be found out, or nothing here means anything.
fn check_ourselves(script: &Path, folder: &Path, vectors: &[(String, Vec<u8>)]) -> Result<(), String> {
    let mut damaged = vectors.to_vec();
    let last = damaged.last_mut().and_then(|(_, octets)| octets.get_mut(8));
    *last.ok_or("no reference packets")? ^= 1;
    match inspect(script, &capture(folder, "damaged.pcap", &damaged)?) {
        Err(_) => Ok(()),
        Ok(_) => Err("a flipped bit went unnoticed".to_owned()),
    }
}

/// Checks every packet of a capture; how many there are, and their formats.
fn inspect(script: &Path, path: &Path) -> Result<(usize, BTreeSet<u8>), String> {
    let mut arguments = vec!["-T", "fields", "-E", "separator=;", "-E", "aggregator=|"];
    arguments.extend(FIELDS.iter().flat_map(|field| ["-e", *field]));
    let text = tshark(script, path, &arguments)?;
    let (mut count, mut formats) = (0, BTreeSet::new());
    for line in text.lines() {
        let format = judge(line).map_err(|error| format!("{}: {error}", path.display()))?;
        formats.insert(format);
        count += 1;
    }
    let details = tshark(script, path, &["-V"])?;
    match details.lines().find(|line| !is_known(line)) {
        Some(line) => Err(format!("{}: tshark remarks: {}", path.display(), line.trim())),
        None => Ok((count, formats)),
    }
}

/// One packet as [`FIELDS`]: its format, or what is wrong with it.
fn judge(line: &str) -> Result<u8, String> {
    let fields: Vec<&str> = line.split(';').collect();
    let [number, key, format, check, ip, udp, severity, message] = fields[..] else {
        return Err(format!("tshark said {line}"));
    };
    if key.is_empty() {
        return Err(format!("packet {number} was not taken for XTP"));
    }
    for (what, status) in [("XTP", check), ("IP", ip)] {
        if status != GOOD {
            return Err(format!(
                "packet {number}: {what} checksum status {status}, not good"
            ));
        }
    }
    if !matches!(udp, "" | GOOD) {
        return Err(format!("packet {number}: UDP checksum status {udp}, not good"));
    }
    let severities = severity.split('|').filter(|severity| !severity.is_empty());
    for severity in severities {
        if severity
            .parse::<u32>()
            .is_ok_and(|severity| severity < SEVERITY_ERROR)
        {
            continue;
        }
        return Err(format!("packet {number}: {message}"));
    }
    format
        .parse()
        .map_err(|_| format!("packet {number} has packet format {format}"))
}

/// Whether a line of the dissection is either no complaint or one that our extensions cause.
fn is_known(line: &str) -> bool {
    let line = line.trim();
    if let Some(format) = line.strip_prefix("Format: Unknown (") {
        let format = format.trim_end_matches(')').parse::<u8>();
        return format.is_ok_and(|format| format >= FIRST_EXTENSION);
    }
    let complains = ["Unsupported", "Unknown (", "Malformed", "[incorrect"]
        .iter()
        .any(|word| line.contains(word));
    !complains || line.ends_with("Unsupported tformat(128)")
}

#[cfg(test)]
#[path = "dissect_tests.rs"]
mod tests;
