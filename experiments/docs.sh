#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/docs.sh BUILD: prints queues/README.md, with what stands between its markers
#     <!-- generated: PROGRAM ARGUMENT… -->  and  <!-- end -->
# replaced by what the program of BUILD prints now.
set -eu
build=$1
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
