#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/run.sh BUILD TEST…: runs each test and judges it by its exit code (cmocka says PASSED
# though a sanitizer found something); the last line counts the cases. ONE+OTHER: side by side.
set -u
build=$1
shift
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=1" UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:halt_on_error=1"
passed=0 failed=0 skipped=0
beside=
logs=$(mktemp -d)
trap '[ -z "$beside" ] || kill "$beside" 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

count() { grep "$1" "$log" | sort -u | wc -l; } # cmocka names what failed twice

# Arguments: a test that has ended, its log and exit code.
judge() {
	log=$2 code=$3
	ok=$(count '^\[       OK \]') bad=$(count '^\[  FAILED  \] [a-z_0-9]*$') skip=$(count '^\[  SKIPPED \] [a-z_0-9]*$')
	if [ "$code" = 77 ]; then
		skip=$((skip + 1))
	elif [ "$code" != 0 ] && [ "$bad" = 0 ]; then
		bad=1
	elif [ "$code" = 0 ] && [ "$ok" = 0 ] && [ "$skip" = 0 ]; then
		ok=1
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	verdict=ok
	[ "$code" = 0 ] || verdict="FAILED ($code)"
	[ "$code" = 77 ] && verdict=SKIP
	printf '%-40s %s, %d cases, %d s\n' "$1" "$verdict" $((ok + bad + skip)) $(($(date +%s) - started))
	if [ "$code" != 0 ]; then
		cat "$log"
	else
		grep -i '^\(SKIP\|[0-9]* of [0-9]* mutants\)' "$log" || true
	fi
}

for test; do
	started=$(date +%s)
	log=$logs/alone
	code=0
	case $test in
	*.sh) "$test" "$build" >"$log" 2>&1 || code=$? ;;
	*+*)
		"${test%+*}" >"$logs/beside" 2>&1 &
		beside=$!
		"${test#*+}" >"$log" 2>&1 || code=$?
		judge "${test#*+}" "$log" "$code"
		code=0
		wait "$beside" || code=$?
		beside=
		test=${test%+*} log=$logs/beside
		;;
	*) "$test" >"$log" 2>&1 || code=$? ;;
	esac
	judge "$test" "$log" "$code"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
