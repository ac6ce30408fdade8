#!/bin/sh
# Builds libxtp and installs it below PREFIX, /usr/local if none is named: header, static library, shared library whose symbols carry versions,
# pkg-config file and manual page. DESTDIR goes before it for packages, CC names the compiler, and ARCHIVE a static library that was built
# already.
set -eu

prefix=${1:-/usr/local}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
cc=${CC:-cc}

if [ -z "${ARCHIVE:-}" ]; then
    cargo rustc --manifest-path "$here/Cargo.toml" --profile dist --lib --crate-type staticlib
    ARCHIVE=${CARGO_TARGET_DIR:-$root/target}/dist/libxtp_ffi.a
fi

to=${DESTDIR:-}$prefix
mkdir -p "$to/include" "$to/lib/pkgconfig" "$to/share/man/man3"
cp "$here/xtp.3" "$to/share/man/man3/xtp.3"
cp "$here/include/xtp.h" "$to/include/xtp.h"
cp "$ARCHIVE" "$to/lib/libxtp.a"
chmod 644 "$to/lib/libxtp.a"

# All of the archive, then what no exported symbol needs is left out. It stays loaded once it is: threads of it may run.
"$cc" -shared -o "$to/lib/libxtp.so.$version" \
    -Wl,-soname,libxtp.so.0 -Wl,--version-script="$here/xtp.map" -Wl,--gc-sections -Wl,-z,nodelete -Wl,-z,defs \
    -Wl,--whole-archive "$to/lib/libxtp.a" -Wl,--no-whole-archive \
    -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
ln -sf "libxtp.so.$version" "$to/lib/libxtp.so.0"
ln -sf libxtp.so.0 "$to/lib/libxtp.so"

sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/xtp.pc.in" >"$to/lib/pkgconfig/xtp.pc"
