-- Wireshark and tshark: XTP 4 over UDP and as IP protocol 36, with the extensions of this project.
--
-- The layouts are those of docs/protocol/01-wire.md; sections are cited as there. Fields are called `xtp4.*`, because the
-- `xtp` of Wireshark itself, which knows the formats below 16 only, keeps its name. Held to the reference packets and to
-- captures of every paradigm by `cargo xtask real wireshark`.

local xtp = Proto("xtp4", "Xpress Transport Protocol 4")

local UDP_PORT = 36036
local HEADER = 32

-- §1.2
local OPTIONS = {
  { 0x400000, "nocheck", "NOCHECK", "The checksum covers the header only" },
  { 0x200000, "edge", "EDGE", "Status is requested when this level differs from that of the packet before" },
  { 0x100000, "noerr", "NOERR", "Nothing is sent again" },
  { 0x080000, "multi", "MULTI", "The association is a group" },
  { 0x040000, "res", "RES", "Only posted buffers may be promised" },
  { 0x020000, "sort", "SORT", "The sort field holds a priority" },
  { 0x010000, "noflow", "NOFLOW", "The writer does not obey alloc" },
  { 0x008000, "fastnak", "FASTNAK", "The reader reports gaps unasked" },
  { 0x004000, "sreq", "SREQ", "Answer now" },
  { 0x002000, "dreq", "DREQ", "Answer when everything up to here was consumed" },
  { 0x001000, "rclose", "RCLOSE", "The reader takes no more" },
  { 0x000800, "wclose", "WCLOSE", "The stream is finished" },
  { 0x000400, "eom", "EOM", "The last octet ends a message" },
  { 0x000200, "end", "END", "Over for the sender of this packet" },
  { 0x000100, "btag", "BTAG", "Eight octets of tag precede the data" },
}
local NOCHECK, BTAG = 0x400000, 0x000100

-- §1.3
local FORMATS = {
  [0] = "DATA", [1] = "CNTL", [2] = "FIRST", [3] = "ECNTL", [5] = "TCNTL", [7] = "JCNTL", [8] = "DIAG",
  [16] = "PATH", [17] = "XCNTL", [18] = "COOKIE", [19] = "XDATA", [20] = "PARITY", [21] = "GNACK",
}
-- §1.7
local SERVICES = {
  [0] = "unspecified", [1] = "unacknowledged datagram", [2] = "acknowledged datagram", [3] = "transaction",
  [4] = "reliable unicast stream", [5] = "unacknowledged multicast stream", [6] = "reliable multicast stream",
}
local TFORMATS = { [0x00] = "nothing stated", [0x01] = "rates", [0x80] = "extended" }
local AFORMATS = { [0] = "null", [1] = "IPv4", [6] = "IPv6" }
local CAPABILITIES = {
  { 1, "xcntl", "XCNTL" }, { 2, "path", "PATH" }, { 4, "cookie", "COOKIE" }, { 8, "aead", "AEAD" },
  { 16, "split", "SPLIT" }, { 32, "stripe", "STRIPE" }, { 64, "mb", "MB" }, { 128, "pad", "PAD" },
  { 256, "xdata", "XDATA" }, { 512, "fec", "FEC" }, { 1024, "catchup", "CATCHUP" },
}
local TLVS = {
  [0] = "pad", [1] = "TOKEN", [2] = "CTRL_PORT", [3] = "DATA_PORTS", [4] = "GROUP_KEY", [5] = "GROUP_SIZE", [6] = "NONCE",
  [7] = "PSK_ID", [8] = "APPBUF", [9] = "SOCKBUF", [10] = "ECNTL_MAX", [11] = "CLIENT", [12] = "FEC", [13] = "CATCHUP",
  [14] = "FB_RATE", [15] = "GRTT_US", [16] = "INSTANCE", [18] = "NAME", [19] = "BUCKETS",
}
-- §1.9
local DIAG_CODES = {
  [1] = "context refused", [2] = "context abandoned", [3] = "invalid context", [4] = "request refused",
  [5] = "join refused", [6] = "protocol error", [7] = "maximum packet size",
}
local DIAG_VALUES = {
  [0] = "unspecified", [1] = "no listener", [2] = "options refused", [3] = "address format not supported",
  [4] = "malformed address", [5] = "traffic format not supported", [6] = "traffic specification refused",
  [7] = "malformed traffic", [8] = "no provider for service", [9] = "no resource", [10] = "host going down",
  [11] = "invalid retransmission request", [12] = "context in improper state", [13] = "join denied",
}
local PATH_KINDS = { [1] = "challenge", [2] = "response" }
local XCNTL_FLAGS = {
  { 0x01, "rewind", "The reader goes back to rseq" }, { 0x02, "late", "Answer to a DREQ, or nobody asked" },
  { 0x04, "poll", "Poll of a group" }, { 0x08, "window", "rxrate is a window in octets" },
  { 0x10, "delivered", "delivered follows" }, { 0x20, "more_before", "More between rseq and the first span" },
  { 0x40, "more_after", "More beyond the last span" },
}

