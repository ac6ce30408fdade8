//! Suite `dissect`: what tshark's own XTP dissector, written by others from the specification, says of our packets.
//!
//! The library captures every paradigm, as IP protocol 36 and as UDP; the reference packets become a capture too.
//! Every packet must dissect with a good checksum and without an expert error; besides the remarks that our
//! extensions cause, nothing may be unknown to the dissector.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::host::{Host, output};

const SCRIPT: &str = include_str!("xtp_udp.lua");
const VECTORS: &str = include_str!("../../../crates/xtp-wire/tests/vectors.txt");
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
/// Formats the captures of the paradigms must show: DATA, CNTL, FIRST, ECNTL, TCNTL, DIAG, PATH, XCNTL, COOKIE, XDATA.
const FORMATS: &[u8] = &[0, 1, 2, 3, 5, 8, 16, 17, 18, 19];
/// The first format the dissector does not know.
const FIRST_EXTENSION: u8 = 16;
/// The reference packets with an IPv6 address or none: the dissector reads IPv4 addresses only.
const NOT_IPV4: &[&str] = &["V11", "V12"];

pub(super) fn run(host: &Host) -> Result<String, String> {
    let folder = host.scratch("dissect")?;
    let script = folder.join("xtp_udp.lua");
    write(&script, SCRIPT.as_bytes())?;
    let vectors = vectors()?;
    check_ourselves(&script, &folder, &vectors)?;
    let packets = inspect(&script, &capture(&folder, "vectors.pcap", &vectors)?)?.0;
    if packets != vectors.len() {
        return Err(format!(
            "{packets} of {} reference packets dissect",
            vectors.len()
        ));
    }
    let captures = folder.join("captures");
    std::fs::create_dir_all(&captures).map_err(|error| format!("{}: {error}", captures.display()))?;
    host.cargo(
        &["run", "--package", "xtp", "--example", "capture_paradigms", "--"],
        &[&captures],
    )?;
    let (mut files, mut packets, mut formats) = (0, 0, BTreeSet::new());
    // One capture of each framing: tshark takes longer to start than to read.
    for framing in ["ip", "udp"] {
        let parts = pcaps(&captures, framing)?;
        let (count, seen) = inspect(&script, &merge(&folder, framing, &parts)?)?;
        files += parts.len();
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

fn tshark(script: &Path, path: &Path, arguments: &[&str]) -> Result<String, String> {
    let (script, path) = (
        format!("lua_script:{}", script.display()),
        path.display().to_string(),
    );
    let mut words = vec!["-n", "-X", &script, "-r", &path];
    words.extend(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]);
    words.extend(arguments);
    output("tshark", &words)
}

/// The captures of one framing; each must hold something.
fn pcaps(folder: &Path, framing: &str) -> Result<Vec<PathBuf>, String> {
    const FILE_HEADER: u64 = 24;
    let entries = folder
        .read_dir()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let ending = format!(".{framing}.pcap");
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.to_string_lossy().ends_with(&ending))
        .collect();
    paths.sort();
    let is_empty = |path: &&PathBuf| path.metadata().is_ok_and(|file| file.len() <= FILE_HEADER);
    match paths.iter().find(is_empty) {
        Some(path) => Err(format!("{} is empty", path.display())),
        None => Ok(paths),
    }
}

/// Joins captures, one behind the other; mergecap comes with tshark.
fn merge(folder: &Path, framing: &str, parts: &[PathBuf]) -> Result<PathBuf, String> {
    let path = folder.join(format!("all.{framing}.pcap"));
    let parts: Vec<String> = parts.iter().map(|part| part.display().to_string()).collect();
    let out = path.display().to_string();
    let mut words = vec!["-a", "-F", "nsecpcap", "-w", &out];
    words.extend(parts.iter().map(String::as_str));
    output("mergecap", &words)?;
    Ok(path)
}

/// The reference packets, without those the dissector cannot read.
fn vectors() -> Result<Vec<(String, Vec<u8>)>, String> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    let vectors = lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, _, hex] = words[..] else {
            return Err(format!("a reference packet reads {line}"));
        };
        let digits = hex.as_bytes().chunks(2);
        let octets = digits.map(|pair| u8::from_str_radix(&String::from_utf8_lossy(pair), 16));
        let octets: Result<Vec<u8>, _> = octets.collect();
        Ok((
            name.to_owned(),
            octets.map_err(|error| format!("{name}: {error}"))?,
        ))
    });
    vectors
        .filter(|vector| !matches!(vector, Ok((name, _)) if NOT_IPV4.contains(&name.as_str())))
        .collect()
}

/// Writes packets as a capture of IP protocol 36.
fn capture(folder: &Path, name: &str, packets: &[(String, Vec<u8>)]) -> Result<PathBuf, String> {
    const LINKTYPE_RAW: u32 = 101;
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, LINKTYPE_RAW] {
        file.extend_from_slice(&u32::to_le_bytes(word));
    }
    for (_, packet) in packets {
        let frame = [&ip_header(packet.len())?[..], packet].concat();
        let length = u32::try_from(frame.len()).map_err(|error| error.to_string())?;
        for word in [0, 0, length, length] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(&frame);
    }
    let path = folder.join(name);
    write(&path, &file)?;
    Ok(path)
}

fn ip_header(payload: usize) -> Result<[u8; 20], String> {
    let length = u16::try_from(payload + 20).map_err(|error| error.to_string())?;
    let [high, low] = length.to_be_bytes();
    let mut header = [
        0x45, 0, high, low, 0, 1, 0x40, 0, 64, 36, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2,
    ];
    let words = header
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let check = !u16::try_from(folded).map_err(|error| error.to_string())?;
    header[10..12].copy_from_slice(&check.to_be_bytes());
    Ok(header)
}

fn write(path: &Path, octets: &[u8]) -> Result<(), String> {
    std::fs::write(path, octets).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
#[path = "dissect_tests.rs"]
mod tests;
