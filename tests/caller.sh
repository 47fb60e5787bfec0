#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/caller.sh BUILD, from the top, with BUILD made: stages an install, builds a foreign
# caller against it through pkg-config, shared and static, runs both, and looks at what is exported.
set -eu
build=$1
fail() {
	echo "caller.sh: $*" >&2
	exit 1
}
[ -f "$build/flags" ] || fail "$build is not a build directory: make BUILD=$build first"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
usr=$stage/usr

# The flags that BUILD was made with, so that what is stale is made with them again, and nothing else
# is made at all.
made_with=$(cat "$build/flags")
compiler=${made_with%% *}
options=${made_with#* -D_GNU_SOURCE }
options=${options%% -pthread *}
sanitizers=$(echo "$made_with" | tr ' ' '\n' | grep '^-fsanitize=' || true)
staged_make() {
	MAKEFLAGS='' make -s BUILD="$build" CC="$compiler" CFLAGS="${options% *}" \
		WARNINGS="${options##* }" SANITIZE="${sanitizers#*=}" "$@" >&2
}
cp -p "$build/flags" "$stage/flags"
staged_make "$build/flags" || fail "make can't tell the flags of $build"
cmp -s "$stage/flags" "$build/flags" || {
	cp -p "$stage/flags" "$build/flags"
	fail "$build was made with flags that this script doesn't understand: $made_with"
}
staged_make DESTDIR="$stage" PREFIX=/usr install || fail "make install failed"
for file in include/fanin.h lib/libfanin.a lib/libfanin.so lib/libfanin.so.0 lib/pkgconfig/fanin.pc bin/fanin; do
	[ -f "$usr/$file" ] || fail "make install left out $file"
done
grep -qx 'prefix=/usr' "$usr/lib/pkgconfig/fanin.pc" || fail "fanin.pc doesn't have the prefix it was installed with"

export PKG_CONFIG_SYSROOT_DIR="$stage" PKG_CONFIG_PATH="$usr/lib/pkgconfig"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
compile() { # output, pkg-config's words
	output=$1
	shift
	# shellcheck disable=SC2086 # words
	$compiler -std=c11 -Wall -Wextra -Wpedantic -Werror $sanitizers -pthread tests/caller/caller.c \
		-o "$stage/$output" "$@" || fail "caller.c doesn't build: $output"
}
libraries() { pkg-config --cflags --libs "$@" fanin || fail "pkg-config refuses fanin.pc"; }
# shellcheck disable=SC2046 # words
compile shared $(libraries)
# shellcheck disable=SC2046
compile static $(libraries --static | sed 's/-lfanin\>/-l:libfanin.a/')

needs() { readelf -d "$stage/$1" | grep -q 'NEEDED.*\[libfanin\.so\.0\]'; }
needs shared || fail "the shared caller doesn't need libfanin.so.0"
! needs static || fail "the static caller needs libfanin.so.0"
LD_LIBRARY_PATH=$usr/lib "$stage/shared" || fail "the shared caller failed"
"$stage/static" || fail "the static caller failed"

# Nothing but the interface may be seen, or clash with the caller's own names.
for seen in "-D $usr/lib/libfanin.so" "-g $usr/lib/libfanin.a"; do
	# shellcheck disable=SC2086 # words
	names=$(nm --defined-only $seen | awk 'NF == 3 { print $3 }')
	echo "$names" | grep -qx fanin_submit || fail "${seen##*/} doesn't export fanin_submit"
	strangers=$(echo "$names" | grep -v '^fanin_' | tr '\n' ' ' || true)
	[ -z "$strangers" ] || fail "${seen##*/} exports $strangers"
done
