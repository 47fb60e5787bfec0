#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: queues/new_queue.sh NAME, from the top (make new-queue NAME=foo): writes queues/NAME.c, a list
# under a mutex commented hook by hook, for you to change.
set -eu
name=${1:-}
refuse() {
	echo "new-queue: $*" >&2
	exit 1
}
case $name in
'') refuse 'NAME is missing: make new-queue NAME=foo' ;;
[!a-z]* | *[!a-z0-9_]*) refuse "NAME can't be '$name'; allowed: a-z, 0-9 and _, a letter first" ;;
esac
[ ${#name} -le 24 ] || refuse "NAME can't be '$name'; allowed: 24 characters at most"
for file in queues/"$name".* queues/peers/"$name".* tests/broken/"$name".*; do
	[ ! -e "$file" ] || refuse "NAME can't be '$name': $file is there already"
done
used=$(grep -l "\"$name\"" queues/*.c queues/peers/*.c* 2>/dev/null || true)
[ -z "$used" ] || refuse "NAME can't be '$name': $(echo "$used" | head -n 1) has that name already"

sed "s/skeleton/$name/g" queues/skeleton.c.in >"queues/$name.c.new"
mv "queues/$name.c.new" "queues/$name.c"
cat <<END
queues/$name.c is a list under a mutex, which keeps its promises. Make it yours, then:

    make contract NAME=$name                         # does it keep what it promises?
    make && build/fanin list                          # what it promises, as others see it
    build/fanin run --config $name,vyukov,private    # what it costs
    make test asan tsan                               # all of it, also under the sanitizers
    make docs                                         # the tables of queues/README.md
END