local f = {}
local function field(name, make, label, ...)
  f[name] = make("xtp4." .. name, label, ...)
end

field("key", ProtoField.uint64, "Key", base.HEX)
field("rtn", ProtoField.bool, "RTN: the receiver's own key, given back")
field("options", ProtoField.uint24, "Options", base.HEX)
for _, option in ipairs(OPTIONS) do
  f["option." .. option[2]] = ProtoField.bool("xtp4.option." .. option[2], option[3], 24, nil, option[1], option[4])
end
field("version", ProtoField.uint8, "Version", base.DEC, nil, 0xe0)
field("format", ProtoField.uint8, "Format", base.DEC, FORMATS, 0x1f)
field("dlen", ProtoField.uint32, "Length after the header")
field("check", ProtoField.uint16, "Checksum", base.HEX)
field("check_good", ProtoField.bool, "Checksum is good")
field("sort", ProtoField.uint16, "Priority")
field("sync", ProtoField.uint32, "Sync")
field("seq", ProtoField.uint64, "Sequence number")
field("rseq", ProtoField.uint64, "Received without a gap below")
field("alloc", ProtoField.uint64, "Room below")
field("echo", ProtoField.uint32, "Echo: newest sync accepted")
field("nspan", ProtoField.uint32, "Spans")
field("span_left", ProtoField.uint64, "Held from")
field("span_right", ProtoField.uint64, "Held below")
field("reserved", ProtoField.bytes, "Reserved")
field("xkey", ProtoField.uint64, "Key to be addressed by", base.HEX)
field("delay", ProtoField.uint32, "Microseconds between the echoed packet and this")
field("flags", ProtoField.uint16, "Flags", base.HEX)
for _, flag in ipairs(XCNTL_FLAGS) do
  f["flags." .. flag[2]] = ProtoField.bool("xtp4.flags." .. flag[2], flag[3], 16, nil, flag[1])
