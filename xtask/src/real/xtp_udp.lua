-- XTP over UDP: the dissector of IP protocol 36, on the port XTP has here.
local xtp = DissectorTable.get("ip.proto"):get_dissector(36)
DissectorTable.get("udp.port"):add(36036, xtp)
