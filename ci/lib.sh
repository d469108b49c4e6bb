# shellcheck shell=sh
# Sourced by the scripts beside it: where the tree is, how to say things and
# how to set up a build folder. Leaves the caller in the top of the tree.
set -eu
umask 022
export LC_ALL=C
unset CDPATH CFLAGS LDFLAGS MESON_TESTTHREADS

# A script lies in ci/ or in a folder of it.
cd "$(dirname "$0")"
self=${0##*/}
while [ ! -f meson_options.txt ]; do
	self=${PWD##*/}/$self
	cd ..
done
# shellcheck disable=SC2034 # for the scripts that source this
root=$PWD

say() {
	printf '== %s\n' "$*"
}

# One line on what is wrong and what to do about it.
die() {
	printf '%s: %s\n' "$self" "$*" >&2
	exit 1
}

# The comment at the top of a script is its help.
usage() {
	sed -n '2,${/^#/!q;s/^# \{0,1\}//p;}' "$root/$self"
}

# journal FILE SQL: what it finds in a results file; 0 before there is one.
journal() {
	sqlite3 -readonly -cmd '.timeout 10000' "$1" "$2" 2>/dev/null || echo 0
}

# Boards that the cross compiler builds for: those with a cross file.
cross_boards() {
	for ini in boards/*/board.ini; do
		[ -e "$ini" ] || continue
		ini=${ini%/board.ini}
		echo "${ini#boards/}"
	done
}

# configure DIR MESON-OPTION...: once; later ninja itself notices changes.
# What is in DIR without a build.ninja is a setup that failed half-way. Only
# meson looks for boards: a folder that came or changed since it looked makes
# it look again.
configure() {
	dir=$1
	shift
	if [ -f "$dir/build.ninja" ]; then
		[ -n "$(find boards -maxdepth 1 -type d \
			-newer "$dir/build.ninja")" ] || return 0
		meson setup --reconfigure "$dir"
		return
	fi
	rm -rf "$dir"
	meson setup "$dir" "$@"
}

build_host() {
	configure build/host && ninja -C build/host
}

build_san() {
	configure build/san -Db_sanitize=address,undefined -Db_lundef=false &&
		ninja -C build/san
}

# The programs of the suite fuzz, and what they link: the rest of the tree is
# seen by the other builds.
fuzz_programs() {
	meson introspect --tests build/fuzz | jq -r --arg dir "$root/build/fuzz/" \
		'.[] | select(any(.suite[]; endswith("fuzz"))) | .cmd[0] |
		ltrimstr($dir)'
}

build_fuzz() {
	CC=clang configure build/fuzz -Dfuzz=true -Db_lundef=false \
		-Db_sanitize=address,undefined || return
	programs=$(fuzz_programs) && [ -n "$programs" ] || return
	# shellcheck disable=SC2086 # paths without blanks
	ninja -C build/fuzz $programs
}

build_firmware() {
	for board in $(cross_boards); do
		configure "build/$board" \
			--cross-file firmware/port/arm.ini \
			--cross-file "boards/$board/board.ini" &&
			ninja -C "build/$board" || return 1
		[ -f "build/$board/bay-firmware-$board.elf" ] || die \
			"build/$board holds no bay-firmware-$board.elf:" \
			"boards/$board/board.ini must say board = '$board';" \
			"then remove build/$board"
	done
}

# The image packs the agent and bay of build/host.
build_guest() {
	boards/virtual/dut/build-image
}