end
field("ect0", ProtoField.uint32, "Received with ECT(0)")
field("ect1", ProtoField.uint32, "Received with ECT(1)")
field("ce", ProtoField.uint32, "Received with CE")
field("rxrate", ProtoField.uint64, "Rate or window of the receiver")
field("delivered", ProtoField.uint64, "Consumed below")
field("poll_m", ProtoField.uint16, "Slices")
field("poll_r", ProtoField.uint16, "Slice asked")
field("poll_size", ProtoField.uint32, "Members of the group")
field("poll_grtt", ProtoField.uint32, "Greatest round trip, microseconds")
field("poll_fb", ProtoField.uint32, "Status packets a second taken")
field("poll_hold", ProtoField.uint32, "Microseconds a need is held at most")
field("catchup_key", ProtoField.uint64, "Key of the group, or of the member", base.HEX)
field("catchup_from", ProtoField.uint64, "Lowest octet supplied")
field("catchup_live", ProtoField.uint64, "First octet the group repairs")
field("fec_scheme", ProtoField.uint8, "Scheme")
field("fec_k", ProtoField.uint16, "Symbols of a block")
field("fec_pmax", ProtoField.uint16, "Parity rows of a block")
field("fec_length", ProtoField.uint16, "Octets of a symbol")
field("fec_origin", ProtoField.uint64, "First octet of block 0")
field("group_size", ProtoField.uint32, "Members of the group")
field("alen", ProtoField.uint16, "Length of the address segment")
field("adomain", ProtoField.uint8, "Domain of the ports")
field("aformat", ProtoField.uint8, "Format of the address", base.DEC, AFORMATS)
field("dst4", ProtoField.ipv4, "Destination host")
field("src4", ProtoField.ipv4, "Source host")
field("dst6", ProtoField.ipv6, "Destination host")
field("src6", ProtoField.ipv6, "Source host")
field("service_number", ProtoField.uint16, "Service number")
field("source_port", ProtoField.uint16, "Source port")
field("tlen", ProtoField.uint16, "Length of the traffic specifier")
field("service", ProtoField.uint8, "Service", base.DEC, SERVICES)
field("tformat", ProtoField.uint8, "Format of the traffic specifier", base.HEX, TFORMATS)
field("maxdata", ProtoField.uint32, "Largest data segment")
field("inrate", ProtoField.uint64, "Rate towards the sender of this, octets a second")
field("outrate", ProtoField.uint64, "Rate of the sender of this, octets a second")
field("inburst", ProtoField.uint32, "Burst towards the sender of this, octets")
field("outburst", ProtoField.uint32, "Burst of the sender of this, octets")
field("credit", ProtoField.uint64, "Credit")
field("caps", ProtoField.uint32, "Capabilities", base.HEX)
for _, capability in ipairs(CAPABILITIES) do
  local name = "caps." .. capability[2]
  f[name] = ProtoField.bool("xtp4." .. name, capability[3], 32, nil, capability[1])
