#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/new_queue.sh BUILD: follows the README's "Adding a queue" to the letter, on a copy of the
# tree: the new queue is listed and keeps its promises. Then breaks it: the contract test must say so.
# The objects of BUILD are taken over, so that little more than the new queue is compiled.
set -eu
build=$1
! grep -q -- -fsanitize= "$build/flags" || {
	echo "SKIP: a new queue is tried in a build without sanitizers"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/fanin
fail() {
	echo "new_queue.sh: $*" >&2
	[ ! -s "$work/out" ] || tail -n 20 "$work/out" >&2
	exit 1
}

mkdir -p "$tree/build"
cp -Rp Makefile README.md engine experiments plots queues tests "$tree"
for part in flags release step; do
	cp -Rp "$build/$part" "$tree/build/" || fail "$build has no $part"
done
# The copy's make is nobody's child, and uses the same compiler.
read -r CC _ <"$build/flags"
export CC EDITOR=true MAKEFLAGS=-j2
unset MAKELEVEL MFLAGS BUILD SANITIZE NAME
cd "$tree"

awk '/^## / { here = $0 == "## Adding a queue" } /^```/ { block = here && $0 == "```sh"; next } block' \
	README.md >"$work/steps"
[ -s "$work/steps" ] || fail "README.md has no commands under 'Adding a queue'"
while IFS= read -r step; do
	sh -euc "$step" >"$work/out" 2>&1 </dev/null || fail "the README's step fails: $step"
	case $step in
	*'fanin list'*) grep -q '^  foo ' "$work/out" || fail "fanin list doesn't list the new queue" ;;
	*'fanin run'*) grep -q '^foo' "$work/out" || fail "fanin run doesn't measure the new queue" ;;
	*'make contract'*) grep -q '^\[  PASSED  \] [1-9]' "$work/out" || fail "the contract test tests nothing" ;;
	esac
done <"$work/steps"
for word in 'make new-queue' 'make contract' 'fanin list' 'fanin run'; do
	grep -q "$word" "$work/steps" || fail "the README's steps have no $word"
done
cp -p queues/foo.c "$work/"
echo "ok: README's steps"

refuses() { # NAME WORDS: make new-queue says why not, in one sentence, and writes nothing
	! make -s new-queue NAME="$1" >"$work/out" 2>&1 || fail "new-queue NAME='$1' is not refused"
	[ "$(grep -vc '^make' "$work/out")" = 1 ] || fail "new-queue NAME='$1': not one sentence"
	grep -q "^new-queue: .*$2" "$work/out" || fail "new-queue NAME='$1' doesn't say: $2"
	cmp -s queues/foo.c "$work/foo.c" || fail "new-queue NAME='$1' changed queues/foo.c"
}
refuses '' missing
refuses foo 'queues/foo.c is there'
refuses vyukov 'queues/vyukov.c is there'
refuses sharded_mutex 'queues/mutex.c has'
refuses queue 'queues/queue.h is there'
# shellcheck disable=SC2016 # meant as it stands
for name in Foo 1foo foo-bar ../foo 'foo bar' 'foo;true' '`true`' "foo'bar"; do
	refuses "$name" 'a-z, 0-9'
done
echo "ok: names"

# Every 100th push of the broken one forgets its request.
sed '/^static enum queue_pushed foo_push/,/^}/s/^.*pthread_mutex_lock.*$/static _Atomic unsigned pushes;\
if (++pushes % 100 == 0)\
return QUEUE_PUSHED;\
&/' "$work/foo.c" >queues/foo.c
! cmp -s queues/foo.c "$work/foo.c" || fail "the new queue can't be broken"
! make -s contract NAME=foo >"$work/out" 2>&1 || fail "a queue that drops every 100th request passes the contract test"
# shellcheck disable=SC2016
sentence=$(grep -o '`foo, check [^`]*`' README.md | tr -d '`')
[ -n "$sentence" ] || fail "README.md doesn't say what the contract test says of it"
grep -qF "$sentence" "$work/out" || fail "the contract test doesn't say: $sentence"
echo "ok: broken"
