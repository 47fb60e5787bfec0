#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/docs.sh BUILD: prints queues/README.md, with what stands between its markers
#     <!-- generated: PROGRAM ARGUMENT… -->  and  <!-- end -->
# replaced by what the program of BUILD prints now.
# A build that lacks a backend, or runs another in its place, has no such tables: exit 1.
set -eu
build=$1
other=$("$build/fanin" list | sed -n '/^  .*queues\/.* is left out: /p; /^    .* runs in its place here/p')
[ -z "$other" ] || {
	echo "the tables of queues/README.md are of a build with every backend:" >&2
	echo "$other" >&2
	exit 1
}
while IFS= read -r line; do
	printf '%s\n' "$line"
	case $line in
	'<!-- generated: '*' -->') ;;
	*) continue ;;
	esac
	command=${line#'<!-- generated: '}
	# shellcheck disable=SC2086 # words
	"$build"/${command%' -->'} </dev/null
	while IFS= read -r line && [ "$line" != '<!-- end -->' ]; do :; done
	printf '%s\n' '<!-- end -->'
done <queues/README.md
