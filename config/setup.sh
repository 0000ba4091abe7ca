#!/usr/bin/env bash
# What the studio needs from the system.
#   config/setup.sh python     prints the Python 3.11 to use
#   config/setup.sh run        installs the missing system packages that running needs
#   config/setup.sh test       the same, and what the tests need besides
# Packages are installed as root or with a sudo that asks nothing; else one line says what to install.
set -euo pipefail

find_python() {
  local candidate
  for candidate in python3.11 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

has_library() {
  PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep -q "$1"
}

missing_packages() {
  local python
  python=$(find_python)
  [ -n "$python" ] || echo python3.11
  { [ -n "$python" ] && "$python" -c 'import ensurepip, venv' 2>/dev/null; } || echo python3.11-venv
  has_library 'libGL\.so\.1' || echo libgl1
  has_library 'libgthread-2\.0\.so\.0' || echo libglib2.0-0
  has_library 'libzbar\.so\.0' || echo libzbar0
  [ "$1" = test ] || return 0
  command -v chromium-headless-shell >/dev/null || echo chromium-headless-shell
  has_library 'libatomic\.so\.1' || echo libatomic1
  command -v pdftoppm >/dev/null || echo poppler-utils
  fc-list :lang=ja 2>/dev/null | grep -q . || echo fonts-noto-cjk
}

install_packages() {
  local -a packages
  mapfile -t packages < <(missing_packages "$1")
  [ "${#packages[@]}" -gt 0 ] || return 0
  local -a root=()
  if [ "$(id -u)" -ne 0 ]; then
    root=(sudo -n)
  fi
  if command -v apt-get >/dev/null && "${root[@]}" true 2>/dev/null; then
    echo "Installing system packages: ${packages[*]}"
    "${root[@]}" apt-get update -qq || echo "apt-get update failed; trying with the lists at hand" >&2
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      -o DPkg::Lock::Timeout=120 "${packages[@]}" >/dev/null || true
    mapfile -t packages < <(missing_packages "$1")
    [ "${#packages[@]}" -gt 0 ] || return 0
  fi
  echo "Please install these system packages, then run make again: ${packages[*]}" >&2
  # Without Python nothing can go on; the rest is named again by whatever needs it.
  case " ${packages[*]} " in *" python3.11"*) return 1 ;; esac
}

case "${1:-}" in
  python) find_python ;;
  run | test) install_packages "$1" ;;
  *)
    echo "usage: config/setup.sh python|run|test" >&2
    exit 2
    ;;
esac
