#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/deps.sh GROUP…  (build, peers, lint, clang, paper). Installs the Debian packages of the groups
# that are missing, or prints the line that would and exits 1.
set -eu

missing=
need() { # PACKAGE CHECK…: the package is missing if the check fails
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() { command -v "$1"; }

for group; do
	case $group in
	build)
		have cc || need gcc have gcc
		need libc6-dev sh -c "echo '#include <stdio.h>' | cc -E - || ls /usr/include/stdio.h"
		need make have make
		need pkg-config have pkg-config
		need gnuplot-nox have gnuplot
		for pair in liburcu-dev=liburcu libck-dev=ck libcmocka-dev=cmocka libgsl-dev=gsl \
			libhwloc-dev=hwloc libjansson-dev=jansson; do
			need "${pair%=*}" pkg-config --exists "${pair#*=}"
		done
		;;
	peers)
		need g++ have c++
		for pair in libuv1-dev=libuv libglib2.0-dev=glib-2.0 libtbb-dev=tbb; do
			need "${pair%=*}" pkg-config --exists "${pair#*=}"
		done
		for pair in libconcurrentqueue-dev=concurrentqueue/concurrentqueue.h \
			libboost-dev=boost/lockfree/queue.hpp libxenium-dev=xenium/ramalhete_queue.hpp; do
			need "${pair%=*}" test -e "/usr/include/${pair#*=}"
		done
		;;
	lint)
		for tool in clang-format clang-tidy cppcheck shellcheck; do
			need $tool have $tool
		done
		;;
	clang) need clang have clang ;;
	paper)
		need gnuplot-nox have gnuplot
		need texlive-latex-recommended kpsewhich booktabs.sty
		need texlive-latex-recommended have bibtex
		need lmodern kpsewhich lmodern.sty
		;;
	*)
		echo "deps.sh: '$group' is not a group; allowed: build, peers, lint, clang, paper" >&2
		exit 2
		;;
	esac
done >/dev/null

[ -n "$missing" ] || exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
line="${as_root:+$as_root }apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! sudo -n true 2>/dev/null; }; then
	echo "fanin needs packages that are missing here; on Debian run:" >&2
	echo "  $line" >&2
	exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # the package names are words of ours
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get update && $line; } >"$log" 2>&1; then
	tail -n 5 "$log" >&2
	echo "the packages could not be installed; run: $line" >&2
	exit 1
fi