end
field("time", ProtoField.uint32, "Time of creation, UTC milliseconds, low 32 bits")
field("tlv_type", ProtoField.uint16, "Type", base.DEC, TLVS)
field("tlv_length", ProtoField.uint16, "Length")
field("tlv_value", ProtoField.bytes, "Value")
field("client", ProtoField.uint64, "Client", base.HEX)
field("client_n", ProtoField.uint64, "Number of the association")
field("client_low", ProtoField.uint64, "Every number below is over")
field("instance", ProtoField.uint64, "Start of the responder, UTC milliseconds")
field("token", ProtoField.bytes, "Token")
field("code", ProtoField.uint32, "Code", base.DEC, DIAG_CODES)
field("val", ProtoField.uint32, "Value", base.DEC, DIAG_VALUES)
field("text", ProtoField.string, "Text")
field("path_kind", ProtoField.uint8, "Kind", base.DEC, PATH_KINDS)
field("path_size", ProtoField.uint32, "Octets of the challenge")
field("nonce", ProtoField.uint64, "Nonce", base.HEX)
field("padding", ProtoField.bytes, "Padding")
field("tag", ProtoField.uint64, "Tag", base.HEX)
field("data", ProtoField.bytes, "Data")
field("parity_k", ProtoField.uint16, "Data packets of the block")
field("parity_row", ProtoField.uint16, "Row")
field("parity_length", ProtoField.uint16, "Longest data segment")
field("parity_scheme", ProtoField.uint8, "Scheme")
field("parity_flags", ProtoField.uint8, "Flags", base.HEX)
field("parity_end", ProtoField.uint64, "End of the block")
field("symbol", ProtoField.bytes, "Coded symbol")
field("gnack_count", ProtoField.uint16, "Blocks")
field("gnack_flags", ProtoField.uint16, "Flags", base.HEX)
field("gnack_rate", ProtoField.uint32, "Rate of the receiver, units of 256 octets a second")
field("gnack_block", ProtoField.uint32, "Block")
field("gnack_need", ProtoField.uint16, "Symbols needed")
field("gnack_total", ProtoField.uint16, "Of how many")
do
  local all = {}
  for _, one in pairs(f) do
    all[#all + 1] = one
  end
  xtp.fields = all
end

local malformed = ProtoExpert.new("xtp4.malformed", "Not what the format consists of", expert.group.MALFORMED, expert.severity.ERROR)
local bad_check = ProtoExpert.new("xtp4.bad_checksum", "The checksum does not come out", expert.group.CHECKSUM, expert.severity.ERROR)
xtp.experts = { malformed, bad_check }

-- What is wrong with the packet ends its dissection: nothing behind it is where it is looked for.
local function wrong(text)
  error({ wrong = text }, 0)
end

-- Reads one segment after the other, and adds what it reads to a tree.
local Reader = {}
Reader.__index = Reader

function Reader.new(octets, from, to)
  return setmetatable({ octets = octets, at = from, to = to }, Reader)
end

function Reader:left()
  return self.to - self.at
end

function Reader:take(size, what)
  if self:left() < size then
    wrong(string.format("%s needs %d octets, %d are left", what, size, self:left()))
  end
  local range = self.octets(self.at, size)
  self.at = self.at + size
  return range
end

-- Adds the next `size` octets as `name` and returns them.
function Reader:add(tree, name, size)
  local range = self:take(size, name)
  tree:add(f[name], range)
  return range
end

function Reader:rest(tree, name)
  if self:left() > 0 then
    self:add(tree, name, self:left())
  end
end

-- §1.4: the one's-complement sum over what is covered, the field itself included, is 0xffff.
local function is_sum_good(octets, size)
  local sum = 0
  for at = 0, size - 2, 2 do
    sum = sum + octets(at, 2):uint()
  end
  if size % 2 == 1 then
    sum = sum + octets(size - 1, 1):uint() * 256
  end
  while sum > 0xffff do
    sum = (sum % 0x10000) + math.floor(sum / 0x10000)
  end
  return sum == 0xffff
end

local function has(options, mask)
  return math.floor(options / mask) % 2 == 1
end

local function is_check_good(octets, dlen)
  local is_whole = not has(octets(8, 3):uint(), NOCHECK)
  return is_sum_good(octets, is_whole and HEADER + dlen or HEADER)
end

local function names_of(options)
  local names = {}
  for _, option in ipairs(OPTIONS) do
    if has(options, option[1]) and option[3] ~= "NOCHECK" then
      names[#names + 1] = option[3]
    end
  end
  return table.concat(names, " ")
end

-- §1.5
local function control(reader, tree, seen)
  local part = tree:add(xtp, reader.octets(reader.at, math.min(20, reader:left())), "Control segment")
  seen.rseq = reader:add(part, "rseq", 8):uint64()
  seen.alloc = reader:add(part, "alloc", 8):uint64()
  seen.echo = reader:add(part, "echo", 4):uint()
end

local function spans(reader, tree, count, rseq)
  local below = rseq
  for _ = 1, count do
    local part = tree:add(xtp, reader.octets(reader.at, math.min(16, reader:left())), "Span")
    local left = reader:add(part, "span_left", 8):uint64()
    local right = reader:add(part, "span_right", 8):uint64()
    part:append_text(": " .. tostring(left) .. " to " .. tostring(right))
    if not (below < left and left < right) then
      wrong("spans are empty, adjacent or out of order")
    end
    below = right
  end
end

local function tag_and_data(reader, tree, seen)
  if has(seen.options, BTAG) then
    reader:add(tree, "tag", 8)
  end
  seen.data = reader:left()
  reader:rest(tree, "data")
end

-- §1.6
local function address(reader, tree)
  local alen = reader.octets(reader.at, math.min(2, reader:left()))
  if alen:len() < 2 then
    wrong("no address segment")
  end
  alen = alen:uint()
  local part = tree:add(xtp, reader.octets(reader.at, math.min(alen, reader:left())), "Address segment")
  local own = Reader.new(reader.octets, reader.at, reader.at + math.min(alen, reader:left()))
  reader:take(alen, "address segment")
  own:add(part, "alen", 2)
  own:add(part, "adomain", 1)
  local aformat = own:add(part, "aformat", 1):uint()
  if aformat == 1 or aformat == 6 then
    local size = aformat == 1 and 4 or 16
    own:add(part, aformat == 1 and "dst4" or "dst6", size)
    own:add(part, aformat == 1 and "src4" or "src6", size)
    part:append_text(": service " .. own:add(part, "service_number", 2):uint())
    own:add(part, "source_port", 2)
  end
  own:rest(part, "reserved")
end

local TLV_VALUES = {
  [1] = function(own, part) own:add(part, "token", 24) end,
  [11] = function(own, part)
    own:add(part, "client", 8)
    own:add(part, "client_n", 8)
    own:add(part, "client_low", 8)
  end,
  [5] = function(own, part) own:add(part, "group_size", 4) end,
  [12] = function(own, part)
    own:add(part, "fec_scheme", 1)
    own:add(part, "reserved", 1)
    own:add(part, "fec_k", 2)
    own:add(part, "fec_pmax", 2)
    own:add(part, "fec_length", 2)
    own:add(part, "fec_origin", 8)
  end,
  [13] = function(own, part)
    own:add(part, "catchup_key", 8)
    own:add(part, "catchup_from", 8)
    own:add(part, "catchup_live", 8)
  end,
  [16] = function(own, part) own:add(part, "instance", 8) end,
}

local function tlvs(reader, tree)
  while reader:left() >= 4 do
    local size = reader.octets(reader.at + 2, 2):uint()
    local part = tree:add(xtp, reader.octets(reader.at, math.min(4 + size, reader:left())), "TLV")
    local kind = reader:add(part, "tlv_type", 2):uint()
    reader:add(part, "tlv_length", 2)
    part:append_text(": " .. (TLVS[kind] or tostring(kind)))
    local own = Reader.new(reader.octets, reader.at, reader.at + size)
    reader:take(size, "value of a TLV")
    if TLV_VALUES[kind] then
      TLV_VALUES[kind](own, part)
    end
    own:rest(part, "tlv_value")
    reader:take(math.min((4 - size % 4) % 4, reader:left()), "padding of a TLV")
  end
  reader:rest(tree, "padding")
end

-- §1.7
local function traffic(reader, tree)
  if reader:left() < 4 then
    wrong("no traffic specifier")
  end
  local tlen = reader.octets(reader.at, 2):uint()
  if tlen < 4 or tlen > reader:left() then
    wrong("a traffic specifier of " .. tlen .. " octets")
  end
  local part = tree:add(xtp, reader.octets(reader.at, tlen), "Traffic specifier")
  local own = Reader.new(reader.octets, reader.at, reader.at + tlen)
  reader:take(tlen, "traffic specifier")
  own:add(part, "tlen", 2)
  local service = own:add(part, "service", 1):uint()
  part:append_text(": " .. (SERVICES[service] or tostring(service)))
  local tformat = own:add(part, "tformat", 1):uint()
  if tformat == 0x01 then
    own:add(part, "maxdata", 4)
    for _, name in ipairs({ "inrate", "inburst", "outrate", "outburst" }) do
      own:add(part, name, 4)
    end
  elseif tformat == 0x80 then
    own:add(part, "maxdata", 4)
    own:add(part, "inrate", 8)
    own:add(part, "outrate", 8)
    own:add(part, "inburst", 4)
    own:add(part, "outburst", 4)
    own:add(part, "credit", 8)
    local caps = own:take(4, "caps")
    local shown = part:add(f.caps, caps)
    for _, capability in ipairs(CAPABILITIES) do
      shown:add(f["caps." .. capability[2]], caps)
    end
    own:add(part, "time", 4)
    tlvs(own, part)
  end
  own:rest(part, "reserved")
end

local BODIES = {
  DATA = tag_and_data,
  CNTL = control,
  FIRST = function(reader, tree, seen)
    address(reader, tree)
    traffic(reader, tree)
    tag_and_data(reader, tree, seen)
  end,
  ECNTL = function(reader, tree, seen)
    control(reader, tree, seen)
    spans(reader, tree, reader:add(tree, "nspan", 4):uint(), seen.rseq)
  end,
  TCNTL = function(reader, tree, seen)
    control(reader, tree, seen)
    reader:add(tree, "reserved", 4)
    reader:add(tree, "xkey", 8)
    traffic(reader, tree)
  end,
  JCNTL = function(reader, tree, seen)
    control(reader, tree, seen)
    reader:add(tree, "reserved", 4)
    reader:add(tree, "xkey", 8)
    address(reader, tree)
    traffic(reader, tree)
  end,
  DIAG = function(reader, tree, seen)
    local code, val = reader:add(tree, "code", 4):uint(), reader:add(tree, "val", 4):uint()
    seen.said = (DIAG_CODES[code] or code) .. ", " .. (DIAG_VALUES[val] or val)
    reader:rest(tree, "text")
  end,
  PATH = function(reader, tree, seen)
    local kind = reader:add(tree, "path_kind", 1):uint()
    seen.said = PATH_KINDS[kind]
    reader:add(tree, "reserved", 3)
    reader:add(tree, "path_size", 4)
    reader:add(tree, "nonce", 8)
    reader:rest(tree, "padding")
  end,
  XCNTL = function(reader, tree, seen)
    control(reader, tree, seen)
    local count = reader:add(tree, "nspan", 2):uint()
    local range = reader:take(2, "flags")
    local shown = tree:add(f.flags, range)
    for _, flag in ipairs(XCNTL_FLAGS) do
      shown:add(f["flags." .. flag[2]], range)
    end
    reader:add(tree, "delay", 4)
    for _, name in ipairs({ "ect0", "ect1", "ce" }) do
      reader:add(tree, name, 4)
    end
    reader:add(tree, "rxrate", 8)
    spans(reader, tree, count, seen.rseq)
    if has(range:uint(), 0x10) then
      reader:add(tree, "delivered", 8)
    end
    if has(range:uint(), 0x04) then
      for _, part in ipairs({ { "m", 2 }, { "r", 2 }, { "size", 4 }, { "grtt", 4 }, { "fb", 4 }, { "hold", 4 } }) do
        reader:add(tree, "poll_" .. part[1], part[2])
      end
      reader:add(tree, "reserved", 4)
    end
  end,
  COOKIE = function(reader, tree)
    reader:add(tree, "token", 24)
  end,
  XDATA = function(reader, tree, seen)
    control(reader, tree, seen)
    reader:add(tree, "delay", 4)
    tag_and_data(reader, tree, seen)
  end,
  PARITY = function(reader, tree)
    for _, part in ipairs({ { "k", 2 }, { "row", 2 }, { "length", 2 }, { "scheme", 1 }, { "flags", 1 }, { "end", 8 } }) do
      reader:add(tree, "parity_" .. part[1], part[2])
    end
    reader:rest(tree, "symbol")
  end,
  GNACK = function(reader, tree, seen)
    control(reader, tree, seen)
    local count = reader:add(tree, "gnack_count", 2):uint()
    reader:add(tree, "gnack_flags", 2)
    reader:add(tree, "delay", 4)
    reader:add(tree, "gnack_rate", 4)
    for _ = 1, count do
      reader:add(tree, "gnack_block", 4)
      reader:add(tree, "gnack_need", 2)
      reader:add(tree, "gnack_total", 2)
    end
  end,
}

local function header(octets, tree, seen)
  tree:add(f.key, octets(0, 8))
  tree:add(f.rtn, octets(0, 1), octets(0, 1):uint() >= 128)
  local shown = tree:add(f.options, octets(8, 3))
  for _, option in ipairs(OPTIONS) do
    shown:add(f["option." .. option[2]], octets(8, 3))
  end
  shown:append_text(" " .. names_of(seen.options))
  tree:add(f.version, octets(11, 1))
  tree:add(f.format, octets(11, 1))
  tree:add(f.dlen, octets(12, 4))
  tree:add(f.check, octets(16, 2))
  tree:add(f.sort, octets(18, 2))
  tree:add(f.sync, octets(20, 4))
  tree:add(f.seq, octets(24, 8))
end

local function summary(seen)
  local text = seen.name
  local names = names_of(seen.options)
  if names ~= "" then
    text = text .. " [" .. names .. "]"
  end
  text = text .. " seq=" .. tostring(seen.seq)
  if seen.rseq then
    text = text .. " rseq=" .. tostring(seen.rseq) .. " alloc=" .. tostring(seen.alloc)
  end
  if seen.data then
    text = text .. " data=" .. seen.data
  end
  if seen.said then
    text = text .. " " .. seen.said
  end
  return text
end

-- Whether the octets are a packet: version, format, lengths and checksum. It takes packets of others in 1 of a million.
local function is_packet(octets)
  if octets:len() < HEADER or octets:captured_len() < HEADER then
    return false
  end
  local kind, dlen = octets(11, 1):uint(), octets(12, 4):uint()
  return math.floor(kind / 32) == 1
    and FORMATS[kind % 32] ~= nil
    and HEADER + dlen <= octets:captured_len()
    and is_check_good(octets, dlen)
end

function xtp.dissector(octets, pinfo, tree)
  pinfo.cols.protocol = "XTP"
  local top = tree:add(xtp, octets())
  local seen = {}
  local ok, fault = pcall(function()
    if octets:len() < HEADER then
      wrong("shorter than a header")
    end
    seen.options = octets(8, 3):uint()
    seen.name = FORMATS[octets(11, 1):uint() % 32] or ("format " .. octets(11, 1):uint() % 32)
    seen.seq = octets(24, 8):uint64()
    header(octets, top, seen)
    local dlen = octets(12, 4):uint()
    if HEADER + dlen > octets:len() then
      wrong("the packet is longer than its datagram")
    end
    local good = is_check_good(octets, dlen)
    top:add(f.check_good, octets(16, 2), good):set_generated()
    if not good then
      top:add_proto_expert_info(bad_check)
    end
    local reader = Reader.new(octets, HEADER, HEADER + dlen)
    local body = BODIES[seen.name]
    if not body then
      wrong("no layout is known for " .. seen.name)
    end
    body(reader, top, seen)
    if reader:left() > 0 then
      wrong(reader:left() .. " octets too many for " .. seen.name)
    end
    if octets:len() > HEADER + dlen then
      top:add(f.padding, octets(HEADER + dlen))
    end
  end)
  if seen.name then
    pinfo.cols.info = summary(seen)
    top:append_text(", " .. summary(seen))
  end
  if not ok then
    -- What is no complaint of ours is a fault of this script, and Wireshark shows it as one.
    if type(fault) ~= "table" then
      error(fault, 0)
    end
    top:add_proto_expert_info(malformed, fault.wrong)
  end
  return octets:len()
end

DissectorTable.get("udp.port"):add(UDP_PORT, xtp)
DissectorTable.get("ip.proto"):set(36, xtp)
xtp:register_heuristic("udp", function(octets, pinfo, tree)
  if not is_packet(octets) then
    return false
  end
  xtp.dissector(octets, pinfo, tree)
  return true
end)
