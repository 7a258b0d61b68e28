#!/bin/sh
# Installs Throughline from a release: checks the archive against SHA256SUMS, then puts the program into PREFIX/bin.
#   sh install.sh --from DIR|URL [--prefix DIR]
# --from     a directory, or an address below which the archive and SHA256SUMS are
# --prefix   where to install; ~/.local by default
# Nothing is changed unless the checksum is right. To remove it: `throughline uninstall`, then delete PREFIX/bin/throughline.
set -eu

from=
prefix=${HOME:-/nonexistent}/.local
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=${2:-}; shift 2 || fail "--from needs a value" "give a directory or an address" ;;
    --prefix) prefix=${2:-}; shift 2 || fail "--prefix needs a value" "give a directory" ;;
    *) fail "unknown option: $1" "sh install.sh --from DIR|URL [--prefix DIR]" ;;
  esac
done
[ -n "$from" ] || fail "where from?" "sh install.sh --from DIR|URL [--prefix DIR]"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {
  case $from in
    https://*)
      if command -v curl >/dev/null; then curl --proto '=https' -fsSL -o "$work/$1" "$from/$1"
      elif command -v wget >/dev/null; then wget -q --https-only -O "$work/$1" "$from/$1"
      else fail "neither curl nor wget is here" "install one of them, or download the files and use --from DIR"
      fi ;;
    http://*) fail "$from is not encrypted" "use https, or download the files and use --from DIR" ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "cannot get $1 from $from" "check the address, or download the files and use --from DIR"
}

system=$(uname -s | tr '[:upper:]' '[:lower:]')
machine=$(uname -m)
fetch SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(throughline-[0-9A-Za-z.+-]*-$machine-$system\.tar\.gz\)$/\1/p" "$work/SHA256SUMS" | tail -1)
[ -n "$archive" ] || fail "there is no archive for $machine $system" "build it: cargo install --locked --path crates/throughline"
fetch "$archive"

line=$(grep "  $archive\$" "$work/SHA256SUMS")
if command -v sha256sum >/dev/null; then sum() { sha256sum "$1"; }; else sum() { shasum -a 256 "$1"; }; fi
[ "$(cd "$work" && sum "$archive")" = "$line" ] ||
  fail "the checksum of $archive is wrong; nothing was installed" "download it again; if that does not help, report it"

mkdir "$work/out"
tar -xzf "$work/$archive" -C "$work/out"
mkdir -p "$prefix/bin"
# A running program cannot be written to, but its name can be given to another file.
cp "$work/out/${archive%.tar.gz}/throughline" "$prefix/bin/.throughline.new"
chmod 755 "$prefix/bin/.throughline.new"
mv -f "$prefix/bin/.throughline.new" "$prefix/bin/throughline"
"$prefix/bin/throughline" --version
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) printf 'note: %s is not in your PATH\n' "$prefix/bin" ;;
esac
printf 'next: %s\n' "$prefix/bin/throughline setup"
